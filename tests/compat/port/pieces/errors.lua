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

-- # what a failing function has done is done once
local state, buffer = {n = 0}, torch.zeros(2, 2)
local function step(a, b)
  state.n = state.n + 1
  buffer:add(1)
  local c = torch.mm(a, b)
  buffer:add(10)
  return c
end
print(pcall(step, torch.ones(2, 2), torch.ones(2, 2)))
print(pcall(step, torch.ones(2, 2), torch.ones(3, 2)))
print(state.n, buffer)
local z = torch.zeros(3)
local function fill(n) for i = 1, n do z[i] = i end return z:sum() end
print(pcall(fill, 3))
print(pcall(fill, 5))
print(z)

-- # the place of a caller, and of nobody
local function check(x) if not x then error('no x', 2) end return x end
print(select(2, pcall(check)) == 'no x')
print((select(2, pcall(function() check() return 1 end)):gsub('[%w.]+:%d+', 'at')))
print(select(2, pcall(error, 'no place', 0)))

-- # errors of a layer of the script's, inside a net
require 'nn'
local Bad = torch.class('nn.BadInPieces', 'nn.Module')
function Bad:updateOutput(input) if input:dim() == 1 then error({code = 5}) end local q; return q.x end
local net = nn.Sequential():add(nn.Identity()):add(nn.BadInPieces())
local function told(x) return (tostring(select(2, pcall(function() return net:forward(x) end))):gsub('stack traceback.*', '')) end
print(told(torch.ones(1)))
print((told(torch.ones(1, 1)):gsub('[%w.]+:%d+', 'at')))
print(pcall(nn.Linear))
print(pcall(nn.Dropout, 2))
print(pcall(net.get, net, 9))
print(pcall(function() return nn.Linear(2):forward(torch.ones(2)) end))

-- # errors of functions that Lua calls
print((select(2, pcall(function() torch.ones(2):apply(function() error('stop') end) end)):gsub('[%w.]+:%d+', 'at')))
local ok, e = pcall(function() torch.ones(2):apply(function() error({code = 7}) end) end)
print(ok, type(e), e.code)

-- # assert where its value counts
local function at(f) return (tostring(select(2, pcall(f))):gsub('[%w.]+:%d+', 'at')) end
print(at(function() local x = assert(tonumber('x'), 'bad x') return x end))
print(at(function() local f = assert(io.open('/nonexistent/x')) return f end))
print(select(2, pcall(assert, false, 'direct')), type(select(2, pcall(function() return assert(nil, {}) end))))

-- # deep recursion
local function deep(n) if n == 0 then return 'bottom' end return deep(n - 1) end
local function count(n) if n == 0 then return 0 end return 1 + count(n - 1) end
local function endless() return 1 + endless() end
local ok, e = pcall(endless)
print(deep(6000), count(5000), ok, e:match('stack overflow'))

-- # what is computed of entries that are missing
local h = {}
local k, s = 7, 'name'
local o = {h = h}
local function e(f) print((select(2, pcall(f)):gsub('^.-:%d+: ', ''))) end
e(function() return h[5] + 1 end)
e(function() return h[k] + 1 end)
e(function() return h[s] + 1 end)
e(function() return h.x + 1 end)
e(function() return 2 * o.h.y end)
e(function() return h[5][1] end)
e(function() return h[k][1] end)
e(function() return h[s].x end)
e(function() return h.x.y end)
e(function() h[5] = h[5] + 1 end)
e(function() h.n = h.n + 1 end)
e(function() h[k] = h[k] * 2 end)
e(function() return -h.x end)
e(function() return -h[k] end)
e(function() return h.x < 1 end)
e(function() local q = {} q[1] = q[1] + 1 end)
e(function() local q = {} q.a = q.a - 1 end)
e(function() local q = {1, 2} return q[k] + q[1] end)
e(function() return o.q > 3 end)
e(function() return 1 < h[k] end)
e(function() return 'a' .. h.word end)
e(function() return ('x'):rep(2) .. h[s] .. 1 end)

-- # lists that a table lacks
local log = {n = 1}
log.list = {}
log.names = {}
for i = 1, 3 do log.list[i] = i * 2 log.names['k' .. i] = i end
local function add(t, i) t.list[#t.list + 1] = i t.names[i] = 'x' end
add(log, 9)
print(#log.list, log.list[4], log.names[9], log.names.k2)
local function count(t) return #t.list end
local function e(f, t) print((select(2, pcall(f, t)):gsub('^.-:%d+: ', ''))) end
print(count(log))
e(count, {n = 2})
local function name(t) t.names[1] = 2 end
e(name, {})

-- # unpack of an entry that is not there
local states = {[0] = {1, 2}}
for t = 1, 3 do
  states[t] = {}
  table.insert(states[t], t)
  print(#{9, unpack(states[t - 1])})
end
print((select(2, pcall(function() return {1, unpack(states[9])} end)):gsub('^.-:%d+: ', '')))
