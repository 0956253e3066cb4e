-- a layer of one's own, checked against finite differences
require 'nn'
torch.manualSeed(4)
local Scale, parent = torch.class('nn.ScaleBy', 'nn.Module')
function Scale:__init(n, start)
   parent.__init(self)
   self.weight = torch.Tensor(n):fill(start or 1)
   self.gradWeight = torch.zeros(n)
end
function Scale:updateOutput(input)
   self.output:resizeAs(input):copy(input)
   for i = 1, input:size(1) do self.output[i]:cmul(self.weight) end
   return self.output
end
function Scale:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput)
   for i = 1, input:size(1) do self.gradInput[i]:cmul(self.weight) end
   return self.gradInput
end
function Scale:accGradParameters(input, gradOutput, scale)
   scale = scale or 1
   for i = 1, input:size(1) do self.gradWeight:addcmul(scale, input[i], gradOutput[i]) end
end
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.ScaleBy(3, 2)):add(nn.Tanh())
local x = torch.randn(4, 2)
local out = net:forward(x)
net:zeroGradParameters()
local gi = net:backward(x, torch.ones(4, 3))
local eps = 1e-6
local w = net:get(2).weight
local before = net:forward(x):sum()
w[2] = w[2] + eps
local after = net:forward(x):sum()
print(math.abs((after - before) / eps - net:get(2).gradWeight[2]) < 1e-4)
print(gi:size(), net:get(2).gradWeight:size(1), torch.type(net:get(2)))
