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

-- # a method that is called of the class itself calls others
local Shape = {}
Shape.__index = Shape
Shape.count = 0
function Shape.new(kind, size)
   local o = setmetatable({}, Shape)
   o.kind, o.size = kind, size
   Shape:register(o)
   return o
end
function Shape:register(o)
   self.count = self.count + 1
   self:note(o)
end
function Shape:note(o)
   self.last = o.kind
   print('note', o.kind, self.count, self == Shape)
end
function Shape:area() return self.size * self.size end
local a = Shape.new('square', 3)
local b = Shape.new('box', 4)
print(Shape.count, a.count, rawget(a, 'count'), Shape.last, b.last)
a:note(b)
a:register(b)
print(Shape.count, a.count, rawget(a, 'count'))

-- # a class whose metatable has more than a parent
local Animal = {}
Animal.__index = Animal
setmetatable(Animal, {
   __call = function(cls, name) local o = setmetatable({}, cls) o.name = name return o end,
   __tostring = function() return 'class Animal' end,
   __index = function(t, k) return 'no ' .. k end,
   __len = function() return 5 end,
})
function Animal:say() return self.name .. ' says' end
local a = Animal('cat')
print(a:say(), tostring(Animal), Animal.foo)
print(a.bar)
Animal.x = 3
print(a.x, Animal.x)

-- # a metatable whose __index is a function that looks into it
local Vec = {}
Vec.__index = function(t, k)
   if k == 'x' then return rawget(t, 1) elseif k == 'y' then return rawget(t, 2) end
   return Vec[k]
end
Vec.__newindex = function(t, k, v)
   if k == 'x' then rawset(t, 1, v) elseif k == 'y' then rawset(t, 2, v) else rawset(t, k, v) end
end
function Vec.new(x, y) return setmetatable({x, y}, Vec) end
function Vec:norm() return math.sqrt(self.x * self.x + self.y * self.y) end
Vec.__add = function(a, b) return Vec.new(a.x + b.x, a.y + b.y) end
Vec.__eq = function(a, b) return a.x == b.x and a.y == b.y end
Vec.__tostring = function(v) return '(' .. v.x .. ', ' .. v.y .. ')' end
Vec.__unm = function(v) return Vec.new(-v.x, -v.y) end
Vec.__concat = function(a, b) return tostring(a) .. tostring(b) end
Vec.__call = function(self, k) return self.x * k end
Vec.__lt = function(a, b) return a:norm() < b:norm() end
local v = Vec.new(3, 4)
print(v:norm(), v.x, v.y, v.z)
v.x = 6
v.name = 'p'
print(v[1], v.name, tostring(v + Vec.new(1, 1)), v == Vec.new(6, 4), v ~= Vec.new(6, 4))
print(tostring(-v), v .. v, v .. 'a', v(10), v < Vec.new(1, 1), v > Vec.new(1, 1))

-- # a class whose parent is a table of functions, and what a class's metatable is
local Mixin = {hello = function(self) return 'hello ' .. self.n end}
local Third = {}
Third.__index = Third
setmetatable(Third, {__index = Mixin})
function Third.new(n) return setmetatable({n = n}, Third) end
print(Third.new(9):hello())
local A = {} A.__index = A
function A.new() return setmetatable({}, A) end
function A:f() return 'A' end
local B = setmetatable({}, A) B.__index = B
function B.new() return setmetatable({}, B) end
print(B.new():f(), getmetatable(B) == A, getmetatable(B).__index == A, getmetatable(A))

-- # a table that makes classes, in a variable called cls
local Object = {}
Object.__index = Object
function Object:new() end
function Object:extend()
  local cls = {}
  for k, v in pairs(self) do if k:find('__') == 1 then cls[k] = v end end
  cls.__index = cls
  cls.super = self
  setmetatable(cls, self)
  return cls
end
function Object:is(T)
  local mt = getmetatable(self)
  while mt do if mt == T then return true end mt = getmetatable(mt) end
  return false
