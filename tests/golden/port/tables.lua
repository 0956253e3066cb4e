-- tables as lists, records, matrices and queues
local queue = {}
for i = 1, 5 do table.insert(queue, {id = i, cost = (i * 7) % 5}) end
table.sort(queue, function(a, b) return a.cost < b.cost end)
while #queue > 0 do
   local item = table.remove(queue, 1)
   io.write(item.id, ':', item.cost, ' ')
end
print(#queue)
local grid = {}
for r = 1, 3 do
   grid[r] = {}
   for c = 1, 4 do grid[r][c] = r * c end
end
local sum = 0
for r, row in ipairs(grid) do
   for c = 1, #row do sum = sum + row[c] end
end
print(sum, grid[2][3], #grid, #grid[1])
local person = {name = 'Ann', age = 30}
person.age = person.age + 1
person.city = nil
print(person.name, person.age, person.city)
local keys = {}
for k in pairs(person) do keys[#keys + 1] = k end
table.sort(keys)
print(table.concat(keys, ','))
local copy = {unpack(grid[1])}
copy[#copy + 1] = 99
copy[1] = -1
print(table.concat(copy, ' '), #grid[1])
local set = {}
for _, v in ipairs{3, 1, 3, 2, 1} do set[v] = true end
local n = 0
for v = 1, 5 do if set[v] then n = n + 1 end end
print(n, set[3], set[4])
