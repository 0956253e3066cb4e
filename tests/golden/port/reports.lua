-- Confusion matrix, optimizers with state tables, weight decay by hand
require 'torch'
require 'nn'
require 'optim'
torch.manualSeed(11)
local classes = {'cat', 'dog', 'bird'}
local confusion = optim.ConfusionMatrix(classes)
local model = nn.Sequential():add(nn.Linear(4, 8)):add(nn.Tanh()):add(nn.Linear(8, #classes)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local params, gradParams = model:getParameters()
local data = {x = torch.randn(30, 4), y = torch.Tensor(30)}
for i = 1, 30 do data.y[i] = (i % 3) + 1 end
local state = {learningRate = 0.5, momentum = 0.9, learningRateDecay = 1e-3, weightDecay = 1e-4}
local history = {}
for epoch = 1, 3 do
   local loss, n = 0, 0
   local order = torch.randperm(30)
   for t = 1, 30, 10 do
      local inputs, targets = torch.Tensor(10, 4), torch.Tensor(10)
      for i = t, t + 9 do
         inputs[i - t + 1] = data.x[order[i]]
         targets[i - t + 1] = data.y[order[i]]
      end
      local function feval(p)
         if p ~= params then params:copy(p) end
         gradParams:zero()
         local out = model:forward(inputs)
         local err = criterion:forward(out, targets)
         model:backward(inputs, criterion:backward(out, targets))
         confusion:batchAdd(out, targets)
         gradParams:add(1e-4, params)
         return err + 0.5e-4 * params:norm() ^ 2, gradParams
      end
      local _, fs = optim.sgd(feval, params, state)
      loss, n = loss + fs[1], n + 1
   end
   confusion:updateValids()
   history[epoch] = {loss = loss / n, acc = confusion.totalValid * 100}
   print(string.format('%d loss %.4f accuracy %.2f%%', epoch, loss / n, confusion.totalValid * 100))
   if epoch == 2 then print(confusion) end
   confusion:zero()
end
print(state.evalCounter, state.learningRate)
local best = 1
for e, h in ipairs(history) do if h.loss < history[best].loss then best = e end end
print('best', best)
model:evaluate()
local out = model:forward(data.x)
local max, pred = out:max(2)
print(pred:size(1), pred:size(2), torch.type(pred))
local correct = pred:squeeze():double():eq(data.y):sum()
print(correct, string.format('%.3f', max:mean()))
local wrong = {}
for i = 1, 30 do if pred[i][1] ~= data.y[i] then wrong[#wrong + 1] = i end end
print(#wrong + correct)
print(string.format('%.4f', params:norm()))
local mask = data.y:eq(2)
print(mask:sum(), data.x[{{}, 1}][mask]:size(1))
local top = out:topk(2, 2, true)
print(top:size(1), top:size(2))
local _, idx = torch.sort(out, 2, true)
print(idx[{1, 1}] == pred[1][1], idx[{{1, 3}, {1}}]:sum() == pred[{{1, 3}}]:sum())
local adam = {learningRate = 0.01}
for i = 1, 3 do
   optim.adam(function() gradParams:fill(0.1) return 0, gradParams end, params, adam)
end
print(adam.t, string.format('%.5f', params:sum()))
