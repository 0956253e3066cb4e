-- A data set with a metatable, batches cached under string keys.
require 'torch'
torch.manualSeed(3)

local function makeDataset(n, d)
   local data = { inputs = torch.randn(n, d), labels = torch.Tensor(n) }
   for i = 1, n do
      data.labels[i] = data.inputs[i][1] > 0 and 1 or 2
   end
   setmetatable(data, {
      __index = function(t, i)
         return {t.inputs[i], t.labels[i]}
      end
   })
   function data:size() return self.inputs:size(1) end
   return data
end

local train = makeDataset(10, 3)
print(train:size())
for i = 1, 3 do
   local sample = train[i]
   print(i, sample[1]:size(1), sample[2])
end

-- cache
local cache = {}
local hits, misses = 0, 0
local function batch(first, last)
   local key = first .. ':' .. last
   local found = cache[key]
   if not found then
      misses = misses + 1
      found = train.inputs[{{first, last}}]:sum()
      cache[key] = found
   else
      hits = hits + 1
   end
   return found
end
for epoch = 1, 2 do
   for t = 1, train:size(), 4 do
      local last = math.min(t + 3, train:size())
      print(string.format('%d-%d %.4f', t, last, batch(t, last)))
   end
end
print(hits, misses)

-- the shuffled order
local order = torch.randperm(train:size())
local count = {0, 0}
for i = 1, order:size(1) do
   local c = train[order[i]][2]
   count[c] = count[c] + 1
end
print(count[1], count[2], count[1] + count[2] == train:size())

-- iterator with a closure
local function batches(set, size)
   local at = 0
   local n = set:size()
   return function()
      if at >= n then return nil end
      local from, to = at + 1, math.min(at + size, n)
      at = to
      return from, set.inputs:narrow(1, from, to - from + 1)
   end
end
for from, x in batches(train, 3) do
   print(from, x:size(1), x:size(2))
end

-- mean and std as people do it
local mean, std = {}, {}
for c = 1, 3 do
   mean[c] = train.inputs[{{}, c}]:mean()
   std[c] = train.inputs[{{}, c}]:std()
   train.inputs[{{}, c}]:add(-mean[c])
   train.inputs[{{}, c}]:div(std[c])
end
print(string.format('%.3f %.3f %.3f', mean[1], std[2], train.inputs:norm()))
print(#mean, #train.inputs)