end
function Object:__call(...) local obj = setmetatable({}, self) obj:new(...) return obj end
local Point = Object:extend()
function Point:new(x, y) self.x = x or 0 self.y = y or 0 end
function Point:__tostring() return 'Point(' .. self.x .. ', ' .. self.y .. ')' end
local Rect = Point:extend()
function Rect:new(x, y, w) Rect.super.new(self, x, y) self.w = w or 0 end
local p, r = Point(1, 2), Rect(1, 2, 3)
print(tostring(p), tostring(r), r.w, r:is(Point), p:is(Rect), r:is(Object), getmetatable(r) == Rect)

-- # a class whose maker has a variable called cls
local C = {}
C.__index = C
function C:new(x) local cls = {x} local o = setmetatable({x = x}, self) o.n = #cls return o end
local D = setmetatable({}, {__index = C})
D.__index = D
print(C:new(3).x, D:new(4).n, getmetatable(D:new(4)) == D)

-- # a table that is a metatable and has no methods
local function make(name)
  local dict = {}
  dict.__index = dict
  return {name = name, dict = dict}
end
local k = make('k')
k.dict.hello = function(self) return 'hello ' .. self.x end
print(setmetatable({x = 3}, k.dict):hello())

-- # Lua's code goes through a table of functions
local tests = {}
function tests.only() end
local tester = torch.Tester()
tester:add(tests)
tester:run()

