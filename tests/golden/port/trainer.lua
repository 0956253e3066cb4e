-- a class that trains, and what it asks of nets and tensors
require 'nn'
require 'optim'
local Trainer = {}
Trainer.__index = Trainer
function Trainer.new(model, opt)
  local self = setmetatable({}, Trainer)
  self.model, self.opt = model, opt
  self.history = {}
  return self
end
function Trainer:step(x, y)
  local crit = nn.MSECriterion()
  self.model:zeroGradParameters()
  local l = crit:forward(self.model:forward(x), y)
  self.model:backward(x, crit:backward(self.model.output, y))
  self.model:updateParameters(self.opt.lr)
  table.insert(self.history, l)
  return l
end
function Trainer:best()
  local best, at = math.huge
  for i, l in ipairs(self.history) do if l < best then best, at = l, i end end
  return best, at
end
torch.manualSeed(1)
local tr = Trainer.new(nn.Linear(2, 1), {lr = 0.1})
local x, y = torch.randn(5, 2), torch.randn(5, 1)
for i = 1, 5 do io.write(string.format('%.4f ', tr:step(x, y))) end
print()
local b, at = tr:best()
print(string.format('%.6f at %d', b, at))
local sizes = x:size():totable()
print(#sizes, sizes[1], x:size()[2])
local ok, err = pcall(function() return tr:step(x) end)
print(ok)
local words = {}
for w in ('a b c'):gmatch('%S+') do words[#words + 1] = w:upper() end
print(table.concat(words, '-'))
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.ReLU())
for i, m in ipairs(net.modules) do print(i, torch.type(m)) end
net:apply(function(m) if torch.type(m) == 'nn.Linear' then m.bias:fill(0) end end)
print(net:get(1).bias:sum(), #net:findModules('nn.Linear'))
local out = net:forward(x)
print(out:size(2), out[1]:nElement(), out:max() >= 0)
local acc = torch.zeros(3)
for i = 1, out:size(1) do acc:add(out[i]) end
acc:div(out:size(1))
print((acc - out:mean(1)):abs():max() < 1e-12)
local labels = torch.ByteTensor{1, 0, 1}
print(labels:sum(), labels:type(), labels:double():mean())
local p = torch.Tensor{0.2, 0.5, 0.3}
local _, order = p:sort(true)
print(order[1], order)
local oneHot = torch.zeros(2, 3):scatter(2, torch.LongTensor{{1}, {3}}, 1)
print(oneHot)
