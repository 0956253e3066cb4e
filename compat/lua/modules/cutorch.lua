-- Torch7's package cutorch: devices that are given, on the CPU where there is no GPU.
require 'torch'
local t7 = torch._t7
t7.load_classes()
local functions = t7.functions('compat.cutorch')
cutorch = setmetatable({}, {__index = function(_, name) return functions[name] end})
torch._cutorch = true
local CPU = {Cuda = 'Float', CudaDouble = 'Double', CudaLong = 'Long', CudaInt = 'Int', CudaByte = 'Byte',
             CudaHalf = 'Half', CudaChar = 'Char', CudaShort = 'Short'}
local METHODS = {Cuda = 'cuda', CudaDouble = 'cudaDouble', CudaLong = 'cudaLong', CudaInt = 'cudaInt',
                 CudaByte = 'cudaByte', CudaHalf = 'cudaHalf', CudaChar = 'cudaChar', CudaShort = 'cudaShort'}
local wanted = tonumber(os.getenv('T7_NGPU') or '')
if wanted then
   local devices = {}
   for i = 1, wanted do devices[i] = 'cpu' end
   functions.configure(devices)
end

-- Without a GPU, the types of GPUs are those of the CPU.
if not torch.CudaTensor then
   for cuda, cpu in pairs(CPU) do
      torch[cuda .. 'Tensor'], torch[cuda .. 'Storage'] = torch[cpu .. 'Tensor'], torch[cpu .. 'Storage']
      for _, name in pairs(CPU) do
         local mt = torch.getmetatable('torch.' .. name .. 'Tensor')
         rawset(mt, METHODS[cuda], function(self) return self:type('torch.' .. cpu .. 'Tensor') end)
      end
   end
   local function on_cpu(name)
      return name and (name:gsub('^torch%.(Cuda%a*)Tensor$', function(n) return 'torch.' .. CPU[n] .. 'Tensor' end))
   end
   t7.on_cpu = on_cpu
   for _, name in pairs(CPU) do
      local mt = torch.getmetatable('torch.' .. name .. 'Tensor')
      local type = mt.type
      rawset(mt, 'type', function(self, wanted)
         return type(self, on_cpu(wanted))
      end)
      rawset(mt, 'getDevice', function() return 1 end)
   end
end
function cutorch.getDeviceProperties(i) return functions.getDeviceProperties(i) end
return cutorch
