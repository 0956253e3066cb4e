-- torch.class with inheritance, own __tostring__, class fields, and layers
require 'nn'
do
   local Shape = torch.class('Shape')
   Shape.count = 0
   function Shape:__init(name)
      self.name = name or 'shape'
      Shape.count = Shape.count + 1
   end
   function Shape:area() return 0 end
   function Shape:describe() return self.name .. ' of area ' .. self:area() end
   function Shape:__tostring__() return torch.type(self) .. '(' .. self.name .. ')' end
   local Square, parent = torch.class('Square', 'Shape')
   function Square:__init(side)
      parent.__init(self, 'square')
      self.side = side
   end
   function Square:area() return self.side ^ 2 end
   function Square:scale(k) self.side = self.side * k; return self end
   local Cube, parent2 = torch.class('Cube', 'Square')
   function Cube:__init(side)
      parent2.__init(self, side)
      self.name = 'cube'
   end
   function Cube:area() return 6 * parent2.area(self) end
end
local s, q, c = Shape(), Square(2), Cube(3)
print(s:describe(), q:describe(), c:describe())
print(tostring(q), tostring(c), Shape.count)
print(torch.type(c), torch.isTypeOf(c, 'Square'), torch.isTypeOf(q, 'Cube'), torch.typename(s))
print(q:scale(2):scale(2).side, q:area(), q.missing == nil)
-- an own layer with state
local Scale, parent = torch.class('nn.ScaleBy', 'nn.Module')
function Scale:__init(factor, inplace)
   parent.__init(self)
   self.factor = factor
   self.inplace = inplace or false
   self.calls = 0
end
function Scale:updateOutput(input)
   self.calls = self.calls + 1
   if self.inplace then
      input:mul(self.factor)
      self.output:set(input)
   else
      self.output:resizeAs(input):copy(input):mul(self.factor)
   end
   return self.output
end
function Scale:updateGradInput(input, gradOutput)
   self.gradInput:resizeAs(gradOutput):copy(gradOutput):mul(self.factor)
   return self.gradInput
end
function Scale:__tostring__()
   return string.format('%s(%g)', torch.type(self), self.factor)
end
local net = nn.Sequential():add(nn.ScaleBy(2)):add(nn.ScaleBy(0.5)):add(nn.ScaleBy(3))
print(net)
local out = net:forward(torch.Tensor{1, 2, 3})
print(out:sum(), net:backward(torch.Tensor{1, 2, 3}, torch.ones(3)):sum())
print(net:get(1).calls, net:get(1).output:sum(), #net.modules)
local copy = net:clone()
copy:get(1).factor = 10
print(copy:forward(torch.ones(3)):sum(), net:forward(torch.ones(3)):sum())
-- plain Lua classes
local Account = {}
Account.__index = Account
function Account.new(balance) local self = setmetatable({}, Account) self.balance = balance return self end
function Account:deposit(v) self.balance = self.balance + v return self end
Account.__tostring = function(a) return 'Account(' .. a.balance .. ')' end
Account.__eq = function(a, b) return a.balance == b.balance end
Account.__lt = function(a, b) return a.balance < b.balance end
Account.__add = function(a, b) return Account.new(a.balance + b.balance) end
local a, b = Account.new(5), Account.new(10)
print(tostring(a:deposit(5)), a == b, a < b, tostring(a + b), rawequal(a, b))
local Savings = setmetatable({}, {__index = Account})
Savings.__index = Savings
function Savings.new(balance, rate) local self = Account.new(balance) self.rate = rate return setmetatable(self, Savings) end
function Savings:interest() return self.balance * self.rate end
local sv = Savings.new(100, 0.5)
print(sv:deposit(100).balance, sv:interest())
-- defaults through a metatable
local defaults = {lr = 0.1, epochs = 3}
local opt = setmetatable({lr = 0.5}, {__index = defaults})
print(opt.lr, opt.epochs, rawget(opt, 'epochs'))
local auto = setmetatable({}, {__index = function(t, k) local v = {} rawset(t, k, v) return v end})
table.insert(auto.x, 1) table.insert(auto.x, 2) table.insert(auto.y, 3)
print(#auto.x, #auto.y)
local log = setmetatable({}, {__call = function(self, ...) self[#self + 1] = table.concat({...}, ' ') end})
log('a', 'b') log('c')
print(#log, log[1], log[2])
