-- # a maker of objects that is called with its class
local Stack = {}
function Stack:new() local o = {items = {}, n = 0} setmetatable(o, self) self.__index = self return o end
function Stack:push(v) self.n = self.n + 1 self.items[self.n] = v return self end
local s = Stack:new():push(1):push('x')
print(s.n, s.items[2])
Account = {}
Account.__index = Account
function Account:new(o) o = o or {} setmetatable(o, self) return o end
function Account:f() return self.n or 0 end
print(Account:new{n = 4}:f(), Account:new():f())
-- # objects that are classes of others
local Base = {}
function Base:extend(t) t = t or {} self.__index = self return setmetatable(t, self) end
function Base:new(...) local o = self:extend() if o.init then o:init(...) end return o end
local Point = Base:extend{x = 0, y = 0}
function Point:init(x, y) self.x, self.y = x or self.x, y or self.y end
function Point:add(o) return Point:new(self.x + o.x, self.y + o.y) end
local P3 = Point:extend{z = 1}
function P3:init(x, y, z) Point.init(self, x, y) self.z = z or self.z end
local p = Point:new(1, 2):add(Point:new(3))
print(p.x, p.y, P3:new(5).z, P3:new(1, 2, 3).z, P3:new().x, P3:new(1):add(p).x)
-- # the first of the results of a method that gives one or two
local L = {}
L.__index = L
setmetatable(L, {__call = function(cls, ...) return cls.new(...) end})
function L.new(n) return setmetatable({n = n}, L) end
function L:reset() self.at = 0 return self end
function L:next() if self.at >= self.n then return nil end self.at = self.at + 1 return self.at * 10, self.at end
local l = L(2)
local first = l:reset():next()
print(first, l:next())
print(l:next())
-- # an entry that is tested once it is in a variable
local t, i = {'a', 'b'}, 1
while true do
  local v = t[i]
  if v == nil then break end
  io.write(v, ' ')
  i = i + 1
end
print()
local function stateless(list, k) k = k + 1 local v = list[k] if v then return k, v end end
for k, v in stateless, {'x', 'y'}, 0 do io.write(k, v, ';') end
print()
-- # the methods that pairs finds in a class
local C = {}
C.__index = C
function C.new() return setmetatable({}, C) end
function C:b() return 1 end
function C:__tostring() return 'c' end
local names = {}
for k, v in pairs(C) do if type(v) == 'function' then names[#names + 1] = k end end
table.sort(names)
print(table.concat(names, ','), tostring(C.new()))
-- # strings that look like comments
print('--[[ x', '--[==[', "]]", #'--[[') -- [[ no
--[==[ long
comment ]==] print('after')
-- # functions that are given more than they name
local x = torch.Tensor{1, 2}
print(pcall(x.apply, x, function() return 7 end))
print(x:map(torch.Tensor{3, 4}, function(a) return a end)[1])
-- # a table that is the object of its own methods, called by name
local log = {}
function log.add(self, t) for k, v in pairs(t) do self[k] = (self[k] or 0) + v end return self end
function log.show(x) print('show', x) end
log:add{loss = 1}:add{loss = 5, acc = 1}
log.show(log.loss)
print(log.loss, log.acc)
-- # methods that are called of the class itself
local R = {}
R.__index = R
R.made = 0
function R:new(x) local o = setmetatable({}, self) o.x = x self.made = self.made + 1 return o end
function R:count() return self.made end
local r1, r2 = R:new(3), R:new(4)
print(R:count(), r1.x, r2:count(), R.made)
-- # methods in the __index of another table
local methods = {}
local mt = {}
mt.__index = methods
function methods:len() return #self.items end
function methods:push(v) self.items[#self.items + 1] = v return self end
local function stack() return setmetatable({items = {}}, mt) end
print(stack():push(1):push(2):len())
-- # classes that a function makes
local function class(parent)
   local c = {}
   c.__index = c
   setmetatable(c, {__index = parent, __call = function(cls, ...) return cls.new(...) end})
   c.new = function(...) local o = setmetatable({}, c) if o.init then o:init(...) end return o end
   return c
end
local Shape = class()
function Shape:init(name) self.name = name end
function Shape:area() return 0 end
function Shape:describe() return ('%s %.2f'):format(self.name, self:area()) end
local Square = class(Shape)
function Square:init(s) Shape.init(self, 'square') self.s = s end
function Square:area() return self.s * self.s end
for _, s in ipairs{Square(2), Shape('thing')} do print(s:describe()) end
