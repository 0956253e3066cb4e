-- # multiple results
local function two() return 1, 'b' end
local function none() end
local function nilone() return nil end
print(two())
print(two(), two())
print((two()))
print(none())
print((none()))
print(nilone())
local t = {two(), two()}
print(#t, t[1], t[2], t[3])
local u = {two(), x = two()}
print(#u, u.x)
print(select('#', two()), select('#', none()), select('#', nilone()))
print(select(2, 'a', 'b', 'c'))
print(select(-1, 'a', 'b', 'c'))
local function pass(...) return ... end
print(pass(two()))
print(pass(1, nil, 3))
print(pass(nil, nil))
print(#{pass(1, 2, 3)})
local a, b, c = pass(1, 2)
print(a, b, c)

-- # truth
if 0 then print('zero true') end
if '' then print('empty true') end
local x = 0
print(x and 'yes' or 'no')
print('' and 'y' or 'n')
print(not 0, not '', not nil, not false)
local t = {}
if t then print('table') end
print(t.x or 'default', t[1] or 'none')
local f = false
print(f or nil, f and 1, nil and 1, false or false)
print(f == nil, nil == false)
local function zero() return 0 end
if zero() then print('z') end
while zero() do print('once') break end
local s = ''
print(s or 'd', #s)

-- # keys
local t = {10, 20, 30}
print(t[1], t[3], t[4], t[0])
t[0] = 5
print(#t, t[0])
for i, v in ipairs(t) do print(i, v) end
t[#t + 1] = 40
print(#t)
table.remove(t, 1)
print(t[1], #t)
table.insert(t, 1, 7)
print(t[1], t[2])
local m = {[1] = 'a', [2] = 'b', [3] = 'c'}
print(#m, m[2])
local k = {[1.5] = 'x', [-1] = 'n'}
print(k[1.5], k[-1])
print(t[1.0])

-- # nil in the middle
local function f(a, b, c) print(a, b, c) end
f(1, nil, 3)
f(nil, 2)
f()
f(1, 2, 3, 4)
local t = {1, nil, 3}
print(t[1], t[2], t[3])
for i, v in ipairs(t) do print(i, v) end
local n = select('#', 1, nil, 3, nil)
print(n)
local function count(...) return select('#', ...) end
print(count(nil), count(nil, nil), count())
local function g(...) local t = {...}; return t[1], t[3] end
print(g(1, nil, 3))

-- # coercions2
print(1 < 2, 2 >= 2, 'abc' < 'abd', 'Z' < 'a')
local n = 3
local s = 'n=' .. n .. ', h=' .. n / 2
print(s)
print('x' .. 1.0 .. 'y' .. 2.50)
print(-2 ^ 2, 2 ^ -1, 2 ^ 0.5)
print(5 % 0 ~= 5 % 0, 1 / 0, -1 / 0)
print(math.max(1, 2.5), math.min(3, 1), math.abs(-3), math.fmod(-7, 3), math.sqrt(16))
print(7 - 10, 3 * -1, 1e3, 5e-1)
print(math.pi)

-- # holes
local t = {}
t[1] = 1
t[2] = 2
t[4] = 4
print(t[4], t[3])
t[2] = nil
local c = 0
for k in pairs(t) do c = c + 1 end
print(c)
local u = {1, 2, 3}
u[3] = nil
print(#u)
u[#u] = nil
print(#u, u[1], u[2])

-- # closures over loop variables
local fs = {}
for i = 1, 3 do fs[i] = function() return i end end
print(fs[1](), fs[2](), fs[3]())
local gs = {}
for _, v in ipairs{'a', 'b'} do gs[#gs + 1] = function() v = v .. '!'; return v end end
print(gs[1](), gs[1](), gs[2]())
local hs = {}
local i = 1
while i <= 2 do local j = i; hs[i] = function() j = j + 1; return j end; i = i + 1 end
print(hs[1](), hs[1](), hs[2]())
local function counter() local n = 0; return function() n = n + 1; return n end, function() return n end end
local inc, get = counter()
inc(); inc()
print(get(), inc(), get())

-- # metatables
local A = {}
A.__index = A
function A.new(x) local self = setmetatable({}, A); self.x = x; return self end
function A:get() return self.x end
A.__add = function(a, b) return A.new(a.x + b.x) end
A.__eq = function(a, b) return a.x == b.x end
A.__tostring = function(a) return 'A(' .. a.x .. ')' end
A.__lt = function(a, b) return a.x < b.x end
A.__le = function(a, b) return a.x <= b.x end
A.__len = function(a) return a.x end
A.__concat = function(a, b) return 'cat' end
A.__unm = function(a) return A.new(-a.x) end
A.__call = function(self, y) return self.x + y end
local a, b = A.new(1), A.new(2)
print((a + b):get(), a == b, a == A.new(1), tostring(a), a < b, a <= b, a > b)
print(a .. b, a .. 'x', (-a):get(), a(10))
print(getmetatable(a) == A)
print(rawget(a, 'x'), rawget(a, 'get'))

-- # index function
local t = setmetatable({}, {__index = function(t, k) return k .. '!' end})
print(t.foo, t[1], t.bar)
t.foo = 3
print(t.foo, rawget(t, 'bar'))
local log = {}
local p = setmetatable({}, {__newindex = function(t, k, v) log[#log + 1] = k; rawset(t, k, v) end})
p.a = 1
p.b = 2
p.a = 3
print(table.concat(log, ','), p.a, p.b)
local parent = {greet = function(self) return 'hi ' .. self.name end, kind = 'parent'}
local child = setmetatable({name = 'c'}, {__index = parent})
print(child:greet(), child.kind, child.name, child.none)

-- # hand class with inheritance
local Animal = {}
Animal.__index = Animal
function Animal.new(name) return setmetatable({name = name}, Animal) end
function Animal:speak() return self.name .. ' makes a sound' end
function Animal:describe() return 'I am ' .. self.name .. '. ' .. self:speak() end
local Dog = setmetatable({}, {__index = Animal})
Dog.__index = Dog
function Dog.new(name) local self = Animal.new(name); return setmetatable(self, Dog) end
function Dog:speak() return self.name .. ' barks' end
print(Animal.new('x'):describe())
print(Dog.new('y'):describe())
local d = Dog.new('z')
print(d.name, d.age, d.speak ~= nil)
d.age = 3
print(d.age)

-- # varargs
local function f(...)
  local a, b = ...
  local t = {...}
  return #t, a, b, ...
end
print(f())
print(f(1))
print(f(1, 2, 3))
local function sum(...) local s = 0 for _, v in ipairs{...} do s = s + v end return s end
print(sum(), sum(1, 2, 3))
local function last(...) return (select(select('#', ...), ...)) end
print(last(1, 2, 'z'))
local function wrap(f, ...) return f(...) end
print(wrap(math.max, 3, 9, 2), wrap(sum, 1, 2))
local function opt(a, ...) if ... then return 'more' end return 'one' end
print(opt(1), opt(1, 2), opt(1, nil), opt(1, false))
print(unpack({1, 2, 3}))
print(unpack({1, 2, 3}, 2))
print((unpack({7, 8})))

-- # pcall
print(pcall(function() return 1, 2, 3 end))
print(pcall(function() end))
local ok, err = pcall(function() error({code = 5}) end)
print(ok, type(err), err.code)
local ok, err = pcall(function() error('msg', 0) end)
print(ok, err)
print(pcall(error))
local ok, a, b = pcall(function(x, y) return y, x end, 1, 2)
print(ok, a, b)
print(select('#', pcall(function() return nil, nil end)))
local ok = pcall(function() local x = nil; return x.y end)
print(ok)
print(xpcall(function() return 4, 5 end, function(e) return 'h' end))
print((xpcall(function() error('a') end, function(e) return 'handled' end)))

-- # coroutines
local co = coroutine.create(function(a, b)
  print('start', a, b)
  local c = coroutine.yield(a + b)
  print('got', c)
  local d, e = coroutine.yield(c * 2, 'two')
  print('got', d, e)
  return 'done', 99
end)
print(coroutine.resume(co, 1, 2))
print(coroutine.status(co))
print(coroutine.resume(co, 10))
print(coroutine.resume(co, 'x', 'y'))
print(coroutine.status(co))
print(coroutine.resume(co))
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i, i * i) end end)
print(gen())
print(gen())
for v in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end) do print(v) end

-- # goto continue
for i = 1, 5 do
  if i % 2 == 0 then goto continue end
  print(i)
  ::continue::
end
local i = 0
while i < 5 do
  i = i + 1
  if i == 3 then goto next end
  print('w', i)
  ::next::
end
for i = 1, 2 do
  for j = 1, 3 do
    if j == 2 then goto skip end
    print(i, j)
    ::skip::
  end
end

-- # underscore
local function f(_, x) return x end
print(f(1, 2))
for _, v in ipairs{1, 2} do print(v) end
local _, b = f(1, 2), 3
print(b)
_ = 5
print(_)
local function g(_) _ = _ or 7; return _ end
print(g(), g(2), _)

-- # a comment of one line with brackets
local t = {
   ----[[
   y = 2,
   --]]
   z = 3, -- --[[
}
print(t.y, t.z)
----[[ print(0)
print(1)
--]]
---[[ print(2)
print(3)

-- # functions of Torch7's that take sizes
local a = torch.range(1, 4)
print(torch.repeatTensor(a, 2, 1))
print(torch.view(a, 2, 2))
print(torch.reshape(a, 4, 1))

-- # a criterion that is called
require 'nn'
local crit
if torch.range(1, 2):sum() > 5 then crit = nn.SmoothL1Criterion() else crit = nn.MSECriterion() end
print(2 * crit(torch.ones(3), torch.zeros(3)))
print(crit(torch.ones(3), torch.zeros(3)))
local moved = nn.MSECriterion():type(({'torch.FloatTensor'})[1])
print(moved:forward(torch.ones(2):float(), torch.zeros(2):float()))

-- # a division by what may be zero
local function mean(t) local s, n = 0, 0; for _, v in ipairs(t) do s = s + v; n = n + 1 end return s / n end
print(mean({1,2,3}), mean({}) ~= mean({}))
local n = 0
print(1 / n, -1 / n)
local function ratio(t) return 10 / #t end
print(ratio({}), ratio({1, 2}))
print(math.floor(7 / 2), false == 0, 0 ~= false)

-- # a fixed key past the end
local t = {1, 2, 3}
print(t[4], t[5], t[3])
local v = t[7]
print(v)

-- # next behind the last entry
print(next({}))
local t = {a = 1}
print(next(t))
print(next(t, 'a'))
local k, v = next(t, 'a')
print(k, v)
print(select('#', next({})))
if next({}) == nil then print('empty') end

-- # removing from an empty list
local n = {}
print(table.remove(n))
local x = table.remove(n)
print(x)

-- # large numbers
print(2^53, 2^10, 10^15, 1e15, 100000000000000, 123456789012345)
local h = 5381
for i = 1, 20 do h = h * 33 + i end
print(h)
print('h = ' .. h, tostring(h))
print(math.max(3), math.min(unpack({4})), math.max(1, unpack({2, 3})))

-- # results are contiguous, whatever their operands are
local x = torch.range(1, 6):resize(2, 3)
local t = x:t()
print((t + 1):isContiguous(), torch.tanh(t):isContiguous(), t:clone():stride(1), t:gt(2):isContiguous())
print((t * 2):view(6), torch.add(torch.Tensor(), t, 1):view(-1), t:float():isContiguous())
print(t:isContiguous(), rawequal(x:contiguous(), x), x:t():t():isContiguous())
local square = torch.range(1, 4):resize(2, 2)
square:add(square:t():contiguous())
print(square)

-- # a tensor made with a colon is the same memory
local x = torch.range(1, 4):resize(2, 2)
local y = x:new()
y:fill(3)
print(x, x.new(2):size(1), x.new{7})

-- # whole numbers wrap around
local b = torch.ByteTensor(4):zero()
b[1] = 300
b[2] = -1
b[3] = 255.9
b[4] = '12'
print(b)
local x = torch.zeros(2, 3)
x[{}] = torch.range(1, 6)
print(x)

-- # generators
local g = torch.Generator()
torch.manualSeed(g, 3)
print(torch.random(g, 100), torch.uniform(g), torch.rand(g, 2), torch.Tensor(2):uniform(g, 0, 1), torch.randperm(g, 3))

-- # lists with holes, strings as numbers, threads
local parts = {}
for k, v in pairs({10, 20, nil, 40}) do parts[#parts + 1] = k .. ':' .. v end
print(table.concat(parts, ' '), math.floor('3.7'), type(coroutine.create(print)))

-- # storages and functions of tensors
local s = torch.CharStorage():string('hi')
print(s:size(), torch.LongStorage(2):fill(4):totable()[2], torch.typename(s))
local p, r = torch.Tensor{1, 0}, torch.LongTensor()
p.multinomial(r, p, 3, true)
print(r, p.size == torch.Tensor.size)
local list = {}
torch.Tensor.split(list, torch.range(1, 4), 2, 1)
print(#list, list[2])

-- # files, coroutines and keys that scripts ask about
local path = os.tmpname()
local f = assert(io.open(path, 'w'))
f:write('ab\n')
f:close()
f = assert(io.open(path))
print(io.type(f), io.type(io.stdout), io.type(4), f:read(0), f:read(3), f:read(0))
f:close()
print(io.type(f), pcall(f.read, f))
print((select(2, pcall(function() return f:read('*l') end)):match('attempt.*')))
os.remove(path)
local thread, is_program = coroutine.running()
print(type(thread), tostring(thread):match('^%a+'), is_program)
local co
co = coroutine.create(function() print(coroutine.running() == co, select(2, coroutine.running())) end)
coroutine.resume(co)
print(table.maxn{1, 2, [10] = 3}, table.maxn{}, table.maxn{4, 5})

-- # masks of other sizes, with as many elements
local function rows(x, n)
  local mask = torch.ge(torch.ge(x, 2):sum(2), n)
  local found = torch.range(1, x:size()[1]):long()[mask]
  return x:index(1, found)
end
print(rows(torch.Tensor{{1, 2, 3}, {1, 1, 1}, {2, 2, 2}}, 2))
local v, m = torch.range(1, 4), torch.ByteTensor{{1, 0}, {0, 1}}
print(v[m], v:maskedSelect(m))
v[m] = 0
print(v)
v:maskedFill(m, 5)
print(v, v:maskedCopy(m, torch.Tensor{7, 8}))
local x = torch.range(1, 4):view(2, 2)
print(x[torch.ByteTensor{1, 0, 0, 1}], x[x:gt(2)])

-- # an entry that goes from the end of a list
local heap = {size = 0, list = {}}
local function push(v) heap.size = heap.size + 1 heap.list[heap.size] = {v = v} end
local function pop()
  local top = heap.list[1]
  heap.list[1] = heap.list[heap.size]
  heap.list[heap.size] = nil
  heap.size = heap.size - 1
  return top and top.v
end
push(3) push(4)
print(pop(), #heap.list)
push(5)
print(#heap.list, pop(), pop(), #heap.list)

-- # an object of a class by hand as text
local Loader = {}
Loader.__index = Loader
function Loader.create(n) return setmetatable({n = n}, Loader) end
function Loader:next() return self.n + 1 end
print(Loader.create(3):next(), tostring(Loader.create(1)):match('^table'))

-- # tables of nets among those of the program
require 'nn'
local nets = {nn.ConcatTable():add(nn.Identity()):add(nn.Square()), nn.Square()}
local function step(x, n)
  local state = {[0] = {[n] = x}}
  for t = 1, 2 do
    state[t] = nets[t]:forward(state[0][n])
    if type(state[t]) ~= 'table' then state[t] = {[n] = state[t]} end
    print(state[t][n]:sum())
  end
end
step(torch.ones(2) * 3, 2)

-- # identity beside literals, rawequal, what is not itself
local function is_empty(x) return x == {}, {} == x, x ~= {} end
print({} == {}, {1} ~= {1}, is_empty({}))
print(0 ~= false, 1 == true, 'a' == false, false == 0)
local none = {}
print(none == {}, none ~= {}, none == none)
local a, b = 500 * 2, 1000
print(rawequal(a, b), rawequal('a' .. 1, 'a1'), rawequal(1, true), rawequal({}, {}), rawequal(nil, false))
local meta = {__eq = function() return true end}
local t, u = setmetatable({}, meta), setmetatable({}, meta)
print(rawequal(t, u), t == u, rawequal(t, t))
local function same(x, y) return rawequal(x, y) end
print(same('x' .. 1, 'x1'), same(1e3, 1000), same(t, u))
local function odd(x) return x ~= x end
print(odd(0 / 0), odd('a'), odd({}), rawequal(0 / 0, 0 / 0))

-- # what was summed up, among vectors
local function hits(Y, pred)
  local _, best = torch.max(pred, 2)
  return best:eq(Y:long()):sum()
end
print(hits(torch.Tensor{1, 2, 2}, torch.Tensor{{1, 0}, {0, 1}, {1, 0}}))
local function fill(W, n)
  local z = torch.zeros(n, W:size(1))
  for i = 1, n do z[i] = W:index(2, torch.LongTensor{1, 2}):sum(2) end
  return z
end
print(fill(torch.ones(3, 4), 2))
local function step(b, g) return b - (g / 2 + b):mul(0.5) end
local b = step(torch.ones(2), torch.ones(3, 2):sum(1))
print(b:dim(), b[1])
local function best(x) return x:topk(2, 1, true) end
local top, at = best(torch.Tensor{0.25, 4, 1, 8, 2})
print(top, at)

-- # nil in brackets is nil
local none = {}
none[10] = 2
none[5] = (nil)
for k in pairs(none) do print(k) end

-- # sizes that may be texts
local function given(...) return (select(2, ...)) end
print(torch.zeros(given(1, '3'), 2):size(1))

-- # entries of different kinds, in a file too
require 'torch'
local path = os.tmpname()
torch.save(path, {x = torch.range(1, 4), meta = {1, 'two', {three = 3}}})
local back = torch.load(path)
os.remove(path)
print(#back.meta, back.meta[3].three, back.meta[2]:upper(), back.x:sum())
local u = {1, 'two', {three = 3}, torch.ones(2)}
print(u[3].three, u[2]:upper(), u[4]:size(1))

-- # a choice between texts among parts that no f-string takes
local names = {'a', 'b'}
for i, name in ipairs(names) do io.write(name, '=', i, i < #names and ' ' or '\n') end

-- # a loop's number that is a key of what may lack it
local function total(...)
   local n, t, s = select('#', ...), {...}, 0
   for i = 1, n do s = s + (t[i] or 0) end
   return n, s
end
print(total(1, 2, 4))
require 'torch'
local grad, targets = torch.zeros(2, 3), torch.Tensor{3, 1}
for i = 1, 2 do grad[{i, targets[i]}] = i * 0 - 1 end
local function mark(x, t) for b = 1, x:size(1) do x[{b, t[b]}] = 5 end end
mark(grad, targets)
print(grad)

-- # tables and other things as keys
local seen = {}
local a, b = {1, 2}, {1, 2}
seen[a] = 'a'
seen[b] = 'b'
print(seen[a], seen[b], seen[{1, 2}])
for k, v in pairs(seen) do print(#k, v == 'a' or v == 'b') end
local d = {x = 1}
local visited = {[d] = true}
print(visited[d], visited[{x = 1}])
local function count(t, done)
   done = done or {}
   if done[t] then return 0 end
   done[t] = true
   local n = 1
   for _, v in pairs(t) do if type(v) == 'table' then n = n + count(v, done) end end
   return n
end
local g = {1, {2, 3}, {x = {4}}}
g[4] = g
print(count(g), count({}), count({{}, {}}))
local function deepcopy(o, seen)
   seen = seen or {}
   if type(o) ~= 'table' then return o end
   if seen[o] then return seen[o] end
   local c = {}
   seen[o] = c
   for k, v in pairs(o) do c[deepcopy(k, seen)] = deepcopy(v, seen) end
   return setmetatable(c, getmetatable(o))
end
local c = deepcopy(g)
print(#c, c[2][2], c[3].x[1], c[4] == c, c ~= g)
local weak = setmetatable({}, {__mode = 'k'})
weak[a] = 1 weak[d] = 2
print(weak[a], weak[d], weak[b])
local set = {}
for _, t in ipairs({a, b, a}) do set[t] = (set[t] or 0) + 1 end
print(set[a], set[b], next(set) ~= nil)
set[a] = nil
print(set[a], set[b])
local f = function() end
local m = {[f] = 'f', [print] = 'p'}
print(m[f], m[print])
local x, y = torch.ones(2), torch.ones(2)
local names = {}
names[x] = 'x' names[y] = 'y'
print(names[x], names[y], names[torch.ones(2)])

-- # the step of an iterator, called by hand
local step = ('one two'):gmatch('%a+')
print(type(step), step(), step(), step())
local n = os.tmpname()
local f = io.open(n, 'w') f:write('a\nb\n') f:close()
local nextline = io.lines(n)
print(type(nextline), nextline(), nextline(), nextline())
local g = io.open(n)
local l = g:lines()
print(l(), l())
g:close()
os.remove(n)
local nx, t, k = pairs({x = 1})
print(nx(t, k))
local it, l, i = ipairs({5, 6})
print(it(l, i), it(l, 1), it(l, 2))
local pairs, type, print = pairs, type, print
for k, v in pairs({a = 1}) do print(k, v, type(v)) end
local function each(t) local i = 0 return function() i = i + 1 return t[i] end end
for v in each({4, 5}) do print(v) end
local words = {}
for w, num in ('a=1, b=2'):gmatch('(%w+)=(%w+)') do words[#words + 1] = w .. num end
print(table.concat(words, ';'))

-- # functions under computed keys
local encode
local function encode_nothing(v) return 'null' end
local function encode_list(v, done)
   done = done or {}
   if done[v] then error('circle') end
   done[v] = true
   local out = {}
   for i, x in ipairs(v) do out[i] = encode(x, done) end
   done[v] = nil
   return '[' .. table.concat(out, ',') .. ']'
end
local by_type = {['nil'] = encode_nothing, table = encode_list, number = tostring, boolean = tostring,
                 string = function(s) return '"' .. s .. '"' end}
encode = function(v, done) return by_type[type(v)](v, done) end
print(encode({1, 'x', {true, {}}}), encode(nil), encode('a'))
print(pcall(encode, print) == false)
local handlers = {a = function(x) return x + 1 end, b = function(x) end, c = function(x) return x, 2 end}
for _, k in ipairs{'a', 'b', 'c'} do print(k, handlers[k](7)) end
for _, k in ipairs{'a', 'b', 'c'} do local v = handlers[k](7) print(v) end

-- # text of JSON, with Lua's numbers and no blanks
local cjson = require 'cjson'
print(cjson.encode({1, 2.5, 4 / 2, 'x', true, {}}), cjson.encode('a"b'), cjson.encode({1, 2}), #cjson.encode({a = 1}))

-- # any arguments as a key
local function memoize(f)
   local cache = {}
   return function(...)
      local node, params = cache, {...}
      for i = 1, #params do
         local p = params[i]
         node.children = node.children or {}
         node.children[p] = node.children[p] or {}
         node = node.children[p]
      end
      if not node.results then node.results = {f(...)} end
      return unpack(node.results)
   end
end
local n = 0
local f = memoize(function(a, b) n = n + 1 return type(a) == 'table' and #a or a, b end)
local t = {1, 2}
print(f(1, 2), f(1, 2), n)
print(f(t), f(t), f({}), n)

-- # packages that are tried
local ok, bit = pcall(require, 'bit')
print(ok, bit.band(7, 3))
local ok5, str = pcall(require, 'string')
print(ok5, str.upper('x'))
local ok2, n = pcall(require, 'nothere')
print(ok2, type(n))
local ok4, ffi = pcall(require, 'ffi')
print(ok4, type(ffi))

-- # a class that is called through a metatable, with a maker that names it
local Finder = {}
Finder.__index = Finder
function Finder:new(grid, mode)
   local made = {}
   setmetatable(made, Finder)
   made:setGrid(grid)
   made.mode = mode
   return made
end
function Finder:setGrid(grid) self.grid = grid return self end
local F = setmetatable(Finder, {__call = function(self, ...) return self:new(...) end})
print(F(3, 'x').mode, Finder:new(4, 'y').grid, F(5).grid)

-- # sizes of what nobody knows
local function first(x) local sizes = x:size() return sizes:totable()[1], sizes:size() end
local call = loadstring('return function(a, b) return a(b) end')()
print(call(first, torch.ones(4, 5)))

-- # tensors of texts that are numbers
require 'torch'
local words = {}
for word in ('1,2,3.5'):gmatch('[^,]+') do words[#words + 1] = word end
print(torch.Tensor(words), torch.LongTensor(words))
print(torch.Tensor({words, {4, '5', 6}}))

-- # a tensor of one element that is squeezed is a number, which stays what it was
local x = torch.Tensor{{4, 2}, {3, 1}}
local best = x:max(2):max(1):squeeze()
local saved, names, counts = {}, {'a', 'b', 'c'}, {}
saved[best] = 'best'
x:fill(0)
print(best, best == 4, type(best), saved[4], ('%d|%s'):format(best, best))
local buffer, kept = torch.Tensor(1), {}
for i = 1, 3 do buffer:fill(i); kept[i] = buffer:squeeze() end
print(kept[1], kept[3], torch.Tensor(kept):sum())
local s = buffer:squeeze()
s = s + 10
print(s, buffer[1], torch.type(torch.squeeze(buffer)), type(buffer:squeeze(1)))
local _, c = torch.Tensor{{1, 9, 3}}:max(2)
print(c:size(1))
c = c:squeeze()
counts[c] = (counts[c] or 0) + 1
print(names[c], counts[2])
local y = torch.Tensor(1, 3):fill(2):squeeze()
print(y:dim(), y:size(1), y[2])

-- # operands of torch.mul and its like are computed first
local a, b = torch.Tensor{1, 2}, torch.Tensor{3, 5}
print(torch.mul(a + b, 2)[1], torch.mul(a, 1 + 2)[2], torch.cmul(a, b - 1)[2], torch.csub(a, b - a)[1])
print(torch.cdiv(a, b + a)[1], torch.div(a + b, 1 + 1)[2], torch.add(a, b - a)[2], torch.pow(a + 1, 1 + 1)[2])
local first = true
print(b:gather(1, first and torch.LongTensor{2} or torch.LongTensor{1})[1])

-- # functions that go through tensors are given numbers
local s, x = 0, torch.Tensor{1, 2}
x:apply(function(v) s = s + v * v end)
x:map(x, function(a, b) return a * b end)
print(s, x[2])
print(math.modf(3.7), (math.modf(-3.7)), math.modf(-0.5))

-- # sizes in the middle and several at the end make a new tensor
local f = torch.FloatTensor(2, 3)
local g = f.new(4, unpack(f[1]:size():totable()))
print(g:size(1), g:size(2), torch.type(g))

-- # colours of the terminal
local sys = require 'sys'
local c = sys.COLORS
print(#c.none, #c.red, #c.Red, #c._red, c.Red == c.red, c.nothing)

-- # the number of sizes of an empty tensor
local x, y = torch.Tensor(), torch.ones(2, 3)
local function count(t) return #t:size() end
print(#x:size(), x:size():size(), #y:size(), count(x), count(y[1]))

-- # tables that a package of Lua gives count from 1; JSON without blanks
local tablex, cjson = require 'pl.tablex', require 'cjson'
local counts = {b = 3, a = 3, c = 1}
local order = tablex.keys(counts)
table.sort(order, function(p, q) return counts[p] > counts[q] or (counts[p] == counts[q] and p < q) end)
print(table.concat(order, ','), counts[order[1]])
print(cjson.encode({1, 2, 'a'}), cjson.encode({a = {b = {1.5}}}))
local tds = require 'tds'
local v = tds.Vec()
v:insert('x')
v[#v + 1] = 5
print(#v, v[1], v[2])

-- # FloatTensors by default are summed up in double precision
torch.setdefaulttensortype('torch.FloatTensor')
torch.manualSeed(1)
local x = torch.rand(100)
local function average(t) return t:mean() end
print(x:sum(), average(x), torch.std(x), x:var(), x:prod(), x:view(10, 10):trace())
local sum, y = 0, torch.Tensor(100):copy(x)
for i = 1, x:size(1) do sum = sum + x[i] end
print(sum == x:sum(), y:sum())
torch.setdefaulttensortype('torch.DoubleTensor')

-- # lists past their ends, and with nil at them
local function f() return nil end
local t = {f()}
print(#t, t[1], next(t))
local u = {1, 2, 3}
u[5] = 5
print(#u)
u[4] = 4
print(#u)
u[#u] = nil
print(#u, u[4])
local xs = {10, 20, 30}
for i = 1, 5 do io.write(tostring(xs[i]), ' ') end print()
local pairs_of = {}
for i = 1, 5 do pairs_of[i] = {xs[i], xs[i + 1]} end
for i = 1, 5 do print(i, pairs_of[i][1], pairs_of[i][2], #pairs_of[i]) end
local ro = setmetatable({}, {__index = {a = 1}, __newindex = function(t, k, v) error('read only: ' .. k .. #v, 0) end})
print(ro.a, pcall(function() ro.b = 'x' end))

-- # numbers at equal distances are rounded as in Torch7; lists that end with nil
torch.setdefaulttensortype('torch.FloatTensor')
local x = torch.linspace(0, 1, 8)
print(x[3], x[6], x[7], torch.linspace(-1, 2)[50], torch.linspace(2, 2, 1)[1])
torch.setdefaulttensortype('torch.DoubleTensor')
for _, c in ipairs{{'a', {3}, 'T'}, {'b', {}, nil}} do print(c[1], #c[2], c[3]) end

-- # bytes of what nobody knows
local function bytes(x) local y = x if x:type() == 'torch.FloatTensor' then y = x:byte() end return y end
local call = loadstring('return function(a, b) return a(b) end')()
print(call(bytes, torch.FloatTensor{3}):type())

-- # bytes that are no text, in files and in Lua
local name = os.tmpname()
local file = io.open(name, 'wb')
file:write(string.char(137, 80, 200), '\195\169')
file:close()
local read = io.open(name, 'rb'):read('*a')
local storage = torch.ByteStorage():string(read)
print(#read, storage:size(), storage[1])
os.remove(name)

-- # functions that become operators keep what their operands are
local a, b = torch.Tensor{3, 3}, torch.Tensor{5, 4}
print(torch.cmul(a, b - a):sum(), torch.cmul(a, (1 - a)):sum(), torch.cdiv(a + b, b - a):sum())
print(torch.csub(a, b - a):sum(), torch.mul(a - b, 2):sum(), torch.add(a, b - a):sum())
print(torch.cdiv(a, torch.cdiv(b, a)):sum(), torch.cmul(torch.cmul(a, b), -a):sum())

-- # sizes in fields that change
require 'torch'
local layer = {}
local function resize(x)
   layer.size, layer.other = x:size(), torch.LongStorage(2)
   layer.size[1] = 1
   for i = 1, 2 do layer.other[i] = x:size(i) end
end
resize(torch.ones(2, 3))
print(torch.ones(layer.size), torch.zeros(layer.other):sum(), layer.size[1])

-- # rows of tables that loops fill
local n = 3
local m = {}
for i = 1, n do
   m[i] = {}
   for j = 1, n do m[i][j] = i * j end
end
print(#m, #m[2], m[2][3])
local t = {rows = {}}
for i = 1, 2 do t.rows[i] = {} for j = 1, 2 do t.rows[i][j] = {i, j} end end
print(#t.rows, t.rows[2][1][1])
local sparse = {}
for i = 1, 3 do sparse[i] = {} for j = 1, 3 do if j ~= i then sparse[i][j] = 1 end end end
print(sparse[1][1], sparse[2][1], sparse[2][2])
local tri = {}
for i = 1, 3 do tri[i] = {} for j = 1, i do tri[i][j] = j end end
print(#tri[3], tri[1][2])
local off = {}
for i = 0, 2 do off[i] = {} for j = 1, 2 do off[i][j] = i + j end end
print(off[0][1], #off[2], off[3])
local again = {}
for i = 1, 2 do again[i] = {} for j = 1, 2 do again[i][j] = 0 end end
for i = 1, 2 do for j = 1, 3 do again[i][j] = (again[i][j] or 10) + 1 end end
print(again[1][3], #again[2])
local nilrow = {}
for i = 1, 2 do nilrow[i] = {} for j = 1, 3 do nilrow[i][j] = j < 3 and j or nil end end
print(#nilrow[1], nilrow[1][3])
print(torch.Tensor(m):sum(), torch.Tensor(m):size(2))

-- # nil in the middle of a list
local d = {1, 2, 3, 4}
d[2] = nil
print(d[1], d[2], d[3], d[4])
local e = {'a', 'b', 'c'}
for i = 1, 2 do e[i] = nil end
print(e[1], e[3])
local f = {1, 2, 3}
f[#f] = nil
for i = #f, 1, -1 do f[i] = nil end
print(#f)

-- # parts of texts at a pattern, names of files behind a slash
require 'xlua'
for _, t in ipairs{{'a b  c ', '%s+'}, {'a,b,,c,', ','}, {',a', ','}, {'', ','}, {'a||b', '|*|'}, {'a.b', '%.'}} do
   local parts = t[1]:split(t[2])
   print(#parts, table.concat(parts, '|'))
end
local e, l = unpack(('2_0.5'):split('_'))
print(l * 2, e + 1)
for _, name in ipairs{'a/', 'a/b', '/a', './a', './a/b/', 'a/./b/c', '.', 'a.t7', ''} do
   print(paths.basename(name), paths.dirname(name))
end

-- # true and 1 are two keys
local t = {'one', [true] = 'yes', [false] = 'no', [0] = 'zero'}
t[true] = nil
print(t[1], t[true], t[false], t[0])
local seen = {}
local function mark(k) if seen[k] then return false end seen[k] = true return true end
print(mark(1), mark(true), mark(1.0), mark('1'), mark(0), mark(false))

-- # a key that is nil or no number
local t, key = {}, nil
print((pcall(function() t[key] = 1 end)), t[key], (pcall(rawset, t, 0 / 0, 1)), next(t))

-- # entries that a function may not give
local function maybe(x) if x > 1 then return x end end
local t = {a = 1, b = maybe(0), c = maybe(2)}
t.d = maybe(0)
local n = 0
for _ in pairs(t) do n = n + 1 end
print(n)

-- # what comes from a table that is empty, as text
local q = {}
local v = table.remove(q)
print(v)
print(table.remove(q, 1))
local function told(x) return 'x is ' .. tostring(x) end
print(told(), told(1))

-- # table.sort leaves what is equal where Lua's way of sorting does
local w = {}
for i = 1, 20 do w[i] = {name = 'w' .. i, n = i % 4} end
table.sort(w, function(a, b) return a.n > b.n end)
for _, v in ipairs(w) do io.write(v.name, ' ') end
print(pcall(table.sort, {5, 3, 1, 4, 2}, function() return true end))

-- # the three values of ipairs and pairs
local t = {'a', 'b'}
local f, s, c = ipairs(t)
print(s == t, c, f(s, c))
print(f(t, 1))
local step, table_, key = pairs{x = 1}
print(step(table_, key))
local function each(list) return ipairs(list) end
for i, v in each{'p', 'q'} do io.write(i, v, ' ') end
for k, v in next, {y = 2} do print(k, v) end

-- # what is computed is neither nil nor false, whatever it is made of
local function next_epoch(kept, given) return kept and kept.epoch + 1 or given end
print(next_epoch({epoch = 3}, 1), next_epoch(nil, 1), next_epoch(false, false))
local function shown(t) return t and 'has ' .. t.name or t == nil and -1 or {} end
print(shown{name = 'x'}, shown(nil), type(shown(false)))

-- # numbers for which Python's functions have no value
local function entropy(p) local h = 0 for _, v in ipairs(p) do h = h - v * math.log(v) end return h end
print(entropy{0.5, 0.5}, entropy{0, 1}, math.log(0), math.log10(0))
local function f(x, y) return math.exp(x), math.sqrt(y), y ^ 0.5, math.pow(y, 1 / 3), y ^ 2 end
print(f(800, -4))
print(f(1, 4))
local x = 1 / 0
print(math.floor(x), math.fmod(5, 0), math.acos(2), -x, x - x, (pcall(math.sqrt, -1)))
local fs = {math.sqrt, math.floor}
print(fs[1](-1), fs[2](2.5), math.log(8, 2))

-- # what is left of a division by a fraction
local x, t = 1, {0.5, 1.5}
print(x % 0.1, 0.3 % 0.1, -1 % 0.3, t[2] % t[1], 10 % (9 / 2), 10 % math.pi, 1e17 % math.pi)

-- # what LuaJIT has, and what it has not
print(jit ~= nil, math.type and 2, string.pack and 3)
print(jit and 1 or 2)

-- # table.sort leaves equal entries in Lua's order
for n = 1, 40 do
  local rows, order = {}, {}
  for i = 1, n do rows[i] = {id = i, key = (i * 7 + n) % 5} end
  table.sort(rows, function(a, b) return a.key < b.key end)
  for i, row in ipairs(rows) do order[i] = row.id end
  print(table.concat(order, ' '))
end
print(pcall(table.sort, {3, 1, 2, 5, 4}, function(a, b) return true end))

-- # what ... gives is not all of a kind
local function keep(...) return {...} end
local items = {keep(torch.ones(2), 2, false), keep(torch.zeros(2), 3, true)}
for _, e in ipairs(items) do
  local s, a = torch.zeros(2), torch.zeros(1)
  s:copy(e[1])
  a[1] = e[2]
  print(s[1], a[1], e[3] and 1 or 0)
  if e[3] then print('done') end
end

-- # what is nil is no entry of a dict
local function f(o) return o.x or 5 end
print(f{x = 3}, f{y = 1})
local function g(o) return o.z or 7 end
local t = {y = 2}
t.z = t.y == 3 and 9 or nil
print(g(t))
for k, v in pairs(t) do print(k, v) end
local n = 0
for k in pairs(t) do n = n + 1 end
print(n)
local function maybe(i) if i > 1 then return i end end
local u = {}
for i = 1, 3 do u['k' .. i] = maybe(i) end
local m = 0
for k, v in pairs(u) do m = m + 1 end
print(m, u.k1 or 'none')
local w = {a = maybe(0), b = maybe(2)}
print(w.a or 'no', w['a'] or 'nope')
local c = 0
for k, v in pairs(w) do c = c + v end
print(c)

-- # sort downwards
local v, i = torch.Tensor{3, 1, 2}:sort(true)
print(v[1], i[1], i[3], (torch.sort(torch.Tensor{{1, 5}, {4, 2}}, true))[2][1])

-- # functions of math where Python has no value, also as values
local exp = math.exp
print(exp(1000), math.sin(math.huge), math.log(8, 1), math.log(0, 0.5), math.floor(math.huge), math.ceil(-math.huge))
local zero = 0
print(math.floor(1 / zero), math.log(zero), math.sqrt(-1), math.cos(zero), math.log(8, 2))

-- # what a value is: its type
require 'nn'
local function show(x)
  if type(x) == 'string' then return 's' .. x
  elseif type(x) == 'number' then return x + 1
  elseif type(x) == 'table' then return #x
  elseif type(x) == 'boolean' then return x and 'yes' or 'no'
  elseif type(x) == 'nil' then return 'nil'
  elseif torch.type(x) == 'nn.Linear' then return 'linear'
  else return torch.type(x) end
end
print(show('a'), show(2), show{1, 2}, show(true), show(nil), show(torch.ones(2)))
local function each(t) for i, v in ipairs(t) do if type(v) ~= 'table' then io.write(v, ' ') else each(v) end end end
each{1, {2, {3}}, 4} print()
local opt = {a = 'x', n = 3}
for _, k in ipairs{'a', 'n', 'q'} do io.write(tostring(type(opt[k]) == 'string'), ' ', tostring(type(opt[k]) == 'number'), ' ') end
print()
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh()):add(nn.ParallelTable())
for i = 1, 3 do local m = net:get(i) print(torch.type(m), torch.type(m) == 'nn.Tanh', torch.type(m):find('Linear') ~= nil) end
local x = torch.type(torch.ones(2)) == 'torch.DoubleTensor'
print(x, torch.type(3) == 'number', type(torch.ones(1)) == 'table', type(nn.Linear(1, 1)) == 'table')

-- # zeros reach divisors and bases
local function every(i, n) return i % n == 0 end
print(every(10, 5), every(10, 0))
local opt = {interval = 0, decay = 0}
for i = 1, 2 do print(i % opt.interval == 0, i / opt.interval) end
local names = {}
local count = #names
print(3 % count, 3 / count, 0 / count)
local cmd = torch.CmdLine()
cmd:option('-n', 0, 'none'); cmd:option('-k', 5, 'some')
local given = cmd:parse({})
print(10 % given.n, 10 % given.k, 10 / given.n, math.floor(10 / given.n))
local k = -1
print(0 ^ -1, opt.decay ^ k, 2 ^ k, math.pow(0, -2), math.pow(given.n, k), math.pow(3, 2))
for i = 0, 2 do print(i ^ -1, i ^ k, i ^ -0.5) end

-- # numbers that are texts
print(math.sqrt('16'), math.floor('3.7'), math.max('3', 4), math.abs('-2'), math.ceil('2.1'))
local s = '12'
print(math.sqrt(s), math.pow(s, 2), math.log(s), math.min(s, 3), math.max(2, s))
local a, b = ('0.5 3 abc'):match('(%S+) (%S+)')
print(a * b, math.floor(a), math.max(a, b), math.fmod(b, 2), string.rep('x', b), ('abc'):sub(b))
for i = 1, b do print(i) end
local _, last, word, at = ('key = value'):find('(%w+) = ()')
print(last, word .. '!', at + 1)

-- # random numbers by hand, of products beyond 2^53
local seed = 12345
local function draw() seed = (seed * 1103515245 + 12345) % 2147483648 return seed end
for i = 1, 3 do print(draw(), draw() % 10) end
local state = 7
local function uniform() state = (1103515245 * state + 12345) % 2^31 return state / 2^31 end
for i = 1, 3 do print(uniform()) end
local small = 42
for i = 1, 3 do small = (small * 16807) % 2147483647 print(small) end

-- # texts and folders that are empty or not there
local stringx = require 'pl.stringx'
print(#stringx.split('', ','), #stringx.split('a,,b', ','), #stringx.split(' a  b '))
print(stringx.strip('--x--', '-'), stringx.strip(' x '), stringx.replace('aXbX', 'X', 'y', 1))
print(stringx.replace('aXbX', 'X', 'y'))
local paths = require 'paths'
local gone = paths.dir('/nonexistent/folder')
if gone then print('there') else print('gone') end
for name in paths.files('/nonexistent/folder') do print(name) end
for name in paths.iterdirs('/nonexistent/folder') do print(name) end

-- # a global variable that nobody sets has a name of Python's, where a package is missing
local function draw() require 'nobody_has_it' return None end
local a = {}
a.x = None
print(a.x, draw ~= nil)

-- # a tensor of one element is no number
local out = torch.Tensor{{1}, {5}, {3}}
local _, m = out:max(1)
local n = 2
if n ~= m[1] then print('differ') end
print(m[1] == 2, m[1] == m[1], n == m[1][1], {1} == m, 'a' == m[1], m == 2)
local rec = {{1, {2, 3}}, {2, {1}}}
local k = rec[1][2][1]
print(k ~= m[1], k == m)

-- # table.insert at a place that is computed, and behind the end
local sorted = {}
for _, v in ipairs{5, 2, 8, 1} do
  local at = #sorted + 1
  for i, w in ipairs(sorted) do if v < w then at = i break end end
  table.insert(sorted, at, v)
end
table.insert(sorted, 1, 0) table.insert(sorted, 9) table.insert(sorted, 2, 7)
print(table.concat(sorted, ' '))

-- # a call, and nil behind it, in a table
local function three() return 1, 2, 3 end
local t = {three(), nil}
print(#t, t[1], t[2])
local function all(...) local t = {..., nil} return #t, t[1], t[2] end
print(all(4, 5))

-- # what only Lua's packages have is no list of Python's
local List = require 'pl.List'
local tablex = require 'pl.tablex'
local stringx = require 'pl.stringx'
local World = {}
World.__index = World
function World.new() return setmetatable({actors = List(), names = {}}, World) end
function World:add(n) self.actors:append(n) self.names[#self.names + 1] = n end
function World:get() return self.actors:filter(function(a) return #a > 1 end) end
local w = World.new()
w:add('ann') w:add('b') w:add('carl')
local got = w:get()
for i, a in ipairs(got) do print(i, a) end
print(#got, got[1], got:join('-'))
local function count(list) local n = 0 for _, x in ipairs(list) do n = n + #x end return n end
print(count(w:get()), count(w.names))
local keys = tablex.keys{x = 1}
for _, k in ipairs(keys) do print(k) end
local lines = stringx.splitlines('a\nb\nc')
for i = 1, #lines do io.write(lines[i], ' ') end print()
print(#tablex.map(function(x) return x * 2 end, {1, 2, 3}), tablex.find({5, 6}, 6))

-- # a parameter called torch, and products of fractions modulo a constant
local function mk(torch) local r if torch then r = 'yes' else r = 'no' end return r end
print(mk(false), mk(1))
local s = 0.5
print((s * 1000000007) % 2^32, (0.123456789 * 10000000) % 2147483648)

-- # the types of files
local f = torch.DiskFile('x_fl.txt', 'w')
print(torch.type(f), torch.type(f) == 'torch.DiskFile')
f:close()
os.remove('x_fl.txt')
local m = torch.MemoryFile()
print(torch.type(m) == 'torch.MemoryFile', torch.type(torch.Timer()))

-- # computed zeros as divisors
local n = 3 - 3
print(5 / n)
local tp, fp = 0, 0
print(tp / (tp + fp))
local m = 1
m = m - 1
print(1 / m, -1 / m)
local k = 2
while k > 0 do k = k - 1 end
print(10 % k)

-- # hexadecimal numbers, negative ones too
print(string.format('%x', 255), ('%X'):format(48879))
print(string.format('%x', -1))
local n = -255
print(('%08x'):format(n))

-- # results that are tested, of functions that give entries of lists
local Cursor = {}
Cursor.__index = Cursor
function Cursor.new(t) return setmetatable({t = t, pos = 1}, Cursor) end
function Cursor:next() local x = self.t[self.pos] self.pos = self.pos + 1 return x end
local c = Cursor.new({4, 5})
local sum, x = 0, c:next()
while x do sum = sum + x x = c:next() end
print(sum, c.pos)

-- # entries of lists that have a default behind a test of the list
local rows = {{1, 2}, {3, 4}}
local function at(y, x) local row = rows[y] return (row and row[x + 1] or 0) + (row and row[x] or 0) end
print(at(1, 1), at(1, 2), at(1, 3), at(3, 1))

-- # entries with holes between them, given as arguments up to a number
local function bound(n, ...)
  local all, more = {}, {n = select('#', ...), ...}
  for i = 1, more.n do all[n + i] = more[i] end
  return select('#', unpack(all, 1, n + more.n))
end
print(bound(2, nil, 7), bound(0))

-- # sums of tables whose metatable gets its functions by their names
local Set = {mt = {}}
function Set.new(l) local set = setmetatable({}, Set.mt) for _, v in ipairs(l) do set[v] = true end return set end
function Set.union(a, b)
  local all = Set.new{}
  for k in pairs(a) do all[k] = true end
  for k in pairs(b) do all[k] = true end
  return all
end
Set.mt.__add = Set.union
Set.mt.__tostring = function(set)
  local n = 0
  for k in pairs(set) do n = n + k end
  return 'sum ' .. n
end
local both = Set.new{1, 2} + Set.new{2, 4}
print(both)

-- # a list beside functions under computed names
local M = {levels = {low = 1, high = 2}, sinks = {}}
for name, n in pairs(M.levels) do
  M[name] = function(text)
    for _, sink in ipairs(M.sinks) do sink(name .. n .. text) end
  end
end
function M.add(f) M.sinks[#M.sinks + 1] = f return #M.sinks end
print(M.add(print), M.add(print))
M.low('x')

-- # a path through dicts and lists
local function at(v, path)
  for part in path:gmatch('[^.]+') do
    if type(v) ~= 'table' then return '?' end
    v = v[tonumber(part) or part]
  end
  return v
end
local data = {user = {name = 'Al'}, items = {'a', 'b'}}
print(at(data, 'user.name'), at(data, 'items.2'), at(data, 'user.x'), at(data, 'user.name.x'), tonumber('0b11'))

-- # entries of tables under keys that nobody knows
local function get(t, ...)
  for i = 1, select('#', ...) do
    if type(t) ~= 'table' then return nil end
    t = t[select(i, ...)]
  end
  return t
end
local config = {net = {layers = {{size = 10}, {size = 20}}}, lr = 0.1}
print(get(config, 'net', 'layers', 2, 'size'), get(config, 'net', 'nope', 1), get(config, 'lr', 'x'))

-- # sums of tensors as divisors
local mask = torch.zeros(3)
print(1 / mask:sum(), mask[1] / mask:sum())

-- # assert says what a function gives it
local function positive(n) if n > 0 then return n end return nil, 'not positive' end
local ok, problem = pcall(function() assert(positive(-1)) end)
print(ok, problem:match('not positive'))

-- # what tables with a metatable, or tables under unknown keys, lack, shown
local function pick(row, names) local r = {} for _, n in ipairs(names) do r[n] = row[n] end return r end
local t = setmetatable({a = 1}, {__index = {b = 'two'}})
print(t.a, t.b, t.c)
print('x' .. tostring(t.c), pick({id = 3, name = 'n'}, {'name'}).id)

-- # errors that are numbers, or what nobody knows
local function thrower(v) return function() error(v) end end
for _, v in ipairs{1, true, 'str'} do
  local ok, e = pcall(thrower(v))
  print(type(e), type(e) == 'string' and e:match(':%d+: (.*)$'))
end

-- # a metatable that does not show itself
local Bank = {}
Bank.__index = Bank
Bank.__metatable = 'locked'
function Bank.open() return setmetatable({}, Bank) end
print(getmetatable(Bank.open()))

-- # entries past the end of a list behind a test or with a default
local function returns(list) local calls = 0 return function() calls = calls + 1 local r = list and list[calls] return r end end
local next = returns{1, 2}
print(next(), next(), next(), returns()())
local function ordinal(n) return n .. (n == 11 and 'th' or ({'st', 'nd', 'rd'})[n] or 'th') end
print(ordinal(1), ordinal(4), ordinal(11))

-- # a variable called global
local global = 1
local function f(global) return global end
global = global + 3
local t = {global = 5, [0] = global}
for global = 1, 2 do io.write(global, ' ') end
print(f(3), global, t.global, t[0])

-- # divisors that a text gives
local z = tonumber('0')
print(1 / z, -1 / z, 10 % tonumber('3'))
local function div(a, b) return tonumber(a) / tonumber(b) end
print(div('1', '0'), div('3', '2'))

-- # sizes of numbers that are no ints in Python
local sizes = torch.LongStorage(torch.ones(2):totable())
sizes[1] = 3
print(torch.zeros(3):view(sizes):size(2), #torch.LongStorage{2, 4 / 2})

-- # what ends a function early tells the rest what a value is
local function shown(x)
  if type(x) ~= 'table' then return tostring(x) .. '!' end
  local n = 0
  for _, v in ipairs(x) do n = n + v end
  return n
end
print(shown(3), shown{1, 2}, shown('a'))

-- # the end of a list that a loop takes away
local function trim(t, n) for i = n + 1, #t do t[i] = nil end return t end
local squares = {}
for i = 1, 5 do squares[#squares + 1] = i * i end
print(#trim(squares, 3), #trim(squares, 7), table.concat(squares, ','))
print(#trim({4, 5, 6}, -2), #trim({4, 5, 6}, 1.5))
local e = {1, 2, 3, 4}
for i = 3, #e do e[i] = nil end
for i = 1, 4 do print(e[i]) end

-- # a default of which nobody knows what it is
local env = {x = 3}
local function get(k) return env[k] or math[k] end
print(get('x'), get('nothing'), type(get('pi')))

-- # entries that are set where they are missing
local t, d, m = {}, {}, {}
t[1] = t[1] or 5
t[2] = t[2] or 6
t[1] = t[1] or 7
print(#t, t[1], t[2])
for _, w in ipairs{'a', 'b', 'a'} do d[w] = d[w] or {}; table.insert(d[w], #w) end
print(#d.a, #d.b)
for i = 1, 3 do m[i] = m[i] or i * 2 end
for i = 1, 4 do m[i] = m[i] or 0 end
print(table.concat(m, ' '))
d.flag = false
d['flag'] = d['flag'] or true
print(d.flag)
local seen = {[3] = false}
seen[3] = seen[3] or 'now'
print(seen[3])
local opt = {lr = 0.1}
opt.lr = opt.lr or 1
opt.n = opt.n or 2
opt.list = opt.list or {1, 2}
print(opt.lr, opt.n, #opt.list)

-- # tables under names that a text has
local function parse(s)
   local cfg, section = {}, nil
   for line in s:gmatch('[^\n]+') do
      local name = line:match('^%[(%w+)%]$')
      if name then
         cfg[name] = cfg[name] or {}
         section = cfg[name]
      else
         local k, v = line:match('^(%w+)=(.*)$')
         local value = tonumber(v) or v
         if v == 'true' or v == 'false' then value = v == 'true' end
         if v:match('^{.*}$') then
            value = {}
            for item in v:sub(2, -2):gmatch('[^,]+') do value[#value + 1] = tonumber(item) or item end
         end
         (section or cfg)[k] = value
      end
   end
   return cfg
end
local cfg = parse('seed=42\n[net]\nlayers={10,20,relu}\nbias=false\ndropout=0.5\nname=my net\n[opt]\nlr=1e-3')
print(cfg.seed, #cfg.net.layers, cfg.net.layers[3], cfg.net.dropout * 2, cfg.net.name, cfg.net.bias, cfg.opt.lr)

-- # entries that are nil, behind the end and in a table that is made
local list, source = {}, {a = 1}
local function entry(t, k) return t[k] end
list[#list + 1] = source.a
list[#list + 1] = source.never
list[#list + 1] = entry(source, 'never')
table.insert(list, source.never)
for _, k in ipairs({'a', 'b', 'a'}) do list[#list + 1] = source[k] end
for _, k in ipairs({'a', 'b', 'a'}) do table.insert(list, source[k]) end
for _, text in ipairs({'a1', 'b', 'c3'}) do list[#list + 1] = text:match('%d+') end
print(#list, table.concat(list, ' '))
local n = 0
for _ in pairs({x = source.never, y = 1}) do n = n + 1 end
print(n)
local function none() return end
local late = {[3] = true}
late[10], late.x = 2, none()
late[10] = none()
for _ in pairs(late) do n = n + 1 end
print(n, late[10], late.x)

-- # numbers of texts, and what typename gives for what has none
for _, text in ipairs({'0x1p4', '0x.8', '-0x1.8p1', '0x', '0x.', '-0', 'infinity', '-nan', '1_0', '0b101', '1e5', '1e'}) do print(text, tonumber(text)) end
for _, text in ipairs({'ff', ' -ff ', '1_0', '1.5', '0xff'}) do print(tonumber(text, 16), tonumber(text, 10)) end
print(tonumber(10, 16), tonumber(true), 1 / tonumber('-0'))
print(torch.typename(1))
print(torch.typename({}), torch.typename('x'))
local sizes = torch.LongStorage(3):fill(2)
sizes[2] = 5
print(sizes)

-- # tables of a text
local text = 'return {a = {1, 2, {b = "c"}}, n = 3}'
local back = loadstring(text)()
print(back.a[3].b, back.n, #back.a, back.a[1] + 1)
local read, problem = loadstring('x =')
print(read, type(problem))

-- # letters behind the mode of a file
local path = os.tmpname()
local f = io.open(path, "w'")
f:write('abc')
f:close()
f = io.open(path, "rt")
print(f:read('*a'))
f:close()
os.remove(path)

-- # a list that is filled from its end, to the key 0
local n, d = 3, {}
for t = n, 1, -1 do
  if t == n then d[t] = t else d[t] = d[t] * 2 end
  d[t - 1] = t
end
print(d[0], d[1], d[3])

-- # tables with keys that nobody knows, made or loaded
local path, known = os.tmpname(), {}
local key = loadstring('return ...')
for again = 1, 2 do
  if again == 1 then
    local places = {}
    places[key('a')] = 1
    known = {places = places}
    torch.save(path, known)
  else
    known = torch.load(path)
  end
  local b = known.places[key('b')]
  print(known.places[key('a')], b)
end
os.remove(path)

-- # a list that is filled from the key 0 on
local zero = {}
for i = 0, 3 do zero[i] = i * 2 end
print(#zero, zero[0], zero[3])
for i, v in ipairs(zero) do io.write(i, '=', v, ' ') end
print()

-- # more names than a list has entries
local list = {}
for i = 1, 2 do list[i] = i * 2 end
local a, b, c = unpack(list)
print(a, b, c, c == nil)

-- # variables that become something else in their block
local x = {}
for i = 1, 3 do x[i] = i * 2 end
x = torch.Tensor(x)
print(x:sum(), x:size(1))
x = x:view(3, 1)
print(x:dim())
local function f() return x:size(2) end
x = torch.ones(2, 5)
print(f(), x:size(1))
local a, b = 1, 2
a, b = b, a
print(a, b)
local n
n = 'text'
print(#n)
n = {n, n}
print(#n)
for i = 1, 3 do
  local t = {}
  for j = 1, i do t[#t + 1] = j end
  t = table.concat(t, ',')
  print(t)
  local fs = function() return t end
  t = t .. '!'
  print(fs())
end
local v = 5
repeat
  local w = v
  w = tostring(w)
  v = v - 1
until w == '3'
print(v)
local m = 0
do m = m + 1 end
m = 'm' .. m
print(m)
local g
local function rec(k) if k == 0 then return g end return rec(k - 1) end
g = 7
print(rec(3))
g = {g}
print(rec(1)[1])
local p = 'a'
p = p:upper()
p = {p}
p[2] = 'B'
p = table.concat(p)
print(p)
local function two(k) local r = k; if k > 2 then r = 'big'; end; r = {r}; return r[1] end
print(two(1), two(5))
local function par(k) k = k or 3; k = tostring(k); return k .. '.' end
print(par(), par(2))
local q = {1, 2}
local alias = q
q = {3}
print(#alias, #q)
local s = 0
while true do
  local c = s
  c = c * 2
  if c > 4 then break end
  s = s + 1
end
print(s)
local co = coroutine.wrap(function() local z = 1; z = {z}; coroutine.yield(z[1]); z = 'end'; coroutine.yield(z) end)
print(co(), co())

-- # whole numbers of more than 15 digits
local a, b = 0, 1
for i = 1, 90 do a, b = b, a + b end
print(a, b)
local function fact(n) if n <= 1 then return 1 end return n * fact(n - 1) end
print(fact(20), fact(5), fact(25))
local big = fact(22)
print(big, 'n! = ' .. fact(18))
local function power(b, e) if e == 0 then return 1 else return b * power(b, e - 1) end end
print(power(3, 40), power(2, 10))
for i = 15, 18 do print(i, fact(i)) end
function gfact(n) return n == 0 and 1 or n * gfact(n - 1) end
print(gfact(21))
local t = {}
for i = 1, fact(3) do t[i] = i end
print(#t, t[fact(3)])
local fib = setmetatable({[0] = 0, [1] = 1}, {__index = function(t, n) local v = t[n - 1] + t[n - 2]; t[n] = v; return v end})
local x = 1
while x < 1e16 do x = x + x end
print(x)

-- # nil at the end of a part of a tensor
local x = torch.range(1, 6):view(3, 2)
print(x[{{2, 3}, nowhere}]:sum(), x[{2, nowhere}]:sum())
x[{{1, 2}, nowhere}] = 0
print(x:sum())

-- # the length of a table with holes is LuaJIT's
local t = {}
for i = 1, 20 do t[i] = i end
for _, k in ipairs{4, 9, 15} do t[k] = nil end
print(#t)
for j = 20, 1, -1 do if t[j] == nil then table.remove(t, j) end end
print(#t, t[4], t[17], t[18])

-- # formats of lines
local f = os.tmpname()
local h = io.open(f, 'w') h:write('1 2\n3 4\n\n5\n') h:close()
h = io.open(f)
for l in h:lines('*l') do io.write('[', l, ']') end
h:close()
h = io.open(f)
for l in h:lines('*L') do io.write('[', l, ']') end
h:close()
for n in io.lines(f, '*n') do print(n + 1) end
h = io.open(f)
for a, b in h:lines("*n", "*n") do print(a, b) end
for a in io.lines(f, 3) do io.write('<', a, '>') end
print(io.open(f):read('*L'))
os.remove(f)

-- # sums of masks are bytes
local x = torch.Tensor{{1, 0, 2}, {0, 0, 3}}
local m = x:gt(0)
print(m:sum(2), m:sum(), torch.sum(x:gt(0), 1), x:gt(0):cumsum(2), x:gt(0):narrow(2, 1, 2):sum(1))
print(x:gt(0):sum(2):view(-1), (m:sum(2) * 200):type(), m:prod(2), m:sum(2):double():div(2))

-- # numbers that recursion makes large
local function factorial(n) if n <= 1 then return 1 end return n * factorial(n - 1) end
print(factorial(5), factorial(20), 'is ' .. factorial(25))
local power
power = function(x, n) return n == 0 and 1 or x * power(x, n - 1) end
print(power(3, 4), power(7, 30))
local a, b = 0, 1
for i = 1, 90 do a, b = b, a + b end
print(a, b)

-- # tensors of a type whose name is computed
for _, name in ipairs{'Byte', 'Int', 'Double'} do
  local Tensor = torch[name .. 'Tensor']
  local t = Tensor{5, 7}
  print(Tensor{5, 7}:add(1.7), t:clone():mul(1.5), t / 2, t:type(), Tensor{3, 4}:sum(), torch[name .. 'Tensor'](1):zero())
  local y = torch.Tensor{{1.5, 2.5}, {3.5, 4.5}}:type('torch.' .. name .. 'Tensor')
  print(y, y:sum(1), y / 2, y:mul(1.5))
end

-- # entries that are changed by what they are
local opt = {lr = 0.5, n = 3, name = 'a'}
opt.lr = opt.lr * 0.5
opt.n = opt.n + 1
opt.name = opt.name .. 'b'
print(opt.lr, opt.n, opt.name)
local s = {counts = {1, 2}}
s.counts[1] = s.counts[1] + 5
s.counts[2] = s.counts[2] - 1 - 2
print(s.counts[1], s.counts[2])
local g = {t = torch.ones(2)}
local old = g.t
g.t = g.t + 1
print(old[1], g.t[1])
opt.missing = opt.missing or 4
print(opt.missing)
local m = {}
m[3] = {5}
m[3][1] = m[3][1] * 2
print(m[3][1])
local ts = {torch.ones(2), torch.ones(3)}
for i = 1, 2 do ts[i] = ts[i]:clone():mul(i) end
ts[1] = ts[1]:view(1, 2)
print(ts[1]:size(), ts[2][3])
local w = {x = 'a'}
w.x = w.x .. 'b' .. 1 .. opt.name
print(w.x)
local u = {a = 1}
for k in pairs(u) do u[k] = u[k] + 1 end
print(u.a)
local h = {[0] = 1}
h[0] = h[0] + 1
h[1] = h[0] + h[0]
print(h[0], h[1])

-- # products have a fixed number of dimensions, and a chain of methods may change that of its tensor
local M = torch.Tensor{{2, 1}, {0, 3}}
local d = M[1]:clone()
d:add(1):resize(2, 1)
print(torch.mm(torch.mm(d:t(), M), d)[1][1] + 1, torch.mm(M, d)[2][1] * 2, d[1])
print(torch.mv(M, M[1])[2] + 1, torch.bmm(M:view(1, 2, 2), M:view(1, 2, 2))[1][1][2])

-- # shares of what was counted, which may be none
local function score(right, given, wanted)
  local precision, recall = 0, 0
  for i = 1, given do if i <= right then precision = precision + 1 recall = recall + 1 end end
  precision = precision / given
  recall = recall / wanted
  return 2 * precision * recall / (precision + recall), 1 / (4 * precision * 0.5 + recall)
end
print(score(1, 2, 4))
print(score(0, 2, 4))
local function extremes(a, b) return math.max(a, b), math.min(a, b), math.max(a, 0), math.max(0, a) end
print(extremes(score(0, 2, 4), 1.5))
print(extremes(1.5, (score(0, 2, 4))))

-- # a column and a row that nobody knows
local rows = {torch.Tensor{1, 2, 3}}
local function pick(from, key) return from[key] end
local start = torch.Tensor(3, 1):fill(2)
local sum = start + pick(rows, 1)
print(sum, pick(rows, 1) - start)
local M = torch.Tensor{{1, 2, 3}, {4, 5, 6}}
local key = loadstring('return 2')()
print(start + M[key], M[key] - start)

-- # what a net gives, copied into a vector
local net = require('nn').Sequential():add(nn.Linear(2, 3)):add(nn.View(1, 3))
local scores = torch.zeros(3, 2)
for i = 1, 2 do
  local out = net:forward(torch.Tensor{i, 1})
  scores:select(2, i):copy(out)
end
print(scores:ne(0):sum())

-- # remainders of ints are indices
local names = {'a', 'b', 'c'}
for i = 1, 6 do io.write(names[math.fmod(i, 3) + 1], ' ', math.fmod(i, 2), ' ') end
print(math.fmod(-7, 3), math.fmod(7.5, 2), math.fmod(1, 0), torch.eye(2)[{math.fmod(5, 2) + 1, {}}])

-- # tensors of fewer dimensions, joined with others
local x, y = torch.Tensor{1, 2}, torch.Tensor{3, 4}
local a = torch.cat(x, y, 2)
local m = torch.Tensor{{5, 6}, {7, 8}}
print(a, a[1][2] + 1, torch.cat(m, x, 2)[1][3] + 1, torch.cat(x, m, 2)[2][3] * 2, torch.cat(m, m)[2][4] + 1)
print(x:cat(m, 2)[2][1] + 1, x:cat(y, 2)[1][2] + 1, torch.cat({x, y}, 2)[2][2] + 1, torch.cat({x, y})[3] + 1)
print(torch.cat({m, x, a}, 2)[2][4] + 1, torch.cat(x, m[1][1] > 2 and m or x, 2), torch.cat({m, m}, 3)[2][1][2] + 1)

-- # maps of tds in files
local tds = require 'tds'
local h, v = tds.Hash(), tds.Vec()
h.a, h[2], h['with'], h['get'], h.lambda = 1, 'b', 3, 4, 5
v:insert(torch.ones(2))
local words = {}
for k in pairs(h) do words[#words + 1] = tostring(k) end
table.sort(words)
print(table.concat(words, ' '), h['with'], h.get, h.lambda, h.items, h['and'])
h.lambda = nil
local f = os.tmpname()
torch.save(f, {h = h, list = {v}, n = 5})
local back = torch.load(f)
print(#back.h, back.h.a, back.h['with'], back.h[2], #back.list[1], back.list[1][1], back.n, torch.type(back.h))
torch.save(f, torch.deserialize(torch.serialize(v)))
print(#torch.load(f))
os.remove(f)

-- # entries of tables of a text that is run, which are none of the program's
local own = {5, name = 'n', sub = {a = 1}, other = 3}
local function get(text)
  local all = loadstring(text)()
  return all[1]
end
local back = get('return {{5, 6, name = "k", sub = {a = 2}}}')
print(back[1], back[2], back.name, back.sub.a, own.name, own.sub.a)

-- # empty tensors that are joined with others, along dimensions that a variable has
local a, m = torch.range(1, 3), torch.ones(2, 3)
print(torch.cat(torch.Tensor(), a)) print(torch.cat(torch.Tensor(), m, 1))
local all, rows = torch.Tensor(), torch.Tensor()
for i = 1, 2 do
  all = torch.cat(all, torch.Tensor(2):fill(i))
  rows = torch.cat(rows, torch.Tensor(1, 2):fill(i), 1)
end
print(all) print(rows)
local function join(x, y, d) return torch.cat(x, y, d) end
print(join(a, a, 1):size(1), join(m, m, 2):size(2), join(a, a, 2):size(2))

-- # tensors whose sizes are the results of a call
local function mk(n, img)
  local d = torch.Tensor(n, unpack(img:size():totable()))
  for k = 1, n do d[k]:copy(img) end
  return d
end
print(mk(2, torch.ones(1, 2, 2)):size())
local sizes = {2, 3}
local z = torch.zeros(4, unpack(sizes))
z[1]:copy(torch.ones(2, 3))
print(z:sum(), z[1]:size())
local r = torch.ones(unpack(sizes))
print(r[1]:sum(), r:dim(), r[2]:size(1))
local function sz() return 2, 2 end
local s = torch.zeros(3, sz())
print(s[1]:size(), s[1][2]:size(1))
s[1]:copy(torch.ones(2, 2))
print(s:sum())
local v = s:view(3, unpack{2, 2}) print(v[1]:size(1), v[1]:dim())
local u = s:clone():resize(2, unpack{3, 2}) print(u[1]:dim(), u[1][1]:size(1))
local e = torch.ones(2):view(2, unpack{1, 1}):expand(2, unpack{3, 3}) print(e[1]:sum(), e[1]:dim())
local function var(...) return torch.zeros(2, ...) end
local w = var(3, 4) print(w[1]:dim(), var(5)[1]:size(1))

-- # patterns that are regular expressions, and some that are not
local re = 'x'
local function trim(s) return (s:gsub('^%s*(.-)%s*$', '%1')) end
local function words(line)
   local out = {}
   for w in line:gmatch('([^%s]+)') do table.insert(out, w) end
   return out
end
for i, w in ipairs(words('ab cd\tef  g')) do print(i, w, trim('  a b ')) end
for k, v in string.gmatch('a=1, b=22', '(%w+)=(%w+)') do print(k, v) end
local name = 'model_v2.t7'
print(name:find('t7$') ~= nil, name:find('^model') ~= nil, name:find('%d') ~= nil, name:match('_v(%d+)'))
if name:find('.t7', 1, true) then print('plain') end
if name:find('%.t7$') and not name:match('^%u') then print('both') end
if string.match(name, 'v%d%.') then print('v') end
local clean, n = name:gsub('[^%w]', '-')
print(clean, n, (name:gsub('%d', '')), re)
local s = ('a  b   c'):gsub('%s+', ' ')
print(s)
for c in ('héé'):gmatch('[^,]') do io.write(#c, ' ') end print()
for c in ('a,é,c'):gmatch('[^,]+') do io.write(c, ' ') end print()
local ok = name:match('z+') == nil
print(ok, name:find('z$') == nil)
while not name:find('!!!+$') do name = name .. '!' end
print(name)
print(('x  y'):gsub('%s+', '\\'), ('a=b'):gsub('(%w)=(%w)', '%2=%1'), 'p' .. name:gsub('%.', '_') .. 'q')
print(string.format('%s %s', name:gsub('%s+', ''), name:gsub('^%w+_', '')))

-- # Penlight, all of it in a variable
local pl = require('pl.import_into')()
local folder = os.tmpname() .. 'd'
local function mk(d)
  if not pl.path.isdir(d) then pl.path.mkdir(d) end
  return pl.path.join(d, 'x.txt')
end
local f = mk(folder)
pl.file.write(f, 'hello\nyou\n')
print(pl.path.exists(f) and true, pl.path.basename(f), pl.file.read(f))
print(pl.stringx.split('a,b', ',')[2], pl.stringx.strip('  a '), pl.tablex.size({a=1,b=2}))
for _, g in ipairs(pl.dir.getfiles(folder)) do print(pl.path.basename(g)) end
local l = pl.List({1,2,3})
print(l:len(), l)
print(pl.tablex.keys({a=1})[1], pl.tablex.map(function(v) return v*2 end, {1,2})[2])
os.remove(f)
pl.path.rmdir(folder)
print(pl.pretty.write({1,2}))
print(pl.utils.split('a b c')[3], pl.stringx.startswith('abc', 'a'))

-- # Penlight's split
require 'xlua'
local utils = require 'pl.utils'
local function show(t) local o = {} for i, v in ipairs(t) do o[i] = '<' .. v .. '>' end print(#t, table.concat(o)) end
show(utils.split('a,b,,c,', ',')) show(utils.split('', ',')) show(utils.split(',', ',')) show(utils.split(',,', ',')) show(utils.split(' a b  c ')) show(utils.split('a.b', '.', true)) show(utils.split('a1b22c', '%d+'))
show(utils.split('a b c', ' ', true, 2))
show(utils.split('abc', ''))
show(('a,b,,c,'):split(',')) show((''):split(',')) show((','):split(',')) show((',,'):split(',')) show(('a.b'):split('%.'))show((',a'):split(','))
local stringx = require 'pl.stringx'
show(stringx.split(' a b  c ')) show(stringx.split('  ')) show(stringx.split('')) show(stringx.split('a,b,', ',')) show(stringx.split('a b c', nil, 2)) show(stringx.split(',', ','))
show(utils.split('  ')) show(utils.split(''))

-- # results of linear algebra are put where a vector is
local m = torch.Tensor{{4, 1, 0}, {1, 3, 1}, {0, 1, 2}}
local W = torch.zeros(2, 3)
for i = 1, 2 do
  local res = torch.gels(torch.ones(3, 1), m)
  W[i] = res
end
print(W:sum() < 1.2)
local e, v = torch.symeig(m, 'V')
local u, s, w = torch.svd(m)
local q, r = torch.qr(m)
local x = torch.gesv(torch.ones(3, 1), m)
print(e[1] > 0, v:dim(), s[1] >= s[2], (u * torch.diag(s) * w:t() - m):norm() < 1e-8, (q * r - m):norm() < 1e-8)
print(#x, torch.diag(torch.diag(m)):dim(), torch.kthvalue(torch.Tensor{3, 1, 2}, 2)[1])

-- # functions that go through several tensors
local a, b = torch.Tensor{{1, 2}, {3, 4}}, torch.Tensor{{4, 3}, {2, 1}}
a:map(b, function(x, y) if x > y then return x else return y end end) print(a)
a:map(b, function(x, y) if x > y then return x * 2 end end) print(a)
print(a:map2(b, b * 2, function(x, y, z) return x + y * z end))
print(a:map(torch.Tensor{1, 2, 3, 4}, function(x, y) return x * y end), a:map(b:t(), function(x, y) return x - y end))
local c = torch.Tensor(2, 1)
torch.sum(c, a, 2) print(c)
print(torch.mean(c, a, 1), c:dim())

-- # storages that files of Torch7's give
local lin = nn.Linear.new(2, 3)
local path = os.tmpname()
local f = torch.DiskFile.new(path, 'w')
f:binary()
f:writeInt(3) f:writeInt(4) f:writeDouble(2.5)
for i = 1, 4 do f:writeByte(i) end
f:writeFloat(torch.FloatTensor{1.5, 2}:storage())
f:close()
local g = torch.DiskFile.new(path)
g:binary()
local buff = g:readInt(2):resize(2)
local n, m = buff[1], buff[2]
print(n * m, g:readDouble(), lin.weight:dim())
local b = g:readByte(4)
for i = 1, #b do if b[i] == 2 then b[i] = 10 end end
print(#b, b[2], b:size())
print(torch.FloatTensor(g:readFloat(2)):sum())
g:close()
os.remove(path)
print(torch.ByteTensor(b):resize(2, 2):float():t(), b:totable()[3])
print(torch.Tensor.new(2, 3):fill(1):sum())
local c = torch.IntStorage(3):copy(torch.IntStorage{4, 5, 6})
print(b:fill(7)[4], c[1] + c[3], c:size())

-- # where a file is
local dname, fname = sys.fpath()
print(fname:match('%w+'), paths.dirp(dname), #sys.fpath() == #dname)
local t = {sys.fpath()}
print(#t, t[2] == fname, (select(2, sys.fpath())) == fname)

-- # containers of tds' that hold others
local tds = require 'tds'
local lines = tds.Hash()
for i, t in ipairs{{'a', 'b'}, {'c'}} do
  local v = tds.Vec()
  for k = 1, #t do v[#v + 1] = t[k] end
  lines[#lines + 1] = v
end
local ids = tds.Hash()
ids['a'] = 5
local function number(path)
  local list = lines[tonumber(path) + 1]
  local out = {}
  for i = 1, #list do
    local tok = list[i]
    if ids[tok] ~= nil then out[#out + 1] = ids[tok] else out[#out + 1] = 4 end
  end
  return out
end
print(table.concat(number('0'), ' '), table.concat(number('1'), ' '))

-- # lists beside other tables, which type() calls tables, too
local function show(t, d)
  for k, v in pairs(t) do
    if type(v) == 'table' then print(d, k) show(v, d + 1) else print(d, k, v) end
  end
end
show({1, {2, 3}}, 0)
show({a = {b = {1}}}, 0)
local function flat(t, out) for _, v in ipairs(t) do if type(v) == 'table' then flat(v, out) else out[#out + 1] = v end end return out end
print(table.concat(flat({1, {2, {3, 4}}, 5}, {}), ' '))
local conf = {{'-a', {1, 2}}, {'-b', {x = 1}}, {'-c', 'z'}}
for _, c in ipairs(conf) do
  local v = c[2]
  if type(v) == 'table' then print(c[1], 'table', #v) else print(c[1], v) end
end

-- # options that are unpacked, with tables of several kinds
local Opt = {}
Opt.__index = Opt
local function hasValue(tab, v)
  for _, x in ipairs(tab) do if x == v then return true end end
  return false
end
function Opt.new() local self = setmetatable({}, Opt) self.options = {} return self end
function Opt:option(name, default, help, meta)
  meta = meta or {}
  if type(default) ~= 'table' and meta.enum and not hasValue(meta.enum, default) then
    error('bad default ' .. tostring(default))
  end
  if type(default) == 'table' then print('list default', #default) end
  self.options[name] = {default = default, meta = meta}
end
function Opt:setCmdLineOptions(opts, group)
  for i = 1, #opts do
    if type(opts[i]) == 'table' then
      self:option(unpack(opts[i]))
    end
  end
end
local o = Opt.new()
o:setCmdLineOptions({
  {'-layers', 2, 'Number of layers', {valid = 1}},
  {'-rnn', 'LSTM', 'Type', {enum = {'LSTM', 'GRU'}}},
  {'-sizes', {1, 2}, 'sizes'},
  {'-dropout', 0.3, 'Dropout'},
}, 'Model')
print(o.options['-rnn'].default, o.options['-layers'].meta.valid, #o.options['-sizes'].default)

-- # texts of numbers in tensors
local function words(line, converts)
  local function convert(word) if converts then return tonumber(word) else return word end end
  local t = {}
  for word in line:gmatch('[^ ]+') do table.insert(t, convert(word)) end
  return t
end
local x = torch.zeros(2, 3)
for i, line in ipairs{'1 2 3', '4 5.5 6e1'} do
  local w = words(line)
  for j = 1, #w do x[i][j] = w[j] end
end
local n = words('7 8', true)
x[1][1] = n[2]
x[{2, 2}] = words('9')[1]
print(x, n[1] + 1)

-- # numbers of texts where Torch7 takes no nil
local t = dofile and loadstring('return {n = "2", m = 3}')()
local k = tonumber(t.n)
print(k + 1, torch.Tensor(k):fill(2):sum())
torch.manualSeed(tonumber(t.m))
for i = 1, tonumber(t.n) do io.write(i, ' ') end
print(torch.zeros(tonumber(t.n), 2):size(1))

-- # functions that give both results of gsub
local function trim(s) return s:gsub('^%s+', ''):gsub('%s+$', '') end
print(trim('  abc '))
print((trim('  abc ')))
local fs = {clean = function(s) return s:gsub('%s+', ' ') end}
print(fs.clean('a  b'))
local function opt(s) if s == 'x' then return 'a', 2, 3 end return s:gsub('%d', 'x') end
print(opt('x'))
print(opt('1'))
local function may(s) if s == 'x' then return end return s:gsub('%d', 'x') end
print(may('x'))
print(may('1'))
local t, c = ('a1'):gsub('%d', 'x')
print(t, c)
local function num(v) return (string.gsub(v, '3', '4')) end
print(num(33), num('33'))

-- # tensors that are made empty and get their size later
local D = torch.class('LaterSized')
function D:__init(n)
  self.path, self.label, self.free = torch.CharTensor(), torch.LongTensor(), torch.Tensor()
  self.path:resize(n, 5):fill(1)
  self.label:resize(tonumber(tostring(n)))
  for i = 1, n do self.label[i] = i end
  self.lists = {}
  for i = 1, 2 do self.lists[i] = torch.range(1, n):long() end
end
function D:get(i)
  local places = torch.range(1, i)
  print(self.free:dim(), self.path[i], self.label[i])
  print(self.path[self.lists[1][i]], self.path[places[i]], self.label[places[i]])
  self.free:resizeAs(self.path:double())
  print(self.free:dim(), self.free[1]:size(1))
end
LaterSized(4):get(2)
local x, y, z = torch.Tensor(), torch.Tensor(), torch.Tensor()
x:resize(2, 2):mm(torch.ones(2, 2), torch.ones(2, 2))
y:resize(3)
y:resize(0):exp(torch.ones(2, 2))
torch.tanh(z, torch.ones(2))
print(x[1], y[1], z[1], x * z, torch.Tensor():dim(), y:dim())

-- # entries of tensors that are compared, or that functions take for tensors
local function argmax(v)
  local place, most = 1, v[1]
  for i = 2, v:size(1) do if v[i] > most then most, place = v[i], i end end
  return place, most
end
local function renorm(row) local n = row:norm() row:mul(2):div(n) end
local function scale(w) for j = 1, w:size(1) do renorm(w[j]) end end
local path = os.tmpname()
torch.save(path, {{v = torch.Tensor{1, 5, 2}, w = torch.ones(2, 2)}})
for _, t in ipairs(torch.load(path)) do
  print(argmax(t.v))
  scale(t.w)
  print(t.w)
end
os.remove(path)

-- # tables that get their first entries right behind their making
local function f(paths)
  for k, path in ipairs(paths) do
    local dirs = {} -- the folders
    dirs[1] = path
    -- and how many
    dirs[2] = k
    print(#dirs, dirs[1], dirs[2])
  end
end
f{'a', 'b'}
local K = torch.class('FilledLater')
function K:__init() self.g = {} self.g[1] = 4 end
function K:count() return #self.g end
function K:again()
  self.g = {}
  self.g[1] = self:count()
  self.g[2] = 7
  return unpack(self.g)
end
print(FilledLater():count(), FilledLater():again())
local rows = {}
rows[1] = {}
rows[1][1] = 'x'
for i = 2, 3 do rows[i] = {} rows[i][1] = i end
print(#rows, rows[1][1], rows[3][1], #rows[2])
local gap = {}
gap[1] = 1
gap[3] = 3
print(gap[1], gap[2], gap[3])

-- # what is loaded and may be a list at times is nothing in particular at others
local file = os.tmpname()
torch.save(file, {a = {key = 'a', default = {1, 2}}, b = {key = 'b', default = false}, c = {key = 'b', default = true}})
local Store = torch.class('Store')
function Store:__init(file) self.options = torch.load(file) end
function Store:read(key)
  local option = self.options[key]
  local n = 0
  if type(option.default) == 'table' then
    n = #option.default
    print(table.concat(option.default, ', '))
  end
  return option.key == 'b' and not option.default or n
end
local store = Store.new(file)
print(store:read('a'), store:read('b'), store:read('c'))
local function negated(v)
  if type(v) == 'table' then return table.concat(v, ',') end
  return not v
end
local all = torch.load(file)
os.remove(file)
for _, k in ipairs{'a', 'b', 'c'} do print(negated(all[k].default)) end

-- # functions of torch's of numbers are those of math
local x = torch.Tensor{1, 2, 3, 4}:mean()
local n = 3
print(torch.sqrt(x), torch.exp(-x), torch.log(n), torch.tanh(x), torch.sin(x), torch.cos(n), torch.abs(-x), torch.abs(-n))
print(torch.floor(x), torch.ceil(x), torch.floor(-x), torch.pow(n, 2), torch.pow(x, 0.5), torch.pow(-x, 0.5) ~= torch.pow(-x, 0.5), torch.pow(2, -n))
print(torch.log(0), torch.sqrt(-1) ~= torch.sqrt(-1), torch.exp(1000), 10 / torch.pow(#{1, 2}, 2))
local t = {5, 6, 7}
print(t[torch.floor(x)], t[torch.ceil(x)], torch.acos(0.5), torch.atan(n), torch.sigmoid(0), torch.round(2.5))

-- # entries of a list that is empty by default, given to functions
local function total(files, given)
  given = given or {}
  local sum = 0
  local function add(f, more) sum = sum + f + (more and #more or 0) end
  for i, f in ipairs(files) do add(f, given[i]) end
  return sum
end
print(total{1, 2, 3}, total({1, 2, 3}, {}), total({1, 2}, {{7}}), total({1, 2}, {{7}, {8, 9}}))

-- # a default behind a field that some tables get
local function parse(list)
  local o = {}
  o.text = table.concat(list, ';')
  return o
end
local first, second, third = {1, {'x'}}, {2, {'y'}}, {3, {'z'}}
first.options = parse{'a', 'b'}
second.options = {}
for _, f in ipairs{first, second, third} do
  print(f[1], (f.options and f.options.text) or 'none', f.options and f.options.text or '')
end

-- # whether a number is whole, of infinities, too
local function isInt(least)
  return function(v) return math.floor(v) == v and v >= least, 'an integer' end
end
for _, v in ipairs{3, 2.5, math.huge, -math.huge, 0 / 0} do print((isInt(0)(v))) end

-- # numbers of clocks
local start = torch.tic()
print(type(start), 2 * start > 0, math.floor(torch.toc(start)), torch.toc(torch.tic() - 100) >= 100)

-- # entries that functions take for numbers and tensors
local function total(x, depth)
  if depth == 0 then return x end
  local s = 0
  for i = 1, x:size(1) do s = s + total(x[i], depth - 1) end
  return s
end
print(total(torch.ones(2, 3), 2), total(torch.ones(4), 1))
local function show(x, indent)
  if type(x) ~= 'userdata' then print(indent .. x) return end
  for i = 1, x:size(1) do show(x[i], indent .. ' ') end
end
show(torch.range(1, 4):resize(2, 2), '')

-- # numbers at one place, rows at another, though one place compares them
local targets = torch.Tensor()
local function make(kind)
  if kind == 'rows' then targets:resize(2, 3) else targets:resize(2) end
  targets:fill(1)
end
make('rows')
print(targets[1])
make('numbers')
for i = 1, targets:size(1) do if targets[i] == 1 then print('one') end end

-- # tensors that get other dimensions under another name
local function center(x) return x - x:mean() end
local function fill(b, n) local own = b own:resize(n, n):fill(n) end
local function deep(b) fill(b, 2) end
local x, y, z = torch.Tensor(), torch.Tensor(), torch.ones(4)
local o, list = {x = x}, {torch.Tensor(), torch.Tensor()}
print(center(torch.ones(2))[1])
x:resize(3):fill(1)
print(x[1])
deep(x)
deep(y)
deep(z)
print(x[1], y[1], z[1], center(y)[1])
o.x:resize(2):fill(1)
print(x[1], o.x[2])
list[1]:resize(2):fill(5)
print(list[1][1])
for _, t in ipairs(list) do t:resize(1, 2):fill(3) end
print(list[1][1])

-- # results that functions put into tensors of another size
local m, v, i, c, e = torch.Tensor(), torch.Tensor(), torch.LongTensor(), torch.Tensor(), torch.Tensor()
for _, t in ipairs{m, v, i, c, e} do t:resize(0) end
m:resize(2) v:resize(2) i:resize(2) c:resize(2) e:resize(2)
print(m:dim())
m:resize(0) c:resize(0) e:resize(0)
torch.mean(m, torch.ones(2, 2), 1)
torch.sort(v, i, torch.Tensor{{1, 5}, {7, 2}}, 2)
torch.cat(c, torch.ones(1, 2), torch.ones(1, 2), 1)
torch.eye(e, 2)
print(m[1], v[1], i[1], c[1], e[1])
v:resize(2)
i:resize(2)
v:max(i, torch.Tensor{{1, 5}, {7, 2}}, 1)
print(v[1], i[1])

-- # tensors that are one of several, and get other dimensions
local function pick(a, b, is_first) if is_first then return a end return b end
local x, y, z, v = torch.Tensor(), torch.Tensor(), torch.Tensor(), torch.Tensor()
x:resize(2):fill(1) y:resize(2):fill(2) z:resize(2):fill(3) v:resize(2):fill(4)
print(x[1], y[1], z[1], v[1])
pick(x, y, true):resize(2, 2):fill(3)
local own = z or torch.Tensor()
own:resize(1, 2)
local same = v:fill(5)
same:resize(1, 2)
print(x[1], y[1], z[1], v[1])

-- # parts of tensors between the entries of a table
local first, last = nil, nil
if not os.getenv('THAT_NOBODY_SETS') then
  first, last = {1, 2}, {3, 3}
else
  first = {2, 3}
  last = {1, 1}
end
local data = torch.range(1, 24):resize(2, 3, 2, 2)
print(data[{ {}, first, {}, {} }]:size(), data[{ {}, first }]:sum(), data[{ 1, last, {}, 2 }]:sum())
data[{ {}, first, {}, {} }]:fill(0)
local behind = {2, -1}
print(data:sum(), data[{ {}, behind }]:sum())

-- # and of an entry that may be missing, or
local function show(t)
  print(t.o and t.o.x or 'none', (t.o and t.o.x) or 'none', t.o and t.o.n or 0)
  return t.o and t.o.x or 'none'
end
local opts = {}
for i = 1, 3 do opts[i] = {o = i > 1 and {} or nil} end
opts[3].o.x = 'x'
opts[3].o.n = false
for i = 1, 3 do print(show(opts[i])) end

-- # numbers of what may be a tensor that is not contiguous
local U = {}
function U.convert(x)
  if torch.isTensor(x) and not x:isContiguous() then return x:t() end
  if type(x) == 'table' then
    local r = {}
    for k, v in pairs(x) do r[k] = U.convert(v) end
    return r
  end
  return x
end
local B = torch.class('Batch')
function B:__init(n) self.sizes = torch.range(1, n):view(1, n):t():select(2, 1):contiguous() self.size = n end
local function pads(batch, most)
  local sizes = U.convert(batch.sizes)
  for i = 1, batch.size do
    local s = sizes[i]
    if most ~= 3 then s = math.ceil(s / 2) end
    local pad = most - s
    if pad ~= 0 then print(pad) end
  end
end
pads(_G.Batch(3), 3)
pads(_G.Batch(2), 4)
print(U.convert({torch.ones(2):view(2, 1)})[1]:size(1))

-- # a variable _ that is read
local function places(x)
  local best, _ = x:max(1)
  local _, __ = x:sort(1)
  return best[1], _[1], __[1]
end
print(places(torch.Tensor{3, 9, 4}))
local score, _ = torch.Tensor{3, 9, 4}:max(1)
for i = 1, 2 do io.write('.') end
print(score[1], _[1])
for _ = 1, 3 do io.write(_, ' ') end
for _, v in ipairs{'a', 'b'} do io.write(_, v, ' ') end
print()

-- # a part of a tensor in a variable
local x = torch.zeros(4, 5)
for i = 1, 2 do
  local part = {{i, i + 1}, {2, 3}}
  x[part] = i
  x[part] = torch.ones(2, 2) * i
  print(x[part]:sum())
end
local one = {2, 3}
print(x[one])

-- # a table that is filled in the order of a permutation
local function shuffled(n)
  local made, order = {}, torch.randperm(n)
  for i = 1, n do made[order[i]] = {name = 'x'} end
  return unpack(made)
end
local a, b, c = shuffled(3)
print(a.name, b.name, c.name)
local places = {}
local order = torch.randperm(5)
for i = 1, 5 do places[order[i]] = i end
local sum = 0
for i, place in ipairs(places) do sum = sum + i * order[place] end
print(#places, sum)

-- # a global variable that nothing sets, in conditions
if itorch then print('notebook') else print('plain') end
local shown = itorch or 'none'
print(shown, itorch and 1 or 2, not itorch)
while not nowhere do print('once') break end
if itorch and itorch.image then itorch.image(1) end

-- # branches of which one does nothing, and x or nil
require 'nn'
local opt = {gpu = false, path = nil, name = 'a'}
if not opt.gpu then require 'optim' else print('gpu') end
if opt.gpu then require 'optim' elseif opt.name == 'b' then print('b') else print('cpu') end
local p = opt.path or nil
local n = opt.name or nil
local b = opt.gpu or nil
print(p, n, b)
local x = torch.ones(3, 2)
print(x:std(1, true)[1][1], x:std(1)[1][1], x:var(1, false)[1][1])
local a, c = 1, 'x'
if a == 1 then require 'optim' else print('not one') end
if a == 2 then require 'optim' else print('not two') end
if a == 2 or c == 'y' then require 'optim' else print('neither') end
if not (a == 2 and c == 'x') then require 'optim' else print('both') end
if a > 1 then collectgarbage() else print('small') end

-- # variables whose value must be there, in functions that say what is missing
local L, D = {{n = 1}, {n = 2}}, {x = 1, y = 'b'}
local function f(a) local m = assert(L[a], {'none', a}) return m.n end -- it must be
local function g(k)
  local v = D[k] or error({'no', k})
  local k = D[k] or error({'again', k})
  return v, k
end
print(f(2), select(2, pcall(f, 9))[2])
print(g('x'))
print(select(2, pcall(g, 'zz'))[1])
local n, q = tonumber('12') or error('not a number'), tonumber('1x') or 3
local x = tonumber('7') or error('not a number either')
local function two() return 7, 8 end
local a, b, c = assert(4, 5)
local t = assert(two()) + 1
print(n, q, x, a, b, c, t, #{assert(two())}, select('#', assert(two())))
print(pcall(assert, 1, 2))
print(({check = assert}).check(3, 'm'))

-- # lists that loops through others fill, in order or not
local names, out, part, holes = {'a', 'b', 'c'}, {}, {}, {}
for i, n in ipairs(names) do
  local u = n:upper()
  out[i] = u .. i
end
for i, n in ipairs(names) do if n == 'b' then break end part[i] = n end
for i, n in ipairs(names) do if n ~= 'b' then holes[i] = n end end
local maybe = {}
for i, n in ipairs(names) do maybe[i] = n:match('[ab]') end
local function copy(t) local r = {} for k, v in ipairs(t) do r[k] = v end return r end
local nested = {}
for i, r in ipairs{{1, 2}, {3}} do
  nested[i] = {}
  for j, v in ipairs(r) do nested[i][j] = v * 2 end
end
print(table.concat(out, ','), #out, #part, holes[1], holes[2], holes[3], maybe[1], maybe[3], #maybe)
print(nested[1][2], nested[2][1], #nested[2], unpack(copy{1, 2, 3}))

-- # loops that read keys or values alone
local conf, ks, n = {a = 1, b = 2, c = 3}, {}, 0
for k, _ in pairs(conf) do table.insert(ks, k) end
table.sort(ks)
for _, _ in pairs(conf) do n = n + 1 end
for i, v in ipairs(ks) do n = n + i end
for _, _ in ipairs(ks) do n = n + 1 end
for k, v in pairs(conf) do n = n + v end
for k, v in ipairs{torch.ones(2), 3} do n = n + k end
local function count(t) local c = 0 for k, v in pairs(t) do c = c + 1 end return c end
print(n, table.concat(ks), count(conf), count{1, 2, x = 3})

-- # parts of lists
local t = {5, 6, 7, 8}
local function f(...) return select('#', ...), ... end
local function tail(l, k) return {unpack(l, k)} end
local function head(l, n) return {unpack(l, 1, n)} end
print(#tail(t, 2), #head(t, 3), #head(t, 9), head(t, 2)[2], #head(t, 0))
print(f(unpack(t, 2)))
print(f(unpack(t, 2, 3)))
print((f(unpack(t, 3, 6))))
print(math.max(unpack(t, 2)), math.max(unpack(t, 1, #t - 1)), #{unpack(t)}, table.concat({unpack(t, 2, #t)}, '-'))
local w = {}
for i = 1, 3 do w[i] = {unpack(t, i, i + 1)} end
print(#w, w[3][2], unpack({1, 2, 3}, 2))

-- # numbers that are read from files
local name = os.tmpname()
local f = io.open(name, 'w')
f:write('beta ', 2, '\n\n-3.5e1,0x10 .5 12abc -x 7')
f:close()
f = io.open(name)
print(f:read('*n'), f:read(5), f:read('*n'), f:read('*n'), f:read(1), f:read('*n'), f:read('*n'), f:read('*n'), f:read('*l'))
f:close()
os.remove(name)

-- # sums of tensors that others are taken from as divisors
local hits = torch.zeros(2, 2)
print(hits[1][1] / (hits:select(1, 1):sum() + hits:select(2, 1):sum() - hits[1][1]) == 1)
print(type(torch.Timer()), type(torch.Generator()), torch.type(torch.Timer()))

-- # options that another table may lack are gone
local cmd = torch.CmdLine()
cmd:option('-size', 3, 'n')
cmd:option('-rate', 0.5, 'r')
local opt = cmd:parse({})
local loaded = {size = 7}
for _, name in ipairs{'size', 'rate'} do opt[name] = loaded[name] end
print(opt.size, opt.rate)
local names = {}
for k in pairs(opt) do names[#names + 1] = k end
table.sort(names)
print(table.concat(names, ' '))

-- # a function of the program's own that is called error
local log = {}
local function error(m) log[#log + 1] = m; return 'default' end
local function get(t, k)
  local x = t[k] or error('none ' .. k)
  return x
end
print(get({a = 1}, 'a'), get({}, 'b'), #log)

-- # lists that loops begin to fill behind their first entry
torch.manualSeed(2)
local function crossed(a, b, i, j)
  local child, used = {}, {}
  for k = i, j do child[k] = a[k] used[a[k]] = true end
  local at = 1
  for _, v in ipairs(b) do
    if not used[v] then
      while child[at] do at = at + 1 end
      child[at] = v
    end
  end
  return child
end
local function rest(a, i, j)
  local child = {}
  for k = i, j do child[k] = a[k] end
  for k = 1, #a do if k < i or k > j then child[k] = -a[k] end end
  return child
end
print(table.concat(crossed({1, 2, 3, 4, 5}, {5, 4, 3, 2, 1}, 2, 3), ' '), table.concat(rest({1, 2, 3, 4}, 3, 4), ' '))
local s = {}
for i = 2, 4 do s[i] = 'v' .. i end
s[1] = 'first'
for i, v in ipairs(s) do io.write(i, v, ' ') end print(#s)

-- # sums of tensors of two types
torch.setdefaulttensortype('torch.FloatTensor')
local function total(t) return ('%.4f'):format(t:sum()) end
torch.manualSeed(3)
print(total(torch.rand(5000)), total(torch.rand(100):double()), total(torch.LongTensor{3, 4}))
torch.setdefaulttensortype('torch.DoubleTensor')

-- # what a confusion matrix gives
require 'optim'
local c = optim.ConfusionMatrix(2)
c:add(1, 1) c:add(2, 1) c:add(2, 2)
print(c:farFrr())
local frr, far = c:farFrr()
print(frr[1], far[2], select('#', c:farFrr()))

-- # a table is no key of a plain table
local special = {quote = function(x) return x[2] end}
local function eval(x, env)
  if type(x) == 'number' then return x end
  if type(x) == 'string' then return env[x] end
  local s = special[x[1]]
  if s then return s(x) end
  local f, args = eval(x[1], env), {}
  for i = 2, #x do args[i - 1] = eval(x[i], env) end
  return f(unpack(args))
end
local env = {add = function(a, b) return a + b end, get = function(x) return env.add end, x = 4}
print(eval({'add', 1, 'x'}, env), eval({'quote', 'y'}, env))
env.make = function() return env.add end
print(eval({{'make'}, 3, 'x'}, env))

-- # a loop that fills both halves of a list
local function parts(x)
  local n = #x
  if n == 1 then return {x[1]} end
  local even, odd, r = {}, {}, {}
  for i = 1, n, 2 do even[#even + 1] = x[i] odd[#odd + 1] = x[i + 1] end
  even, odd = parts(even), parts(odd)
  for k = 1, n / 2 do
    r[k] = even[k] + odd[k]
    r[k + n / 2] = even[k] - odd[k]
  end
  return r
end
for i, v in ipairs(parts{1, 2, 3, 4, 5, 6, 7, 9}) do io.write(v, ' ') end print()
local later = {}
for i = 1, 3 do later[i + 1] = i * 2 end
later[1] = 'first'
print(#later, table.concat(later, ' '))
local plain = {}
for i = 0, 2 do plain[i + 1] = i end
for i, v in ipairs(plain) do io.write(v, ' ') end print(#plain)

-- # loops over lists whose first entry is missing
local words = {}
for i = 2, 4 do words[i] = 'w' .. i end
local function all(t) for i, v in pairs(t) do io.write(i, '=', v, ' ') end print() end
all({'a', 'b'}) all(words)
local function part(a,i,j) local r = {} for k = i,j do r[k] = a[k] end return r end
for i,v in ipairs(part({1,2,3},2,3)) do print('never',i,v) end
local n = 0
for i, v in pairs(part({1,2,3},2,3)) do n = n + v end
print(n)
local m = {}
for i = 1, 3 do m[i] = {} for j = i, 3 do m[i][j] = i * j end end
n = 0
for i, row in ipairs(m) do for j, v in pairs(row) do n = n + v end end
print(n)
local function slice(t, a, b) local r = {} for i = a, b do r[i - a + 1] = t[i] end return r end
print(slice({}, 1, 0)[1])

-- # lists whose entries come in another order, or with leaps at first
local n, t = 3, {}
for i = 1, n do t[n + i] = i t[i] = -i end
print(table.concat(t, ' '))
local u = {}
for i = 3, 6 do u[i - 1] = i end
u[1] = 0
print(#u, table.concat(u, ' '))
local v = {}
for i = 1, 7, 2 do v[i] = i end
for i = 2, 6, 2 do v[i] = i end
print(table.concat(v, ' '))
local off, batch = 4, {}
for i = off + 1, off + 3 do batch[i - off] = i end
for i, x in ipairs(batch) do io.write(i, ':', x, ' ') end print()

-- # lists filled in any order
local function reversed(t)
   local r = {}
   for i = 1, #t do r[#t - i + 1] = t[i] end
   return r
end
print(table.concat(reversed({1, 2, 3, 4}), ' '))
local n = 4
local r = {}
for i = 1, n do r[n - i + 1] = i * i end
print(#r, table.concat(r, ' '))
local e = {}
for i = 1, n do e[2 * i] = -i end
for i = 1, n do e[2 * i - 1] = i end
print(table.concat(e, ' '))
local rot, k = {}, 2
for i = 1, n do rot[(i + k) % n + 1] = r[i] end
for i, v in ipairs(rot) do io.write(i, ':', v, ' ') end
print()
local m = {}
for i = 1, 2 do for j = 1, 3 do m[(j - 1) * 2 + i] = i * 10 + j end end
print(#m, table.concat(m, ','))
local function fill(t, from, to) for i = to, from, -1 do t[i] = i end end
local f = {}
fill(f, 1, 5)
print(#f, f[1], f[5])
local w, i = {}, 6
while i >= 1 do w[i] = 'w' .. i; i = i - 1 end
print(table.concat(w, ' '))
local function insert(t, i, v) table.insert(t, i, v) end
local far = {'a'}
insert(far, 3, 'x')
print(far[3], far[2])
local u = {}
for i = 1, 5 do if i > 1 then u[i] = i end end
print(u[1], u[2], #u)
for i = 2, 5 do io.write(u[i], ' ') end
print()
local perm = torch.LongTensor{3, 1, 2}
local p = {}
for i = 1, perm:size(1) do p[perm[i]] = i end
print(table.concat(p, ' '))

-- # tensors whose dimensions a test tells
local function total(x)
   if x:dim() == 1 then
      local s = 0
      for i = 1, x:size(1) do s = s + x[i] end
      return s
   elseif x:nDimension() == 2 then
      local s = 0
      for i = 1, x:size(1) do s = s + total(x[i]) end
      return s
   end
   assert(x:dim() == 3)
   local first = x[1]
   return first[1][1]
end
M = {total = total}
function M.first(x)
   assert(x:dim() == 1, 'a vector')
   local a = x[1]
   return a == 0 and 'zero' or a
end
local function flat(x)
   if #x:size() == 2 then
      io.write(x[1]:sum(), ' ')
      x:resize(x:nElement())
      print(x[1])
   end
   if x:dim() == 1 then
      for i = 1, 2 do print(x[1]) x = x:view(1, -1):t() end
   end
end
flat(torch.ones(2, 2))
print(M.first(torch.zeros(2)), M.total(torch.ones(2, 2, 2)), M.total(torch.ones(3, 2)))

-- # sizes that several numbers tell
local sizes = {3, 4}
local x = torch.range(1, 24)
local y = x:view(2, unpack(sizes))
print(y[1]:size(1))
local function f(N, T) local v = x:view(N, -1, T) return v[1][2] end
print(f(2, 3):size(1), f(2, 3)[1])
local function g(...) local v = x:view(...) return v[1] end
print(g(2, 3, 4):dim(), g(24))
local z = torch.zeros(2, unpack(sizes))
print(z[1][1]:size(1))
local function h(...) local v = x:view(2, ...) return v[1] end
print(h(3, 4):dim())

-- # keys that are tables made at their place
local letters = {'a', 'b', 'c'}
local function pairs_of(distance)
  local found = {}
  for i = 1, #letters - 1 do
    for j = i + 1, #letters do
      if j - i == distance then found[{letters[i], letters[j]}] = i * 10 + j end
    end
  end
  return found
end
local sum = 0
for pair, value in pairs(pairs_of(1)) do sum = sum + value * #pair end
print(sum, pairs_of(2)[{'a', 'c'}])
local given = {[{1, 2}] = 3}
for key, value in pairs(given) do print(key[2], value) end
local grid = torch.zeros(2, 2)
grid[{1, 2}] = 5
print(grid)

-- # entries behind a test of the dimensions
local function total(x)
   local sum = 0
   for i = 1, x:size(1) do sum = sum + x[i] end
   if x:dim() == 1 then print(x[1]) elseif x:dim() == 2 then print(x[1][1], x[1]:sum()) end
   return sum
end
print(total(torch.range(1, 3)), total(torch.ones(2, 2)):sum())

-- # a loaded tensor that gets other dimensions at times
local function rows(x, is_flat)
   local sum = 0
   for i = 1, x:size(1) do sum = sum + x[i]:sum() end
   if is_flat then x = x:contiguous():view(4) end
   return sum, x
end
local name = os.tmpname()
torch.save(name, {square = torch.range(1, 4):view(2, 2)})
local data = torch.load(name)
os.remove(name)
local sum, flat = rows(data.square, true)
print(sum, flat:dim(), flat[4])

-- # what is put into text and read elsewhere
local function pack(x) return torch.serialize(x) end
local function unpacked(s) return torch.deserialize(s) end
local a = unpacked(pack({1, 2, 3}))
print(a[3])
local b = unpacked(pack({a = torch.ones(2)}))
print(b.a:sum())
local s = torch.serialize({4, 5})
local c = torch.deserialize(s)
print(#c, c[2] + 1)

-- # tensors that change their dimensions behind a test
local function aliased(x)
   if x:dim() == 1 then
      local y = x
      y:resize(2, 2)
      print(x[1]:sum())
   end
end
aliased(torch.range(1, 4))
local function looped(x)
   if x:dim() == 1 then for i = 1, 2 do print(i == 1 and x[1] or x[1]:sum()) x:resize(2, 2) end end
end
looped(torch.range(1, 4))
local function grow(t) t:resize(2, 2) end
local function given(x)
   if x:dim() == 1 then grow(x) local s = x[1] return s end
   return x
end
print(given(torch.range(1, 4)):sum())
local function result(x)
   if x:dim() == 1 then torch.add(x, torch.ones(2, 2), 3) local s = x[1] return s end
   return x
end
print(result(torch.range(1, 4)):sum())
local function later(x)
   if x:dim() ~= 1 then return x[1]:sum() end
   local function first() return x[1] end
   local a = first()
   x = x:view(1, -1)
   return a, first()
end
print(later(torch.range(1, 4)), (select(2, later(torch.range(1, 4)))):sum())

-- # a name with an ending on one condition
local function named(name, kind)
  name = kind == 'ascii' and name .. '.txt' or name
  return name
end
print(named('a', 'ascii'), named('b'), named('c', 'binary'))

-- # files whose mode is nil
local function saved(x, mode)
  local name = os.tmpname()
  torch.save(name, x, mode)
  local y = torch.load(name, mode)
  os.remove(name)
  return y, torch.deserialize(torch.serialize(x, mode), mode)
end
print(saved(torch.ones(2)))
print(saved(torch.ones(2), 'ascii'))

-- # an empty tensor where dimensions are tested
local function emptied(x)
  if x:dim() == 2 then
    local y = torch.Tensor()
    return {y, x:size(2), x:sum(1)}
  end
  return {x, x:size(1)}
end
local made = emptied(torch.ones(2, 3))
print(made[1]:dim(), made[2], made[3], emptied(torch.ones(4))[2])

-- # records of entries of tensors, by what becomes of them
local function make(data, labels, i)
  local label = labels[i]
  local row = data[i]
  return {input = row, target = label, index = i}
end
local function batch(data, labels, n)
  local input, target = torch.Tensor(n, 2), torch.IntTensor(n)
  for i = 1, n do
    local s = make(data, labels, i)
    input[i]:copy(s.input)
    target[i] = s.target
  end
  return input, target
end
local f = os.tmpname()
torch.save(f, {data = torch.range(1, 6):view(3, 2), labels = torch.Tensor{3, 1, 2}, wide = torch.Tensor{{3}, {1}, {2}}})
local function load(name) return torch.load(name) end
local d = load(f)
local x, y = batch(d.data, d.labels, 3)
print(x:sum(), y:sum(), y[1])
local x, y = batch(d.data, d.wide, 3)
print(x:sum(), y:sum(), y[1])
-- the same names, one a tensor, one a number
local function pair(v) return {v = v} end
local function use(p)
  if torch.isTensor(p.v) then return p.v:sum() end
  return p.v + 1
end
print(use(pair(d.data[1])), use(pair(d.labels[1])))
local a = d.data[2]
local b = a[1]
print(string.format('%d %s', b, tostring(b)))
local seq = {}
for i = 1, 3 do
  local w = d.labels[i]
  seq[#seq + 1] = {word = w, next = w % 3 + 1}
end
local words = {'a', 'b', 'c'}
for i, s in ipairs(seq) do print(i, words[s.word], words[s.next]) end
local t = torch.zeros(3)
t[1] = d.wide[2]
t[2] = d.labels[1]
print(t[1], t[2])
os.remove(f)

-- # a reader of lists and names that pcall calls
local function read(s, pos)
   local c = s:sub(pos, pos)
   pos = pos + 1
   if c == '{' then
      local names, value = {}
      while s:sub(pos, pos) ~= '}' do
         local name = s:sub(pos, pos)
         value, pos = read(s, pos + 1)
         names[name] = value
      end
      return names, pos + 1
   elseif c == '[' then
      local list, value = {}
      while s:sub(pos, pos) ~= ']' do
         value, pos = read(s, pos)
         list[#list + 1] = value
      end
      return list, pos + 1
   end
   return tonumber(c), pos
end
local function parse(s)
   local ok, value = pcall(read, s, 1)
   if not ok then return nil, value end
   return value
end
local made = parse('{a[123]b5}')
print(made.a[2] + 1, made.b, #made.a)

-- # next in loops
local t = {a = 1, b = 2, 3}
local n, keys = 0, {}
for k, v in next, t do n = n + v; keys[#keys + 1] = tostring(k) end
table.sort(keys)
print(n, table.concat(keys, ' '))
local twice = {}
for k in next, {1, 2, 3}, nil do twice[#twice + 1] = k * 2 end
print(table.concat(twice, ','), next({}))

-- # options of a command line, and tables with the same names
local cmd = torch.CmdLine()
cmd:option('-rate', 0.1)
cmd:option('-name', 'x')
local function shown(options)
   if options.name == 'y' then options.rate = 2 end
   return options.rate, options.name
end
local options = cmd:parse({})
print(shown(options))
print(shown({rate = 3, name = 'z'}))
for _, others in ipairs{{rate = 1}, {name = 'y'}} do
   local copy = {}
   for k, v in pairs(options) do copy[k] = v end
   for k, v in pairs(others) do copy[k] = v end
   print(shown(copy))
end

-- # options of a command line, and a table that asks them
local cmd = torch.CmdLine()
cmd:option('-rate', 0.1)
cmd:option('-name', 'x')
local function shown(options) return options.rate * 2, options.name, options.extra end
local options = cmd:parse({})
print(shown(options))
local over = setmetatable({name = 'y', extra = 1}, {__index = options})
print(shown(over))
over.rate = 5
print(shown(over))

-- # what a file gives that the program writes
local name = os.tmpname()
local function write(o)
   local f, parts = io.open(name, 'w'), {}
   for i = 1, o.by:size(1) do parts[i] = tostring(o.by[i]) end
   f:write('return {by = {' .. table.concat(parts, ',') .. '}, note = "' .. o.note .. '"}\n')
   f:close()
end
write({by = torch.ones(2), note = 'a'})
local back = dofile(name)
os.remove(name)
print(back.note, #back.by, back.by[1] + 1)

-- # tables under the same file name, of which one counts from 1
local f = os.tmpname()
local count = {}
for _, x in ipairs{3, 1, 3, 2, 3} do count[x] = (count[x] or 0) + 1 end
torch.save(f, count)
local c = torch.load(f)
for i = 1, 4 do print(i, c[i]) end
c[4] = (c[4] or 0) + 1
print(#c, c[4])
local vocab = {the = 1, cat = 2}
local inv = {}
for w, i in pairs(vocab) do inv[i] = w end
torch.save(f, {vocab = vocab, inv = inv, size = 2})
local v = torch.load(f)
print(v.inv[v.vocab.cat], v.vocab['dog'], v.inv[v.size])
v.vocab.dog = v.size + 1
v.inv[v.vocab.dog] = 'dog'
print(#v.inv, table.concat(v.inv, ' '))
local x = torch.Tensor(v.size):fill(v.vocab.dog)
print(x:sum(), v.inv[x[1]])
torch.save(f, v.size / 4)
print(torch.load(f) * 2)
local id = torch.IntTensor{v.vocab.the}[1]
print(v.inv[id])
os.remove(f)

-- # texts of options that are evaluated, into fields and variables
n = 4
O = {expr = 'n * 2', list = "{'a', 'b'}", nested = "{1, 2, {3, 4}}"}
local s = {d = "{lr = 0.1, mom = {0.5, 0.9}}"}
print(loadstring('return ' .. O.expr)())
loadstring('O.list = ' .. O.list)()
for i = 1, #O.list do print(i, O.list[i]) end
O.list[#O.list + 1] = 'c'
print(table.concat(O.list, ','))
loadstring('O.nested = ' .. O.nested)()
print(O.nested[3][2], #O.nested)
local d = assert(loadstring('return ' .. s.d))()
print(d.lr, d.mom[2], d.other)
local sizes = loadstring('return ' .. '{10, ' .. n .. '}')()
for i, size in ipairs(sizes) do print(i, size) end

-- # sums of what may be a number or a tensor
local function add(a, b) return a + b end
print(add(1, 2), add(torch.ones(1), 1), add(torch.ones(1), torch.ones(1)), add('1', 2))
local function mul(a, b) return a * b end
print(mul(2, 3), mul(torch.ones(2, 2), torch.ones(2)), mul(torch.ones(2), 3))

-- # entries under halves
local t = {10, 20}
for i = 2, 1, -0.5 do io.write(i, '=', tostring(t[i]), ' ') end
for i = 0.5, 1.5 do io.write(i, '=', tostring(t[i]), ' ') end
print()

-- # evaluated texts that are tables with names, with both, and with nothing
local b = loadstring('return ' .. tostring("{1, name = 'n', layers = {3, 4}, opt = {mom = 0.9}}"))()
print(b.name, b[1], #b.layers, b.layers[2], b.opt.mom)
local e = loadstring('return ' .. tostring('{}'))()
e.x = 3
print(e.x)

-- # texts that give several values, name tables that are there, and lists that grow
shelf = {list = {1, 2}, x = 1}
local a, b = loadstring('return ' .. tostring('1, 2'))()
print(a, b)
print(loadstring('return ' .. tostring('3, 4'))())
local t = loadstring('return ' .. tostring('shelf'))()
t.x = 5
print(shelf.x)
local e = loadstring('return ' .. tostring('{}'))()
e[#e + 1] = 4
print(#e)

-- # entries that are set, used or tested before they are read, and that others take away
local function find(x) if x > 1 then return x end end
local t = {a = 1}
t.k = find(0)
print(t.k, t.a)
local function set(t, k, v) t[k] = v end
local z = {p = 1}
set(z, 'p', find(0))
print(z.p)
z.q = 3
print(z.q)
set(z, 'q', nil)
print(z.q)
local function decayed(o)
  if not o.decay then o.decay = 0.5 end
  return o.lr * o.decay, o.decay
end
print(decayed{lr = 2}, decayed{lr = 2, decay = 3})
local s = {}
local function clear() s.y = nil end
s.y = 3
clear()
print(s.y)
for i = 1, 2 do
  print(t.b)
  t = {a = i}
  if i == 1 then t.b = i else t = {c = i} end
end
print(t.b, t.a, t.c)
local function swap(o, c)
  if c then o.x = 1; o = {} else o.x = 2 end
  return o.x == nil
end
print(swap({}, true), swap({}, false))
local cache = {}
local function get(i)
  if not cache[i] then cache[i] = i * 2 end
  return cache[i]
end
print(get(3), get(3), get(4))
local k = 'a'
local w = {}
w[k] = 1
k = 'b'
print(w[k], w.a)
local f
local function outer(o)
  o.n = 1
  f = function() return o.n == nil end
  o = {}
  return f()
end
print(outer{})

-- # permutations that are narrowed, global, and made again
torch.manualSeed(1)
local ids = {'a', 'b', 'c', 'd'}
local perm = torch.randperm(#ids):narrow(1, 1, 2)
print(ids[perm[1]], ids[perm[2]])
shuffle = torch.randperm(4)
for i = 1, 4 do io.write(ids[shuffle[i]], ' ') end
local p
for e = 1, 2 do
  p = torch.randperm(4)
  for i = 1, 4, 2 do
    local batch = p:narrow(1, i, 2)
    for j = 1, batch:size(1) do io.write(ids[batch[j]], ' ') end
  end
end
print()
local half = torch.randperm(4):sub(1, 2)
print(half:mean() > 0, half[1] / 2 > 0)
local r = torch.randperm(4)
r = r:double()
print(torch.type(r), ids[r[1]])
local t = torch.randperm(3):clone()
t[1] = 2.5
print(t[1])

-- # entries that may be nil, for which somebody has a default
local function f(x) if x > 1 then return x end end
local o = {}
o.a = f(0)
print(o.a)
print(o.a or 3)
o.a = f(4)
print(o.a, o.a or 5)
local cmd = torch.CmdLine()
cmd:option('-lr', 1, 'x')
local opt = cmd:parse({})
for _, k in ipairs{'lr', 'mom'} do
  opt[k] = f(k == 'lr' and 0 or 2)
  print(opt[k])
end
print(opt.lr, opt.mom)
opt.extra = f(0)
print(opt.extra)

-- # keys of two kinds that are sorted as texts
local k = {}
for key in pairs({b = 1, a = 2, 10}) do k[#k + 1] = key end
table.sort(k, function(a, b) return tostring(a) < tostring(b) end)
for i = 1, #k do print(k[i]) end
local function less(a, b)
  if type(a) == type(b) then return a < b end
  return type(a) == 'number'
end
local m = {'x', 3, 'a', 1}
table.sort(m, less)
for i = 1, #m do print(m[i]) end

-- # entries of a list of whole numbers, or of a tensor
local function area(b) return (b[3] - b[1] + 1) * (b[4] - b[2] + 1) end
print(area{0, 0, 9, 9})
print(area(torch.Tensor{10, 10, 50, 50}))

-- # lists that begin with what may be nil, and grow
local function wrap(x) local t = {x}; t[#t + 1] = 5; table.insert(t, 6); return t end
print(#wrap(nil), #wrap(1), wrap(nil)[1], wrap(nil)[2])
local function join(x) local t = {'a', x}; for _, v in ipairs{'b', 'c'} do t[#t + 1] = v end return table.concat(t, ' ') end
print(join(nil), join('x'))
local function resizeAs(t1, t2)
  if torch.type(t2) == 'table' then
    t1 = (torch.type(t1) == 'table') and t1 or {t1}
    for key, _ in pairs(t2) do t1[key], t2[key] = resizeAsAgain(t1[key], t2[key]) end
  else
    t1 = torch.isTensor(t1) and t1 or t2.new()
    t1:resizeAs(t2)
  end
  return t1, t2
end
resizeAsAgain = resizeAs
local made = resizeAs({}, {torch.zeros(3), {torch.zeros(1, 2)}})
print(#made, made[1]:size(1), made[2][1]:size(2))

-- # lines that a loop reads
local path = os.tmpname()
local out = io.open(path, 'w')
out:write('a b\nc\n\nd') out:close()
local function count(last)
  local n = 0
  local file = io.open(path)
  while true do
    local line = file:read()
    if line == nil then break end
    if line == last then break end
    line = line .. '!'
    if line ~= '!' then n = n + 1 print(line) end
  end
  print(n, file:read('*a'))
  file:close()
end
count()
count('c')
local file = io.open(path)
while true do
  local line = file:read('*l')
  if line == nil then break end
  print(line, file:read())
end
file:close()
io.write('x', 1, '\n') io.write('\n') io.write('no end') io.write('\n')

-- # whether a package is here
local has = pcall(require, 'cutorch')
local nope = pcall(require, 'nobody.has.it')
print(has, nope)
if has then print('yes') end
if pcall(require, 'nobody') then print('no') end
local nn_here = pcall(require, 'nn')
print(nn_here)
has = pcall(require, 'cunn')
print(has)

-- # tensors of one or two dimensions, and of numbers that their type cannot hold
local x = torch.range(1, 6):resize(2, 3)
if x:sum() < 0 then x = torch.ones(3) end
local one = x[{1, 2}]
x:fill(7)
print(one, x[{2, 1}], x[{{}, 1}])
local v = torch.Tensor{1, 2, 3}
print(v:sum(1)[1])
v = (2 * torch.fmod(x, 4)):clone()
print(v:sum(1)[1])
local none = x[x:gt(9)]
print(none:dim(), none:nElement(), x[x:gt(2)]:dim(), x:maskedSelect(x:lt(0)):dim())
local sizes = torch.LongTensor(x:size())
print(sizes, sizes:prod(), torch.LongTensor(#x):fill(1))
local whole = x:type('torch.IntTensor')
print(2.5 - whole, whole * 0.5, whole:clone():cmax(2.5), torch.cmin(whole, 2.5))
print(whole:clamp(-1.5, 2.5), torch.ByteTensor(2):fill(-2), torch.ByteTensor(2):fill(255):add(300))
for _, n in ipairs{'Byte', 'Double'} do
  local s = torch[n .. 'Storage']{1, 2, 3}
  print(n, #s, s:elementSize(), s[2], torch[n .. 'Tensor'](s):sum())
end
print(torch.DiskFile('/nowhere/none.t7', 'r', true))

-- # what squeeze may give, and one of several results
local function thrice(x) return x:squeeze() * 3 end
local squeezed = torch.ones(1, 2, 3)
print(thrice(squeezed), squeezed:squeeze() + 1)
local z = torch.ones(1, 1):squeeze()
print(z * 3)
local scores, labels = torch.Tensor{{1, 5, 2}, {7, 3, 4}}, torch.Tensor{2, 3}
print(select(2, scores:max(2)):eq(labels:long()):sum(), (select(2, scores:max(2))):view(-1))
print(select(2, scores:sort(2, true))[{{}, 1}], select(1, scores:max(1)))
local function three() return 1, 'a', true end
local second, third = select(2, three())
print(second, third, select(3, three()), select(2, three()))
print(select(2, ('aa'):gsub('a', 'b')), #{select(2, three())}, (select(4, three())))
print(scores:dim(), nothing and #nothing, 'a')

-- # the sizes of what may be a tensor, as a list
local function describe(x)
  local t = torch.typename(x) or type(x)
  if t:find('Tensor') then return t .. ' ' .. table.concat(x:size():totable(), 'x') end
  return t
end
for _, v in ipairs{1, 'str', {1, 2}, torch.Tensor(2, 3), torch.LongStorage{2, 3}} do
  if torch.type(v) ~= 'torch.LongStorage' then print(describe(v)) else print(v:size(), v[2]) end
end

-- # one function makes tables of any form
local function scale(x, k)
  if type(x) == 'number' then return x * k end
  if type(x) == 'string' then return x:rep(k) end
  if torch.isTensor(x) then return x * k end
  local made = {}
  for key, v in pairs(x) do made[key] = scale(v, k) end
  return made
end
local r = scale({1, 'ab', torch.ones(2), {x = 3, y = {4}}}, 2)
print(r[1], r[2], r[3]:sum(), r[4].x, r[4].y[1])
