-- What optimizers say that are given no table
require 'optim'
local function f(x) return x:norm() ^ 2, x * 2 end
for _, name in ipairs{'adadelta', 'adagrad', 'adam', 'rprop'} do
   local x = torch.ones(2)
   optim[name](f, x)
   print(name, string.format('%.6f', x[1]))
   optim[name](f, x, {})
end
