require 'nn'
torch.manualSeed(3)
torch.class('Animal')
Animal.count = 0
function Animal:__init(name, legs)
  self.name = name
  self.legs = legs or 4
  Animal.count = Animal.count + 1
end
function Animal:speak() return self.name .. ' says ' .. self:sound() end
function Animal:sound() return '...' end
function Animal:__tostring__() return torch.type(self) .. '(' .. self.name .. ')' end
do local Dog, parent = torch.class('Dog', 'Animal')

function Dog:__init(name) parent.__init(self, name) self.tricks = {} end
function Dog:sound() return 'woof' end
function Dog:learn(...) for _, t in ipairs{...} do table.insert(self.tricks, t) end return self end
function Dog:speak() return parent.speak(self) .. '!' end
end
local d, a = Dog('Rex'), Animal('Cat', 3)
print(d:speak(), a:speak(), d.legs, a.legs, #d:learn('sit', 'roll').tricks, Animal.count)
print(tostring(d), torch.type(d), torch.typename(a), torch.isTypeOf(d, 'Animal'), torch.isTypeOf(a, 'Dog'))
print(d.tricks[2], d.nothing)
local Scale, sparent = torch.class('nn.Scale7', 'nn.Module')
function Scale:__init(k) sparent.__init(self) self.k = k; self.weight = torch.Tensor{k}; self.gradWeight = torch.zeros(1) end
function Scale:updateOutput(input) self.output:resizeAs(input):copy(input):mul(self.weight[1]); return self.output end
function Scale:updateGradInput(input, gradOutput)
  self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.weight[1]); return self.gradInput
end
function Scale:accGradParameters(input, gradOutput, scale)
  self.gradWeight[1] = self.gradWeight[1] + (scale or 1) * torch.cmul(input, gradOutput):sum()
end
local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Scale7(2)):add(nn.Tanh())
local crit = nn.MSECriterion()
local x, y = torch.randn(4, 3), torch.randn(4, 2)
local p, g = net:getParameters()
for i = 1, 3 do
  g:zero()
  local loss = crit:forward(net:forward(x), y)
  net:backward(x, crit:backward(net.output, y))
  p:add(-0.1, g)
  print(('%d %.6f %.6f'):format(i, loss, net:get(2).weight[1]))
end
print(#net.modules, torch.type(net:get(2)), p:size(1), net:get(2).k)
print(net)
local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({n = 0, items = {}}, Stack) end
function Stack:push(v) self.n = self.n + 1; self.items[self.n] = v end
function Stack:pop() local v = self.items[self.n]; self.items[self.n] = nil; self.n = self.n - 1; return v end
local s = Stack.new()
s:push(1) s:push('two') s:push{3}
print(s:pop()[1], s:pop(), s.n)
local Vec = {}
Vec.__index = Vec
Vec.__add = function(a, b) return setmetatable({x = a.x + b.x}, Vec) end
Vec.__eq = function(a, b) return a.x == b.x end
Vec.__tostring = function(v) return 'Vec(' .. v.x .. ')' end
Vec.__len = function(v) return v.x end
local v = setmetatable({x = 1}, Vec) + setmetatable({x = 2}, Vec)
print(tostring(v), v.x, v == setmetatable({x = 3}, Vec))
