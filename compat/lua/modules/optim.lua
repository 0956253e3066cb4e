-- Torch7's package optim: functions over Lua's closures and tables, ConfusionMatrix and Logger.
require 'torch'
local t7 = torch._t7

optim = t7.packages.optim or {}
t7.packages.optim = optim
t7.bring('compat.optim')

local functions = t7.functions('compat.optim')
local function as_dict(t)
   if type(t) == 'table' and getmetatable(t) == nil then t7.share_as_dict(t) end
   return t
end
-- What these say when they are given neither configuration nor state.
local said = {adadelta = 'no state table, ADADELTA initializing', adagrad = 'no state table, ADAGRAD initializing',
              rprop = 'no state table RPROP initializing'}
for name in ([[adadelta adagrad adam adamax asgd cg cmaes de FistaLS lbfgs lswolfe nag rmsprop rprop
               sgd]]):gmatch('%S+') do
   local f = functions[name]
   optim[name] = function(opfunc, x, config, state, ...)
      if x == nil then opfunc(x) end   -- which fails first, in Torch7
      if said[name] and config == nil and state == nil then print(said[name]) end
      return f(opfunc, x, as_dict(config), as_dict(state), ...)
   end
end
optim.lswolfe, optim.FistaLS = functions.lswolfe, functions.FistaLS
optim.polyinterp, optim.checkgrad = functions.polyinterp, functions.checkgrad

local add = torch.getmetatable('optim.ConfusionMatrix').add
t7.adapt('optim.ConfusionMatrix', {add = function(self, prediction, target)
   if type(prediction) == 'number' and type(target) == 'number' and target > 0 then
      local _ = self.mat[target][prediction]   -- refuses what is out of range, as in Torch7
   end
   add(self, prediction, target)
end})

local logged = torch.getmetatable('optim.Logger').add
t7.adapt('optim.Logger', {add = function(self, symbols)
   for _, value in pairs(symbols) do
      if type(value) ~= 'number' and type(value) ~= 'string' then
         require 'xlua'.error('can only log numbers and strings', 'Logger')
      end
   end
   return logged(self, symbols)
end})

return optim
