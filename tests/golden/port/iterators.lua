-- Coroutines as data iterators
require 'torch'
local function batches(x, size)
   return coroutine.wrap(function()
      for t = 1, x:size(1), size do
         local n = math.min(size, x:size(1) - t + 1)
         coroutine.yield(t, x:narrow(1, t, n))
      end
   end)
end
local x = torch.range(1, 14):view(7, 2)
for t, b in batches(x, 3) do
   print(t, b:size(1), b:sum())
end
local gen = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(gen(), gen(), gen())
gen()
local co = coroutine.create(function(a, b)
   print('start', a, b)
   local c = coroutine.yield(a + b)
   print('got', c)
   local d, e = coroutine.yield(c * 2)
   print('got', d, e)
   return 'end', 7
end)
print(coroutine.resume(co, 1, 2))
print(coroutine.status(co))
print(coroutine.resume(co, 10))
print(coroutine.resume(co, 'x', 'y'))
print(coroutine.status(co))
print(coroutine.resume(co))
local function permgen(a, n)
   n = n or #a
   if n <= 1 then coroutine.yield(a) else
      for i = 1, n do
         a[n], a[i] = a[i], a[n]
         permgen(a, n - 1)
         a[n], a[i] = a[i], a[n]
      end
   end
end
for p in coroutine.wrap(function() permgen({1, 2, 3}) end) do print(table.concat(p, ' ')) end
local producer = coroutine.create(function()
   for _, w in ipairs{'a', 'b', 'c'} do coroutine.yield(w) end
   return nil
end)
while true do
   local ok, v = coroutine.resume(producer)
   if not ok or v == nil then break end
   io.write(v, ' ')
end
print()
