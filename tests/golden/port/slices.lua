require 'torch'
-- Parts of tensors, by numbers known and computed.
local x = torch.range(1, 24):resize(4, 6)
local n, k = 2, 3
print(x[{{1, 2}, 3}], x[{{2, 3}, {1, 2}}], x[{2, 3}], x[{{}, n}], x[{n}], x[{-1}], x[{{-2, -1}}])
print(x[{{n, n + 1}, {k, -1}}], x[{{1, n}}], x[{{}, {n, k}}], x[{n, {}}])
x[{{1, 2}, 3}] = 100
x[{n, k}] = -1
x[n + 1] = 0
x[{{}, k + 1}]:fill(7)
x[{{2, 3}, {1, 2}}] = torch.Tensor{{9, 8}, {7, 6}}
print(x)
x[{{}, 6}] = x[{{}, 1}] * 2
print(x[1][2], x[n][k], x[{n, k}] + 1, x:narrow(1, n, 2), x:select(2, k), x:sub(1, 2, 2, -1))
local v = x[1]
print(v[n], v[{{1, 3}}], v[-1], v:sub(2, 3), v:narrow(1, 2, 2), v:size(1), #v)
for i = 1, x:size(1) do
  local row, s = x[i], 0
  for j = 1, row:size(1) do s = s + row[j] * j end
  print(i, s, row:sum(), row[i])
  x[i][1] = s
end
print(x:size(1), x:size(2), x:size()[2], #x, x:dim(), x:nElement(), x:stride(1))
local size = x:size()
print(#size, size[1] * size[2], size:size(), x:size():totable()[2])
local lists = {}
for i = 1, 3 do lists[i] = x[{{i}, {1, i}}]:clone() end
for i, t in ipairs(lists) do print(i, t:size(2), t) end
local idx = torch.LongTensor{1, 3}
print(x:index(1, idx), x:index(2, idx:add(1)), idx)
local mask = x:gt(8)
print(x[mask], mask:sum(), x:maskedSelect(x:lt(3)))
x[x:eq(7)] = -7
x:maskedFill(x:ge(100), 1)
print(x)
print(x:view(-1)[5], x:view(3, 8):size(), x:t():contiguous():view(-1)[2], x:reshape(24)[24])
print(x:max(2), x:min(1), x:max(), (x:max(1)), select(2, x:max(1)), x:mean(), x:std(1):size(), x:norm())
local _, best = x:max(2)
for i = 1, best:size(1) do io.write(best[i][1], ' ') end
print()
local y, order = torch.sort(x[{{}, 2}], 1, true)
print(y, order, order[1] == 4)
for i = x:size(1), 1, -2 do io.write(i, ':', x[i][2], ' ') end print('')
local chunks = x:split(2, 1)
print(#chunks, chunks[2], chunks[1]:size())
local c = x:chunk(3, 2)
print(#c, c[3])
