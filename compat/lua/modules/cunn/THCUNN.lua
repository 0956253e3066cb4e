-- Torch7's cunn.THCUNN: the same functions for tensors on GPUs.
require 'cutorch'
local t7, THNN = torch._t7, require 'nn.THNN'
for _, kind in ipairs{'Cuda', 'CudaDouble', 'CudaHalf'} do
   if t7.class_named[kind] then THNN.install(kind) end
end
return THNN
