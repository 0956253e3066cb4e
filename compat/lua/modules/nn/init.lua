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
nn.Jacobian = t7.functions('compat.nn', 'Jacobian')
nn.SparseJacobian = t7.functions('compat.nn', 'SparseJacobian')
nn.tables = t7.functions('compat.nn', 'tables')

require 'nn.errors'
require 'nn.adapted'
require 'nn.THNN'
require 'nn.hessian'

-- The code that nn loads in Lua draws four numbers.
for _ = 1, 4 do torch.random() end

return nn
