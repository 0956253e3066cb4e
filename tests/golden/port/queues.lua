-- Tables: lists with ends of nil, queues, sets, nested
local q = {}
q[#q + 1] = 'a'
q[#q + 1] = 'b'
table.insert(q, 'c')
table.insert(q, 1, 'z')
print(#q, table.concat(q, ' '))
print(table.remove(q, 1), table.remove(q), #q)
q[#q] = nil
print(#q, q[1], q[2])
-- a queue with two ends
local Queue = {}
Queue.__index = Queue
function Queue.new() return setmetatable({first = 1, last = 0, items = {}}, Queue) end
function Queue:push(v) self.last = self.last + 1; self.items[self.last] = v end
function Queue:pop()
   if self.first > self.last then return nil end
   local v = self.items[self.first]
   self.items[self.first] = nil
   self.first = self.first + 1
   return v
end
function Queue:size() return self.last - self.first + 1 end
local jobs = Queue.new()
for i = 1, 5 do jobs:push(i * i) end
print(jobs:pop(), jobs:pop(), jobs:size())
jobs:push(100)
while jobs:size() > 0 do io.write(jobs:pop(), ' ') end
print(jobs:pop())
-- sets and counts
local words = {'the', 'cat', 'the', 'dog', 'a', 'cat', 'the'}
local counts, unique = {}, {}
for _, w in ipairs(words) do
   if not counts[w] then unique[#unique + 1] = w end
   counts[w] = (counts[w] or 0) + 1
end
table.sort(unique, function(a, b) return counts[a] > counts[b] or (counts[a] == counts[b] and a < b) end)
for i, w in ipairs(unique) do io.write(i, ':', w, '=', counts[w], ' ') end
print()
-- vocabulary both ways
local vocab, inverse = {}, {}
for i, w in ipairs(unique) do vocab[w] = i; inverse[i] = w end
print(vocab.cat, inverse[vocab['dog']], vocab.bird)
-- matrices of tables
local m = {}
for i = 1, 3 do
   m[i] = {}
   for j = 1, 3 do m[i][j] = i * j end
end
m[2][3] = nil
print(#m, #m[1], #m[2], m[3][2])
local tr = {}
for j = 1, #m[1] do tr[j] = {} for i = 1, #m do tr[j][i] = m[i][j] end end
print(tr[3][1], tr[1][3], tr[3][2])
-- fields that go and come
local opt = {lr = 0.1, name = 'x'}
opt.lr = nil
opt.extra = {1, 2}
local keys = {}
for k in pairs(opt) do keys[#keys + 1] = k end
table.sort(keys)
print(table.concat(keys, ' '))
print(next({}) == nil, next(opt) ~= nil)
-- copies
local function copy(t)
   if type(t) ~= 'table' then return t end
   local r = {}
   for k, v in pairs(t) do r[k] = copy(v) end
   return r
end
local o = {a = {1, 2, {3}}, b = 'x'}
local c = copy(o)
c.a[3][1] = 99
print(o.a[3][1], c.a[3][1], c.b, #c.a)
-- lists with holes written as sparse
local sparse = {}
sparse[10] = 'ten'
sparse[20] = 'twenty'
local n = 0
for _ in pairs(sparse) do n = n + 1 end
print(n, sparse[10], sparse[11], #sparse)
local zerobased = {[0] = 'zero', 'one', 'two'}
print(#zerobased, zerobased[0], zerobased[2])
local tt = {1, 2, 3, nil}
print(#tt)
print(unpack({1, 2, 3}, 2))
print(unpack({1, 2, 3}, 2, 3))
print(table.concat({1, 2, 3}, ', ', 2, 3), table.concat({}, 'x'))
local sorted = {5, 2, 8, 1}
table.sort(sorted)
print(table.concat(sorted, ' '))
table.sort(sorted, function(a, b) return a > b end)
print(table.concat(sorted, ' '))
local byKey = {{k = 'b', v = 1}, {k = 'a', v = 2}}
table.sort(byKey, function(x, y) return x.k < y.k end)
print(byKey[1].k, byKey[1].v)
print(#{n = 1}, #{1, 2, n = 3}, #{{}, {}})
local nested = {list = {}, map = {}}
table.insert(nested.list, {id = 1})
table.insert(nested.list, {id = 2})
nested.map['k' .. 1] = nested.list[1]
print(nested.map.k1.id, #nested.list, nested.list[#nested.list].id)
