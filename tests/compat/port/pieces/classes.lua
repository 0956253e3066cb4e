-- # methods defined twice and conditionally
local A = {}
A.__index = A
function A.new() return setmetatable({}, A) end
function A:f() return 1 end
local old = A.f
function A:f() return old(self) + 1 end
print(A.new():f())
if true then function A:g() return 'g' end end
print(A.new():g())
A.h = function(self, x) return x end
print(A.new():h(4))

-- # class in function
local function make(n)
  local C = {}
  C.__index = C
  function C.new(x) return setmetatable({x = x}, C) end
  function C:get() return self.x + n end
  return C
end
local P, Q = make(1), make(10)
print(P.new(1):get(), Q.new(1):get(), P == Q)

-- # methods before index
local M = {}
function M.new() return setmetatable({v = 1}, M) end
function M:get() return self.v end
M.__index = M
print(M.new():get())

-- # module pattern
local M = {}
M.version = '1.0'
local private = 5
function M.get() return private end
function M.set(v) private = v end
M.list = {}
function M.add(x) table.insert(M.list, x) end
M.add(3); M.add(4); M.set(6)
print(M.version, M.get(), #M.list, M.list[2])
for k, v in pairs({M.get()}) do print(k, v) end

-- # metatable by hand
local mt = {__index = function(t, k) return k .. t.suffix end, __call = function(self, a, b) return a, b, self.suffix end,
  __tostring = function(self) return 'T' .. self.suffix end, __len = function() return 7 end,
  __concat = function(a, b) return 'C' end, __eq = function() return true end,
  __unm = function(t) return 'neg' end, __mul = function(a, b) return 'mul' end, __mod = function() return 'mod' end,
  __pow = function() return 'pow' end, __div = function() return 'div' end, __sub = function() return 'sub' end}
local t, u = setmetatable({suffix = '!'}, mt), setmetatable({suffix = '?'}, mt)
print(t.foo, t(1, 2), tostring(t), t .. 'x', t == u, -t, t * 2, 2 * t, t % 2, t ^ 2, t / 2, t - 1)

-- # objects compared and printed fields
local P = {}
P.__index = P
function P.new(a) local self = setmetatable({}, P); self.a = a; return self end
local p = P.new()
print(p.a, p.b, p.a == nil)
p.b = 4
print(p.b, p.c)
print(tostring(p.c), 'x' .. tostring(p.c))
local q = P.new(false)
print(q.a, q.a or 'default')

-- # concat metamethod in class
local V = {}
V.__index = V
V.__concat = function(a, b) return 'V' .. tostring(type(a)) end
local v = setmetatable({}, V)
print(v .. v, 'x' .. v, v .. 1)

-- # ipairs stops
local t = {1, 2, nil, 4}
for i, v in ipairs(t) do print(i, v) end
local u = {1, nil}
for i, v in ipairs(u) do print(i, v) end
local function f() return nil end
local w = {f(), 2}
for i, v in ipairs(w) do print(i, v) end

-- # string keys and numbers
local t = {}
t['1'] = 'string'
t[1] = 'number'
print(t['1'], t[1])
local d = {}
for w in ('the cat the dog'):gmatch('%a+') do d[w] = (d[w] or 0) + 1 end
print(d.the, d.cat, d.bird)
local keys = {}
for k in pairs(d) do table.insert(keys, k) end
table.sort(keys)
print(table.concat(keys, ' '))
local n = {}
n[3] = 'x'; n[10] = 'y'
print(n[3], n[10], n[1], n[4])

-- # or chains
local function opt(o)
  o = o or {}
  local a = o.a or 1
  local b = o.b == nil and true or o.b
  local c = o.c and o.c * 2 or 'none'
  return a, b, c
end
print(opt())
print(opt{a = 0, b = false, c = 3})
print(opt({a = false}))
local x = nil
local y = x and x.z
print(y, x == nil and 'nil' or 'set')
local z = (false or nil) == nil
print(z, not not 0, not not nil)

-- # numeric for modifies copy
local t = {}
for i = 1, 3 do local j = i * 2; t[#t + 1] = j; i = i + 10 end
print(#t, t[3])
for i = #t, 1, -1 do if t[i] == 4 then table.remove(t, i) end end
print(#t, t[1], t[2])

-- # while with assignment
local n, log = 5, {}
while true do n = n - 1; if n < 2 then break elseif n == 3 then log[#log + 1] = 'three' end; log[#log + 1] = n end
print(table.concat(log, ' '))

-- # early return in loops
local function find(t, x) for i, v in ipairs(t) do if v == x then return i end end end
print(find({5, 6}, 6), find({5, 6}, 7))
local function find2(t, x) for i, v in ipairs(t) do if v == x then return i, v end end return nil, 'no' end
print(find2({5, 6}, 7))
print((find2({5, 6}, 5)))
local i, v = find2({5}, 5)
print(i, v)

-- # shadowing
local x = 1
do local x = 2; print(x) end
print(x)
local x = x + 1
print(x)
for x = 5, 5 do print(x) end
print(x)
local function f(x) local x = x * 2; return x end
print(f(4), x)
if x then local x = 'inner'; print(x) end
print(x)
local print2 = print
do local print = function() print2('hidden') end; print('a') end
print('b')

-- # upvalues
local a = 1
local function set(v) a = v end
local function get() return a end
set(5)
print(a, get())
local function mk() local n = 0; local o = {}; function o.inc() n = n + 1; return n end; function o:get() return n end; return o end
local o = mk()
o.inc(); o.inc()
print(o.inc(), o:get())

-- # string.format odd
print(('%s'):format(1.5), ('%d'):format(3.0), ('%5.1f'):format(2), ('%s'):format('a\nb'))
print(string.format('%-8s|%8s|', 'ab', 'cd'), string.format('%03d', 7), string.format('%+d', 5))
print(string.format('%s', 1e20), string.format('%g', 1e20), string.format('%.3g', 0.00012345))
print(('x'):rep(3, ','), #string.format('%10s', 'a'))
print(string.format('%c%c', 72, 105), string.format('%o', 8), string.format('%X', 255), string.format('%a', 1) ~= nil)
print(string.format("%q", 'line\n"q"'))
print(tostring(12345678901234), 1e14, 123456.789e3, 2^24, 1e5)

-- # integer division and floor
print(7 / 2, math.floor(7 / 2), -7 / 2, math.floor(-7 / 2), 6 / 2)
local n = 10
for i = 1, n / 3 do io.write(i, ' ') end print()
local t = {10, 20, 30, 40}
local mid = math.floor(#t / 2)
print(t[mid], t[#t / 2], t[math.ceil(#t / 3)])
print(math.floor(2.5 + 0.5), 2 ^ 3 == 8, 10 % 3.5)

-- # criterion values
local crit = nn.ClassNLLCriterion()
local x, y = torch.Tensor{{0.1, 0.2}, {0.3, 0.4}}, torch.Tensor{1, 2}
print(crit:forward(x, y))
local t = {crit:forward(x, y)}
print(#t)
local function loss(c) return c:forward(x, y) end
print(loss(crit))
local function pass(...) return select('#', ...) end
print(pass(crit:forward(x, y)), pass(nn.MSECriterion():forward(x, x)), pass(nn.CrossEntropyCriterion():forward(x, y)))
print(crit:forward(x, y), 'x')
local ce = nn.CrossEntropyCriterion()
print(ce:forward(x, y))
local pc = nn.ParallelCriterion():add(nn.MSECriterion()):add(crit)
print(pc:forward({x, x}, {x, y}))

-- # new of a class that torch.class made
do
   local counter, parent = torch.class('CounterMadeByNew')
   function counter:__init(n) self.n = n end
   function counter:count() return self.n end
   local c = counter.new(4)
   print(c:count())
   local make = counter.new
   print(make(3):count())
end

-- # a class that is called with fewer arguments
local Scale = {}
Scale.__index = Scale
Scale.__call = function(self, a, b) return self.by * a, b end
local double = setmetatable({by = 2}, Scale)
print(double(3, 4), (double(5)))

-- # metatables that are no classes, locked ones, strings of two objects
pkg = {}
local ondemand, mt = {extra = true}, {}
function mt.__index(t, k) if ondemand[k] then return k .. ' loaded' end end
setmetatable(pkg, mt)
pkg.x = 5
print(pkg.x, pkg.extra, pkg.other)
local locked = setmetatable({}, {__metatable = 'locked'})
print(getmetatable(locked))
local V = {}
V.__index = V
local function vec(x) return setmetatable({x = x}, V) end
V.__concat = function(a, b) return a.x .. '&' .. b.x end
function V.make(x) return vec(x) end
print(vec(1) .. vec(2), 'n: ' .. 3, rawget(V, 'make') == V.make)
print(('abc'):find('', 4), ('abc'):find('', 9), ('abc'):match('', 9))

-- # metamethods are not inherited, methods with two underscores at both ends are
local A = torch.class('MShape')
function A:__init(n) self.n = n end
function A:__tostring() return 'A' .. self.n end
function A:__len__() return self.n end
A.__eq = function(a, b) return a.n == b.n end
local B, parent = torch.class('MCircle', 'MShape')
function B:__init() parent.__init(self, 3) end
local C = torch.class('MRect', 'MShape')
function C:__tostring() return 'C' .. self.n end
print(tostring(MShape(1)), torch.type(MCircle()), tostring(MCircle()) == 'A3', tostring(MRect(2)))
print(MShape(1) == MShape(1), MCircle() == MCircle(), MRect(1) == MRect(1))
local copy = torch.deserialize(torch.serialize(MRect(4)))
copy.w = 9
print(copy.w, copy.n)

-- # methods of optim with three results
require 'optim'
local function f(x) return x:dot(x), x * 2 end
local x = torch.ones(2)
local _, losses = optim.lbfgs(f, x, {maxIter = 2, learningRate = 0.3})
print(#losses)
local _, losses, count = optim.cg(f, torch.ones(2), {maxIter = 2})
print(#losses > 0, count > 0)

-- # an object of the program's class that a file holds
torch.class('Provider')
function Provider:__init()
  self.trainData = {data = torch.ones(4, 2), labels = torch.ones(4)}
end
function Provider:normalize() self.trainData.mean = self.trainData.data:mean() end
local name = os.tmpname()
local made = Provider()
made.testData = {data = torch.zeros(3, 2)}
made:normalize()
torch.save(name, made)
provider = torch.load(name)
provider.trainData.data = provider.trainData.data:float()
provider.testData.data = provider.testData.data:float()
print(provider.trainData.data:size(1), provider.trainData.mean, torch.type(provider))
local function f() return provider.trainData.labels:narrow(1, 1, 2):sum() end
print(f(), provider.testData.data:sum())
os.remove(name)

-- # a field that all entries of a table fill, and a method empties
local Container = torch.class('Container')
function Container:__init(args)
  self.Source = nil
  for x, val in pairs(args) do self[x] = val end
  if torch.type(self.Source) == 'table' then self:loadFrom(self.Source[1], self.Source[2]) end
end
function Container:loadFrom(data, labels) self.data, self.labels = data, labels end
function Container:clear() self.Source = {} end
local c = _G.Container{Name = 'x', Source = {torch.ones(3), torch.zeros(2)}}
print(c.Name, c.data:size(1), c.labels:size(1), #c.Source)
c:clear()
print(#c.Source, next(c.Source))

-- # a tester that goes through functions in a plain table
local tests = {}
local tester = torch.Tester()
function tests.Sum() tester:eq(1 + 1, 2, 'a sum') tester:asserteq(3, 3, 'the same') end
tester:add(tests)
tester:run()

-- # a class in a table in a table, which a computed name asks for
gp = {models = {}}
do
  local gp = gp
  local M = torch.class('gp.models.regressor')
  function M:__init(n, more) self.n = n + (more or 0) end
  function M:get() return self.n + 1 end
end
for kind in pairs(gp.models) do print(gp.models[kind](3):get()) end
print(gp.models.regressor(4, 2):get())

-- # an object of a file, called with fewer arguments
local M = torch.class('Mean')
function M:__call__(hyp, x, z) return hyp + x + (z or 0) end
local function use(o, a, b) return o(a, b) end
local path = os.tmpname()
torch.save(path, {Mean()})
for i, o in ipairs(torch.load(path)) do print(use(o, 1, 2), o(1, 2, 3)) end
os.remove(path)

-- # a function of a class, called by its base class
zoo = {}
local Base = torch.class('zoo.Base')
function Base.predict(x) print('not implemented') end
function Base:run(x) return self.predict(x) end
local Sub = torch.class('zoo.Sub', 'zoo.Base')
function Sub.predict(x) return x + 1 end
print(zoo.Sub():run(1))

-- # torch.factory makes objects of the program's classes
require 'nn'
local A = torch.class('FromFactory')
function A:__init(x) self.x = x end
function A:hello() return 'hello ' .. tostring(self.x) end
local o = torch.factory('FromFactory')()
print(torch.type(o), o.x, o:hello())
local L, parent = torch.class('nn.FromFactory', 'nn.Module')
function L:__init(x) parent.__init(self); self.x = x end
local p = torch.factory('nn.FromFactory')()
print(torch.type(p), p.x, torch.type(torch.factory(torch.type(p))()))
print(torch.factory('nn.Linear')().weight, torch.factory('no.Such'))

-- # classes of torch by keys have a constructor, and derive from torch's own
local Kept = torch.class('KeptByKey')
function Kept:__init(n) self.n = n end
local classes = {}
classes['k' .. 1] = KeptByKey
for name, class in pairs(classes) do print(name, class.new(3).n, class(4).n) end
local Cmd, parent = torch.class('OwnCmdLine', 'torch.CmdLine')
function Cmd:__init(name) parent.__init(self) self.name = name end
function Cmd:option(key, default) parent.option(self, key, default, key .. ' of ' .. self.name) end
local cmd = OwnCmdLine('own')
cmd:option('-lr', 0.1)
print(cmd:parse({'-lr', '3'}).lr, cmd.name, torch.type(cmd))

-- # classes of package class
local class = require 'class'
local A = class('PackageA')
function A:__init(n) self.n = n end
function A:get() return self.n end
local B = class.new('PackageB', 'PackageA')
function B:__init(n) A.__init(self, n + 1) self.tag = 'b' end
A.static = 5
local b = B(4)
print(b:get(), b.tag, class.type(b), B.new(1).n, class.type(1), b.static)
local C = class('PackageC', 'PackageA')
print(C(4).n, class.istype(b, 'PackageA'), class.istype(3, 'number'), class.istype(A(1), 'PackageB'))

-- # objects that are lists, with functions of tables
local List = {}
List.__index = List
setmetatable(List, {__call = function(class, t) return setmetatable(t or {}, class) end})
function List:push(v) table.insert(self, v) return self end
function List:first(v) table.insert(self, 1, v) return self end
function List:pop(i) return table.remove(self, i) end
function List:map(f) local r = List() for i, v in ipairs(self) do r[i] = f(v) end return r end
local l = List{3}:push(1):push('x'):first(0)
print(#l, l:pop(), l:pop(1), #l, l[1], l[2], l[3])
print(table.concat(l:map(function(v) return v * 2 end), ','), List():pop())

-- # a field of a module that is asked for before it is there
local util = {}
function util.scaled(x) return x * (util.scale or 1) end
print(util.scaled(2))
util.scale = 3
print(util.scaled(2))

-- # methods of objects that pcall calls
local C = {}
C.__index = C
function C.new() return setmetatable({n = 0}, C) end
function C:add(x) if x < 0 then error('negative', 0) end self.n = self.n + x return self.n end
local c = C.new()
print(pcall(c.add, c, 1), c.n)
print(pcall(C.add, c, -1))
print(pcall(c.add, c, 5))

-- # functions in fields of an object, called with it or given it; entries under names
local A = torch.class('Actor')
function A:__init(o)
  self.shoot = o.shoot or self.miss
  self.rest = o.rest or self.sleep
  for name, range in pairs(o.ranges) do self[name] = range:clone() end
  self.found = self.shoot(self, 2) .. self:rest()
  self.made = {shoot = self.miss}
end
function A:miss(n) return 'miss' .. n .. self.size[1] end
function A.sleep(self) return 'sleep' .. self.size[2] end
local a = Actor{ranges = {size = torch.Tensor{3, 4}}}
print(a.found, a.shoot(a, 5), a:rest(), a.made.shoot(a, 1))
print(Actor{ranges = {size = torch.Tensor{1, 2}}, shoot = function(self, n) return n + self.size[2] end}.found)

-- # a function in a field that is called both ways; a method that is, too
local A = torch.class('Both')
function A:__init() self.v = 1 end
function A:go(n) return self.v + n end
local a = Both()
a.cb = function(self, n) return self.v + (n or 10) end
print(a:cb(), a.cb(a), a:cb(3), a.cb(a, 4), a:go(1), a.go(a, 2))

-- # classes made of tables that have fields
local Account = {balance = 0, log = {}, limit = 10 * 3,
  describe = function(self) return 'account ' .. self.balance end,
  'first'}
Account.__index = Account
function Account.new(o) return setmetatable(o or {}, Account) end
function Account:deposit(v) self.balance = self.balance + v; self.log[#self.log + 1] = v end
local a, b = Account.new(), Account.new{balance = 5}
a:deposit(3) b:deposit(4)
print(a.balance, b.balance, #a.log, Account.balance, a.limit, b:describe(), Account[1])
Shape = {sides = 4, kinds = {square = 'yes'}}
Shape.__index = Shape
function Shape.make(n) local s = {} setmetatable(s, Shape) if n then s.sides = n end return s end
function Shape:count() return self.sides * 2 end
print(Shape.make():count(), Shape.make(3):count(), Shape.kinds.square)
local function build()
  local T = {scale = 2}
  T.__index = T
  function T.new(x) return setmetatable({x = x}, T) end
  function T:get() return self.x * self.scale end
  return T
end
print(build().new(4):get())

-- # classes with fields that derive, and functions in fields
local Base = {log = {}, kind = 'base', count = 0}
Base.__index = Base
function Base.new(o) o = o or {} return setmetatable(o, Base) end
function Base:note(v) self.log[#self.log + 1] = v; Base.count = Base.count + 1; return self end
local Sub = setmetatable({kind = 'sub', extra = {1, 2, 3}}, {__index = Base})
Sub.__index = Sub
function Sub.new() return setmetatable({}, Sub) end
function Sub:total() local n = 0 for _, v in ipairs(self.extra) do n = n + v end return n + #self.log end
local a, b = Base.new(), Sub.new()
a:note('x'):note('y') b:note('z')
print(a.kind, b.kind, #a.log, b.log[3], Base.count, b:total(), Sub.count)
local U = { funcs = {}, version = 1, names = {"a", "b"}, opts = {lr = 0.1} }
U.__index = U
function U.new(v) return setmetatable({_val = v}, U) end
function U.funcs.each(x) return x + 1 end
function U.funcs.twice(x) return U.funcs.each(U.funcs.each(x)) end
function U:value() return self._val * self.opts.lr end
U.alias = U.funcs.each
print(U.funcs.each(3), U.version, #U.names, U.names[2], U.alias(2))
print(U.new(3):value(), U.funcs.twice(1))
for k, f in pairs(U.funcs) do U[k] = f end
print(U.twice(5))

-- # a logger's class, which is called
local Logger = {
  -- what is shown
  level = 2,
  names = {'debug', 'info', 'warn'},
  lines = {},
}
Logger.__index = Logger
setmetatable(Logger, {__call = function(cls, level) local o = setmetatable({}, cls) o.level = level or cls.level return o end})
function Logger:log(level, ...)
  if level < self.level then return false end
  local text = self.names[level] .. ': ' .. table.concat({...}, ' ')
  table.insert(self.lines, text)
  return true
end
local l, m = Logger(), Logger(3)
print(l:log(1, 'a'), l:log(2, 'b', 'c'), m:log(2, 'd'), m:log(3, 'e'))
print(#Logger.lines, Logger.lines[2], l.level, m.level)
for name, v in pairs({x = l.level}) do print(name, v) end
local Vec = {__type = 'vec'}
Vec.__index = Vec
Vec.__add = function(a, b) return Vec.new(a.x + b.x) end
function Vec.new(x) return setmetatable({x = x}, Vec) end
print((Vec.new(1) + Vec.new(2)).x, Vec.new(1).__type)

-- # objects that get copies of a table's functions
local data = {}
local result = {}
function data.new(n, opt_)
   opt_ = opt_ or {}
   local self = {}
   for k, v in pairs(data) do self[k] = v end
   if n > 6 then n = 6 end
   self._n = n
   self.opt = opt_
   return self
end
function data._push(x) result[1] = x end
function data:getBatch()
   self._push(self._n)
   local res = result[1]
   result[1] = nil
   return torch.ones(res, 2), self.opt.name
end
function data:size() return self._n end
local DataLoader = data
local d = DataLoader.new(8, {name = 'x'})
local x, name = d:getBatch()
print(d:size(), x:sum(), name)
for i = 1, math.min(d:size(), 3) do io.write(i, ' ') end
print()

-- # a class has no field that nobody set
local A = torch.class('A')
function A:__init() self.a = 1 end
local B = torch.class('B', 'A')
B.x = 3
local C = {}
C.__index = C
function C.new() return setmetatable({}, C) end
for _, c in ipairs{A, B} do print(c.x or 'none') end
print(A.x, C.x, B.x, A.y, C.new().x)

-- # classes as values: a method that is called of one gets it as self
local acts = {}
local Act = torch.class('acts.Act', acts)
function Act:name() return self.title or 'none' end
local Get = torch.class('acts.Get', 'acts.Act', acts)
function Get:perform(world, a) return world.name .. 'get' .. a .. self:name() end
local Drop = torch.class('acts.Drop', 'acts.Act', acts)
function Drop:perform(world, a) return world.name .. 'drop' .. a .. self:name() end
acts.Get.title = 'got'
local actions = {get = acts.Get, drop = acts.Drop}
local Clause = torch.class('acts.Clause', acts)
function Clause:__init(action, ...) self.action, self.args = action, {...} end
function Clause:perform() return self.action:perform({name = 'w'}, unpack(self.args)) end
print(acts.Clause(actions.get, 'tree'):perform())
for word in string.gmatch('get drop', '%a+') do print(acts.Clause(actions[word], 'x'):perform()) end

-- # a table with tables for keys, in an object that is saved and loaded
local C = torch.class('Mgr')
function C:__init() self.map, self.n = {}, 0 end
function C:add(s)
  if self.map[s] == nil then
    self.n = self.n + 1
    self.map[s] = self.n
  end
  return self.map[s]
end
local m, key, path = Mgr(), {1}, os.tmpname()
print(m:add('a'), m:add(key), m:add(key))
torch.save(path, {m, 5})
local n, five = unpack(torch.load(path))
os.remove(path)
print(n.n, n.map.a, n:add('a'), n:add('b'), n:add(key), five)

-- # what a class lacks
local A = torch.class('Lacking')
function A:__init() self.x = 1 end
A.kind = 'a'
print(A.missing, A.kind)
local B = {}
B.__index = B
B.__tostring = function(b) return 'B' .. b.n end
function B.new(n) return setmetatable({n = n}, B) end
function B:get() return self.n end
local b = B.new(2)
print(B.missing, B.get ~= nil, B.__eq, B.__tostring(b), getmetatable(b).__index == B)
print(getmetatable(b).__tostring(b), getmetatable(b).__lt, getmetatable(b).zip, b.zip)

-- # minus gives what its method gives
local M = {}
M.__index = M
M.__unm = function(a) return 'minus ' .. a.n end
function M.new(n) return setmetatable({n = n}, M) end
function M:plus(n) return self.n + n end
print(-M.new(3), #-M.new(3), M.new(3):plus(1))

-- # fields and methods that are words of Python
local E = torch.class('Words')
function E:__init() self.from = 1; self['class'] = 2 end
function E.assert(x, m) if not x then error(m, 0) end return x end
function E:import(n) return self.from + n end
local function look(o, k) return o[k] end
local function set(o, k, v) o[k] = v end
local o = _G.Words()
print(o.from, o.class, look(o, 'from'), look(o, 'class'), o:import(4), look(E, 'assert')(6, 'x'))
set(o, 'with', 9) set(o, 'from', 10)
print(o.with, o.from, look(o, 'with'), look(o, 'import')(o, 1))
local names = {}
for k, v in pairs(o) do names[#names + 1] = k .. '=' .. v end
table.sort(names)
print(table.concat(names, ' '))
local copy = torch.deserialize(torch.serialize(o))
print(copy.from, copy:import(2))

-- # a class that is made where there is torch
local Made, parent
if torch then
  Made, parent = torch.class('MadeThere', 'torch.CmdLine')
else
  Made = {}
end
function Made:__init(script)
  if torch then parent.__init(self) end
  self.script = script
end
function Made:usage() return 'use of ' .. self.script end
print(_G.MadeThere.new('x'):usage(), Made.other)

-- # an object, or a table that is none
local Box = {}
Box.__index = Box
function Box.new(n) return setmetatable({n = n}, Box) end
function Box:get() return self.n end
local function describe(x) return x.name or x.n or 'nothing' end
print(describe(Box.new(3)), describe({}), describe({name = 'n'}), Box.new(4):get())

-- # fields of a class in their order, and nil in its objects
local lr = 0.5
local S = {momentum = 0.9, lr = 1, n = 4}
S.__index = S
S.decay = -lr
S.less = -S.n
function S.count() S.n = S.n + 1 return S.n end
S.first = S.count()
S.n = 0
S.second = S.count()
print(S.decay, S.less, S.first, S.n, S.second)
local Acc = {balance = 0}
Acc.__index = Acc
function Acc.new(b) return setmetatable({balance = b}, Acc) end
function Acc:deposit(v) self.balance = self.balance + v return self.balance end
function Acc:reset(to) self.balance = to return self.balance end
print(Acc.new():deposit(1), Acc.new(5):deposit(1), Acc.new(7):reset(), Acc.new(7):reset(2))
local U = {area = 1}
U.__index = U
function U:area() return 2 end
print(setmetatable({}, U):area(), type(U.area))

-- # objects with copies of functions that somebody looks at
local Stack = {}
function Stack:push(x) self.items[#self.items + 1] = x return self end
function Stack.new()
  local self = {}
  for k, v in pairs(Stack) do self[k] = v end
  self.items = {}
  return self
end
local s = Stack.new():push(1)
local names = {}
for k in pairs(s) do names[#names + 1] = k end
table.sort(names)
print(table.concat(names, ','), rawget(s, 'push') ~= nil, getmetatable(s))

-- # tables that become objects of a class: what is given, or a new one
local Q = {}
Q.__index = Q
function Q.new(t) t = t or {}; t.n = 0; setmetatable(t, Q) return t end
function Q:inc() self.n = (self.n or 0) + 1; return self.n end
local q, r = Q.new(), Q.new{first = 1}
print(q:inc(), r:inc(), r.first, q.first)
local P = {x = 1}
P.__index = P
function P.new(o) local o = o or {} o.y = 2 return setmetatable(o, P) end
function P:sum() return self.x + self.y end
local given = {x = 5}
print(P.new():sum(), P.new(given):sum(), given.y, P.new{x = 3}:sum())

-- # a field of a class that is set to nil: the one above is seen
local Base = {} Base.__index = Base
Base.kind = 'base'
function Base.new() return setmetatable({}, Base) end
function Base:say() return self.kind end
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
Derived.kind = 'derived'
function Derived.new() return setmetatable({}, Derived) end
local d = Derived.new()
print(d:say())
Derived.kind = nil
print(d:say(), Derived.kind)

-- # an object as an iterator
local Iter = {} Iter.__index = Iter
Iter.__call = function(self) self.i = self.i + 1 if self.i <= self.n then return self.i end end
function Iter.new(n) return setmetatable({i = 0, n = n}, Iter) end
for i in Iter.new(3) do print(i) end

-- # a field of a class that is read before it is set
local C = {} C.__index = C
function C.new() if C.count == nil then C.count = 0 end C.count = C.count + 1 return setmetatable({}, C) end
print(C.count)
C.new() C.new()
print(C.count)

-- # fields of a class that nobody set, shown
local C = {} C.__index = C
function C:show() return 'x' .. tostring(self.label) end
print(C.label)
print(string.format('%s', tostring(C.label)))
print(setmetatable({}, C):show())
C.label = 'l'
print(C.label)

-- # methods that a loop puts into a class under computed names
local Api = {}
Api.__index = Api
for _, verb in ipairs{'get', 'post'} do
  Api[verb] = function(self, path, body) return verb .. ' ' .. self.base .. path .. (body and ' ' .. body or '') end
end
Api.fetch = Api.get
function Api.new(base) return setmetatable({base = base}, Api) end
local api = Api.new('x')
print(api:get('/a'), api:post('/b', 'data'), api:fetch('/c'))
local call = api.get
print(call(api, '/d'))

-- # an object that is called gives as many values as its method
local Pages = {}
Pages.__index = Pages
Pages.__call = function(self)
  self.at = self.at + 1
  if self.at > #self.t then return nil end
  return self.t[self.at], self.at
end
function Pages.new(t) return setmetatable({t = t, at = 0}, Pages) end
for p, at in Pages.new({'x', 'y'}) do print(p, at) end
local p = Pages.new({'z'})
print(p())
print(p())

-- # a method that a function is given, beside one of its name
local Shape = {registry = {}}
Shape.__index = Shape
function Shape:area() error('abstract') end
local function register(name, area)
  local c = setmetatable({}, {__index = Shape})
  c.__index = c
  c.area = area
  Shape.registry[name] = function(x) return setmetatable({x = x}, c) end
end
register('square', function(self) return self.x * self.x end)
local function make(name, x) return (Shape.registry[name] or error('unknown ' .. name))(x) end
for _, name in ipairs{'square', 'blob'} do
  local ok, o = pcall(make, name, 2)
  print(ok, ok and string.format('%d', o:area()) or o:match('unknown.*'))
end

-- # operators of a class on what is one of its objects, or a number or text
local M = {} M.__index = M
M.__add = function(a, b) return (type(a) == 'table' and a.v or a) + (type(b) == 'table' and b.v or b) end
M.__concat = function(a, b) return (type(a) == 'table' and a.v or a) .. '&' .. (type(b) == 'table' and b.v or b) end
local m = setmetatable({v = 5}, M)
print(m + 1, 1 + m, m + m, m .. 'x', 'x' .. m, 1 .. m, tostring(M):match('^table'))

-- # tables that take a class's methods by a metatable of their own
local M = {}
local Clause = torch.class('M.Phrase', M)
function Clause:__init(a, ...) self.a = a; self.args = {...} end
function Clause.new(...)
  local cl = {}
  setmetatable(cl, {__index = Clause})
  cl:__init(...)
  return cl
end
function Clause:sum() return self.a + #self.args end
function Clause:twice() return 2 * self:sum() end
function Clause.__eq(l, r) return l.a == r.a end
local c, d = Clause.new(1, 2, 3), M.Phrase(1, 2)
print(c:sum(), c:twice(), c.a, c.b, torch.type(c))
print(d:sum(), d:twice(), torch.type(d), c == d, M.Phrase(1) == d, torch.isTypeOf(c, 'M.Phrase'))
c.b = 5
print(c.b, Clause.b, c == Clause.new(1, 2, 3))

-- # constructors that return
local M = {}
local A = torch.class('M.Returning', M)
local function two(x) x.m = 5 return 1, 2 end
function A:__init(n) if n == 0 then return end self.n = n; if n == 1 then return two(self) end return self end
local B = torch.class('M.ReturningMore', 'M.Returning', M)
function B:__init(n) if n == 0 then self.z = 1 return end M.Returning.__init(self, n) end
local function maker() return A.__init end
print(M.Returning(2).n, M.Returning(1).m, M.ReturningMore(3).n, M.ReturningMore(0).z, type(maker()))

-- # makers that are given their class
local Base = {} Base.__index = Base
function Base.new(cls, ...) local o = setmetatable({}, cls) o:init(...) return o end
function Base:init(n) self.n = n or 0 end
function Base:info() return 'base ' .. self.n end
local Derived = setmetatable({}, {__index = Base}) Derived.__index = Derived
function Derived:init(n, m) Base.init(self, n) self.m = m end
function Derived:info() return Base.info(self) .. ' derived ' .. tostring(self.m) end
print(Base.new(Base, 1):info(), Base.new(Derived, 2, 3):info(), Derived:new(4):info(), Base:new():info())

-- # several results of a parent's method
local SeveralA = torch.class('SeveralOfA')
function SeveralA:__init() self.n = 1 end
function SeveralA:two(k) return self.n + (k or 0), 'x' end
SeveralA.__tostring = function() return 'of no parameter' end
local SeveralB, parent = torch.class('SeveralOfB', 'SeveralOfA')
function SeveralB:two(k) local v, s = parent.two(self, k) return v * 3, s .. 'y' end
function SeveralB:both() return {parent.two(self, 1)} end
function SeveralB:pass() return parent.two(self, 2) end
function SeveralB:first() local v = parent.two(self) return v end
local b = SeveralOfB()
print(b:two(4))
print(#b:both(), b:both()[2], b:first(), tostring(SeveralOfA()))
print(b:pass())

-- # what options and arguments give at times
local A = {}
A.__index = A
function A.new(o, w)
  o = o or {}
  local self = setmetatable({h = o.h, w = w}, A)
  self.k = o.k
  self.deep = {x = o.x}
  return self
end
function A:getK() local k = self.k; return k end
function A:show() print(self.h, self.w, self.k) end
local function run(o, w)
  local a = A.new(o, w)
  print(a.h, a.w, a.k, a.deep.x)
  print(a:getK())
  print('h', tostring(a.h), tostring(a:getK()), string.format('%s', a.k))
  a:show()
  local t = {}
  t.y = a.k
  for k, v in pairs(t) do print(k, v) end
  if w then print('w ' .. w) end
  w = w or 7
  print('w ' .. w)
end
run({h = 1, k = 'a', x = 2}, 5)
run({x = 3})
run()

-- # functions that a table gets after somebody has asked for them
local M = {}
print(M.f)
function M.f() return 1 end
print(M.f())
local C = {}
C.__index = C
local c = setmetatable({}, C)
c.x = 3
print(c.f, C.g)
function C:f() return self.x end
function C:g() return self:f() + 1 end
print(c:f(), c:g())

-- # another name of a function that gets a function of its own later
local Own = torch.class('Rule')
function Own:__init(x) self.x = x end
function Own:get() return self.x end
Own.fetch = Own.get
print(Rule(4):fetch())
Own.fetch = function(self) return 'new' .. self.x end
print(Rule(4):fetch(), Rule(4):get())
function Own.two(n) return n * 2 end
Own.double = Own.two
print(Own.double(3))
function Own.double(n) return n * 20 end
print(Own.double(3), Own.two(3))

-- # fields of objects with methods from elsewhere, and entries copied by a loop
local D = torch.class('HookedLoader')
function D:__init(args)
   for k, v in pairs(args) do self[k] = v end
   if not self.hook then self.hook = self.defaultHook end
   if not self.loadSize then self.loadSize = self.sampleSize end
   self.scale = args.scale or self.double
end
function D:defaultHook(x) return x * 2 end
function D:double(x) return x + #self.paths end
local d = HookedLoader{paths = {'a', 'b'}, sampleSize = {3, 4}, verbose = true}
print(d:hook(4), #d.paths, d.verbose, d.split, d:scale(1))
d.hook = function(self, x) return self.sampleSize[1] + x end
print(d:hook(3), d.loadSize[2])
local e = HookedLoader{paths = {'a'}, sampleSize = {3, 4, 5}, hook = function(self, x) return #self.paths + x end}
print(e:hook(3), e.verbose, e.loadSize[3])

-- # functions that argcheck makes
local argcheck = require 'argcheck'
local check = argcheck{
   pack = true,
   {name = 'paths', type = 'table', check = function(t) return t[1] ~= nil end},
   {name = 'sampleSize', type = 'table'},
   {name = 'verbose', type = 'boolean', default = false},
   {name = 'loadSize', type = 'table', opt = true},
   {name = 'hook', type = 'function', opt = true},
}
local D = torch.class('CheckedLoader')
function D:__init(...)
   local args = check(...)
   for k, v in pairs(args) do self[k] = v end
   if not self.loadSize then self.loadSize = self.sampleSize end
   if not self.hook then self.hook = self.defaultHook end
   if self.verbose then print('verbose') end
end
function D:defaultHook(x) return x * 2 end
local d = CheckedLoader{paths = {'a', 'b'}, sampleSize = {3, 4}, verbose = true}
print(d:hook(4), #d.paths, d.loadSize[2])
local e = CheckedLoader{paths = {'q'}, sampleSize = {1, 2}}
for _, p in ipairs(e.paths) do print(p, e.sampleSize[1] * e.sampleSize[2]) end
local add = argcheck{{name = 'x', type = 'number'}, {name = 'y', type = 'number', default = 10}}
local function sum(...)
   local x, y = add(...)
   return x + y
end
print(sum(1), sum(1, 2))

-- # methods that a class inherits, or has from a mixin, before it gets its own
local Base = {}
Base.__index = Base
function Base:name() return 'base' .. self.x end
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
local d = setmetatable({x = 3}, Derived)
print(d:name())
function Derived:name() return 'derived' .. self.x end
print(d:name())
local Mixin = {}
function Mixin:label() return 'label ' .. self.name end
function Mixin:show() return '<' .. self:label() .. '>' end
local function include(class, mixin) for k, v in pairs(mixin) do class[k] = v end end
local P, Q, R = {}, {}, {}
P.__index = P
Q.__index = Q
R.__index = R
include(P, Mixin)
function P:label() return 'own ' .. Mixin.label(self) end
R.label, R.show = Mixin.label, Mixin.show
for _, class in ipairs({Q}) do for k, v in pairs(Mixin) do class[k] = v end end
print(setmetatable({name = 'p'}, P):show(), setmetatable({name = 'q'}, Q):show(), setmetatable({name = 'r'}, R):show())
local Plain = {}
function Plain.label(self) return self.name end
function Plain.show(self) return '<' .. self:label() .. '>' end
local t = {name = 'x'}
for k, v in pairs(Plain) do t[k] = v end
print(t:show())

-- # an object of torch.class that a loop calls
do
  local It = torch.class('It')
  function It:__init(n) self.n, self.i = n, 0 end
  function It:__call__() self.i = self.i + 1; if self.i <= self.n then return self.i end end
end
for i in It(2) do print(i) end

-- # an object of what the constructor is given, methods by the metatable, and concatenation
local Widget = {count = 0, defaults = {w = 1, h = 2}}
Widget.__index = Widget
function Widget.new(o)
  o = setmetatable(o or {}, Widget)
  for k, v in pairs(Widget.defaults) do if o[k] == nil then o[k] = v end end
  Widget.count = Widget.count + 1
  o.id = Widget.count
  return o
end
function Widget:draw() return self.id .. ':' .. self.w .. 'x' .. self.h end
local a, b = Widget.new(), Widget.new({w = 5})
print(a:draw(), b:draw())
local A = {}
A.__index = A
A.__concat = function(x, y) return tostring(x.n or x) .. tostring(y.n or y) end
function A:hello() return 'A:' .. self.n end
local B = setmetatable({}, A)
B.__index = B
function B:hello() return 'B>' .. getmetatable(B).__index.hello(self) end
print(setmetatable({n = 1}, B):hello(), setmetatable({n = 1}, A) .. {n = 2})
print((pcall(function() return setmetatable({n = 1}, B) .. 'x' end)))

-- # a method that an object gets where nobody knows what it is
local Actor = torch.class('ActorOfOne')
function Actor:__init(n) self.n = n end
function Actor:act(k) return self.n + k end
local one = ActorOfOne(1)
local function spoil(x) x.act = function(self, k) return Actor.act(self, k) * 10 end end
spoil(loadstring('return ...')(one))
local actors = {one, ActorOfOne(2)}
for i = 1, 2 do print(actors[i]:act(3)) end
print(one:act(1))

-- # a field under the name of a method
local Options = {}
Options.__index = Options
function Options.create() return setmetatable({}, Options) end
function Options:setup(args) self.dropout = args.dropout end
function Options:dropout(choice) self.dropout = choice end
function Options:show() if self.dropout then print('with') else print('without') end end
local args = {}
if os.getenv('THAT_NOBODY_SETS') then args.dropout = true else args.dropout = false end
local options = Options.create()
options:dropout(true)
options:show()
options:setup(args)
options:show()

-- # functions in fields, whose object has another name than self
local Runner = {}
Runner.__index = Runner
function Runner.new(opt)
   local self = setmetatable({n = 1}, Runner)
   for k, v in pairs(opt) do self[k] = v end
   return self
end
function Runner:step(x) return self.n + x end
function Runner:run(x) if self.cb then print(self:cb(x)) end print(self:step(x)) end
local a = Runner.new{cb = function(s, x) return x end}
a:run(2)
local b = Runner.new{cb = function(self) return self.n end, n = 3}
b.step = function(obj, x) return obj.n * x end
b:run(5)
b.cb = function(_, x) return -x end
b:run(5)

-- # loops that copy entries of a default, a field or a call: each is known
local Job = {}
Job.__index = Job
local base = {lr = 0.1, f = function(lr, t) return lr / (1 + t) end}
local function load() return {g = function() return 'loaded' end} end
function Job.new(opt, more)
   local self = setmetatable({}, Job)
   for k, v in pairs(base) do self[k] = v end
   for k, v in pairs(opt or {}) do self[k] = v end
   if more then for k, v in pairs(more.opt) do self[k] = v end end
   for k, v in pairs(load()) do self[k] = v end
   return self
end
function Job:at(t) return self.f(self.lr, t), self.g(t) end
print(Job.new():at(1))
print(Job.new{lr = 1, f = function(lr) return lr end}:at(5))
print(Job.new(nil, {opt = {f = function() return 'none' end}}):at(5))

-- # a class's functions copied into a table that derived tables look into: fields that are missing
local Events = {}
function Events:on(name) self.ev = self.ev or {}; self.ev[name] = true return self end
local Base = {}
Base.__index = Base
function Base:new(o) o = o or {}; setmetatable(o, self); self.__index = self; o.n = o.n or 1; return o end
for k, v in pairs(Events) do Base[k] = v end
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
function Derived:new(o) local self = Base.new(Derived, o); self.extra = true; return self end
local d = Derived:new{n = 5}
d:on('x')
print(d.ev.x, d.n, d.extra)

-- # a method called of a table that is no object
local Plain = {}
Plain.__index = Plain
function Plain.new(x) return setmetatable({x = x}, Plain) end
function Plain:plus(y) return self.x + y end
print(Plain.new(3):plus(2))
print(Plain.plus({x = 1}, 4))

-- # fields and methods like __size, in a class and in those that derive from it
local A = torch.class('PrivA')
function A:__init(n) self.__size = n; self.__priv = {1,2} end
function A:size() return self.__size end
local B, parent = torch.class('PrivB', 'PrivA')
function B:__init(n) parent.__init(self, n); self.__own = 3 end
function B:twice() return self.__size * 2 + #self.__priv + self.__own end
local b = _G.PrivB(4)
print(b:twice(), b:size(), b.__size, b.__own)
for k, v in pairs(b) do if k == '__size' then print(k, v) end end
b.__size = 9
print(b:twice())
local name = os.tmpname()
torch.save(name, b)
local c = torch.load(name)
print(c:twice(), c.__size)
local T = {}
T.__index = T
function T.new(x) return setmetatable({__x = x}, T) end
function T:get() return self.__x end
local S = setmetatable({}, {__index = T}); S.__index = S
function S.new(x) local o = T.new(x); return setmetatable(o, S) end
function S:more() return self.__x + 1 end
print(S.new(5):more(), S.new(6):get(), S.new(7).__x)
os.remove(name)

-- # fields with an underscore at their ends
local C = torch.class('UndC')
function C:__init() self._a_ = 1; self.__a = 2; self._a = 3; self.a_ = 4 end
local c = _G.UndC()
local ks = {}
for k, v in pairs(c) do ks[#ks + 1] = k .. '=' .. v end
table.sort(ks) print(table.concat(ks, ' '))
local d = torch.deserialize(torch.serialize(c))
print(d._a_, d.__a, d._a, d.a_, c['_a_'], c['__' .. 'a'])

-- # Torch7's own events of classes
local P = torch.class('HookedPoint')
function P:__init(x, y) self.x, self.y = x, y end
function P:__tostring__() return '(' .. self.x .. ',' .. self.y .. ')' end
function P.__add__(a, b) return HookedPoint(a.x + b.x, a.y + b.y) end
function P.__concat__(a, b) return tostring(a) .. tostring(b) end
function P:__index__(k)
  if k == 'sum' then return self.x + self.y, true end
  return false
end
function P:__newindex__(k, v)
  if k == 'double' then rawset(self, 'x', v / 2); return true end
  return false
end
local p, q = HookedPoint(1, 2), HookedPoint(3, 4)
p.double = 10
p.other = 'o'
print(p .. q, tostring(p + q), (p + q).sum, p.sum, p.x, p.none, p.other)

-- # methods put into a class by a loop, called with fewer arguments
local Layer_ = torch.class('MixedLayer')
function Layer_:__init(n) self.calls = n end
torch.class('MixedChild', 'MixedLayer')
local chain = {MixedChild(3), MixedChild(4)}
local function mixin(class, methods) for k, f in pairs(methods) do class[k] = f end end
mixin(Layer_, {
  reset = function(self) self.calls = 0; return self end,
  info = function(self, pre) return (pre or '') .. torch.type(self) .. ':' .. self.calls end,
})
print(chain[1]:info('> '), chain[1]:reset():info())

-- # fields like __name and __size_, and variables like __cache in methods
local __cache = {}
__rate = 4
local A = torch.class('PrivC')
function A:__init(n) self.__name = n; self.__version = 2; self.__size_ = 7; self.ready = false; self:setup() end
function A:setup() __cache[#__cache + 1] = self.__name; self.done = true end
local B, parent = torch.class('PrivD', 'PrivC')
function B:__init(n) parent.__init(self, n); self.own = 3 end
function B:show() return self.__name, self.__version * __rate, self.__size_, #__cache end
local b = _G.PrivD('bob')
print(b:show())
print(b.__name, b.__version, b.__size_, __cache[1])
local found = {}
for k, v in pairs(b) do
  if type(v) == 'number' then found[#found + 1] = k .. '=' .. v end
end
table.sort(found)
print(table.concat(found, ' '))
print(torch.deserialize(torch.serialize(b)):show())

-- # classes in blocks, and constructors that say what is missing
do
  local Scale, parent = torch.class('nn.ScaleInBlock', 'nn.Module')
  function Scale:__init(factor, name) parent.__init(self); self.factor = factor or 1; self.name = name or 'scale' end
  function Scale:updateOutput(x) self.output:resizeAs(x):copy(x):mul(self.factor); return self.output end
end
do
  local MeanInBlock = torch.class('MeanInBlock')
  function MeanInBlock:__init(k) self.sum, self.n = 0, 0; self.k = k end
  function MeanInBlock:add(x) self.sum = self.sum + x; self.n = self.n + 1; return self end
  function MeanInBlock:value() return self.sum / math.max(self.n, 1) end
end
local s = nn.ScaleInBlock(2, 'two')
print(s:forward(torch.ones(2)):sum(), s.name)
local m = MeanInBlock()
m:add(2):add(4)
print(m:value(), torch.type(m), m.k)
print(torch.type(MeanInBlock) , torch.isTypeOf(m, 'MeanInBlock'), torch.isTypeOf(m, MeanInBlock))

-- # functions that make objects, and call a method of the parent's for it
local Base = {}
Base.__index = Base
function Base.new(...) local self = setmetatable({}, Base) self:init(...) return self end
function Base:init(name) self.name = name self.items = {} end
function Base:add(x) table.insert(self.items, x) return self end
function Base:total() local s = 0 for _, v in ipairs(self.items) do s = s + v end return s end
local Child = setmetatable({}, {__index = Base})
Child.__index = Child
function Child.new(name, scale) local self = setmetatable({}, Child) Base.init(self, name) self.scale = scale return self end
function Child:total() return Base.total(self) * self.scale end
print(Base.new('a'):add(1):add(2):total(), Child.new('b', 10):add(3):total())

-- # a command line of a class of its own, and what it has declared
local Cmd, parent = torch.class('Cmd', 'torch.CmdLine')
function Cmd:__init(s)
  self.script = s
  parent.__init(self)
  self:option('-h', false, 'help')
end
function Cmd:option(key, default, help, meta)
  for _, v in ipairs(self.helplines) do
    if v.key == key then print('again', key) return end
  end
  assert(not self.options[key] and not self.arguments[key])
  parent.option(self, key, default, help)
  self.options[key].meta = meta
end
function Cmd:show()
  for _, o in ipairs(self.helplines) do
    if type(o) ~= 'table' then print('line', o) else
      local v = o.default
      if type(v) == 'table' then v = table.concat(v, ' ') end
      print(o.key, o.type, o.help, tostring(v), o.meta and o.meta.enum and #o.meta.enum)
    end
  end
end
local cmd = Cmd.new('x')
cmd:text('lines')
cmd:option('-n', 3, 'number', {enum={3, 4}})
cmd:option('-n', 4, 'number')
cmd:option('-s', {1, 2}, 'sizes')
cmd:show()
local names = {}
for k, v in pairs(cmd.options) do table.insert(names, k .. v.type) end
table.sort(names)
print(table.concat(names, ' '))
print(cmd:parse({'-n', '7'}).n)

-- # a tester's assert, whose name is a word of Python's
local tests, tester = torch.TestSuite(), torch.Tester()
function tests.sums() tester:assert(1 + 1 == 2, 'a sum') tester:assertTensorEq(torch.ones(2), torch.ones(2), 0, 'ones') end
tester:add(tests)
print(tester:run())

-- # lists of several kinds of entries that are spread over a function's parameters
local function has(tab, value)
  for _, v in ipairs(tab) do
    if v == value then return true end
  end
  return false
end
local Line = torch.class('Line')
function Line:__init()
  self.options = {}
  self:option('-help', false, 'This help.', {valid = function(v) return v == false end})
end
function Line:option(key, default, help, meta)
  if meta and (meta.valid and not meta.valid(default) or meta.enum and not has(meta.enum, default)) then
    print('bad default', key, default)
    meta.required = true
  end
  self.options[key] = {default = default, help = help, meta = meta}
end
function Line:set(options)
  for i = 1, #options do self:option(unpack(options[i])) end
end
local function copy(t)
  if type(t) ~= 'table' then return t end
  local new = {}
  for k, v in next, t, nil do new[copy(k)] = copy(v) end
  return setmetatable(new, copy(getmetatable(t)))
end
local line = Line.new()
local options = {
  {'-type', 'a', 'The type', {enum = {'a', 'b'}}},
  {'-dry', false, 'Dry'},
  {'-kind', 'c', 'Kind', {enum = {'a', 'b'}}},
  {'-sizes', {3, 4}, 'Sizes'},
}
line:set(options)
line:set({copy(options[1])})
local words = {}
for i = 1, 3 do table.insert(words, 'w' .. i) end
print(has(words, 'w2'))
for _, key in ipairs{'-help', '-type', '-dry', '-kind'} do
  local option = line.options[key]
  print(key, option.default, option.help, option.meta and option.meta.required)
end

-- # functions that argcheck makes, in order and by name
local argcheck = require 'argcheck'
local Class = torch.class('CheckedModel')
Class.__init = argcheck{
  doc = [[
A model with a size.
]],
  {name='self', type='CheckedModel'},
  {name='size', type='number', help='how large'},
  {name='kind', type='string', default='plain'},
  {name='scale', type='number', opt=true},
  call = function(self, size, kind, scale)
    self.size = size
    self.kind = kind
    self.scale = scale or 1
  end
}
Class.area = argcheck{
  {name='self', type='CheckedModel'},
  call = function(self) return self.size * self.size * self.scale end
}
Class.grow = argcheck{
  {name='self', type='CheckedModel'},
  {name='by', type='number', default=2},
  call = function(self, n)
    self.size = self.size + n
    return self
  end
}
Class.both = argcheck{
  {name='self', type='CheckedModel'},
  {name='config', type='table'},
  {name='x', type='number'},
  call = function(self, config, x)
    return config.a + 2 * x, #config
  end
}
local join = argcheck{
  {name='left', type='string'},
  {name='right', type='string', default='-'},
  call = function(a, b) return a .. b end
}
local M = {}
M.twice = argcheck{
  nonamed = true,
  {name='opt', type='table'},
  {name='n', type='number', default=2},
  call = function(opt, n) return opt.n * n end
}
M.pick = argcheck{
  {name='a', type='number', opt=true},
  {name='b', type='string', opt=true},
  call = function(a, b) return tostring(a) .. tostring(b) end
}
local m = CheckedModel(3)
local n = CheckedModel{size = 4, scale = 2}
print(m:area(), n:area(), m.kind, n.kind)
print(m:grow().size, m:grow(5).size, m:grow{by = 1}.size)
print(m:both({a = 1}, 2))
print(n:both{x = 3, config = {a = 2}})
print(join('a'), join('a', 'b'), join{left = 'c', right = 'd'})
print(M.twice({n = 3}), M.twice({n = 3}, 5))
print(M.pick('x'), M.pick(1), M.pick(1, 'y'))

-- # __tostring__ called without an object, of what nobody knows
local A = torch.class('Told')
function A:__init(n) self.n = n end
function A:__tostring__() return 'told ' .. (self and self.n or '?') end
local B, parent = torch.class('ToldMore', 'Told')
function B:__init(n) parent.__init(self, n + 1) end
local C = torch.class('Untold')
function C:__init() end
local all = {e = {_G.Told(1), _G.ToldMore(2), _G.Untold()}}
local function name(e) return e.__tostring__ and e.__tostring__() end
local function init(o, ...) return o.__init(o, ...) end
for k, v in pairs(all) do
  print(name(v[1]), name(v[2]))
  init(v[2], 7)
  print(v[2].n)
end

-- # datasets: a function for entries, by torch.class and by a metatable of one table
local PieceRows = torch.class('PieceRows')
function PieceRows:__init(n)
  self.batches = {}
  for i = 1, n do self.batches[i] = {torch.ones(2) * i, i, 'r' .. i} end
  self.length = n
end
function PieceRows:size() return self.length end
function PieceRows.__index(self, idx)
  if type(idx) == 'string' then
    return PieceRows[idx]
  else
    local x, n = self.batches[idx][1], self.batches[idx][2]
    return {x, n * 2, self.batches[idx][3]}
  end
end
local function make(n)
  local dataset = {rows = {}}
  for i = 1, n do dataset.rows[i] = i * 10 end
  local shared = torch.zeros(2)
  function dataset:size() return n end
  function dataset:scale(k) for i = 1, n do self.rows[i] = self.rows[i] * k end end
  setmetatable(dataset, {__index = function(self, index)
    local label = shared:zero()
    label[index] = 1
    return {self.rows[index], label}
  end})
  return dataset
end
local function show(data)
  for i = 1, data:size() do
    local example = data[i]
    print(i, example[1], example[2][1])
  end
end
local small = make(2)
small:scale(3)
show(small)
local rows = PieceRows.new(2)
for i = 1, rows:size() do
  local d = rows[i]
  local x, n, name = d[1], d[2], d[3]
  print(x:sum(), n + 1, name, #d)
end

-- # a metatable of one table that is returned, beside one that other keys are put into
local function squares(n)
  local o = {n = n}
  function o:size() return self.n end
  return setmetatable(o, {__index = function(t, i) return i * i + t.n end})
end
local a = squares(3)
print(a:size(), a[2], a[5])
local c = {count = 0}
function c:get(k) return self[k] end
setmetatable(c, {__index = function(t, k) return 'no ' .. tostring(k) end})
c[3] = 'three'
print(c:get(3), c[4], c:get('count'), c:get('x'))

-- # a data set from a file, which has the fields of the file's table
local path = os.tmpname()
torch.save(path, {data = torch.range(1, 6):view(3, 2), labels = torch.Tensor{2, 1, 2}})
local function load(path)
  local f = torch.load(path)
  local data, labels = f.data, f.labels
  local dataset = {}
  dataset.data = data
  dataset.labels = labels
  function dataset:size() return data:size(1) end
  local labelvector = torch.zeros(2)
  setmetatable(dataset, {__index = function(self, index)
    local input = self.data[index]
    local class = self.labels[index]
    local label = labelvector:zero()
    label[class] = 1
    return {input, label}
  end})
  return dataset
end
local d = load(path)
for i = 1, d:size() do
  local e = d[i]
  print(e[1]:sum(), e[2][1], e[2][2])
end
os.remove(path)

-- # an own entry before what a class gives for entries
local C = torch.class('GetC')
function C:__init() self.rows = {10, 20}; self[1] = 'own' end
function C.__index(self, k)
  if type(k) == 'string' then return C[k] end
  return self.rows[k]
end
local c = C.new()
print(c[1], c[2])

-- # methods with the names of a layer's, of a table that is a class
require 'nn'
local Model = {}
Model.__index = Model
local function new()
  local self = setmetatable({}, Model)
  self.net, self.loss = nn.Linear(2, 2), nn.MSECriterion()
  self.net.weight:fill(1)
  self.net.bias:zero()
  return self
end
function Model:forward(x, y) return self.loss:forward(self.net:forward(x), y) end
function Model:updateGradInput(x, y, scale, more) return scale + more end
local m = new()
local x, y = torch.ones(2), torch.zeros(2)
print(m:forward(x, y), m:updateGradInput(x, y, 1, 2))

-- # an object with an empty list, saved and loaded
torch.class('SavedSet')
function SavedSet:__init(n) self.n = n; self.items = {} end
function SavedSet:add(x) table.insert(self.items, x) self.n = self.n + 1 return self end
function SavedSet:size() return #self.items end
local f = os.tmpname()
torch.save(f, SavedSet(0))
local s = torch.load(f)
print(torch.type(s), s:size(), s.n, #s.items)
s:add('x'):add(2)
print(s:size(), s.items[2], s.n)
os.remove(f)

-- # objects of a class that a function is given
local Stack = {}
Stack.__index = Stack
local function new(cls, ...)
  local o = setmetatable({n = 0}, cls)
  o:push(...)
  return o
end
function Stack:push(...) self.n = self.n + select('#', ...) end
local Counting = setmetatable({}, {__index = Stack})
Counting.__index = Counting
function Counting:push(...)
  self.pushes = (self.pushes or 0) + 1
  return Stack.push(self, ...)
end
local a, b = new(Stack, 1, 2), new(Counting, 3)
b:push(4)
print(a.n, b.n, b.pushes, getmetatable(b) == Counting)

-- # equality that a class of torch.class has from the one above
do
  local Form = torch.class('EqualForm')
  function Form:__init(s) self.s = s end
  function Form:__eq__(other) return self.s == other.s end
  local _, parent = torch.class('EqualSquare', 'EqualForm')
end
print(EqualSquare(2) == EqualSquare(2), EqualSquare(2) == EqualSquare(3))
print(EqualSquare(2) == EqualForm(2), EqualForm(1) ~= EqualForm(1))
