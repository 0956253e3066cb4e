require 'torch'
-- Tables by how they are used.
local t = {10, 20, 30}
for i = 1, #t do print(i, t[i]) end
for i = 1, #t do t[i] = t[i] + i end
for i = #t, 1, -1 do io.write(t[i], ' ') end print()
t[#t + 1] = 40
table.insert(t, 50)
table.insert(t, 1, 0)
print(#t, t[1], t[#t], table.remove(t), table.remove(t, 1), #t, table.concat(t, '-'))
local grid = {}
for i = 1, 3 do
  grid[i] = {}
  for j = 1, 2 do grid[i][j] = i * j end
end
for i, row in ipairs(grid) do print(i, table.concat(row, ' '), #row, grid[i][2]) end
local count = {}
for _, w in ipairs{'a', 'b', 'a', 'c', 'a'} do count[w] = (count[w] or 0) + 1 end
local keys = {}
for k in pairs(count) do keys[#keys + 1] = k end
table.sort(keys)
for _, k in ipairs(keys) do print(k, count[k]) end
local sparse = {}
sparse[5] = 'five'
sparse[10] = 'ten'
print(sparse[5], sparse[1], #sparse, sparse[10])
local zero = {}
for i = 0, 3 do zero[i] = i * i end
print(zero[0], zero[3], #zero)
local point = {x = 1, y = 2}
point.x = point.x + 5
point.z = point.x * point.y
print(point.x, point.z, point.w, point['y'])
point.y = nil
print(point.y, next({}), next({7}))
local mixed = {1, 2, name = 'm', 3}
print(#mixed, mixed.name, mixed[3])
local stack = {}
for i = 1, 4 do stack[#stack + 1] = i * i end
while #stack > 0 do io.write(table.remove(stack), ' ') end
print(#stack)
local people = {{name = 'Ann', age = 3}, {name = 'Bob', age = 2}}
table.sort(people, function(a, b) return a.age < b.age end)
for _, p in ipairs(people) do print(p.name, p.age) end
local nested = {a = {b = {c = {1, 2, {d = 'deep'}}}}}
print(nested.a.b.c[3].d, #nested.a.b.c)
local copy = {}
for i, v in ipairs(t) do copy[i] = v end
copy[1] = 'changed'
print(t[1], copy[1], #copy, t == copy, t == t)
local q = {first = 1, last = 0, items = {}}
local function push(v) q.last = q.last + 1; q.items[q.last] = v end
local function pop() local v = q.items[q.first]; q.items[q.first] = nil; q.first = q.first + 1; return v end
push('a') push('b') push('c')
print(pop(), pop(), q.first, q.last, q.items[3], q.items[1])
local set = {}
for _, v in ipairs{3, 1, 3, 7} do set[v] = true end
print(set[3], set[2], set[7])
local names = {[1] = 'one', [2] = 'two'}
print(names[1], #names)
local holes = {1, nil, 3}
print(holes[1], holes[2], holes[3])
print(#{...}, unpack({1, 2, 3}))
print((unpack({1, 2, 3})))
local a, b, c, d = unpack({1, 2, 3})
print(a, b, c, d)
