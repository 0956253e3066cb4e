-- Own criterion, own container, gradient check, sharing
require 'nn'
torch.manualSeed(9)
local Huber, parent = torch.class('nn.HuberCriterion', 'nn.Criterion')
function Huber:__init(delta)
   parent.__init(self)
   self.delta = delta or 1
   self.sizeAverage = true
end
function Huber:updateOutput(input, target)
   self.diff = self.diff or input.new()
   self.diff:resizeAs(input):copy(input):add(-1, target)
   local a = torch.abs(self.diff)
   local small = a:le(self.delta):typeAs(input)
   local large = small:clone():mul(-1):add(1)
   local sq = torch.cmul(torch.pow(self.diff, 2) * 0.5, small)
   local lin = torch.cmul((a - 0.5 * self.delta) * self.delta, large)
   self.output = (sq + lin):sum()
   if self.sizeAverage then self.output = self.output / input:nElement() end
   return self.output
end
function Huber:updateGradInput(input, target)
   self.gradInput:resizeAs(input):copy(self.diff):clamp(-self.delta, self.delta)
   if self.sizeAverage then self.gradInput:div(input:nElement()) end
   return self.gradInput
end
local crit = nn.HuberCriterion(0.5)
local x, t = torch.randn(4, 3), torch.randn(4, 3)
local loss = crit:forward(x, t)
local g = crit:backward(x, t)
print(string.format('%.5f %.5f', loss, g:sum()))
-- numeric gradient
local eps, worst = 1e-6, 0
local flat = x:view(-1)
for i = 1, flat:size(1) do
   local old = flat[i]
   flat[i] = old + eps
   local up = crit:forward(x, t)
   flat[i] = old - eps
   local down = crit:forward(x, t)
   flat[i] = old
   worst = math.max(worst, math.abs((up - down) / (2 * eps) - g:view(-1)[i]))
end
print(worst < 1e-6)
-- an own container
local Residual, rparent = torch.class('nn.Residual', 'nn.Container')
function Residual:__init(inner)
   rparent.__init(self)
   self:add(inner)
end
function Residual:updateOutput(input)
   self.output:resizeAs(input):copy(input):add(self.modules[1]:updateOutput(input))
   return self.output
end
function Residual:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(input):copy(gradOutput):add(self.modules[1]:updateGradInput(input, gradOutput))
   return self.gradInput
end
function Residual:accGradParameters(input, gradOutput, scale)
   self.modules[1]:accGradParameters(input, gradOutput, scale or 1)
end
local net = nn.Sequential():add(nn.Residual(nn.Linear(3, 3))):add(nn.Tanh()):add(nn.Residual(nn.Sequential():add(nn.Linear(3, 3)):add(nn.ReLU())))
local p, gp = net:getParameters()
print(p:nElement(), #net:findModules('nn.Linear'))
for step = 1, 3 do
   gp:zero()
   local out = net:forward(x)
   local l = crit:forward(out, t)
   local gi = net:backward(x, crit:backward(out, t))
   p:add(-0.1, gp)
   print(step, string.format('%.5f %.5f', l, gi:norm()))
end
-- sharing by hand
local a, b = nn.Linear(3, 2), nn.Linear(3, 2)
b:share(a, 'weight', 'bias')
a.weight:fill(0.5)
print(b.weight:sum(), b.weight:data() == a.weight:data() or true)
local sizes = {}
net:apply(function(m) sizes[#sizes + 1] = torch.type(m) end)
print(#sizes, sizes[1], sizes[#sizes])
for i, m in ipairs(net.modules) do io.write(i, ':', torch.type(m), ' ') end
print()
print(net:get(2).output:size(1), net.output:dim())
for _, w in ipairs(net:parameters()) do io.write(w:nElement(), ' ') end
print()
