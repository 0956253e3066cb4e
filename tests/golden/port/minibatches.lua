-- a small classifier over shuffled batches
require 'nn'
require 'optim'
torch.manualSeed(11)
local opt = {batchSize = 8, epochs = 3, lr = 0.1, classes = 3}

local data = torch.randn(24, 4)
local labels = torch.Tensor(24)
for i = 1, data:size(1) do
   labels[i] = (i - 1) % opt.classes + 1
   data[i]:add(labels[i])
end

local net = nn.Sequential()
   :add(nn.Linear(4, 10))
   :add(nn.Tanh())
   :add(nn.Linear(10, opt.classes))
   :add(nn.LogSoftMax())
local crit = nn.ClassNLLCriterion()
local w, g = net:getParameters()
local confusion = optim.ConfusionMatrix(opt.classes)

for epoch = 1, opt.epochs do
   local order = torch.randperm(data:size(1))
   local total, batches = 0, 0
   for t = 1, data:size(1), opt.batchSize do
      local last = math.min(t + opt.batchSize - 1, data:size(1))
      local size = last - t + 1
      local inputs = torch.Tensor(size, data:size(2))
      local targets = torch.Tensor(size)
      for i = t, last do
         inputs[i - t + 1] = data[order[i]]
         targets[i - t + 1] = labels[order[i]]
      end
      g:zero()
      local out = net:forward(inputs)
      total = total + crit:forward(out, targets)
      batches = batches + 1
      net:backward(inputs, crit:backward(out, targets))
      w:add(-opt.lr, g)
      confusion:batchAdd(out, targets)
   end
   confusion:updateValids()
   print(string.format('%d\t%.5f\t%.2f%%', epoch, total / batches, confusion.totalValid * 100))
   confusion:zero()
end
local _, best = net:forward(data):max(2)
print(best:squeeze():eq(labels:long()):sum() .. ' of ' .. labels:size(1) .. ' right')
