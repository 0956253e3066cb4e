-- functions that make functions, varargs, several results
local function accumulate(start)
   local total = start or 0
   return function(...)
      for _, v in ipairs{...} do total = total + v end
      return total, select('#', ...)
   end
end
local add = accumulate(10)
print(add(1, 2, 3))
print((add()))
local function minmax(t)
   local lo, hi = math.huge, -math.huge
   for i = 1, #t do
      if t[i] < lo then lo = t[i] end
      if t[i] > hi then hi = t[i] end
   end
   return lo, hi
end
local lo, hi = minmax{3, 9, -2, 7}
print(lo, hi, hi - lo)
local function map(f, t)
   local r = {}
   for i, v in ipairs(t) do r[i] = f(v, i) end
   return r
end
print(table.concat(map(function(v, i) return v * i end, {5, 6, 7}), ' '))
local callbacks = {}
for i = 1, 3 do
   callbacks[i] = function(x) return x ^ i end
end
for _, f in ipairs(callbacks) do print(f(2)) end
print(unpack({1, 2, 3}))
print(pcall(function(a, b) return a + b end, 4, 5))
