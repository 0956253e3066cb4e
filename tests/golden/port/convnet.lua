-- a convolutional net on made-up images
require 'nn'
torch.manualSeed(7)
torch.setdefaulttensortype('torch.DoubleTensor')
local function images(n)
   local x, y = torch.zeros(n, 1, 8, 8), torch.Tensor(n)
   for i = 1, n do
      local class = i % 2 + 1
      y[i] = class
      if class == 1 then
         x[{i, 1, {}, {3, 4}}] = 1
      else
         x[{i, 1, {3, 4}, {}}] = 1
      end
   end
   return x:add(torch.randn(n, 1, 8, 8):mul(0.1)), y
end
local x, y = images(10)
local net = nn.Sequential()
net:add(nn.SpatialConvolution(1, 4, 3, 3))
net:add(nn.ReLU())
net:add(nn.SpatialMaxPooling(2, 2, 2, 2))
net:add(nn.View(4 * 3 * 3))
net:add(nn.Linear(4 * 3 * 3, 2))
net:add(nn.LogSoftMax())
local crit = nn.ClassNLLCriterion()
for i = 1, 8 do
   net:zeroGradParameters()
   local out = net:forward(x)
   local loss = crit:forward(out, y)
   net:backward(x, crit:backward(out, y))
   net:updateParameters(0.5)
   io.write(string.format('%.6f ', loss))
end
print()
net:evaluate()
local scores, guess = torch.max(net:forward(x), 2)
print(guess:t())
print(#net.modules, net:get(1).weight:size(), net:get(5).bias:nElement())
