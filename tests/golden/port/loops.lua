-- Loops of every kind, with closures, goto and locals of the body.
local fs = {}
for i = 1, 3 do
   local sum = 0
   fs[#fs + 1] = function(x) sum = sum + x * i; return sum end
end
print(fs[1](1), fs[1](1), fs[2](1), fs[3](5), fs[3](5))

-- repeat-until with a local of the body in the condition
local n = 0
repeat
   local done = n >= 3
   n = n + 1
until done
print(n)

-- goto continue in each kind of loop
local seen = {}
for i = 1, 10 do
   if i % 2 == 0 then goto continue end
   if i == 7 then goto continue end
   seen[#seen + 1] = i
   ::continue::
end
print(table.concat(seen, ' '))
local k = 0
while k < 6 do
   k = k + 1
   if k % 3 == 0 then goto next end
   io.write(k, ' ')
   ::next::
end
print()
local r = 0
repeat
   r = r + 1
   if r == 2 then goto again end
   io.write('r', r, ' ')
   ::again::
until r >= 4
print()
for _, row in ipairs{{1, 2}, {3, 4}, {5, 6}} do
   for _, v in ipairs(row) do
      if v == 3 then goto skip end
      io.write(v, ' ')
      ::skip::
   end
end
print()

-- break out of nested loops
local found
for i = 1, 5 do
   for j = 1, 5 do
      if i * j == 12 then found = {i, j} break end
   end
   if found then break end
end
print(found[1], found[2])

-- steps
for x = 1, 0, -0.25 do io.write(x, ' ') end
print()
for x = 10, 1, -3 do io.write(x, ' ') end
print()
for x = 1, 0 do io.write('never') end
for x = 0.5, 2.5 do io.write(x, ' ') end
print()

-- a loop's number is the body's own
for i = 1, 3 do
   local i = i * 2
   i = i + 1
   io.write(i, ' ')
end
print()
for i = 1, 3 do
   local j = i
   i = 10
   io.write(j, '/', i, ' ')
end
print()

-- limits are computed once
local limit = 3
for i = 1, limit do limit = 10; io.write(i, ' ') end
print(limit)

-- a while with a value that becomes nil
local list = {value = 1, next = {value = 2, next = {value = 3}}}
local node, total = list, 0
while node do
   total = total + node.value
   node = node.next
end
print(total)

-- removing while going backwards
local q = {1, 2, 3, 4, 5, 6}
for i = #q, 1, -1 do
   if q[i] % 2 == 0 then table.remove(q, i) end
end
print(table.concat(q, ','))

-- counters in closures
local function counter()
   local c = 0
   return {inc = function() c = c + 1 return c end, get = function() return c end}
end
local a, b = counter(), counter()
a.inc() a.inc() b.inc()
print(a.get(), b.get())

-- upvalues shared by two functions of one turn
local pairsOf = {}
for i = 1, 2 do
   local v = i * 10
   pairsOf[i] = {set = function(x) v = x end, get = function() return v end}
end
pairsOf[1].set(99)
print(pairsOf[1].get(), pairsOf[2].get())

-- until sees what follows the label
local i = 0
repeat
   i = i + 1
   if i == 3 then goto continue end
   ::continue::
until i == 3
print(i)
