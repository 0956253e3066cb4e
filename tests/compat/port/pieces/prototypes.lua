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
-- # a maker that a class inherits makes objects of that class
local Base = {}
Base.__index = Base
Base.made = 0
function Base:new(x) local o = setmetatable({}, self) o.x = x Base.made = Base.made + 1 return o end
function Base:get() return self.x end
function Base:kind() return 'base' end
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
function Derived:get() return self.x * 2 end
function Derived:kind() return 'derived ' .. Base.kind(self) end
local b, d = Base:new(3), Derived:new(4)
print(b:get(), d:get(), b:kind(), d:kind(), Base.made)
print(getmetatable(d) == Derived, getmetatable(b) == Base)
-- # methods of a class itself that ask for fields before they are set
local C = {}
C.__index = C
function C:make(n) self.total = (self.total or 0) + n return self end
function C.static(a, b) return a, b end
print(C:make(2).total, C:make(3).total, C.total)
print(C:static(1) == C, (select(2, C:static(1))), C.static(5, 6))
local S = {}
S.__index = S
function S:instance() if not S._inst then S._inst = setmetatable({n = 0}, self) end return S._inst end
function S:inc() self.n = self.n + 1 return self.n end
print(S:instance():inc(), S:instance():inc(), S:instance() == S:instance())
-- # makers that are called by other makers and as functions
local Base = {}
Base.__index = Base
function Base:new(x) local o = {x = x} setmetatable(o, self) return o end
function Base:get() return self.x end
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
function Derived:new(x, y) local o = Base.new(self, x) o.y = y return o end
function Derived:get() return self.x + self.y end
print(Base:new(3):get(), Derived:new(4, 5):get())
local d = Derived.new(Derived, 1, 2)
print(d:get(), getmetatable(d) == Derived)
local V = {}
V.__index = V
function V.new(...) return setmetatable({...}, V) end
function V:len() return #self end
function V:sum() local s = 0 for i = 1, #self do s = s + self[i] end return s end
local v = V.new(3, 4)
print(v:len(), v:sum(), v[2])
local b = Base.new(Derived, 7)
b.y = 1
print(b:get())
local G = {}
G.__index = G
G.n = 0
function G:new(x) local o = setmetatable({}, self) o.id = self:nextid() o.x = x return o end
function G:nextid() self.n = self.n + 1 return self.n end
local H = setmetatable({}, {__index = G})
H.__index = H
H.n = 10
print(G:new(1).id, H:new(2).id, G:new(3).id, G.n, H.n, getmetatable(H:new(1)) == H)
-- # a parent and a call in one metatable
local Animal = {} Animal.__index = Animal
setmetatable(Animal, {__call = function(cls, ...) local o = setmetatable({}, cls) o:init(...) return o end})
function Animal:init(name, sound) self.name, self.sound = name, sound or '...' end
function Animal:speak() return self.name .. ' says ' .. self.sound end
local Dog = {} Dog.__index = Dog
setmetatable(Dog, {__index = Animal, __call = function(cls, ...) local o = setmetatable({}, cls) o:init(...) return o end})
function Dog:init(name) Animal.init(self, name, 'woof') self.tricks = {} end
function Dog:learn(t) table.insert(self.tricks, t) return self end
function Dog:speak() return Animal.speak(self) .. '!' end
local a, d = Animal('cat', 'meow'), Dog('rex')
print(a:speak(), d:speak(), #d:learn('sit'):learn('roll').tricks, getmetatable(d) == Dog)

-- # Lua's code goes through a table of functions
local tests = {}
function tests.only() end
local tester = torch.Tester()
tester:add(tests)
tester:run()
