-- Number work: averages, histograms, tables of tables, formatted tables
require 'torch'
torch.manualSeed(7)
local AverageMeter = {}
AverageMeter.__index = AverageMeter
setmetatable(AverageMeter, {__call = function(cls, ...) return cls.new(...) end})
function AverageMeter.new(name) return setmetatable({name = name, sum = 0, n = 0, max = -math.huge}, AverageMeter) end
function AverageMeter:update(v, k)
   k = k or 1
   self.sum = self.sum + v * k
   self.n = self.n + k
   if v > self.max then self.max = v end
end
function AverageMeter:value() return self.n > 0 and self.sum / self.n or 0 end
local m = AverageMeter('loss')
for i = 1, 4 do m:update(i / 2) end
m:update(10, 2)
print(m.name, m:value(), m.max, m.n)
local meters = {}
for _, n in ipairs{'a', 'b'} do meters[n] = AverageMeter(n) end
meters.a:update(3) meters.b:update(4)
print(meters['a']:value() + meters.b:value())
local x = torch.randn(200)
local hist = torch.histc(x, 5, -2, 2)
print(hist:sum() <= 200, hist:size(1))
local counts = {}
for i = 1, x:size(1) do
   local bin = math.floor(x[i] + 0.5)
   counts[bin] = (counts[bin] or 0) + 1
end
local keys = {}
for k in pairs(counts) do keys[#keys + 1] = k end
table.sort(keys)
local total = 0
for _, k in ipairs(keys) do total = total + counts[k] end
print(total, keys[1] < 0, keys[#keys] > 0)
local sorted, order = torch.sort(x)
print(sorted[1] == x:min(), x[order[1]] == x:min(), order:size(1))
local k = 3
local top, ids = x:topk(k, 1, true)
local s = torch.sort(top, 1, true)
print(s[1] == x:max(), ids:size(1))
local mean, var = x:mean(), x:var()
print(string.format('%.4f %.4f %.4f', mean, var, math.sqrt(var) - x:std()))
local running = nil
for i = 1, 5 do running = running and running * 0.9 + x[i] * 0.1 or x[i] end
print(string.format('%.5f', running))
local rows = {{'name', 'value'}, {'pi', math.pi}, {'e', math.exp(1)}}
for i, row in ipairs(rows) do
   local a, b = unpack(row)
   if type(b) == 'number' then b = ('%.3f'):format(b) end
   print(('%-6s|%8s'):format(a, b))
end
local conf = torch.zeros(3, 3)
for i = 1, 30 do
   local p, t = (i * 7) % 3 + 1, (i * i) % 3 + 1
   conf[t][p] = conf[t][p] + 1
end
print(conf)
for c = 1, 3 do
   local row = conf[c]
   local acc = row:sum() > 0 and row[c] / row:sum() or 0
   io.write(string.format('%d %.2f; ', c, acc))
end
print()
local precision = {}
for c = 1, 3 do precision[c] = conf[{c, c}] / math.max(conf:select(2, c):sum(), 1) end
print(string.format('%.2f %.2f %.2f', unpack(precision)))
local diag = torch.diag(conf)
print(diag:sum() / conf:sum())
local onehot = torch.zeros(4, 3):scatter(2, torch.LongTensor{{1}, {3}, {2}, {1}}, 1)
print(onehot)
local cum = torch.cumsum(torch.ones(5))
print(cum[5], cum:sum())
local a, b = torch.min(onehot, 1), torch.max(onehot, 2)
print(a:size(1), a:size(2), b:size(1), b:size(2))
local batches = torch.range(1, 10):split(4)
print(#batches, batches[3]:size(1), batches[2][1])
local cat = torch.cat({torch.ones(2), torch.zeros(1)}, 1)
print(cat:size(1), cat:sum())
local grid = {}
for i = 1, 2 do for j = 1, 2 do grid[#grid + 1] = torch.Tensor{i, j} end end
local stacked = torch.cat(grid, 2):t()
print(stacked:size(1), stacked:size(2), stacked[3][1])
print(torch.lt(torch.Tensor{1, 5}, 3):sum(), torch.eq(torch.Tensor{1, 5}, torch.Tensor{1, 4}):sum())
print(torch.any(torch.gt(x, 100)), torch.all(torch.lt(x, 100)))
print((x:gt(0):double() * 2 - 1):sum() == 2 * x:gt(0):sum() - 200)
local e = torch.exp(torch.Tensor{1, 2, 3})
local soft = e / e:sum()
print(string.format('%.4f %.4f', soft[1], soft:sum()))
local z = torch.Tensor(3, 2):zero()
z[2]:fill(5)
z[{3, 2}] = 7
z[{{}, 1}]:add(1)
print(z)