-- # queues, sets with operators, events and ordered maps
-- queue, stack, set, ordered map, events
local Queue = {}
Queue.__index = Queue
setmetatable(Queue, {__call = function(cls, ...) return cls.new(...) end})
function Queue.new(...) local self = setmetatable({first = 1, last = 0, items = {}}, Queue) for _, v in ipairs({...}) do self:push(v) end return self end
function Queue:push(v) self.last = self.last + 1 self.items[self.last] = v return self end
function Queue:pop() if self.first > self.last then return nil end local v = self.items[self.first] self.items[self.first] = nil self.first = self.first + 1 return v end
function Queue:size() return self.last - self.first + 1 end
function Queue:iter() local i = self.first - 1 return function() i = i + 1 if i <= self.last then return i, self.items[i] end end end
Queue.__len = Queue.size
local q = Queue(1, 2, 3)
print(q:pop(), q:pop(), q:size(), q:push('x'):size())
for i, v in q:iter() do io.write(i, '=', v, ' ') end print()
print(q:pop(), q:pop(), q:pop(), q:size())
local Set = {}
Set.mt = {__index = Set}
function Set.new(l) local s = setmetatable({}, Set.mt) for _, v in ipairs(l) do s[v] = true end return s end
function Set.union(a, b) local r = Set.new{} for k in pairs(a) do r[k] = true end for k in pairs(b) do r[k] = true end return r end
function Set.inter(a, b) local r = Set.new{} for k in pairs(a) do r[k] = b[k] end return r end
function Set.list(s) local l = {} for k in pairs(s) do l[#l + 1] = k end table.sort(l) return l end
Set.mt.__add = Set.union
Set.mt.__mul = Set.inter
Set.mt.__tostring = function(s) return '{' .. table.concat(Set.list(s), ', ') .. '}' end
Set.mt.__le = function(a, b) for k in pairs(a) do if not b[k] then return false end end return true end
Set.mt.__lt = function(a, b) return a <= b and not (b <= a) end
Set.mt.__eq = function(a, b) return a <= b and b <= a end
local a, b = Set.new{1, 2, 3}, Set.new{2, 3, 4}
print(tostring(a + b), tostring(a * b), (a * b) <= a, a < b, a == Set.new{3, 2, 1}, a ~= b)
local Emitter = {}
function Emitter.new() local o = {handlers = {}} return setmetatable(o, {__index = Emitter}) end
function Emitter:on(name, f) self.handlers[name] = self.handlers[name] or {} table.insert(self.handlers[name], f) return self end
function Emitter:emit(name, ...) local n = 0 for _, f in ipairs(self.handlers[name] or {}) do f(...) n = n + 1 end return n end
local e = Emitter.new()
local log = {}
e:on('x', function(a) log[#log + 1] = 'first ' .. a end):on('x', function(a, b) log[#log + 1] = 'second ' .. tostring(b) end)
print(e:emit('x', 1, 2), e:emit('y'), table.concat(log, '; '))
local OrderedMap = setmetatable({}, {__call = function(self) return setmetatable({_keys = {}, _vals = {}}, self) end})
OrderedMap.__index = function(t, k) local own = rawget(OrderedMap, k) if own ~= nil then return own end return rawget(t, '_vals')[k] end
OrderedMap.__newindex = function(t, k, v) if t._vals[k] == nil then table.insert(t._keys, k) end t._vals[k] = v end
function OrderedMap:each() local i = 0 return function() i = i + 1 local k = self._keys[i] if k then return k, self._vals[k] end end end
local m = OrderedMap()
m.z = 1 m.a = 2 m.z = 3
for k, v in m:each() do io.write(k, '=', v, ' ') end print(m.z, m.nothing)

-- # a class that derives from another and is called, with a method __init that its maker calls
local Base = {}
Base.__index = Base
setmetatable(Base, {__call = function(cls, ...) return cls:new(...) end})
function Base:new(...) local o = setmetatable({}, self) o:__init(...) return o end
function Base:__init(name) self.name = name print('made', name) end
local Layer = setmetatable({}, {__index = Base, __call = function(cls, ...) return cls:new(...) end})
Layer.__index = Layer
function Layer:__init(name, n) Base.__init(self, name) self.n = n or 1 end
function Layer:size() return self.n end
print(Layer('a', 3):size(), Layer('b'):size(), Base('c').name)

-- # what may be an object of a class or the class itself, whose method is called
local C = {}
C.__index = C
function C:new(n) local o = {} setmetatable(o, C) o:set(n) return o end
function C:set(n) self.n = n end
local function make(x, n) return x:new(n) end
print(make(C, 1).n, make(C:new(2), 3).n)

-- # an operand that fails where the one before it is nil
local function larger(a, b) return (a and b and b >= a) and 'larger' or 'no' end
local t = {f = function(a, b) return a and b and b >= a end}
print(larger(1, 2), larger(nil, nil), larger(2, nil), t.f(nil, nil), t.f(1, nil))
local function field(o) return o and o.inner and o.inner.x end
print(field(nil), field({}), field({inner = {x = 2}}))

-- # functions in what nobody knows that take fewer arguments than they are given
local actions = {}
function actions.set(r, k) r[k] = true end
function actions.put(r, k, v, w) r[k] = v .. (w or '') end
local act = coroutine.wrap(function(some)
  while true do local r = {} some.action(r, 'x', 'v', 'w') some = coroutine.yield(r.x) end
end)
print(act{action = actions['set']}, act{action = actions['put']})

-- # metamethods whose first parameter is called _
local function class(name, super)
   local dict = {}
   dict.__index = dict
   local made = {name = name, static = {}, dict = dict}
   setmetatable(made.static, {__index = function(_, k) local v = rawget(dict, k) if v == nil and super then return super.static[k] end return v end})
   return setmetatable(made, {__index = made.static, __newindex = function(c, k, f) c.dict[k] = f end,
                              __call = function(c, ...) return setmetatable({...}, c.dict) end})
end
local A = class('A')
function A:first() return self[1] end
local B = class('B', A)
print(A(3):first(), B.first == A.first, B.name, B(4)[1], A.nothing)

-- # a metatable that reads and writes by functions, which know few names
local Meta = {}
function Meta.__call(self, ...) return self:make(...) end
function Meta.__index(self, name)
  local own = rawget(self, 'methods')
  if own[name] ~= nil then return own[name] end
  error(tostring(name) .. ' is no method')
end
function Meta.__newindex(self, name, value) rawset(rawget(self, 'methods'), name, value) end
Meta.is_class = true
local function new(name)
  local c = {}
  rawset(c, 'methods', {make = function(self, last) return name .. last end})
  return setmetatable(c, Meta)
end
local C = new('a')
function C:f(x) return x * 2 end
print(type(C), getmetatable(C).is_class, C('b'), C:f(4), pcall(function() return C.other end) == false)
print(C.f == rawget(C, 'methods').f, rawget(C, 'f'))

-- # a table that passed a function before it is a class
local registry = {}
local function register(name, class) registry[name] = class return class end
local Plain = register('plain', {})
Plain.__index = Plain
function Plain.new(o) return setmetatable({rate = o.rate or 1}, Plain) end
function Plain:step(x) return x - self.rate end
local Half = register('half', setmetatable({}, {__index = Plain}))
Half.__index = Half
function Half.new(o) return setmetatable(Plain.new(o), Half) end
function Half:step(x) return Plain.step(self, x) / 2 end
for _, name in ipairs{'plain', 'half'} do print(name, registry[name].new({rate = 2}):step(10)) end

-- # fields that a metatable reads and puts elsewhere
local function with_properties()
  local C = {getters = {}, setters = {}}
  function C.__index(o, k) local get = C.getters[k] if get then return get(o) end return C[k] end
  function C.__newindex(o, k, v) local set = C.setters[k] if set then set(o, v) else rawset(o, k, v) end end
  function C.new(c) return setmetatable({_c = c}, C) end
  return C
end
local Degrees = with_properties()
function Degrees.getters.f(o) return o._c * 9 / 5 + 32 end
function Degrees.setters.f(o, v) o._c = (v - 32) * 5 / 9 end
local d = Degrees.new(100)
print(d.f, d._c)
d.f = 32
print(d.f, d._c)

-- # a class library whose function is called through its metatable
local function new(class)
  class = class or {}
  local base = class.__includes
  if base then for k, v in pairs(base) do if class[k] == nil then class[k] = v end end end
  class.__index = class
  class.init = class.init or function() end
  return setmetatable(class, {__call = function(c, ...) local o = setmetatable({}, c) o:init(...) return o end})
end
local Class = setmetatable({new = new}, {__call = function(_, ...) return new(...) end})
local Entity = Class{init = function(self, x, y) self.x, self.y = x, y end}
function Entity:pos() return self.x .. ',' .. self.y end
local Player = Class{__includes = Entity}
function Player:init(name, ...) Entity.init(self, ...) self.name = name end
print(Entity(1, 2):pos(), Player('ann', 3, 4):pos(), Player('bo', 0, 0).name)

-- # objects that a loop calls, past the end of their lists
local function iter(list)
  return setmetatable({i = 0, list = list}, {__call = function(self)
    self.i = self.i + 1
    return self.list[self.i]
  end})
end
for v in iter{'a', 'b'} do print(v) end
local it = iter{1}
print(it(), it(), it.i)
local It = {}
It.__index = It
function It.__call(self)
  local x = self.items[self.pos]
  self.pos = self.pos + 1
  return x
end
function It.new(items) return setmetatable({items = items, pos = 1}, It) end
for x in It.new{'x', 'y', 'z'} do print(x) end
local q = It.new{1}
print(q(), q(), q.pos)

-- # tables whose functions are copied into classes, and classes that are made together
local Mixin = {}
function Mixin:hello() return 'hello ' .. self.name end
function Mixin.static(x) return x + 1 end
Mixin.kind = 'mixin'
local C = {}
C.__index = C
for k, v in pairs(Mixin) do C[k] = v end
function C.new(name) return setmetatable({name = name}, C) end
local c = C.new('x')
print(c:hello(), C.static(3), c.kind)
local function include(class, mixin)
  for k, v in pairs(mixin) do if class[k] == nil then class[k] = v end end
end
local Events = {}
function Events:on(name, f) self.handlers = self.handlers or {} self.handlers[name] = f end
function Events:fire(name, ...) if self.handlers[name] then return self.handlers[name](...) end end
local D, E = {}, {}
D.__index, E.__index = D, E
include(D, Events)
function D.new() return setmetatable({}, D) end
function E.twice(x) return x * 2 end
E.double = E.twice
function E.new() return setmetatable({}, E) end
local d = D.new()
d:on('a', E.new().double)
print(d:fire('a', 4), d:fire('b'))

-- # a table of functions that are copied into tables
local Emitter = {}
Emitter.__index = Emitter
function Emitter.extend(t)
   t.handlers = {}
   for k, v in pairs(Emitter) do if k ~= '__index' and k ~= 'extend' then t[k] = v end end
   return t
end
function Emitter:on(name, f)
   self.handlers[name] = self.handlers[name] or {}
   table.insert(self.handlers[name], f)
   return self
end
function Emitter:emit(name, ...)
   for _, f in ipairs(self.handlers[name] or {}) do f(self, ...) end
   return #(self.handlers[name] or {})
end
local trainer = Emitter.extend{epoch = 0}
function trainer:run(n) for i = 1, n do self.epoch = i; self:emit('epoch', i * 2) end end
trainer:on('epoch', function(t, x) print(t.epoch, x) end):on('epoch', function() print('two') end)
trainer:run(2)
print(trainer:emit('none'), trainer:emit('epoch', 7))

-- # one function that makes objects of several tables, or of what it is given
local A, B = {}, {}
A.__index = A
B.__index = B
function A:f() return 'A' end
function B:f() return 'B' end
local function new(class, t) return setmetatable(t or {}, class) end
print(new(A):f(), new(B):f(), new(A, {x = 1}):f(), new(B, {x = 1}).x)
local C = {}
C.__index = C
function C:new(o) return setmetatable(o or {}, self) end
function C:f() return 'C' end
local D = setmetatable({}, {__index = C})
D.__index = D
function D:f() return 'D' .. C.f(self) end
print(D:new{x = 3}:f(), D:new():f(), C:new():f(), C:new{x = 4}.x)
local E = {}
E.__index = E
function E:new(o) o = o or {}; setmetatable(o, self); return o end
function E:f() return 'E' end
local F = E:new()
F.__index = F
function F:f() return 'F' .. E.f(self) end
local f = F:new{k = 1}
print(f:f(), E:new():f(), E:new{x = 4}.x, F:new{x = 3}:f(), f.k)
local G = {n = 0}
G.__index = G
function G.make(x, class) local self = setmetatable({}, class or G) G.n, self.x = G.n + 1, x return self end
function G:f() return 'G' .. self.x end
local H = setmetatable({}, G)
H.__index = H
function H.make(x) local h = G.make(x, H) h.y = 1 return h end
function H:f() return 'H' .. G.f(self) .. self.y end
print(H.make(2):f(), G.make(3):f(), getmetatable(H.make(1)) == H, H.n)

-- # one object with methods
local util = {}
function util.copy(t) local o = {} for k, v in pairs(t) do o[k] = v end return o end
function util:name() return 'util' end
print(util:name(), util.copy({a = 1}).a)
-- a data set, which a trainer uses by methods
local set = {data = {1, 2, 3}}
function set:size() return #self.data end
function set:get(i) return self.data[i] end
local function sum(d) local s = 0 for i = 1, d:size() do s = s + d:get(i) end return s end
print(sum(set), set:size())
local other = {data = {5}}
function other:size() return 1 end
function other:get(i) return self.data[i] * 10 end
print(sum(other))
-- changed by a loop over its entries: stays a table
local t = {a = 1}
function t:f() return 1 end
local n = 0
for k in pairs(t) do n = n + 1 end
print(n, t:f())
local function show(x) local c = 0 for _ in pairs(x) do c = c + 1 end return c end
local q = {z = 1}
function q:f() return self.z end
print(q:f(), q.missing, q['z'])
local maker = {}
function maker:make(n) local o = {n = n} function o:twice() return 2 * self.n end return o end
print(maker:make(4):twice(), maker:make(5).n)
local a, b = {}, {}
function a:f() return 'a' end
print(a:f())
local log = {lines = {}}
function log:add(s) self.lines[#self.lines + 1] = s return self end
print(#log:add('x'):add('y').lines, type(log), log == log, log ~= q)
function log.static(x) return x * 2 end
local g = log.static
print(g(4), log['static'](3))
local state = {}
function state:reset() self.count, self.items = 0, {} end
state:reset()
state.count = state.count + 1
state.items[1] = 'i'
print(state.count, #state.items, state.nothing)
print((pcall(function() return state:absent() end)))
local box = {v = 1}
function box:set(v) self.v = v end
local alias = box
alias:set(9)
print(box.v, rawget(box, 'v'))

-- # one object with methods, in the place of another
local D = {}
D.__index = D
function D.new(n)
  local self = setmetatable({}, D)
  self.size = n
  if n > 2 then
    self.pool = torch.Tensor(n)
  else
    self.pool = {}
    function self.pool:addjob(f1, f2) f2(f1()) end
    function self.pool:stop() end
  end
  return self
end
function D:go()
  self.pool:addjob(function() return 3 end, function(x) print(x) end)
  self.pool:stop()
end
D.new(1):go()
local o = {}
function o:add(x) self.n = (self.n or 0) + x return self.n end
function o:twice() return 2 * self.n end
print(o:add(3), o:add(4), o:twice(), o.n)
local Threads = require 'threads'
local p
local k = #os.tmpname() > 99 and 2 or 0
if k > 0 then p = Threads(k) else
   p = {}
   function p:addjob(f1, f2) f2(f1()) end
   function p:synchronize() end
end
p:addjob(function() return 5 end, function(x) print('got', x) end)
p:synchronize()

-- # one object with methods of a name
-- A net of its own
local Net = {n = 0, name = 'x'}
function Net:add(x) self.n = self.n + x self.last = x return self.n end
Net.k = 3
print(Net:add(3), Net.name)
function Net:twice() return 2 * self:add(1) end
function Net.plain(a) return a .. Net.name end
print(Net:twice(), Net.plain('a'), Net.last, Net.k)
counter = {}
function counter:next() self.i = (self.i or 0) + 1 return self.i end
counter:next()
print(counter:next(), counter.i)

-- # classes whose objects have a metatable of its own
local Loader = {}
local Loader_mt = {__index = Loader}
function Loader:new(dir, n)
  local l = {}
  setmetatable(l, Loader_mt)
  l.dir = dir
  l.files = {'a', 'b'}
  l.n = n or 2
  l:reset()
  return l
end
function Loader:reset() self.i = 1 end
function Loader:next()
  local f = self.files[self.i]
  self.i = self.i % self.n + 1
  return f
end
local a = Loader:new('d')
print(a:next(), a:next(), a:next(), a.dir)
local data = {}
function data.init(t)
  local new_data = {}
  setmetatable(new_data, { __index = data })
  new_data.t = t
  new_data:reset()
  return new_data
end
function data:reset() self.pos = 0 end
function data:step() self.pos = self.pos + 1 return self.t .. self.pos end
local d = data.init('x')
print(d:step(), d:step())
local Stack = {}
function Stack.create() return setmetatable({items = {}}, {__index = Stack}) end
function Stack:push(x) self.items[#self.items + 1] = x return self end
function Stack:size() return #self.items end
print(Stack.create():push(1):push(2):size())
local P = {}
P.__index = P
function P:new(x) local o = {} setmetatable(o, P) o.x = x return o end
function P:twice() return 2 * self.x end
local p = P:new(4)
print(p:twice(), p:new(5):twice())

-- # objects that go elsewhere, and one of each call
local base = {k = 2}
function base:f(x) return self.k * x end
local sub = {}
sub.__index = base
local o = setmetatable({k = 5}, sub)
print(o:f(2), base:f(2))
local m = {n = 0}
function m:inc() self.n = self.n + 1 return self end
local list = {m}
table.insert(list, m)
print(list[1] == m, #list, list[2]:inc().n)
local t = {obj = m, f = function(x) return x:inc().n end}
print(t.obj:inc().n, t.f(m))
local function use(x) if x.n > 2 then return x.n end return 'small' end
print(use(m))
m = nil
local function new() local self = {v = 1} function self:get() return self.v end function self.sget() return self.v end return self end
local a, b = new(), new()
a.v = 7
print(a:get(), b:get(), a.sget(), b.sget())

-- # one object with methods, given to functions that go through tables
local n = {a = 1, b = 2}
function n:f() return self.a end
local m = n
local ks = {}
for k in pairs(m) do ks[#ks + 1] = k end
table.sort(ks)
print(table.concat(ks, ' '))
local n2 = {a = 1, b = 2}
function n2:f() return self.a end
local util = {}
function util.count(t) local c = 0 for k, v in pairs(t) do c = c + 1 end return c end
print(util.count(n2), n2:f())
local n3 = {a = 1}
function n3:f() return self.a end
local function extend(t) return setmetatable(t, {__index = {z = 26}}) end
extend(n3)
print(n3.z, n3:f())
local n4 = {a = 1}
function n4:f() return self.a end
local function inherit(t) return setmetatable({}, {__index = t}) end
local kid = inherit(n4)
kid.a = 4
print(kid:f(), n4:f())

-- # a new that does not look at self makes objects of its own class, whatever it is called of
local K = {}
K.__index = K
function K:new(x) return setmetatable({x = x}, K) end
function K:get() return self.x end
local J = setmetatable({}, {__index = K})
J.__index = J
function J:get() return 'J' end
print(J:new(2):get(), K:new(1):new(3):get(), K.new(nil, 2):get())
local H = {}
H.__index = H
function H:hi() return 'H' end
local C = {}
C.__index = C
function C:new() local o = setmetatable({}, self) o.h = setmetatable({}, H) return o end
function C:hi() return 'C' .. self.h:hi() end
local D = setmetatable({}, {__index = C})
D.__index = D
function D:hi() return 'D' .. self.h:hi() end
print(C:new():hi(), D:new():hi())

-- # one object with methods that wraps a net
require 'nn'
local m = {}
local function make()
  m.wrap = {inner = nn.Linear(2, 2)}
  function m.wrap:replace(f) self.inner:replace(f) return self end
  function m.wrap:forward(x) return self.inner:forward(x) end
end
make()
m.wrap.inner.weight:fill(1) m.wrap.inner.bias:zero()
local w = m.wrap
local cudnn = {convert = function(net, f) return net:replace(f) end}
cudnn.convert(w, function(x) return x end)
w:replace(function(x) return x end)
print(w:forward(torch.ones(2)):sum(), nn.utils ~= nil)

-- # methods that the program gives tensors
function torch.FloatTensor:with_batch()
  local sizes = self:size():totable()
  return self:view(1, unpack(sizes))
end
if cutorch then torch.CudaTensor.with_batch = torch.FloatTensor.with_batch end
function torch.DoubleTensor.rescaled(x, k) return x * (k or 2) end
local x = torch.FloatTensor(2, 3):fill(1)
print(x:with_batch():size(), x:with_batch():dim())
print(torch.ones(2):rescaled(), torch.ones(3):rescaled(3):sum())
-- two of one name stay methods
function torch.FloatTensor:kind() return 'float' end
function torch.DoubleTensor:kind() return 'double' end
print(x:kind(), torch.ones(1):kind())

-- # a table or a text, of which the table is copied with its metatable
local function norm(t)
  if type(t) == 'table' then
    local v, rep = {}, {}
    for _, tok in ipairs(t) do
      local vt, vr
      vt, vr = norm(tok)
      table.insert(v, vt)
      if vr then rep[vt] = vr end
    end
    return v, rep
  end
  local first = t:find('<')
  if not first then return t end
  return t:sub(1, first), t:sub(first + 1)
end
local Reader = torch.class('Reader')
function Reader:__init(lines) self.lines = lines; self.i = 0 end
function Reader:next()
  self.i = self.i + 1
  local line = self.lines[self.i]
  if not line then return nil end
  local items = {}
  for w in line:gmatch('%S+') do items[#items + 1] = w end
  return items
end
local function copy(t)
  if type(t) ~= 'table' then return t end
  local new = {}
  for k, v in next, t, nil do new[copy(k)] = copy(v) end
  return setmetatable(new, copy(getmetatable(t)))
end
local r = Reader.new{'a b<c', 'd', 'e<f g<h'}
local all = {norm = norm, copy = copy}
while true do
  local items = r:next()
  if not items then break end
  local words, rep = all.norm(copy(items))
  local names = {}
  for k, v in pairs(rep) do names[#names + 1] = k .. '=' .. v end
  table.sort(names)
  print(#words, table.concat(words, ' '), table.concat(names, ' '))
end
print(norm('x<y'))
print(norm('x'))

-- # a method that tensors get and others have, too, stays one
function torch.DoubleTensor:len() return self:size(1) end
function torch.DoubleTensor:option(k) return k end
local cmd = torch.CmdLine()
cmd:option('-n', 3, 'n')
print(torch.ones(3):len(), ('ab'):len(), cmd:parse({}).n, torch.ones(1):option(4))
-- one that is asked for by a computed name, too
function torch.DoubleTensor:halved() return self / 2 end
for _, name in ipairs{'halved'} do print(torch.ones(1)[name](torch.ones(2)), torch.ones(1):halved()) end

-- # an entry given to a method that is called like one of tensors, and asks for another argument
local Counts = {}
Counts.__index = Counts
function Counts:add(given, target)
  if type(given) == 'number' then self.mat[target][given] = self.mat[target][given] + 1
  else self.mat[target[1]][given[1]] = 7 end
end
local counts = setmetatable({mat = torch.zeros(2, 2)}, Counts)
local function count(sample, classes)
  local _, best = sample[2]:max(1)
  counts:add(classes[1], best[1])
end
count({torch.ones(2, 2, 2), torch.Tensor{3, 4}}, torch.Tensor{1})
print(counts.mat)

-- # the negative of a table with a metatable
local V = {}
local mt = {__index = V}
local function vec(x, y) return setmetatable({x = x, y = y}, mt) end
function V:first() return self.x end
mt.__unm = function(a) return a * -1 end
mt.__tostring = function(a) return '<' .. a.x .. ' ' .. a.y .. '>' end
mt.__mul = function(a, b) return vec(a.x * b, a.y * b) end
local v = vec(1, -2)
print(-v)
print(tostring(-(-v)), (-v):first())

-- # a parent that is a class or a table
local Base = {}
Base.__index = Base
function Base:kind() return 'thing' end
local function extend(parent)
  local cls = {super = parent}
  cls.__index = cls
  return setmetatable(cls, {__index = parent, __call = function(c, ...)
    local o = setmetatable({}, c)
    o:init(...)
    return o
  end})
end
local Animal = extend(Base)
function Animal:init(legs) self.legs = legs end
function Animal:kind() return self.legs .. ' legs' end
local Bird = extend(Animal)
function Bird:init() Animal.init(self, 2) end
function Bird:kind() return 'bird, ' .. self.super.kind(self) end
print(Animal(4):kind(), Bird():kind())

-- # classes in small letters
local data_set = {}
data_set.__index = data_set
function data_set.new(n) return setmetatable({n = n}, data_set) end
function data_set:size() return self.n end
local d = data_set.new(3)
print(d:size(), data_set == getmetatable(d))
local util = {}
util.__index = util
function util.twice(x) return 2 * x end
local Util = 4
print(util.twice(Util), setmetatable({}, util).twice(2))
queue = {}
queue.__index = queue
function queue.new() return setmetatable({items = {}}, queue) end
function queue:push(x) table.insert(self.items, x) return #self.items end
print(queue.new():push(2))

-- # several fields of what nobody knows
local function class()
  local c = {}
  c.__index = c
  c.new = function(...) local o = setmetatable({}, c); c.init(o, ...); return o end
  return c
end
local A, B = class(), class()
function A.init(self, text) self.text, self.at, self.parts, self.text = text, 1, {}, text end
function B.init(self, n) self.n, self.m = n, self end
local a, b = A.new('x'), B.new(3)
print(a.text, a.at, #a.parts, b.n, b.m == b)
