-- k-means by hand
require 'torch'
torch.manualSeed(5)
local k, n = 3, 30
local points = torch.randn(n, 2)
for i = 1, n do points[i]:add((i % k) * 4) end
local centers = points:narrow(1, 1, k):clone()
local assign = torch.LongTensor(n):zero()
for round = 1, 10 do
   local changed = 0
   for i = 1, n do
      local best, at = math.huge, 0
      for c = 1, k do
         local dist = torch.dist(points[i], centers[c])
         if dist < best then best, at = dist, c end
      end
      if assign[i] ~= at then
         assign[i] = at
         changed = changed + 1
      end
   end
   for c = 1, k do
      local mask = assign:eq(c)
      local count = mask:sum()
      if count > 0 then
         local idx = torch.nonzero(mask):squeeze()
         centers[c]:copy(points:index(1, idx):mean(1))
      end
   end
   print(round, changed)
   if changed == 0 then break end
end
local sorted, order = torch.sort(centers:select(2, 1))
print(sorted)
for c = 1, k do print(string.format('%d: %d points', c, assign:eq(order[c]):sum())) end
