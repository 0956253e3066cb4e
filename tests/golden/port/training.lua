-- A whole training script: batches, feval, logging, confusion, a schedule, a checkpoint.
require 'torch'
require 'nn'
require 'optim'
torch.manualSeed(7)
local classes = {'a', 'b', 'c'}
local n, dim = 60, 4
local data = {inputs = torch.randn(n, dim), targets = torch.Tensor(n)}
for i = 1, n do
  local _, k = data.inputs[i]:narrow(1, 1, 3):max(1)
  data.targets[i] = k[1]
end
function data:size() return self.inputs:size(1) end
local mean, std = {}, {}
for j = 1, dim do
  mean[j] = data.inputs[{{}, j}]:mean()
  std[j] = data.inputs[{{}, j}]:std()
  data.inputs[{{}, j}]:add(-mean[j]):div(std[j])
end
local model = nn.Sequential()
model:add(nn.Linear(dim, 8)):add(nn.ReLU(true)):add(nn.Dropout(0.1)):add(nn.Linear(8, #classes)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local confusion = optim.ConfusionMatrix(classes)
local parameters, gradParameters = model:getParameters()
local state = {learningRate = 0.1, momentum = 0.9, weightDecay = 1e-4}
local batchSize = 16
local function train(epoch)
  model:training()
  local shuffle = torch.randperm(data:size())
  local total, batches = 0, 0
  for t = 1, data:size(), batchSize do
    local last = math.min(t + batchSize - 1, data:size())
    local inputs, targets = torch.Tensor(last - t + 1, dim), torch.Tensor(last - t + 1)
    for i = t, last do
      inputs[i - t + 1]:copy(data.inputs[shuffle[i]])
      targets[i - t + 1] = data.targets[shuffle[i]]
    end
    local feval = function(x)
      if x ~= parameters then parameters:copy(x) end
      gradParameters:zero()
      local output = model:forward(inputs)
      local f = criterion:forward(output, targets)
      model:backward(inputs, criterion:backward(output, targets))
      confusion:batchAdd(output, targets)
      return f, gradParameters
    end
    local _, fs = optim.sgd(feval, parameters, state)
    total = total + fs[1]
    batches = batches + 1
  end
  confusion:updateValids()
  print(('epoch %d: loss %.6f, accuracy %.2f%%'):format(epoch, total / batches, confusion.totalValid * 100))
  confusion:zero()
end
local function test()
  model:evaluate()
  local correct = 0
  for i = 1, data:size() do
    local out = model:forward(data.inputs[i])
    local _, p = out:max(1)
    if p[1] == data.targets[i] then correct = correct + 1 end
  end
  return correct / data:size()
end
local best, bestEpoch = 0, nil
for epoch = 1, 4 do
  train(epoch)
  local acc = test()
  if acc > best then best, bestEpoch = acc, epoch; torch.save('best.t7', {model = model, epoch = epoch, opt = state}) end
  if epoch % 2 == 0 then state.learningRate = state.learningRate * 0.5 end
  print(acc, best, bestEpoch, state.learningRate)
end
local saved = torch.load('best.t7')
saved.model:evaluate()
print(saved.epoch, saved.opt.momentum, saved.model:forward(data.inputs:narrow(1, 1, 2)))
os.remove('best.t7')
