-- saving and loading a net and its options
require 'nn'
require 'optim'
torch.manualSeed(2)
local opt = {rate = 0.1, names = {'a', 'b'}, best = {epoch = 0, loss = math.huge}}
local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Sigmoid())
local x, t = torch.rand(5, 3), torch.rand(5, 2)
local crit = nn.MSECriterion()
for epoch = 1, 5 do
   net:zeroGradParameters()
   local loss = crit:forward(net:forward(x), t)
   net:backward(x, crit:backward(net.output, t))
   net:updateParameters(opt.rate)
   if loss < opt.best.loss then
      opt.best.loss, opt.best.epoch = loss, epoch
      torch.save('best.t7', {net = net:clone():clearState(), opt = opt})
   end
end
local cp = torch.load('best.t7')
print(cp.opt.best.epoch, string.format('%.8f', cp.opt.best.loss), cp.opt.names[2], #cp.opt.names)
print(torch.type(cp.net), cp.net:get(1).weight:size(1), string.format('%.6f', cp.net:forward(x):sum()))
for _, name in ipairs(cp.opt.names) do io.write(name, ' ') end
print()
