-- # max prints
local x = torch.Tensor{{1, 5, 2}, {7, 0, 3}}
print(x:max())
print(x:max(2))
print(torch.max(x, 1))
print(x:sort(2, true))
print((x:max(2)))
local v, i = x:min(2)
print(v, i)
print(torch.topk(x, 1, 2, true))
local t = {x:max(1)}
print(#t, t[2])

-- # data.new
local data = {}
data.__index = data
function data.new(a, b)
  local self = {}
  setmetatable(self, data)
  self.a, self.b = a, b
  return self
end
function data:sum() return self.a + self.b end
function data.size(self) return 2 end
local d = data.new(1, 2)
print(d:sum(), d:size(), data.size(d))
print(d.length)
d.length = 10
print(d.length)

-- # class via call
local Stack = {}
Stack.__index = Stack
setmetatable(Stack, {__call = function(cls, ...) local o = setmetatable({}, cls); o:init(...); return o end})
function Stack:init(...) self.items = {...}; self.n = select('#', ...) end
function Stack:push(x) self.n = self.n + 1; self.items[self.n] = x; return self end
function Stack:pop() local x = self.items[self.n]; self.items[self.n] = nil; self.n = self.n - 1; return x end
local s = Stack(1, 2)
s:push(3):push('x')
print(s:pop(), s:pop(), s.n, #s.items)
print(s:pop(), s:pop(), s.n)

-- # numbers loops
for i = 3, 1, -1 do print(i) end
for i = 1, 0 do print('never') end
for i = 0, 1, 0.25 do print(i) end
for i = 1, 2.5 do print(i) end
local n = 3
for i = 1, n do n = 1; print(i, n) end
local i = 10
for i = 1, 2 do end
print(i)
for i = 10, 1, -3 do io.write(i, ' ') end
print()
local s = 0
for k = 1, 3 do s = s + k / 2 end
print(s)

-- # repeat scope
local i = 0
repeat local done = i >= 2; i = i + 1 until done
print(i)
repeat i = i - 1; if i == 1 then break end until false
print(i)

-- # multiple assignment
local a, b, c = 1, 2
a, b = b, a
print(a, b, c)
local t = {1, 2}
t[1], t[2] = t[2], t[1]
print(t[1], t[2])
local i = 1
i, t[i] = i + 1, 20
print(i, t[1], t[2])
local x, y = (function() return 1, 2 end)()
print(x, y)
local p, q, r = 0, (function() return 5, 6, 7 end)()
print(p, q, r)

-- # tostring of things
print(nil, true, false)
print(tostring(nil), tostring(true))
print({} == {}, 'a' == 'a', nil == false)
local f = print
f('via f')
local m = {p = print}
m.p('via m', 1)
print(type(print), type(nil), type({}), type('x'), type(2), type(function() end))
print(1, 1.5, 1e300 * 1e10, -(0/0) ~= 0/0)
print(3 % -2, -3 % 2, 5.5 % 2, 2^31, 2^63)
print(#{n = 1}, #{1, 2, nil}, #{nil, nil, 3} >= 0)

-- # tensor ops
local x = torch.range(1, 6):resize(2, 3)
print(x[1][2], x[{1, 2}], x[{{}, 1}], x[{{1, 2}, {2, 3}}])
x[1][2] = 10
x[{2, 3}] = 20
x[2]:fill(5)
print(x)
print(x:sum(), x:mean(), x:sum(1), x:t(), x:view(-1):size(1))
print(torch.cat(x, x, 1):size(1), x:clone():mul(2):sum(), x:norm())
local y = x:clone():apply(function(v) return v + 1 end)
print(y:sum(), torch.dot(x, y), (x * 2):sum(), (x + y):max())
print(x:nElement(), x:contiguous():view(3, 2), x:narrow(2, 1, 2))
print(torch.ones(2, 2) * torch.ones(2, 2), torch.eye(2), torch.linspace(0, 1, 3))
x:copy(torch.zeros(2, 3))
print(x:sum(), torch.all(x:eq(0)))
print(torch.LongTensor{1, 2}, torch.FloatTensor(2):fill(0.5), torch.Tensor(2, 2):zero())
print(x:index(1, torch.LongTensor{1}), x:select(1, 1), x:size(2))
print(torch.sqrt(torch.Tensor{4, 9}), torch.pow(torch.Tensor{2}, 3), torch.Tensor{1, 2}:cmul(torch.Tensor{3, 4}))

-- # where packages are found
package.path = package.path .. ';./?.lua'
package.path = './lib/?.lua;' .. package.path
print(type(package.path))

-- # a sum that is added to a vector
require 'nn'
local m = nn.Linear(3, 2)
m.gradBias:zero():add(torch.ones(3, 2):sum(1))
print(m.gradBias)
local acc = torch.zeros(1, 2)
acc:add(torch.ones(3, 2):sum(1)):add(torch.Tensor{1, 2})
print(acc)

-- # fields that only the program knows
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.ReLU())
net:get(1)._mine = true
for i = 1, #net.modules do print(net:get(i)._mine == true) end

-- # names of folders
print(paths.dirname('o.png'), paths.dirname('a/b'), paths.dirname('/a'))

-- # labels meet a prediction of another type
local prediction = torch.eye(3, 3):view(torch.LongStorage{3, 3})
local labels = torch.ones(3):view(torch.LongStorage{3})
local _, best = prediction:max(2)
print(best:float():eq(labels:float()):sum(), best:double():eq(labels):dim())

-- # tables of packages are Lua's own
package.loaded.answer = 42
print(require 'answer', package.loaded.answer)
package.loaded.answer = nil
print(package.loaded.answer, pcall(require, 'answer') == false)
require 'libstn' -- which sets the global variable
function stn.twice(x) return 2 * x end
print(stn.twice(4))

-- # options that are copied by name into a table
local settings = {}
for name, value in pairs({ids = '1,2', seed = 11}) do settings[name] = value end
if settings.ids:len() > 0 then
  settings.ids = {settings.ids:sub(1, 1), settings.ids:sub(3)}
else
  settings.ids = {}
end
print(#settings.ids, settings.ids[2], settings.seed)

-- # a table of a file by words that are computed
local path = os.tmpname()
torch.save(path, {vocab = {a = 1, b = 2}, opt = {size = 3}})
local function sample(path)
  local checkpoint = torch.load(path)
  local vocab = checkpoint.vocab
  local ivocab = {}
  for c, i in pairs(vocab) do ivocab[i] = c end
  for c in ('abba'):gmatch '.' do
    local p = torch.Tensor{vocab[c]}
    io.write(ivocab[p[1]], ' ')
  end
  print()
end
sample(path)

-- # a loaded table that gets a metatable
local path = os.tmpname()
torch.save(path, {data = torch.ones(2, 3), label = torch.Tensor{4, 5}, inner = {n = 1}})
local set, test = torch.load(path), torch.load(path)
setmetatable(set, {__index = function(t, i) return {t.data[i], t.label[i]} end})
setmetatable(set.inner, {__index = function(t, name) return name .. t.n end})
function set:size() return self.data:size(1) end
set.data = set.data:float()
set.data[{{}, {2}}]:add(3)
test.data[{{}, {1, 2}}]:add(-1)
print(set:size(), set[2][1]:sum(), set[1][2], set.inner.x, test.data:sum())
for i = 1, 2 do print(test.label[i] == 4) end
os.remove(path)

-- # the buffer of a file
io.stdout:setvbuf('no')
print(io.stdout:setvbuf('line'), io.stderr:setvbuf('full', 100))
io.stderr:setvbuf('no')

-- # operators of Lua's objects
local List, Set = require 'pl.List', require 'pl.Set'
local a, b = Set{1, 2, 3}, Set{2, 3, 4}
print((a - Set{1}):len(), #Set.values(a + b), #Set.values(a * b), Set{2} < a, a <= b)
local l = List{1, 2}
print(a == b, a == Set{1, 2, 3}, l == List{1, 2}, l == l)

-- # a table that changes while pairs goes through it
local model = {a = {}}
for i = 1, 9 do model.a[i * 7] = i end
local function update(k)
  model.a[k + 7], model.a[k + 14] = nil, model.a[k + 14] and 100
end
local sum = 0
for k, v in pairs(model.a) do
  sum = sum + (v < 100 and 1 or 0)
  if k == 7 or model.a[7] then for i = 2, 9 do update(i * 7 - 7) end; model.a[7] = nil end
end
print(sum)
for k in pairs(model.a) do model.a[k] = nil end
print(next(model.a))

-- # files of Torch7, by their methods
local function load(filename)
  local ff = torch.DiskFile(filename):binary()
  local tag = ff:readFloat()
  local w = ff:readInt()
  local tf = torch.FloatTensor(2, w)
  ff:readFloat(tf:storage())
  ff:close()
  return tag, tf
end
local name = os.tmpname()
local f = torch.DiskFile(name, 'w'):binary()
f:writeFloat(1.5) f:writeInt(3)
f:writeFloat(torch.range(1, 6):float():storage())
f:close()
local tag, tf = load(name)
print(tag, tf)
local g = torch.DiskFile(name, 'r')
g:binary()
g:quiet()
print(g:readFloat(), g:readInt(), g:position(), g:hasError())
g:seek(1)
print(g:readFloat(1):size())
g:seekEnd()
print(g:position())
g:close()
os.remove(name)

-- # tds' containers of a file
local tds = require 'tds'
local v, h = tds.Vec(), tds.Hash()
for _, w in ipairs{'a', 'b'} do v:insert(w) end
h.x = v
h[3] = 'three'
local path = os.tmpname()
torch.save(path, {vec = v, hash = h})
local d = torch.load(path)
os.remove(path)
for i = 1, #d.vec do print(i, d.vec[i]) end
print(d.hash.x[2], d.hash[3], #d.hash.x)
for k, w in pairs(d.vec) do print(k, w) end

-- # texts beyond Latin-1 in tables and objects that Lua's functions take and give
local names = {'→', 'é', [5] = 'ü', k = '日本'}
names['ключ'] = {'вложено'}
local f = torch.MemoryFile('rw'):binary()
f:writeObject(names)
f:seek(1)
local back = f:readObject()
f:close()
print(back[1], back[2], back[5], back.k, back['ключ'][1], back[1] == names[1])
local word = torch.class('Word')
function word:__init(text) self.text = text self.all = {text} end
function word:show() return '<' .. self.text .. '>' end
f = torch.MemoryFile('rw'):ascii()
f:writeObject(_G.Word('→é'))
f:seek(1)
local read = f:readObject()
print(read.text, read.all[1], read:show())
print(torch.deserialize(torch.serialize({'é', {a = '→'}}))[2].a)
local co = coroutine.wrap(function(x) print(coroutine.yield(x .. 'é')) return '→' end)
print(co('ü'))
print(co('ñ'))

-- # objects that only Lua has, in a table of which nobody knows that it has them
local tds, List = require 'tds', require 'pl.List'
local function fill(kind) local v = tds[kind]() v[1] = 'é→' v[2] = torch.ones(2) return v end
local made = {}
for _, k in ipairs{'Vec', 'Hash'} do made[k] = fill(k) end
local path = os.tmpname()
torch.save(path, {a = made, b = {made.Vec}, l = List{1, 2}})
local f = torch.load(path)
os.remove(path)
print(#f.a.Vec, f.a.Vec[1], f.b[1][2]:sum(), f.a.Hash[1], f.l[2], #f.l)
print(f.a.Vec == f.b[1])

-- # what is loaded is a net, or a table with one
require 'nn'
local path = os.tmpname()
local function open(path)
  local x = torch.load(path)
  if type(x) == 'table' and x.model then x = x.model end
  return x
end
torch.save(path, nn.Linear(2, 2))
print(torch.type(open(path)))
torch.save(path, {model = nn.Tanh(), opt = {a = 1}})
print(torch.type(open(path)))
local y = torch.load(path)
if torch.type(y) == 'table' and y.opt then print(y.opt.a) end
if torch.typename(y) == nil then print('plain') end
local net = y.model or y
print(torch.type(net))
os.remove(path)
local function get(path)
  local m = torch.load(path)
  if m.net then m = m.net end
  return torch.type(m)
end
torch.save(path, nn.Sequential():add(nn.Tanh()))
local z = torch.load(path)
print(torch.type(z.model or z), get(path))
torch.save(path, {net = nn.Tanh(), n = 3})
local q = torch.load(path)
print(get(path), q.n + 1)
os.remove(path)

-- # an object with containers of tds is saved
require 'nn'
local tds = require 'tds'
local argcheck = require 'argcheck'
local Store = torch.class('SeveralStore')
Store.__init = argcheck{
  {name='self', type='SeveralStore'}, {name='size', type='number', default=4}, {name='layer', type='string', default='Linear'},
  call = function(self, size, layer)
    self.items, self.seen, self.size, self.kind = tds.Vec(), tds.Hash(), size, layer
  end
}
Store.put = argcheck{
  {name='self', type='SeveralStore'}, {name='x', type='number'}, {name='label', type='string', opt=true},
  call = function(self, x, label)
    self.items:insert(x)
    if label then self.seen[label] = #self.items end
    return self
  end
}
function Store:net(lib)
  lib = lib or nn
  return lib.Sequential():add(lib[self.kind](self.size, 2)):add(lib.Tanh())
end
local s = SeveralStore{size = 3}
s:put(1):put(0, 'zero'):put{x = 2, label = 'two'}
print(#s.items, s.seen.zero, s.seen.two, s.items[3])
local net = s:net()
net:get(1).weight:fill(0.5) net:get(1).bias:zero()
print(net:forward(torch.ones(3)))
print(torch.type(s:net(nn):get(1)))
for i, x in ipairs(s.items) do print(i, x) end
local total = 0
for k, v in pairs(s.seen) do total = total + v end
print(total, s.seen.none == nil)
local name = os.tmpname()
torch.save(name, s)
local back = torch.load(name)
print(#back.items, back.seen.two, back.kind)
os.remove(name)

-- # a checkpoint that the program saves and loads
local opt = {size = 4, rate = 0.5, name = 'abc', gpu = false}
local dir = os.tmpname()
local function vocab(text)
  local v, inv = {}, {}
  for c in text:gmatch('.') do
    if not v[c] then inv[#inv + 1] = c; v[c] = #inv end
  end
  return v, inv
end
local v, inv = vocab('hello world')
local checkpoint = {opt = opt, vocab = v, inv = inv, losses = {}, epoch = 3, best = 0.25,
  sizes = {[2] = 'b', [1] = 'a', [3] = 'c'}, net = nn.Sequential():add(nn.Linear(2, 2)), x = torch.range(1, 3), flags = {true, false}}
local path = dir .. string.format('ck_%s.t7', opt.name)
torch.save(path, checkpoint)
local c = torch.load(path)
print(c.opt.size + 1, c.opt.rate, c.opt.name .. '!', c.opt.gpu)
local n = 0
for k, i in pairs(c.vocab) do n = n + i end
print(n, c.vocab.h, c.vocab['o'], c.vocab.z)
print(#c.inv, c.inv[1], c.inv[#c.inv], c.inv[99])
c.losses[#c.losses + 1] = 0.5
table.insert(c.losses, 0.25)
print(#c.losses, c.losses[2])
print(c.epoch / 2, c.best * 2, c.sizes[1], c.sizes[3], #c.sizes)
print(c.net:get(1).weight:size(1), c.x[2], c.x:sum(), c.flags[2], c.missing)
for i, f in ipairs(c.flags) do print(i, f) end
for i = 1, #c.inv do io.write(c.inv[i], ' ') end print()
print(c.losses == checkpoint.losses)
os.remove(path) os.remove(dir)

-- # objects, nets, tensors and lists in files of computed names
local dir = os.tmpname()
local Point = {}
Point.__index = Point
function Point.new(x, y) return setmetatable({x = x, y = y}, Point) end
function Point:norm() return math.sqrt(self.x ^ 2 + self.y ^ 2) end
torch.class('SavedBox')
function SavedBox:__init(w) self.w = w; self.items = {} end
function SavedBox:add(i) table.insert(self.items, i) return self end
local f = dir .. 'obj_s2.t7'
torch.save(f, {p = Point.new(3, 4), b = SavedBox(2):add('x')})
local o = torch.load(f)
print(o.p.x, o.p.y, o.p.norm == nil, o.b.w, #o.b.items, o.b:add('y').items[2])
local function put(name, x) torch.save(dir .. name .. '.t7', x) end
local function get(name) return torch.load(dir .. name .. '.t7') end
put('s2_a', torch.range(1, 3)); put('s2_b', {1, 2, 'x'}); put('s2_c', nn.Tanh())
print(get('s2_a'):sum(), get('s2_b')[3], #get('s2_b'), torch.type(get('s2_c')))
local t = get('s2_a'); print(t[2] * 2)
torch.save(f, {torch.ones(2), torch.zeros(2, 2)})
local l = torch.load(f)
for i, x in ipairs(l) do print(i, x:dim(), x:nElement()) end
print(l[1][1] + 1, l[2][1][2])
torch.save(f, 5) print(torch.load(f) + 1)
torch.save(f, 'text') print(torch.load(f):upper())
for _, n in ipairs{'s2_a', 's2_b', 's2_c'} do os.remove(dir .. n .. '.t7') end
os.remove(f) os.remove(dir)

-- # what is loaded gets entries with more fields
local dir = os.tmpname()
local state = {loss = 1.5, step = 0, hist = {{epoch = 1, acc = 0.5}, {epoch = 2, acc = 1}}, best = nil, map = {a = {1, 2}, b = {3}}}
local function save(name, s) torch.save(dir .. name .. '_state.t7', s) end
save('q', state)
state.loss = state.loss * 2
state.step = state.step + 1
save('q', state)
local function get(p) return torch.load(p) end
local r = get(dir .. 'q' .. '_state.t7')
print(r.loss, r.step, r.best, r.loss / 2)
for i, h in ipairs(r.hist) do print(i, h.epoch, h.acc, h.note) end
table.insert(r.hist, {epoch = 3, acc = 0.75, note = 'ok'})
print(#r.hist, r.hist[3].note, r.hist[3].acc)
local keys = {}
for k, l in pairs(r.map) do table.insert(keys, k .. #l) end
table.sort(keys) print(table.concat(keys, ','))
if r.best then print('best') else print('none') end
r.best = r.loss
print(r.best, string.format('%.2f %d', r.loss, r.step))
for i = 1, r.step do print('step', i) end
local x = torch.zeros(r.step + 1) print(x:size(1))
os.remove(dir .. 'q_state.t7') os.remove(dir)

-- # a table of a file that becomes an object
local f = os.tmpname()
local SavedPoint = {}
SavedPoint.__index = SavedPoint
function SavedPoint.new(x, y) return setmetatable({x = x, y = y}, SavedPoint) end
function SavedPoint:norm() return math.sqrt(self.x ^ 2 + self.y ^ 2) end
torch.save(f, SavedPoint.new(3, 4))
local p = torch.load(f)
print(p.x, p.y)
setmetatable(p, SavedPoint)
print(p:norm())
local q = setmetatable(torch.load(f), SavedPoint)
print(q:norm(), q.x)
os.remove(f)

-- # records, tables by number, options and tensors of files
local path = os.tmpname()
local function store(p, what) torch.save(p, what) end
local data = {}
for i = 1, 3 do data[i] = {x = torch.Tensor{i, i + 1}, y = i % 2 == 0 and 'even' or 'odd', tags = {}} end
store(path, data)
local back = torch.load(path)
for i, d in ipairs(back) do print(i, d.x[1], d.x:sum(), d.y, #d.tags, d.z) end
back[2].tags[1] = 'a'
back[#back + 1] = {x = torch.ones(2), y = 'new', tags = {'b', 'c'}, z = 1}
store(path, back)
back = torch.load(path)
print(#back, back[4].z, back[2].tags[1], #back[4].tags, back[1].z)
-- a dict by numbers, with holes and without
local seen = {}
for _, w in ipairs{3, 1, 2} do seen[w] = (seen[w] or 0) + w end
torch.save(path, {seen = seen, holes = {[2] = 'x', [5] = 'y'}, mixed = {1, 2, n = 2}})
local s = torch.load(path)
local sum = 0
for k, v in pairs(s.seen) do sum = sum + k * v end
print(sum, s.seen[3], s.holes[5], s.holes[1], s.mixed.n, s.mixed[2], #s.mixed)
for k, v in pairs(s.holes) do sum = sum + k end
print(sum)
-- options that change after loading
torch.save(path, {opt = {lr = 0.1, layers = 2, decay = 1}})
local o = torch.load(path).opt
o.lr = o.lr / 10
o.layers = o.layers * 1.5
print(o.lr, o.layers, o.decay / 4, o.momentum or 'none')
for k, v in pairs{'lr', 'layers'} do print(k, o[v]) end
-- masks, sizes, storages, strings of bytes
local m = torch.range(1, 4):gt(2)
torch.save(path, {m = m, bytes = 'a\0b'})
local b = torch.load(path)
print(b.m:sum(), b.m[3], #b.bytes, torch.type(b.m))
print(torch.range(1, 4)[b.m]:sum())
-- a net and its copy
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh())
torch.save(path, {net = net, best = net:clone()})
local c = torch.load(path)
print(#c.net.modules, c.net:forward(torch.ones(2)):size(1), c.best:get(1).weight:size(2), c.net:parameters()[1]:dim())
print((c.net:get(1).weight - net:get(1).weight):abs():sum())
os.remove(path)

-- # empty lists that are saved, and filled when they are loaded
local name = os.tmpname()
local log = {train = {}, test = {}, steps = 0}
torch.save(name, log)
for run = 1, 2 do
  local l = torch.load(name)
  for e = 1, 2 do
    l.steps = l.steps + 1
    l.train[#l.train + 1] = {epoch = e, loss = 1 / e}
    table.insert(l.test, l.steps * 2)
  end
  torch.save(name, l)
end
local l = torch.load(name)
for i, r in ipairs(l.train) do print(i, r.epoch, r.loss) end
print(table.concat(l.test, ' '), l.steps, #l.train)
print(l.test[1], l.test[#l.test], l.test[9], l.train[7])
local half = l.steps / 2
print(half, l.train[half].loss, ('%d of %s'):format(l.steps, l.steps))
local t = {}
t[l.steps] = 'x'
print(t[4])
for i = 1, l.steps do io.write(i, ' ') end print()
os.remove(name)

-- # settings that become global variables
settings = {rate = 0.5, sizes = {4, 5}, label = 'run', unused_setting = 1}
settings.extra = 'more'
for k, v in pairs(settings) do _G[k] = v end
local function decay() rate = rate / 2; return rate end
print(rate, sizes[2], label, extra, decay(), settings.rate)
local cmd = torch.CmdLine()
cmd:option('-epochs', 3, 'how many')
cmd:option('-kind', 'mlp', 'of net')
local params = cmd:parse({})
for name, value in pairs(params) do _G[name] = value end
for i = 1, epochs do io.write(kind, i, ' ') end
print()
