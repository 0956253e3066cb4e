-- Varargs that go on, results that come back.
local function log(fmt, ...)
   io.write(string.format(fmt, ...), '\n')
end
log('%d %s %.2f', 3, 'x', 0.5)
log('plain')

local function count(...) return select('#', ...) end
print(count(), count(nil), count(1, nil, 3), count(nil, nil))

local function wrap(f, ...)
   local given = {...}
   local n = select('#', ...)
   return function(...)
      local all = {}
      for i = 1, n do all[i] = given[i] end
      for i = 1, select('#', ...) do all[n + i] = (select(i, ...)) end
      return f(unpack(all, 1, n + select('#', ...)))
   end
end
local add3 = wrap(function(a, b, c) return (a or 0) + (b or 0) * 10 + (c or 0) * 100 end, 1, 2)
print(add3(3), add3())

local function minmax(...)
   local lo, hi = math.huge, -math.huge
   for _, v in ipairs{...} do
      lo, hi = math.min(lo, v), math.max(hi, v)
   end
   return lo, hi
end
print(minmax(3, 1, 2))
print((minmax(3, 1, 2)))
local t = {minmax(5, 6), minmax(7, 8)}
print(#t, t[1], t[2], t[3])
local u = {first = minmax(1, 9), minmax(2, 3)}
print(u.first, #u, u[2])

local function timed(name, f, ...)
   local results = {f(...)}
   print(name, #results)
   return unpack(results)
end
print(timed('minmax', minmax, 4, 2, 9))
print(timed('none', function() end))

local function tail(_, ...) return ... end
print(tail(1, 2, 3))
print((tail(1)))
local head, rest = tail(1, 'a'), tail(1, 'b', 'c')
print(head, rest)

local function pack2(...) return {n = select('#', ...), ...} end
local p = pack2('a', nil, 'c')
print(p.n, p[1], p[2], p[3])

local function sum(first, ...)
   if not first then return 0 end
   return first + sum(...)
end
print(sum(1, 2, 3, 4), sum())

local function defaults(a, b, ...)
   a = a or 'A'
   b = b == nil and 'B' or b
   return a, b, select('#', ...)
end
print(defaults())
print(defaults(nil, false))
print(defaults(1, 2, 3, 4))
print(pcall(error, 'x'))
print(pcall(function(...) return ... end, 1, nil, 2))
print(select(-1, 'a', 'b', 'c'))
print(select(2, 'a', 'b', 'c'))
print(string.rep('=', 10) .. string.format(' %s', tostring(nil)))
