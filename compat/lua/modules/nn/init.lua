-- Torch7's package nn: the classes of compat.nn.
require 'torch'
local t7 = torch._t7
local packages = require 'nn.packages'

nn = t7.packages.nn or {}
t7.packages.nn = nn

t7.bring('compat.nn', function(name)
   for _, names in pairs(packages) do if names[name] then return false end end
   return true
end)

nn.utils = t7.functions('compat.nn.utils')
local single = nn.utils.addSingletonDimension
function nn.utils.addSingletonDimension(result, tensor, dimension)
   if torch.isTensor(tensor) then return result:set(single(tensor, dimension)) end
   return single(result, tensor)
end
-- A tensor is emptied where it is: whatever holds it sees that.
function nn.utils.clear(self, first, ...)
   for _, name in ipairs(type(first) == 'table' and first or {first, ...}) do
      local value = self[name]
      if torch.isTensor(value) then value:set()
      elseif value then self[name] = torch.type(value) == 'table' and {} or nil end
   end
   return self
end
-- New tensors, in storages that are shared as those of the old ones.
function nn.utils.recursiveType(param, type, cache)
   cache = cache or {}
   if torch.isTypeOf(param, 'nn.Module') or torch.isTypeOf(param, 'nn.Criterion') then return param:type(type, cache) end
   if torch.isTensor(param) then
      if param:type() == type then return param end
      local storage = param:storage()
      if not storage then return param:type(type) end
      local key = torch.pointer(storage)
      -- The old one is kept: another at its place would be taken for it.
      cache[key] = cache[key] or {t7.tensor_of(storage):type(type):storage(), storage}
      return torch.getmetatable(type).new(cache[key][1], param:storageOffset(), param:size(), param:stride())
   end
   if torch.type(param) ~= 'table' then return param end
   for key, value in pairs(param) do param[key] = nn.utils.recursiveType(value, type, cache) end
   return param
end
nn.Jacobian = t7.functions('compat.nn', 'Jacobian')
nn.SparseJacobian = t7.functions('compat.nn', 'SparseJacobian')
nn.tables = t7.functions('compat.nn', 'tables')

-- Files tell of a timer, nn.Profile's for one, only that it is there.
local Timer = torch.getmetatable('torch.Timer')
rawset(Timer, '__factory', torch.Timer)
function Timer.write() end
function Timer.read() end

require 'nn.errors'
require 'nn.converters'
require 'nn.inner'
require 'nn.THNN'
require 'nn.hessian'

-- The code that nn loads in Lua draws four numbers.
for _ = 1, 4 do torch.random() end

return nn
