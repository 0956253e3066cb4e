-- # words of errors
local function t(f, ...) print(select('#', pcall(f, ...)), (tostring(select(2, pcall(f, ...))):gsub('^[%w_.]+:%d+: ', ''))) end
local q, tab, s = nil, {a = {}}, 'str'
local function outer() local z; return z.x.y end
t(outer)
t(function() return q.x end)
t(function() return tab.b.c end)
t(function() tab.b() end)
t(function() tab:m() end)
t(function() tab.a.m(1) end)
t(function() return q() end)
t(function() return s:nomethod() end)
t(function() return 1 + q end)
t(function() return tab * 2 end)
t(function() return 'abc' + 1 end)
t(function() return 'a' .. q end)
t(function() return tab .. 'x' end)
t(function() return tab < 1 end)
t(function() return tab < tab end)
t(function() return #q end)
t(function() for i = 1, q do end end)
t(function() for k in pairs(q) do end end)
t(function() error('m', 0) end)
t(function() error('m') end)
t(function() assert(false, 'why') end)
t(function() local x = q or error('none') end)
t(error, 'x')
print(pcall(error))
-- # a position before the text of an error, none before its value
local ok, e = pcall(function() error('x') end)
print(ok, (e:gsub('%w+%.?%w*:%d+:', 'place:')))
print(select(2, pcall(function() error('x', 0) end)))
local _, v = pcall(function() error({code = 5}) end)
print(v.code)
local co = coroutine.create(function() local z; z() end)
local good, why = coroutine.resume(co)
print(good, (why:gsub('^[%w_.]+:%d+: ', '')))
-- # errors of nets
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(4, 1))
local ok, e = pcall(function() return net:forward(torch.ones(2)) end)
print(ok, e:match('In 2 module of nn.Sequential'), e:match('size mismatch, [^\n]*'))
print((select(2, pcall(net.insert, net, nn.Tanh(), 9)):gsub('^.*: ', '')))
print(pcall(torch.load, 'there_is_none.t7'))
-- # what Torch7 refuses and PyTorch does not
local v, m = torch.Tensor{1, 2, 3}, torch.ones(2, 2)
for _, i in ipairs{3, 0, 4} do print(i, (pcall(function() return v[i] end))) end
print((pcall(function() return m + torch.FloatTensor(2, 2) end)), (pcall(function() return m % 2 end)))
local function here(x) return (pcall(function() return x[9] end)) end
print(here(v), pcall(function() return v[1] end))
