require 'torch'
-- Results, varargs, closures.
local function two() return 1, 2 end
local function none() end
local function many(...) return ... end
print(two(), two())
print((two()), ({two(), two()})[3], #{two(), two()})
local a, b, c = two()
print(a, b, c)
local x, y, z = 0, two()
print(x, y, z)
print((none()))
local t = {two(), many(3, 4, 5)}
print(#t, t[4])
local function sum(...)
  local s = 0
  for i, v in ipairs{...} do s = s + v end
  return s, select('#', ...)
end
print(sum(1, 2, 3), sum())
local function rest(first, ...) return select('#', ...), first, ... end
print(rest(1, nil, 3))
print(select(2, 'a', 'b', 'c'), select(-1, 'a', 'b'))
local function opt(a, b) b = b or 'default'; return a, b end
print(opt(1), opt(1, 2), (opt(3)))
local function pass(f, ...) return f(...) end
print(pass(math.max, 3, 9, 2), pass(sum, 1, 2), pass(function(...) return select('#', ...) end, nil, nil))
local function early(x)
  if x < 0 then return end
  if x == 0 then return 'zero' end
  return 'pos', x
end
print(early(-1)) print(early(0)) print(early(2))
local r, s = early(0)
print(r, s)
local function counter(step)
  local n = 0
  return { inc = function() n = n + (step or 1) return n end, get = function() return n end }
end
local c1, c2 = counter(), counter(5)
c1.inc() c1.inc() c2.inc()
print(c1.get(), c2.get())
local fs = {}
for i = 1, 3 do
  local j = i * 10
  fs[#fs + 1] = function(k) j = j + k; return i, j end
end
print(fs[1](1), fs[1](1), fs[3](5))
local gs = {}
local k = 1
while k <= 3 do local m = k; gs[k] = function() m = m + 1; return m end; k = k + 1 end
print(gs[1](), gs[1](), gs[2](), gs[3]())
for _, f in ipairs{math.floor, math.ceil, function(v) return v * 2 end} do io.write(f(2.5), ' ') end print()
local fib
fib = function(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
print(fib(15))
local function fact(n) return n <= 1 and 1 or n * fact(n - 1) end
print(fact(10), fact(20))
local function named(args) return args.a or 'none', args.b == nil and 'nil' or args.b end
print(named{a = 1, b = false}, named{}, named{b = 3})
ok, err = pcall(function() error('plain', 0) end)
print(ok, err)
ok, err = pcall(error, {code = 5})
print(ok, type(err), err.code)
print(pcall(two))
print(select('#', pcall(none)))
ok, err = pcall(function() local q = nil; return q.field end)
print(ok)
print(xpcall(function() return 'fine', 2 end, function(e) return 'handled' end))
print(xpcall(function() error('x', 0) end, function(e) return 'handled ' .. e end))
local v1, v2 = assert(two())
print(v1, v2)
local function compose(f, g) return function(...) return f(g(...)) end end
print(compose(two, sum)(1, 2), compose(tostring, sum)(1, 2))
local function swap(a, b) return b, a end
local p, q = swap(swap(1, 2))
print(p, q)
local obj = {n = 1}
function obj:add(k) self.n = self.n + k; return self end
function obj.static(k) return k * 2 end
print(obj:add(2):add(3).n, obj.static(4))
local method = obj.add
print(method(obj, 10).n)
