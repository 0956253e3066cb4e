-- linear regression with optim.sgd
require 'torch'
require 'nn'
require 'optim'
torch.manualSeed(3)

local n, d = 40, 3
local x = torch.randn(n, d)
local w = torch.Tensor{1.5, -2, 0.5}
local y = torch.mv(x, w):add(torch.randn(n):mul(0.01)):add(0.3):resize(n, 1)

local model = nn.Sequential()
model:add(nn.Linear(d, 1))
local criterion = nn.MSECriterion()
local params, grads = model:getParameters()
local state = {learningRate = 0.05, momentum = 0.9}

for epoch = 1, 30 do
   local function feval(p)
      if p ~= params then params:copy(p) end
      grads:zero()
      local out = model:forward(x)
      local loss = criterion:forward(out, y)
      model:backward(x, criterion:backward(out, y))
      return loss, grads
   end
   local _, fs = optim.sgd(feval, params, state)
   if epoch % 10 == 0 then
      print(string.format('epoch %2d: loss %.6f', epoch, fs[1]))
   end
end
print(('weights %.3f %.3f %.3f, bias %.3f'):format(params[1], params[2], params[3], params[4]))
