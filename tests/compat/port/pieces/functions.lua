-- # pairs of nothing
for k, v in pairs({}) do print(k, v) end
for k, v in pairs({1, 2, x = 3}) do print(k, v) end
for k in pairs({a = 1}) do print(k) end
for k, v in next, {5} do print(k, v) end

-- # iterator functions
local function iter(t) local i = 0; return function() i = i + 1; if t[i] ~= nil then return i, t[i] end end end
for i, v in iter({'a', 'b'}) do print(i, v) end
local function range(n) return function(s, c) if c < s then return c + 1 end end, n, 0 end
for i in range(3) do io.write(i, ' ') end
print()
local function chars(s) return s:gmatch('.') end
for c in chars('abc') do io.write(c, '.') end
print()

-- # complex conditions
local a, b = nil, 5
if a == nil and b > 3 then print('1') end
if not a and (b or a) then print('2') end
if (a or b) == 5 then print('3') end
local c = a and b or 7
print(c, a or b and 3, not (a and b))
local v = b > 3 and 'big' or b > 1 and 'mid' or 'small'
print(v)
local w = b == 5 and false or 'false or'
print(w)
local n = 0
local m = n or 1
print(m, n and 2, n == 0 and 'zero')

-- # global functions and tables
config = {lr = 0.1, layers = {10, 20}}
function setup(name, opts)
  opts = opts or {}
  local r = {name = name, lr = opts.lr or config.lr}
  for k, v in pairs(opts) do r[k] = v end
  return r
