-- Data preparation: text to tensors, splitting, normalising, batching with padding
require 'torch'
torch.manualSeed(2)
local text = 'the quick brown fox jumps over the lazy dog the fox'
local vocab, words, ids = {}, {}, {}
for w in text:gmatch('%S+') do
   if not vocab[w] then
      words[#words + 1] = w
      vocab[w] = #words
   end
   ids[#ids + 1] = vocab[w]
end
local data = torch.LongTensor(ids)
print(data:size(1), #words, data[1], data[#ids], words[data[5]])
local function batchify(x, n)
   local len = math.floor(x:size(1) / n)
   return x:sub(1, len * n):view(n, len):t():contiguous()
end
local b = batchify(data, 2)
print(b:size(1), b:size(2), b[1][2], b[{2, 1}])
local seq = 2
for t = 1, b:size(1) - 1, seq do
   local n = math.min(seq, b:size(1) - t)
   local x, y = b:narrow(1, t, n), b:narrow(1, t + 1, n)
   io.write(t, ':', n, ':', x:sum(), ':', y:sum(), ' ')
end
print()
-- padding
local sentences = {{1, 2, 3}, {4}, {5, 6}}
local longest = 0
for _, s in ipairs(sentences) do longest = math.max(longest, #s) end
local padded = torch.zeros(#sentences, longest)
local lengths = torch.IntTensor(#sentences)
for i, s in ipairs(sentences) do
   lengths[i] = #s
   for j, id in ipairs(s) do padded[i][j] = id end
end
print(padded)
print(lengths:sum(), lengths:max(), padded:ne(0):sum())
local mask = padded:eq(0)
print(mask:sum(2):view(-1)[2], padded[mask]:nElement())
-- one hot, and counts as a table
local classes = {[0] = 'zero', [1] = 'one'}
local labels = torch.Tensor{0, 1, 1, 0, 1}
local count = {}
for i = 1, labels:size(1) do
   local name = classes[labels[i]]
   count[name] = (count[name] or 0) + 1
end
print(count.zero, count.one, classes[labels[1]])
labels:add(1)
print(labels:min(), labels:max())
-- train and test split
local n = 10
local perm = torch.randperm(n)
local ntrain = math.floor(n * 0.8)
local trainIdx = perm:narrow(1, 1, ntrain):long()
local testIdx = perm:narrow(1, ntrain + 1, n - ntrain):long()
local all = torch.range(1, n):view(n, 1):expand(n, 2):clone()
local train, test = all:index(1, trainIdx), all:index(1, testIdx)
print(train:size(1), test:size(1), train:sum() + test:sum() == all:sum())
-- normalise with the training set's figures
local mean, std = train:mean(1), train:std(1)
local function normalise(x) return x:clone():add(-1, mean:expandAs(x)):cdiv(std:expandAs(x)) end
local nt = normalise(train)
print(string.format('%.4f %.4f', math.abs(nt:mean()), nt[{{}, 1}]:std()))
print(mean:size(1), mean:size(2), std[1][1] == std[1][2])
-- csv lines
local csv = 'a,1,2.5\nb,3,4\n\nc,5,6.25\n'
local rows = {}
for line in csv:gmatch('[^\n]+') do
   local fields = {}
   for f in line:gmatch('[^,]+') do fields[#fields + 1] = tonumber(f) or f end
   rows[#rows + 1] = fields
end
print(#rows, rows[2][1], rows[3][3] * 2, type(rows[1][2]))
local m = torch.Tensor(#rows, 2)
for i, r in ipairs(rows) do m[i][1], m[i][2] = r[2], r[3] end
print(m:sum(), m[3][2])
local byname = {}
for _, r in ipairs(rows) do byname[r[1]] = {x = r[2], y = r[3]} end
print(byname.b.x + byname.c.y)
-- files
local path = os.tmpname()
local f = assert(io.open(path, 'w'))
for i = 1, 3 do f:write(string.format('%d %.1f\n', i, i / 2)) end
f:close()
local total = 0
for line in io.lines(path) do
   local i, v = line:match('(%d+) ([%d.]+)')
   total = total + tonumber(i) * tonumber(v)
end
print(total)
local h = io.open(path)
print(h:read('*l'), h:read('*n'), h:read('*n'))
h:close()
print(io.open('/nowhere/file') == nil)
os.remove(path)
-- augmentation
local img = torch.range(1, 27):view(3, 3, 3)
local flipped = torch.Tensor(3, 3, 3)
for c = 1, 3 do for j = 1, 3 do flipped[{c, {}, j}] = img[{c, {}, 4 - j}] end end
print(flipped[1][1][1], flipped[{3, 3, 1}], (flipped - img):abs():sum())
local crop = img[{{}, {2, 3}, {1, 2}}]
print(crop:size(1), crop:size(2), crop[1][1][1], crop:isContiguous())
local gray = (img[1] * 0.299 + img[2] * 0.587 + img[3] * 0.114)
print(string.format('%.3f', gray:sum()))
