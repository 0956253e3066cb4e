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

-- The container takes the names of types on GPUs only, whatever its devices are.
local TYPES = {'torch.CudaHalfTensor', 'torch.CudaDoubleTensor', 'torch.CudaTensor'}
local accepted = {}
for _, name in ipairs(TYPES) do accepted[name] = true end
local convert = torch.getmetatable('nn.DataParallelTable').type
local methods = {type = function(self, name, ...)
   assert(name == nil or accepted[name],
          'DataParallelTable supports only ' .. table.concat(TYPES, ' or ') .. ' types')
   return convert(self, name, ...)
end}
for method, name in pairs{float = 'torch.FloatTensor', double = 'torch.DoubleTensor', half = 'torch.HalfTensor'} do
   methods[method] = function(self, ...) return self:type(name, ...) end
end
t7.adapt('nn.DataParallelTable', methods)
return nn