end
print(setup('a').lr, setup('b', {lr = 1}).lr, setup('c', {extra = 'e'}).extra, #config.layers)
counter = 0
function tick() counter = counter + 1 return counter end
tick() tick()
print(counter)

-- # nested data
local data = {}
for i = 1, 3 do
  data[i] = {id = i, tags = {}}
  for j = 1, i do data[i].tags[j] = 't' .. j end
end
print(#data, data[3].tags[2], #data[2].tags)
table.sort(data, function(x, y) return x.id > y.id end)
print(data[1].id)
local byid = {}
for _, d in ipairs(data) do byid[d.id] = d end
print(byid[2].tags[1])
local matrix = {}
for i = 1, 2 do matrix[i] = {} for j = 1, 2 do matrix[i][j] = i * j end end
print(matrix[2][2], #matrix, #matrix[1])

-- # functions as values
local ops = {add = function(a, b) return a + b end, ['sub'] = function(a, b) return a - b end}
print(ops.add(1, 2), ops['sub'](5, 3))
local function apply(f, ...) return f(...) end
print(apply(ops.add, 3, 4), apply(print, 'x'), apply(function() end))
local compose = function(f, g) return function(x) return f(g(x)) end end
print(compose(function(x) return x + 1 end, function(x) return x * 2 end)(5))
local list = {function() return 1 end, function() return 2 end}
print(list[1]() + list[2]())
local s = {}
function s.a.b() end

-- # vararg table
local function k(...) local t = {n = select('#', ...), ...} return t.n, t[1] end
print(k(5, 6))
local function concat(...) return table.concat({...}, '-') end
print(concat('a', 'b', 3))
local function maxof(...) local m = -math.huge for _, v in ipairs({...}) do m = math.max(m, v) end return m end
print(maxof(3, 9, 2))

-- # math3
print(3 == 3.0, 3.0, 3.5, 1e2, 10 / 2, 2^2)
print(tostring(10 / 2), 10 / 2 .. '', (10 / 2) .. 'x', #tostring(10 / 2))
local x = 6 / 2
print(x, x == 3, 'v' .. x, string.format('%d', x), string.format('%s', x))
local t = {10, 20, 30}
print(t[6 / 2], t[x])
for i = 1, 6 / 2 do io.write(i, ' ') end print()
local idx = math.ceil(2.2)
print(t[idx], ('abc'):sub(x), ('ab'):rep(x))
local h = #t / 2
print(h, math.floor(h), t[math.floor(h)])

-- # results of gsub, sort and find that a function returns
local function f(s) return s:gsub('l', 'L') end
print(f('hello'))
local function g(s) return s:find('l') end
print(g('hello'), g('x'))
local function h(x) return x:max(1) end
print(h(torch.Tensor{{1, 5}, {7, 2}}))
local function many() return ('a b'):match('(%a) (%a)') end
local x, y = many()
print(x, y, tostring(('hello'):gsub('l', 'L')))

-- # entries before the first
local t = {5, 6}
print(t[0], t[-1])
local i = 1
if t[i - 1] then print('no') else print('nothing before') end
local before = t[i - 1]
print(before)
for i = 2, 2 do print(t[i - 1]) end

-- # removing from what is empty
local q, r, s = {}, {1}, {1, 2, 3}
local gone = table.remove(q)
print(gone, table.remove(r), table.remove(r), #r)
while #s > 0 do print(table.remove(s)) end
while #s > 0 do table.remove(s, 1) end

-- # a call whose value is not needed
local function f() print('called') return 'x' end
print(f() and '12')
local z = f() or 3
print(z)

-- # nil and nothing under pcall
print(pcall(function() return nil end))
print(pcall(function() end))
print(select('#', pcall(function() return nil end)))
local function g(x) return x end
print(pcall(g))

-- # all results of io.open, given on
local function f(p) return io.open(p) end
print(f('/nonexistent/x'))
local h, err = f('/nonexistent/x')
print(h, err)

-- # functions that Lua calls
print(('key=val'):gsub('(%w+)=(%w+)', function(c) return c .. '!' end))
local rows = {{k = 'b', v = 2}, {k = 'a', v = 1}}
table.sort(rows, function(a, b) return a.k < b.k end)
print(rows[1].k, rows[2].v)
for a, b in ('x=1'):gmatch('%w') do print(a, b) end

-- # results that a function does not take
local q = {items = {}}
local function push(v) q.items[#q.items + 1] = v end
push(('a-b'):gsub('-', '+'))
print(q.items[1], #q.items)
local Stack = {}
Stack.__index = Stack
function Stack.new() return setmetatable({n = 0}, Stack) end
function Stack:push(v) self.n = self.n + 1; self.top = v end
local stack = Stack.new()
stack:push(('a-b'):gsub('-', '+'))
print(stack.n, stack.top)

-- # a name of a loop that the next turn needs
local i = {size = 3}
for turn = 1, 2 do
  print(i.size)
  for i = 1, 2 do print(i) end
end

-- # a match of a pattern that is a parameter
local function found(text, pattern) return text:match(pattern) end
local a, b = found('x-y', '(%w)-(%w)')
print(a, b)

-- # functions that nobody knows, and all that they are given
local function compose(...)
  local fs = {...}
  return function(...)
    local r = {...}
    for i = #fs, 1, -1 do r = {fs[i](unpack(r))} end
    return unpack(r)
  end
end
local function add(x, y) return x + y end
local function twice(x) return x, x end
print(compose(add, twice)(21))
print(compose(twice, add)(1, 2))
local function total(...) local n = 0 for _, v in ipairs{...} do n = n + v end return n end
local function none() return nil end
print(total(1, 2), total(none(), 5))
print(xpcall(function(a, b) return a + b end, print, 3, 4))

-- # keys that are computed before anything is assigned
local s, t = {}, {}
s[#s + 1], s[#s + 2] = 'first', 'second'
print(#s, s[1], s[2])
t[#s], t[#s - 1] = 2, 1
print(t[1], t[2])

-- # io.write into a file
local name = os.tmpname()
local file = io.open(name, 'w')
io.output(file)
io.write(1, ',', 2.5, '\n')
io.write('x\n')
file:close()
io.output(io.stdout)
for line in io.lines(name) do print(line) end
os.remove(name)

-- # a function that gives nothing stops no loop over a table
table.foreach({3, 1}, function(i, v) io.write(i, '->', v, ' ') end)
print(table.foreach({7, 8}, function(i, v) if v == 8 then return i end end))

-- # entries past the end that are given back, printed or compared
local function past(t, i) return t[i] end
print(past({4, 5}, 3), past({4, 5}, 1))
local function last(t) return t[#t] end
print(last({}), last({1, 2}))
local function nxt(t, i) local v = t[i + 1] return v end
print(nxt({1, 2}, 1), nxt({1, 2}, 2))
local names, k = {'a', 'b'}, 3
print(names[k], tostring(names[k]), type(names[k]))
local function each(t)
  local i = 0
  return function() i = i + 1 return t[i] end
end
for v in each({7, 8}) do io.write(v, ' ') end print()
local function put(t, i, v) local old = t[i] t[i] = v return old end
local q = {1} print(put(q, 1, 5), put(q, 2, 6), #q)
local function args(...) local a = {...} local n = select('#', ...) return a[n], a[n + 1] end
print(args(1, nil, 3)) print(args())
local function same(a, b) for i = 1, #a do if a[i] ~= b[i] then return false end end return true end
print(same({1, 2}, {1}), same({1}, {1, 2}))

-- # nothing that is given on
local function none(x) if x then local y = x end end
local log = {}
local function quiet(x) log[#log + 1] = x end
local function pass(x) return quiet(x) end
print(tostring((pass(1))), #log)
print(pcall(function() return quiet(2) end))
local t = {a = pass(1), b = 2, pass(3)} print(t.a, t.b, #t)
local function two(x) return quiet(x), quiet(x) end
print(two(1))
local x = pass(4) print(x) local y, z = pass(5), 6 print(y, z)
local function deep(x) return pass(x) end print(deep(1)) print(#{deep(1)})
local function cond(x) if x > 1 then return pass(x) end return x end
print(cond(1)) print(cond(2)) print(#{cond(2)}, (cond(2)))
local M = {}
function M.run(x) return table.insert(log, x) end
function M.each(f, n) for i = 1, n do f(i) end end
function M.all(n) return M.each(quiet, n) end
print(M.run(1)) print(M.all(2)) print(#{M.run(2)}, #{M.all(1)}, #log)
local function apply(f, ...) return f(...) end
print(apply(quiet, 1)) print(apply(none)) print(#{apply(quiet, 2)}, select('#', apply(quiet, 2)))
local function maybe(x) if x then return none(x) else return 1, 2 end end
print(maybe(true)) print(maybe(false)) print(#{maybe(true)}, #{maybe()})
local co = coroutine.wrap(function() return quiet(1) end) print(co())
local function vararg(...) return ... end
print(vararg()) print(#{vararg()}, (vararg())) print(vararg(pass(1))) print(vararg(1, pass(1)), 2)
local function collect() return collectgarbage('step') and none(1) end print(collect())
local function w() return io.write('') and nil end print(w())

-- # coroutines that are resumed while they run
local co
co = coroutine.create(function() print(coroutine.resume(co)) print(coroutine.status(co)) coroutine.yield(1) end)
print(coroutine.resume(co))
print(coroutine.status(co))
local outer
outer = coroutine.create(function()
   local inner = coroutine.create(function() print(coroutine.status(outer)) end)
   coroutine.resume(inner)
   print(coroutine.status(inner))
end)
coroutine.resume(outer)
print(coroutine.status(outer), coroutine.resume(outer))

-- # functions of Lua's with more than they take
local function map(f, t) local r = {} for i, v in ipairs(t) do r[i] = f(v, i) end return unpack(r) end
print(map(math.floor, {1.5, 2.5}), map(string.len, {'a', 'bc'}))
print(map(tostring, {1, true}), map(type, {1, true}), map(string.upper, {'a', 'b'}))
print(math.floor(3.7, 2), tonumber('10', 10, 3), ('ab'):upper(1))
local chosen = {floor = math.floor, len = string.len}
for _, name in ipairs{'floor'} do print(chosen[name](2.5, 1)) end
local function call(f, ...) return f(...) end
print(call(math.floor, 2.5, 9), call(math.max, 1, 5))

-- # functions that are given less, by pcall and coroutines
local function nothing() end
print(pcall(function(a) return a == nil end, nothing()))
print(coroutine.wrap(function(a, b) return a, b end)(1))
print(coroutine.resume(coroutine.create(function(a) return a end), 1, 2))

-- # nil at the end of what a function is given
local function count(...) local a = {...} if #a == 1 then return 'one' end return #a end
local function last(...) local a = {...} a[#a + 1] = 'end' return a[#a - 1], #{...} end
local opt
print(count(1, opt), count(opt), count(), count(1, 2), last('a', nil))
local function all(...) local n = 0 for _ in ipairs{...} do n = n + 1 end return n end
print(all(1, 2, opt), select('#', 1, opt))

-- # defaults one after the other, of arguments that a call lacks
local function counter(start, step)
  local n = start or 0
  return function(k) n = n + (k or step or 1) return n end
end
local a, b = counter(), counter(10, 5)
print(a(), a(3), b(), b(1))

-- # goto that continues, breaks or returns
local function f(n)
  for i = 1, n do
    for j = 1, n do
      if i * j == 6 then goto done end
      if j == 3 then goto next end
      io.write(i, j, ' ')
    end
    ::next::
  end
  print('all')
  ::done::
end
f(2) f(3)
local function g(n)
  if n > 2 then goto over end
  print(n)
  do return n end
  ::over::
end
print(g(1), g(5))

-- # functions of packages by computed names
for _, name in ipairs{'sqrt', 'huge', 'none'} do
  local v = math[name]
  if type(v) == 'function' then v = v(16) end
  print(name, type(math[name]), v)
end

-- # nil among further arguments, and the end of an empty list
local stack = {}
local function push(...) for i = 1, select('#', ...) do stack[#stack + 1] = (select(i, ...)) end end
local function pop() local v = stack[#stack]; stack[#stack] = nil; return v end
push(1, nil, 2)
print(#stack, pop(), pop(), pop(), #stack)
local function add(t, ...) for i = 1, select('#', ...) do local v = select(i, ...); t[#t + 1] = v end return t end
print(#add({}, nil, 1, nil, 2))
local function add2(t, ...) for i, v in ipairs{...} do t[#t + 1] = v end return t end
print(#add2({}, 1, nil, 2))
local function add3(t, ...) local a, b = ...; t[#t + 1] = a; t[#t + 1] = b; return #t end
print(add3({}, nil, 2), add3({}, 1))
local function add4(...) local t = {}; for k, v in pairs({...}) do t[#t + 1] = v end return #t end
print(add4(1, nil, 3))
local function show(...) local t = {n = select('#', ...), ...}; local s = ''; for i = 1, t.n do s = s .. tostring(t[i]) .. ' ' end return s end
print(show(nil, 2, nil))
local function map(f, ...) local r = {}; for i = 1, select('#', ...) do r[i] = f((select(i, ...))) end return r end
print(#map(tostring, 1, nil, 'x'), map(tostring, 1, nil, 'x')[2])

-- # loops below zero, to fractions and without end
for i = -1, -3, -1 do io.write(i, ' ') end
for i = 2, -2, -2 do io.write(i, ' ') end
for i = -3, -1 do io.write(i, ' ') end
local n, half = -3, -1.5
for i = 0, n, -1 do io.write(i, ' ') end
for i = 0, -n do io.write(i, ' ') end
for i = -n, -1, -1 do io.write(i, ' ') end
for i = 1, half, -1 do io.write(i, ' ') end
for i = 1, n / 2, -1 do io.write(i, ' ') end
for i = -2, half do io.write(i, ' ') end
for i = 1, math.huge do if i > 3 then break end io.write(i, ' ') end
print()

-- # places below the first
local t = {10, 20, 30, 40}
for k = -1, 1 do io.write(tostring(t[k]), ' ') end
for k = 0, 2 do io.write(tostring(t[k]), ' ') end
for k = 2, 0, -1 do io.write(tostring(t[k]), ' ') end
for k = 2, -1, -1 do io.write(tostring(t[k]), ' ') end
local n = #t
for k = n, 0, -2 do io.write(tostring(t[k]), ' ') end
for k = 4, 1, -1 do io.write(tostring(t[k - 1]), " ") end
for k = 3, 1, -1 do io.write(tostring(t[k]), ' ') end
print()

-- # global variables that a function reads before the file sets them
function status(n)
  totalLoss = (totalLoss or 0) + n
  return totalLoss, lastThing
end
function twice(n) return (select(2, status(n))) end
for e = 1, 2 do print(status(e), twice(e)) end
lastThing = 'set'
print(status(1), twice(2))

-- # a metatable of the globals
setmetatable(_G, {__newindex = function(t, k, v) rawset(t, k, v) end})
set_later = 2
print(set_later)

-- # nil behind a list's end
local a = {}
for i = 1, 5 do a[i + 1] = (select(i, 'x', nil, 'z')) and nil end
a[1] = 1
print(#a)

-- # global variables that methods read before the file sets them, and that functions alone set
local M = {}
function M.shown() return lastSeen == nil, tostring(lastSeen) end
print(M.shown())
lastSeen = 'x'
print(M.shown())
print(setLater)
function setAll() setLater = 'later'; setCount = 3 end
print(setLater, setCount)
setAll()
print(setLater, setCount)

-- # results that are arguments
local function id(x) return x end
local a, b = id(3), id('text')
print(a + 1, b:upper(), #id({1, 2, 3}))
local t = id(torch.ones(2, 3))
print(t[1][2], t:size(1))
local function either(x, y) if x == nil then return y end return x end
print(either(nil, 5) + 1, either('a', 'b') .. 'c')
print(either(nil, nil), either(false, 3))
local function pick(o, k, d) if o[k] ~= nil then return o[k] end return d end
local o = {n = 5, s = 'str', t = torch.zeros(2)}
print(pick(o, 'n') * 2, pick(o, 's') .. '!', pick(o, 't')[1], pick(o, 'none', 7), pick(o, 'none'))
local A = torch.class('PolyA')
function A:__init(n) self.n = n or 0 end
function A:set(n) self.n = n return self end
function A:get() return self.n end
local B, parent = torch.class('PolyB', 'PolyA')
function B:double() self.n = self.n * 2 return self end
print(PolyB(1):set(4):double():get(), PolyA():set('x'):get())
local function flip(x) if type(x) == 'table' then return x end return -x end
print(flip(3), flip({4})[1], flip(torch.ones(2))[2])
local function swap(x, y) return y, x end
local p, q = swap(1, 'one')
print(p:upper(), q + 1)
local r, s_ = swap(torch.ones(2), {9})
print(r[1], s_[2])
local function last(x, ...) if select('#', ...) == 0 then return x end return last(...) end
print(last(1, 2, 'z'))
local function apply(f, x) return f(x) end
print(apply(id, 'q'), apply(id, 4) + 1)
local function default(x) x = x or 'none' return x end
print(default(), default(5) + 1, default('a') .. 'b')
local function norm(x) if type(x) == 'number' then x = {x} end return x end
print(norm(3)[1], norm({5, 6})[2], #norm(1))
local function loop(x) for i = 1, 3 do x = x .. i end return x end
print(loop('a'), loop(5))

-- # functions that give back what a call gives them, or lacks
local function pick(x, d) if x == nil then return d end return x end
local options = {}
for k in ('a b'):gmatch('%a') do options[k] = 1 end
local function show(x) print(x) print('x ' .. tostring(x)) end
local v = pick(options.z)
print(v) print(pick(options.y)) print(pick(3) + 1) print(pick(options.a))
show(options.z)
local t = {v = options.z}
print(t.v)
local function second(a, b) return b end
local function two() return 'one', torch.ones(2, 2) end
print(second(two()):sum()) print(second('x')) print(second(1, 2) + second(3, 4))

-- # objects of a package that is loaded when it is needed
local tds
local function put(vectors, words)
  for i = 1, #vectors do
    local vec = torch.ones(i)
    vectors[i]:insert(vec)
    vectors[i]:insert(1, words)
  end
end
if not tds then tds = require 'tds' end
local function made(lib) return {lib.Vec(), _G.tds.Vec()} end
_G.tds = tds
local vs = made(tds)
put(vs, "a")
put(vs, 'b')
print(#vs[1], vs[1][1], vs[2][3])

-- # functions of argcheck's in one variable that give different numbers of values
local argcheck = require 'argcheck'
local check = argcheck{{name = 'x', type = 'number', default = 3}}
local function one(...)
  local x = check(...)
  return x + 1
end
print(one(), one(4))
check = argcheck{{name = 'x', type = 'number', default = 0}, {name = 'm', type = 'string', default = 'a'}}
local function two(...)
  local x, m = check(...)
  print(x, m)
end
two(1, 'b')

-- # methods of argcheck's, and what only Lua has in their results
local argcheck = require 'argcheck'
local tds = require 'tds'
local W = torch.class('CheckedWords')
W.__init = argcheck{
  {name = 'self', type = 'CheckedWords'},
  {name = 'least', type = 'number', default = 0},
  {name = 'unknown', type = 'string', default = '<unk>'},
  call = function(self, least, unknown)
    self.least, self.list, self.count = least, {}, {}
    self:add(unknown)
  end
}
function W:add(word)
  if not self.count[word] then table.insert(self.list, word) end
  self.count[word] = (self.count[word] or 0) + 1
end
W.first = argcheck{
  {name = 'self', type = 'CheckedWords'},
  {name = 'n', type = 'number'},
  {name = 'separator', type = 'string', default = ' '},
  call = function(self, n, separator)
    local found = {}
    for i = 1, math.min(n, #self.list) do found[i] = self.list[i] end
    return table.concat(found, separator)
  end
}
local fill = argcheck{
  {name = 'words', type = 'CheckedWords'},
  {name = 'line', type = 'string'},
  call = function(words, line)
    local lengths = tds.Hash()
    for word in line:gmatch('%a+') do
      words:add(word)
      lengths[word] = #word
    end
    return {lengths = lengths, n = #lengths}, lengths
  end
}
local words = CheckedWords{least = 2}
local told, lengths = fill{words = words, line = 'cat and a cat'}
print(words:first(3), words:first{n = 2, separator = '-'}, words.least, words.count.cat)
print(told.n, #told.lengths, told.lengths.cat, lengths.a)

-- # functions of argcheck's that say whether their arguments fit, or call something
local argcheck = require 'argcheck'
local quiet = argcheck{quiet = true, {name = 'x', type = 'number'}}
local function show(...)
  local ok, x = quiet(...)
  if ok then return 'number', x + 1 end
  return 'none'
end
print(show(4))
print(show('a'))
local add = argcheck{{name = 'x', type = 'number'}, call = function(x) return x, x + 1 end}
add = argcheck{overload = add, {name = 's', type = 'string'}, call = function(s) return s .. '!' end}
local a, b = add(3)
print(a, b, add('z'))

-- # packages that only Lua has, and their objects
local tablex = require 'pl.tablex'
local stringx = require 'pl.stringx'
local List = require 'pl.List'
local OrderedMap = require 'pl.OrderedMap'
local l = List{10, 20, 30}
l:append(40)
print(l:len(), l:index(20), l[2], #l)
local part = l:slice(2, 3)
print(part:concat(','), tablex.reduce('+', l))
l[2] = 7
local function last() return l:pop() end
print(last(), last())
print(l:map(function(v) return v + 1 end))
for v in l:iter() do io.write(v, ' ') end print()
local m = OrderedMap()
m:set('z', 1)
m:set('y', 2)
print(m:keys(), m:values(), m.z, m:get('y'))
local head, sign, rest = stringx.partition('a=b', '=')
local only = stringx.partition('c=d', '=')
print(head, sign, rest, only, (stringx.partition('e=f', '=')))
print(stringx.partition('g=h', '='))

-- # objects of classes that only Lua has: one result, and all
local make = loadstring([[
local Meter = torch.class('torch.OwnMeter')
function Meter:__init(n) self.n = n self.notes = {first = 'a'} end
function Meter:insert_value(v) self.n = self.n + v return self end
function Meter:mean_and_total() return self.n / 2, self.n end
function Meter:add(v) self.n = self.n + v end
return function(n) return torch.OwnMeter(n) end
]])()
local meter = make(4)
meter:insert_value(2):insert_value(4)
meter:add(10)
local mean = meter:mean_and_total()
local m, total = meter:mean_and_total()
print(mean, m, total, meter.n)
print(meter:mean_and_total())
local function both() return meter:mean_and_total() end
print(both())
local only = both()
print(only, (meter:mean_and_total()))
local t = {meter:mean_and_total()}
print(#t, t[2])
meter.n = 7
meter.notes.second = 'b'
print(meter.n, meter.notes.first, meter.notes.second, torch.type(meter))
if meter then print(meter.missing == nil) end
local plain = loadstring([[
return {new = function(n)
  local o = setmetatable({}, {__len = function() return 3 end})
  o.n = n
  function o.twice_of(v) return 2 * v, v end
  function o:bigger(v) return self.n + v, v end
  return o
end}
]])()
local o = plain.new(3)
print(o:bigger(4))
print((o:bigger(5)), o.twice_of(4))
local f = o.twice_of
print(f(8))

-- # containers of tds
local tds = require 'tds'
local v = tds.Vec()
v:insert('a') v:insert(2) v:insert(1, 'z')
print(#v, v[1], v[2], v[3])
v[3] = 'q'
for i, x in ipairs(v) do io.write(i, '=', x, ' ') end print()
for i = 1, #v do io.write(v[i], ' ') end print()
local h = tds.Hash()
h.x = 1
h['y'] = 'b'
h[3] = tds.Vec(1, 2)
print(#h, h.x, h['y'], h[3][2], h.none)
local n = 0
for k, x in pairs(h) do n = n + 1 end
print(n)
h.x = nil
print(#h)
if v then print('there') end
v:remove(1)
print(#v, v[1])
v:sort(function(a, b) return a < b end)
print(v:concat(','))
v:resize(1)
print(#v, tds.Vec({4, 5})[2])
local d = {list = tds.Vec(), map = tds.Hash()}
d.list:insert(5)
d.map.key = 6
print(d.list[1], #d.list, d.map.key)
local name = os.tmpname()
torch.save(name, d)
local e = torch.load(name)
print(e.list[1], e.map.key)
os.remove(name)

-- # Penlight as a whole, in parentheses
local pl = (require 'pl.import_into')()
print(pl.path.basename('/a/b.c'), pl.tablex.size({1, 2}))
local parts = pl.utils.split('a b', ' ')
print(parts[2])
if pl.path.isfile('/none') then print('is') end

-- # functions that a draft puts into an object of Lua's
local make = loadstring([[
local Engine = torch.class('torch.OwnEngine')
function Engine:__init() self.hooks = {} self.state = {epoch = 0} end
function Engine:run_all(n)
  for i = 1, n do
    self.state.epoch = i
    if self.hooks.onStep then self.hooks.onStep(self.state) end
  end
  if self.hooks.onEnd then return self.hooks.onEnd(self.state, n) end
end
return function() return torch.OwnEngine() end
]])()
local engine = make()
local seen = {}
engine.hooks.onStep = function(state) table.insert(seen, state.epoch) end
local function ended(state, n) return state.epoch, n, 'end' end
engine.hooks.onEnd = ended
print(engine:run_all(3))
local first = engine:run_all(2)
print(first, #seen, engine.hooks.onStep ~= nil, engine.hooks.none == nil)
engine.hooks.onStep = nil
print(engine:run_all(1))

-- # operators of objects that only Lua has
local make = loadstring([[
local V = torch.class('torch.OwnVector')
function V:__init(x) self.x = x end
function V:length_of() return self.x end
function V.__add(a, b) return torch.OwnVector(a.x + b.x) end
function V.__eq(a, b) return a.x == b.x end
function V.__lt(a, b) return a.x < b.x end
function V.__le(a, b) return a.x <= b.x end
function V.__unm(a) return torch.OwnVector(-a.x) end
function V:__tostring() return 'V' .. self.x end
function V:__call(n) return self.x * n, n end
return function(x) return torch.OwnVector(x) end
]])()
local a, b = make(1), make(2)
print(a:length_of(), b:length_of())
print((a + b):length_of(), a == b, a == make(1), a < b, a <= b, a > b)
print(tostring(a), (-a):length_of())
print(a(5))
local c = a(6)
print(c)
if a ~= b then print('other') end

-- # things that a program does with objects of packages
local List = require 'pl.List'
local function make(n) local l = List() for i = 1, n do l:append(i) end return l end
local a, b = make(2), make(3)
local all = {a, b, make(1)}
for i, l in ipairs(all) do print(i, #l, l:len(), l[#l]) end
table.sort(all, function(x, y) return #x < #y end)
print(#all[1], #all[3], tostring(all[2]))
local t = {}
t.list = make(2)
t.list:append(9)
print(t.list[3], t.list:contains(9), t.list:index(9))
local copy = a:clone()
copy:append(5)
print(#a, #copy, a == copy, a == make(2))
local ok, err = pcall(function() return a:nothing() end)
print(ok, type(err))
print(pcall(a.append, a, 7))
local r = {a:index(2), a:index(7)}
print(#r)
local m = a.map
print(m(a, function(x) return x * 2 end))
print(a:filter(function(x) return x > 1 end):concat('-'))
local function len(x) return x:len() end
print(len(a), len('abc'))
print(a .. make(1), (a:pop()), #a)
a.extra = 'e'
print(a.extra, a.none == nil, rawget(a, 'extra'))
local s = make(3):slice(2):map(tostring):join(',')
print(s, s:upper())

-- # functions of argcheck's under several names, and of one name with other arguments
local argcheck = require 'argcheck'
local pair = argcheck{
  {name = 'x', type = 'number'},
  {name = 'y', type = 'number', default = 10},
  call = function(x, y) return x, y end
}
local other = pair
local held = {both = pair}
print(other{x = 1})
print(held.both{x = 2, y = 3})
local given = {x = 5, y = 6}
local sum = argcheck{
  {name = 'x', type = 'number'},
  {name = 'y', type = 'number', default = 1},
  call = function(x, y) return x + y end
}
print(sum(given))
local A, B, C = {}, {}, {}
A.run = argcheck{
  {name = 'x', type = 'number'},
  {name = 'y', type = 'number', default = 1},
  call = function(x, y) return 'A', x, y end
}
B.run = argcheck{
  {name = 'y', type = 'number'},
  {name = 'x', type = 'number', default = 2},
  call = function(y, x) return 'B', x, y end
}
print(A.run{x = 3, y = 4})
print(B.run{x = 3, y = 4})
A.go = argcheck{{name = 'x', type = 'number'}, call = function(x) return x end}
function C.go(t) return t.x + 1 end
print(A.go{x = 1}, C.go{x = 1})
local told = {}
local function tell(x) told[#told + 1] = x return x end
local less = argcheck{
  {name = 'a', type = 'number'},
  {name = 'b', type = 'number'},
  call = function(a, b) return a - b end
}
print(less{b = tell(1), a = tell(2)}, told[1], told[2])

-- # constructors of argcheck's of classes with parents
local argcheck = require 'argcheck'
local Base = torch.class('CheckedBase')
Base.__init = argcheck{
  {name = 'self', type = 'CheckedBase'},
  {name = 'x', type = 'number'},
  call = function(self, x) self.x = x end
}
local Derived, parent = torch.class('CheckedDerived', 'CheckedBase')
Derived.__init = argcheck{
  {name = 'self', type = 'CheckedDerived'},
  {name = 'x', type = 'number'},
  {name = 'y', type = 'number', default = 4},
  call = function(self, x, y)
    self.x = x
    self.y = y
  end
}
local d = CheckedDerived{x = 3}
print(d.x, d.y, CheckedDerived(1, 2).y, CheckedBase{x = 7}.x)

-- # objects that only Lua has are keys, and equal to themselves; functions that give nothing
local make = loadstring([[
local Box = torch.class('torch.OwnBox')
function Box:keep(x) self.x = x end
function Box:get() return self.x end
function Box:none() end
function Box:call(f, ...) return f(...) end
return function() return torch.OwnBox() end
]])()
local a, b = make(), make()
a:keep(b)
print(a.x == b, a:get() == b, a.x ~= a)
local seen = {}
seen[b] = 'b'
print(seen[a.x], seen[a:get()], seen[a])
seen[a.x] = 'c'
print(seen[b])
print(a:none())
local function count(...) return select('#', ...) end
print(count(a:none()), count(a:get()))
print(a:call(function(u, v) return v, u end, 5, 6))
local both = a:call(function(u, v) return v, u end, 5, 6)
print(both)
local mixed = {name = 'n', a:call(function(u, v) return v, u end, 5, 6)}
print(#mixed, mixed[2])
local List = require 'pl.List'
local l = List{1}
local outer = List{l, l}
print(l:contains(1))
seen[l] = 'list'
print(outer[1] == outer[2], rawequal(outer[1], l), seen[outer[1]], seen[List{1}])
local joined = l .. List{'z'}
print(joined:len(), joined[2])
local tds = require 'tds'
local v = tds.Vec()
v:insert(tds.Vec())
print(v[1] == v[1], v == v[1])

-- # functions of packages that only Lua has, in tables
local stringx = require 'pl.stringx'
local cut = {first = stringx.partition, last = stringx.rpartition}
print(cut.first('x.y.z', '.'))
print(cut.last('x.y.z', '.'))
local only = cut.first('x.y.z', '.')
print(only)

-- # what tests leave where they are false, and behind what they set
local function part(x)
  if type(x) == 'table' then return x[1] end
  return x[1] * x
end
print(part{1}, part(torch.ones(2)))
local function sized(n, names)
  if type(n) == 'table' then names = n; n = #n end
  local t = torch.zeros(n, n)
  return t[1][1] + n, names
end
print(sized{'a', 'b'} == 2, sized(2))
local function counted(x)
  if type(x) == 'number' then x = {x} elseif torch.isTensor(x) then x = x:totable() end
  local sum = 0
  for _, v in ipairs(x) do sum = sum + v end
  return sum, #x
end
print(counted(1), counted{1, 2}, counted(torch.ones(3)))
local function squared(x)
  if not torch.isTensor(x) then x = torch.Tensor(x) end
  return x * x
end
print(squared(torch.ones(1)), squared{1, 2})
local function named(x)
  if torch.type(x) == 'table' then return 'plain' else return x:size() end
end
local Box = torch.class('NarrowedBox')
function Box.__init(self, n) self.n = n end
function Box.size(self) return self.n end
print(named{1}, named(NarrowedBox(3)))
local function grown(x)
  while type(x) ~= 'table' do x = {x} end
  for i = 1, 2 do
    if type(x) == 'table' then x[#x + 1] = i end
  end
  return #x
end
print(grown(1), grown{1, 2})
local function turned(x)
  if type(x) == 'table' then
    for i = 1, 2 do
      print(type(x) == 'table' and x[1] or x)
      x = i
    end
  end
  return x
end
print(turned{'a'}, turned('b'))

-- # what differs from a text may be nil
local words = {x = 'v'}
local function told(k)
  local v = words[k]
  if v ~= 'w' then print('not w: ' .. tostring(v)) end
  if v == 'w' then print('w') else print('else ' .. tostring(v)) end
end
told('x') told('y')

-- # a function of the program's or one of math's, and all of math's
local env = {sq = function(v) return v * v end, x = 3}
local function use(name, n)
  local args = {}
  for i = n, 1, -1 do args[i] = i + 1 end
  return (env[name] or math[name])(unpack(args))
end
print(use('sq', 1), use('max', 3), use('sq', 2))
local names = {}
for k, f in pairs(math) do if type(f) == 'function' and #k == 3 and k ~= 'pow' then names[#names + 1] = k end end
table.sort(names)
print(table.concat(names, ' '))

-- # functions of Lua's that the program replaces
do
  local logged, first = {}, print
  print = function(...)
    local parts = {}
    for i = 1, select('#', ...) do parts[i] = tostring((select(i, ...))) end
    logged[#logged + 1] = table.concat(parts, ' ')
    first(#logged, ...)
  end
  print('hello', 1, nil)
  local function inside() print('inside') end
  inside()
  _G.print = first
  print(logged[1], #logged)
end
plain = tostring
tostring = function(x) if type(x) == 'table' then return 'T' .. #x end return plain(x) end
print(tostring{1, 2}, tostring(3))
tostring = plain

-- # functions of Lua's that are kept and replaced
local old = tonumber
tonumber = function(x) return old(x) or -1 end
print(tonumber('x'), tonumber('3'))
tonumber = old
local osel = select
select = function(n, ...) if n == 'n' then return osel('#', ...) end return osel(n, ...) end
print(select('n', 1, 2), select('#', 1), select(2, 'a', 'b'))
select = osel
local p = print
print = function(...) p('>', ...) end
print(1, 2)
print = p
print(3)

-- # local variables that are called like functions of Lua's
local type, next = 'name', {3, 4}
local kind, after = type, next
type = kind .. '!'
next = {5}
print(kind:upper(), #after, after[1] + 1, type, next[1])

-- # functions of a list that give two results, or do nothing
local line = 1
local rules = {
  {'^%s+', function() end},
  {'^\n', function() line = line + 1 end},
  {'^%d+', function(s) return 'number', tonumber(s) end},
  {'^%a+', function(s) return 'word', s end},
}
local function read(text)
  local at = 1
  while at <= #text do
    for _, rule in ipairs(rules) do
      local s, e = text:find(rule[1], at)
      if s then
        local kind, value = rule[2](text:sub(s, e))
        if kind then print(kind, value) end
        at = e + 1
        break
      end
    end
  end
end
read('a 12\n b')

-- # functions by computed names in _G take what they take
function makeA() return 'A' end
function makeB(x) return 'B' .. tostring(x) end
for _, k in ipairs{'A', 'B'} do print(_G['make' .. k](1)) end

-- # variables called args beside those of a function
local args = {7, 8, 9}
local function f(...) print(#args, ...) end
f(1)
local args = {1}
local function g(args) return function(...) return #args, ... end end
print(#args, g({1, 2})('a', 'b'))
local function h(...)
  args = {...}
  return function() return unpack(args) end
end
print(h(4, 5)())

-- # functions of a later Lua that a program brings along
table.pack = table.pack or function(...) return {n = select('#', ...), ...} end
if not table.unpack then table.unpack = unpack end
local function sum(...)
  local arg = table.pack(...)
  if arg.n == 1 then return arg[1] end
  local s = 0
  for i, v in ipairs(arg) do s = s + v end
  return s, arg['n'], #arg
end
print(sum(4), sum(1, 2, 3))
print(table.unpack({1, 2}))

-- # functions that are given on with all other arguments
local Heap = {}
Heap.__index = Heap
setmetatable(Heap, {__call = function(class, ...) return class.new(...) end})
function Heap.new(less) return setmetatable({less = less, items = {}}, Heap) end
function Heap:first(a, b) return self.less(a, b) and a or b end
local heap = Heap(function(x, y) return x[1] < y[1] or x[1] == y[1] and x.n > y.n end)
print(heap:first({2, n = 1}, {1, n = 2}).n, heap:first({1, n = 1}, {1, n = 2}).n)
local function again(n, ...) if n > 0 then return again(n - 1, ...) end return Heap.new(...) end
print(again(2, function(x, y) return #x < #y end):first('aa', 'b'))

-- # a package's list that is sorted
local List = require 'pl.List'
local l = List{3, 1, 2}
l:append(10); l:sort()
print(l, #l, l:map(function(x) return x * x end))

-- # what functions give of global variables that are set later
function newest() return newest_name end
function both() return 1, newest_name end
print(newest(), (newest()))
local first_seen = newest()
local _, other = both()
print(first_seen, other, 'is ' .. tostring(newest()))
newest_name = 'x'
print(newest(), select(2, both()), first_seen)

-- # functions of a list that take different numbers of what a list holds
local jobs = {
  {f = function() return 'none' end},
  {f = function(a) return a end},
  {f = function(a, b) return tostring(a) .. tostring(b) end},
}
local function all(...)
  local given = {...}
  given[#given + 1] = 'z'
  for i, job in ipairs(jobs) do print(i, job.f(unpack(given)), job.f(...)) end
end
all(1)
all(1, 2, 3)

-- # as many sizes as a list has, given to a tensor's new
local x = torch.range(1, 12):view(2, 2, 3)
local function like(t, n) return t.new(n, unpack(t[1]:size():totable())) end
local y = like(x, 3):fill(1)
y[1]:copy(x[2])
print(y:dim(), y:sum())

-- # tables that are errors
local function level(n)
  if n == 0 then error({code = 7, trace = {}}, 0) end
  local ok, e = pcall(level, n - 1)
  e.trace[#e.trace + 1] = n
  error(e, 0)
end
local ok, e = pcall(level, 3)
print(ok, e.code, table.concat(e.trace, '<'))

-- # what is written, and written behind it
io.write('a '):write('b\n')
local out = io.write('x')
out:write('y\n')
local path = os.tmpname()
local f = io.open(path, 'w')
f:write('one\n'):write('two\n')
print(f:seek('cur') + 1, f:close())
for line in io.lines(path) do io.write(line, ' ') end
print(os.remove(path))
