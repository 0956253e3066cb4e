-- Torch7's package cunn: nets on devices, and nn.DataParallelTable.
require 'cutorch'
require 'nn'
local t7 = torch._t7
t7.define_class((t7.call(t7.objects.class_named, 'nn.DataParallelTable')))

-- Without a GPU, nets for one are nets for the CPU.
if t7.on_cpu then
   for _, class in ipairs{'nn.Module', 'nn.Criterion', 'nn.DataParallelTable'} do
      local mt = torch.getmetatable(class)
      local type, float, double, half = mt.type, mt.float, mt.double, mt.half
      t7.adapt(class, {
         type = function(self, name, ...) return type(self, t7.on_cpu(name), ...) end,
         cuda = float, cudaDouble = double, cudaHalf = half,
      })
   end
end
return nn
