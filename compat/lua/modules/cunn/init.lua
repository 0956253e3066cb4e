-- Torch7's package cunn: nets on devices, and nn.DataParallelTable.
require 'cutorch'
require 'nn'
require 'cunn.THCUNN'
local t7 = torch._t7
local function define(name) t7.define_class((t7.call(t7.objects.class_named, name))) end
define 'nn.DataParallelTable'
-- What runs its replicas is of these classes in files, where alone they are needed.
for _, name in ipairs{'nn.DataParallelTable.Basic', 'nn.DataParallelTable.Threads'} do t7.classes_of_files[name] = define end

-- The container takes the names of types on GPUs only, whatever its devices are, wherever it is in a net.
local TYPES = {'torch.CudaHalfTensor', 'torch.CudaDoubleTensor', 'torch.CudaTensor'}
local accepted = {}
for _, name in ipairs(TYPES) do accepted[name] = true end
for _, class in ipairs{'nn.Module', 'nn.DataParallelTable'} do
   local convert = torch.getmetatable(class).type
   local methods = {type = function(self, name, ...)
      if name ~= nil and not accepted[name] then
         for _, module in ipairs(self:listModules()) do
            assert(not torch.isTypeOf(module, 'nn.DataParallelTable'),
                   'DataParallelTable supports only ' .. table.concat(TYPES, ' or ') .. ' types')
         end
      end
      return convert(self, name, ...)
   end}
   for method, name in pairs{float = 'torch.FloatTensor', double = 'torch.DoubleTensor', half = 'torch.HalfTensor'} do
      methods[method] = function(self, ...) return self:type(name, ...) end
   end
   t7.adapt(class, methods)
end

-- In Torch7 each thread is a Lua of its own. Here the function runs in the caller's, where the classes that it makes may
-- be there already: they get its methods.
local make_class = torch.class
local function class_again(name, parent, ...)
   local mt = type(name) == 'string' and torch.getmetatable(name)
   if mt and type(parent) == 'string' and getmetatable(mt) == torch.getmetatable(parent) then return mt, getmetatable(mt) end
   return make_class(name, parent, ...)
end
local threads = torch.getmetatable('nn.DataParallelTable').threads
t7.adapt('nn.DataParallelTable', {threads = function(self, init, ...)
   local function begin()
      local before = torch.class
      torch.class = class_again
      local ok, problem = pcall(init)
      torch.class = before
      if not ok then error(problem, 0) end
   end
   return threads(self, type(init) == 'function' and begin or init, ...)
end})
return nn
