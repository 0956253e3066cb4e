-- # fields that layers may lack, methods of theirs with two results, lists from the end
require 'nn'
function nn.Linear:countPruned() return 3, 4 end
local net = nn.Sequential():add(nn.Linear(2,2)):add(nn.Tanh())
local count = 0
net:apply(function(m) if m.countPruned then count = count + m:countPruned() end end)
print(count)
local function has(net, name)
  local found
  local function get(layer)
    if layer.name == name then found = layer end
  end
  net:apply(get)
  return found ~= nil
end
net:get(2).name = 'x'
print(has(net, 'x'), has(net, 'y'))
local function ignored(layer)
  if torch.isTypeOf(layer, 'nn.Sequential') then
    local found = false
    for i = 1, #layer do found = found or ignored(layer:get(i)) end
    return found
  else
    return layer._ignore == true
  end
end
net:get(1)._ignore = true
print(ignored(net))
net:get(1)._ignore = nil
print(ignored(net))
local list = {}
for i = 5, 1, -1 do list[i] = i * 2 end
print(#list, list[1], list[5])
for i, v in ipairs(list) do io.write(v, ' ') end print()
local parts = {}
for i = 2, 1, -1 do parts[i] = torch.Tensor(2):fill(i) end
print(nn.JoinTable(1):forward(parts):sum())

-- # a class whose __index is a function
local data = torch.class('data')
function data:__init(n) self.n = n; self.items = {} for i = 1, n do self.items[i] = {i, 'x' .. i} end end
function data.__index(self, idx)
  if type(idx) == 'string' then return data[idx] end
  local e = self.items[idx]
  return {e[2], e[1], twice = self:double(e[1])}
end
function data:double(v) return 2 * v end
function data:size() return self.n end
local d = data.new(3)
for i = 1, d:size() do
  local e
  if i < 2 then e = d[i] else e = d[d:size()] end
  print(e[1], e[2], e.twice)
end
print(d.nothing, d.n)
local N = 4
local t = {[N + 1] = 1}
for i = N, 1, -1 do t[i] = t[i + 1] * 2 end
print(t[1], t[5])
local last = {}
last[N] = 'd'
for i = N - 1, 1, -1 do last[i] = last[i + 1] .. i end
print(#last, table.concat(last, ' '))
require 'torch'
local shared = torch.ones(4)
print(shared:data() == shared:view(2, 2):data(), shared:data() == shared:clone():data(), shared:data() + 1 == shared:sub(2, 3):data())

-- # containers of the script's print their names
require 'nn'
local R, parent = torch.class('nn.RD', 'nn.Container')
function R:__init(a) parent.__init(self) self.gradInput = torch.Tensor() self.a = a self.modules = {nn.Linear(2,2)} end
local Q, parent = torch.class('nn.QQ', 'nn.Sequential')
function Q:__init(a) parent.__init(self) self.a = a end
local S, parent = torch.class('nn.SS', 'nn.Linear')
local T, parent = torch.class('nn.TT', 'nn.Module')
print(tostring(nn.RD(2)), tostring(nn.QQ(1)), tostring(nn.SS(2,2)), tostring(nn.TT()))
print(nn.Sequential():add(nn.RD(2)):add(nn.TT()):add(nn.ConcatTable():add(nn.RD(1))))
print(nn.Container(), nn.Concat(1), nn.MSECriterion(), nn.ParallelCriterion())

-- # functions that the program puts into packages
function torch.isfoo(o) return o == 'foo', 2 end
print(torch.isfoo('foo'))
function string.parts(s, sep) local n = 0 for _ in s:gmatch('[^' .. sep .. ']+') do n = n + 1 end return n, s end
function string:twice() return self .. self, 2 end
local n, s = ('a,b'):parts(',')
print(n, s, string.parts('x,y,z', ','))
print(('q'):twice())
print(s:twice())
function table.contains(t, v) for i, x in ipairs(t) do if x == v then return true, i end end return false end
print(table.contains({1, 2}, 2))
local old = math.pow
math.pow = function(a, b) return old(a, b) + 1 end
print(math.pow(2, 3))
math.pow = old

-- # a copy of as many elements
local n = 2
local d = torch.Tensor(n * n)
local function conv() d = torch.Tensor(1, n, n) end
local function fill(x) d:copy(x) return d end
print(fill(torch.ones(2, 2)):sum(), d:dim())
conv()
print(fill(torch.ones(2, 2)):sum(), d:dim())
local data = {patch = function(self, k) if k then return torch.ones(2, 2), k end return nil end}
setmetatable(data, {__index = function(self, i) local x = self:patch(i) d:copy(x) return d end})
print(data[1]:sum())

-- # escapes
print('a"b\\', "x\
y", 'a--[[b', "it's", "\"q\"", '[[', "]]", 'tab\tx', "\065\10\z
   end", '')
-- comment "with quote
local t = { ['a b'] = 1, ["c"]=2 } --[[ "x' ]] print(t['a b'], [==[ long "x" ]==], "a\\"..'b')
print("\u{48}\x41", ("\u{e9}"):byte(1, -1))
print(("a\233b"):byte(1, -1))

-- # a third argument of backward that is no scale
require 'nn'
local T, parent = torch.class('TT', 'nn.Module')
function T:backward(input, gradOutput, reverse) return reverse and gradOutput:clone():mul(-1) or gradOutput end
print(TT():backward(torch.ones(1), torch.ones(1)):sum(), TT():backward(torch.ones(1), torch.ones(1), true):sum())

-- # methods by their names
require 'nn'
local A, parent = torch.class('AA', 'nn.Module')
function A:__init() parent.__init(self) self.n = 3 self.items = {} end
function A:new_part() return {n = self.n} end
function A:take(what)
  local k = what .. 's'
  if #self[k] == 0 then return self['new_' .. what](self) end
  local x = self[k][#self[k]]
  self[k][#self[k]] = nil
  return x
end
function A:free(what, x) table.insert(self[what .. 's'], x) end
local a = AA()
a.parts = {}
local p = a:take('part')
print(p.n)
a:free('part', p)
print(#a.parts, a:take('part') == p, #a.parts)
local f = a.new_part
print(f(a).n)
local B = {} B.__index = B
function B.new() return setmetatable({v = 1}, B) end
function B:get() return self.v, 2 end
local b = B.new()
local name = 'g' .. 'et'
print(b[name](b))
local g = b.get
print(g(b))

-- # a class's forward with two results
require 'nn'
local T, parent = torch.class('GivesTwoResults', 'nn.Module')
function T:forward(tree, x) return {x, tree}, 0.5 end
local M = torch.class('TwoResultsUser')
function M:__init(t) self.t = t; self.list = {} end
function M:run(x)
  local a = self.t:forward('tree', x)[1]
  local b, l = self.t:forward('tree', x)
  return a:sum() + l, self.t:forward('tree', x)
end
local m = MM(TwoResults())
local s, r, l = m:run(torch.ones(2))
print(s, #r, l)

-- # tables that layers give
require 'nn'
local tablex = require 'pl.tablex'
local R, parent = torch.class('nn.RowAdd', 'nn.Module')
function R:__init() parent.__init(self) self.gradInput = {} end
function R:updateOutput(input)
  self.output:resizeAs(input[1]):copy(input[1])
  for i = 1, self.output:size(1) do self.output[i]:add(input[2]) end
  return self.output
end
function R:updateGradInput(input, gradOutput)
  self.gradInput[1] = self.gradInput[1] or input[1].new()
  self.gradInput[2] = self.gradInput[2] or input[2].new()
  self.gradInput[1]:resizeAs(input[1]):copy(gradOutput)
  self.gradInput[2]:resizeAs(input[2]):zero()
  for i = 1, gradOutput:size(1) do self.gradInput[2]:add(gradOutput[i]) end
  return self.gradInput
end
local net = nn.Sequential():add(nn.ParallelTable():add(nn.Identity()):add(nn.Identity())):add(nn.RowAdd()):add(nn.Sum(1))
local x, y = torch.ones(3, 2), torch.range(1, 2)
print(net:forward{x, y}:sum())
local g = net:backward({x, y}, torch.ones(2))
print(torch.type(g), g[1]:sum(), g[2]:sum())
local L, parent = torch.class('nn.LL', 'nn.Module')
function L:__init() parent.__init(self) self.a = nn.Linear(2, 2) self.b = nn.Linear(2, 1) end
function L:parameters()
  local ps, gs = {}, {}
  local p, g = self.a:parameters()
  tablex.insertvalues(ps, p)
  tablex.insertvalues(gs, g)
  p, g = self.b:parameters()
  tablex.insertvalues(ps, p)
  tablex.insertvalues(gs, g)
  return ps, gs
end
local x, dx = nn.Parallel():add(nn.LL()):add(nn.Linear(1, 1)):getParameters()
print(x:size(1), dx:size(1))

-- # a method of optim's with a capital
require 'optim'
local x = torch.ones(2)
local function f(v) return v:dot(v) / 2, v:clone() end
local function g(v) return 0 end
local function pl(v, l) return v end
local found, h = optim.FistaLS(function(v) return f(v) end, g, pl, x, {maxiter = 2, L = 1})
print(torch.type(found), type(h), #h > 0)

-- # nets that give tables
require 'rnn'
local net = nn.Sequential():add(nn.Linear(2,2)):add(nn.ConcatTable():add(nn.Tanh()):add(nn.ReLU()))
local o = net:forward(torch.ones(1, 2)) print(#o, o[1]:size(1))
local n2 = nn.Sequential() n2:add(nn.Linear(2,2))
n2:add(nn.SplitTable(1))
local o2 = n2:forward(torch.ones(3, 2)) print(#o2, o2[2]:size(1))
local s = nn.Sequencer(nn.Linear(2, 2))
local o3 = s:forward{torch.ones(1, 2), torch.ones(1, 2)} print(#o3, o3[2]:size(1))
print(#s:forward(torch.ones(3, 1, 2)))
local id = nn.Identity() local o4 = id:forward{torch.ones(2)} print(#o4, o4[1]:dim())
local function make() local m = nn.Sequential() m:add(nn.Replicate(2)) m:add(nn.SplitTable(1)) m:add(nn.ParallelTable():add(nn.Linear(2,2)):add(nn.Identity())) return m end
local o5 = make():forward(torch.ones(1, 2)) print(#o5, o5[1]:dim())
local j = nn.Sequential():add(make()):add(nn.JoinTable(2)) print(#j:forward(torch.ones(1, 2)))
local rep = nn.Repeater(nn.Recurrent(2, nn.Linear(2,2), nn.Linear(2,2), nn.Tanh(), 3), 3)
local o6 = rep:forward(torch.ones(1, 2)) print(#o6)
local sel = nn.NarrowTable(1, 2) print(#sel:forward{torch.ones(1), torch.ones(2), torch.ones(3)})
local mt = nn.MapTable(nn.Linear(2, 1)) print(#mt:forward{torch.ones(2), torch.ones(2)})
local ft = nn.FlattenTable() print(#ft:forward{torch.ones(1), {torch.ones(2), torch.ones(3)}})
local sp = nn.SplitTable(1):forward(torch.ones(3, 2))
for i, v in ipairs(sp) do io.write(i, ':', v:sum(), ' ') end print(#sp, sp[1][2] + 1, sp[3] * 2)

-- # functions in the fields of nets, and in what is written
local net = nn.Sequential():add(nn.Linear(2, 2))
function net:describe(word) return word .. ' ' .. #self.modules end
net.modules[1].hook = function(x) return x end
print(net:describe('modules:'))
local name = os.tmpname()
local file = torch.DiskFile(name, 'w'):binary()
file:writeObject({net = net, f = function() end})
file:close()
file = torch.DiskFile(name, 'r'):binary()
local back = file:readObject()
file:close()
os.remove(name)
print(torch.typename(back.net), #back.net.modules, back.net:get(1).weight:dim())
local tester, suite = torch.Tester(), torch.TestSuite()
function suite.one() tester:eq(1, 1) end
tester:add(suite)
print(torch.type(suite))

-- # functions of a package that only Lua has
local old = nn.hessian.enable
function nn.hessian.enable() return 'mine' end
print(type(old), nn.hessian.enable())
nn.hessian.enable = old

-- # what a layer passes on is a table, and so is its gradient
require 'nn'
local P, parent = torch.class('nn.Penalty', 'nn.Module')
function P:updateOutput(input)
  local mean, log = unpack(input)
  self.output = input
  self.loss = torch.sum(log) + torch.sum(torch.pow(mean, 2))
  return self.output
end
function P:updateGradInput(input, gradOutput)
  assert(#gradOutput == 2)
  local mean, log = unpack(input)
  self.gradInput = {}
  self.gradInput[1] = mean:clone() + gradOutput[1]
  self.gradInput[2] = torch.exp(log):mul(-1) + gradOutput[2]
  return self.gradInput
end
local net, penalty = nn.Sequential(), nn.Penalty()
local both = nn.ConcatTable()
both:add(nn.Identity())
both:add(nn.MulConstant(2))
net:add(both):add(penalty):add(nn.CAddTable())
local x = torch.ones(3, 4)
print(net:forward(x):sum(), penalty.loss)
print(net:backward(x, torch.ones(3, 4)):sum())

-- # one module's own method, defined with a colon
require 'nn'
local m = nn.Linear(2, 2)
m.weight:fill(1); m.bias:zero()
m._updateOutput = m.updateOutput
function m:updateOutput(input) return self:_updateOutput(input * 2) end
m.extra = function(self, x) return self.weight[1][1] + x end
print(m:forward(torch.ones(2)), m:extra(3))
local function through(net) return net.gradInput and net:extra(1) end
print(through(m))
print(nn.Sequential():add(m):clone():forward(torch.ones(2)))

-- # an object of the script's is saved with its nets
require 'nn'
torch.class('SavedTrainer')
function SavedTrainer:__init(net) self.net, self.crit, self.f = net, nn.MSECriterion(), function() end end
function SavedTrainer:run(x) return self.crit:forward(self.net:forward(x), x) end
local path = os.tmpname()
local t = SavedTrainer(nn.Linear(2, 2))
t.f = nil
torch.save(path, t)
local r, x = torch.load(path), torch.ones(2)
print(r:run(x) == t:run(x), torch.type(r.net), torch.type(r.crit))
os.remove(path)

-- # single layers with methods of their own, put back later; classes whose methods are called with less
require 'nn'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(3, 3)):add(nn.Tanh()):add(nn.Linear(3, 1))
net:get(1).accGradParameters = function() end
local first = net:get(1)
local before, x, t = first.weight:clone(), torch.randn(4, 3), torch.randn(4, 1)
local criterion = nn.MSECriterion()
for i = 1, 2 do
  net:zeroGradParameters()
  print(criterion:forward(net:forward(x), t))
  net:backward(x, criterion:backward(net.output, t))
  net:updateParameters(0.1)
end
first.parameters = function() end
net:zeroGradParameters()
net:updateParameters(1)
print((before - first.weight):abs():sum(), #net:parameters(), net:getParameters():nElement())
local calls, old = 0, first.updateOutput
local function counted(self, input)
  calls = calls + 1
  return old(self, input)
end
first.updateOutput = counted
net:forward(x)
first.updateOutput = nil
net:forward(x)
first.updateOutput = old
print(calls, net:forward(x):sum())
local reset = nn.Linear.reset
nn.Linear.reset = function(self, deviation) reset(self, deviation) self.bias:zero() return self end
print(nn.Linear(2, 2).bias:sum())
nn.Linear.reset = reset

-- # gradients of criterions of several inputs are lists, whatever is known of these
require 'nn'
local function given(t) return t.inputs end
local inputs = given({inputs = {torch.ones(2), torch.zeros(2)}, n = 2})
local several = nn.ParallelCriterion():add(nn.MSECriterion()):add(nn.AbsCriterion())
local layer, parent = torch.class('nn.TwoOutputs', 'nn.Module')
function layer:__init() parent.__init(self) self.output = {} end
function layer:updateOutput(x) self.output[1], self.output[2] = x, x * 2 return self.output end
local outputs = nn.TwoOutputs():forward(torch.ones(2))
print(several:forward(outputs, inputs), #several:backward(outputs, inputs), several.gradInput[2]:sum())

-- # names that a program gives some layers
require 'nn'
local net = nn.Sequential():add(nn.Tanh()):add(nn.ReLU())
net:get(2).name = 'last'
local function name_of(net, i) local layer = net:get(i) local name = layer.name return name end
print(name_of(net, 1), name_of(net, 2))

-- # methods of modules that are functions with names
require 'nn'
local function nop() end
local function twice(self, input) self.output = input * 2 return self.output end
local m = nn.Linear(2, 2)
m.accGradParameters = nop
m.updateOutput = twice
m.gradWeight:zero()
print(m:forward(torch.ones(2)):sum())
m:backward(torch.ones(2), torch.ones(2))
print(m.gradWeight:sum(), twice(m, torch.ones(3)):sum())

-- # one column beside a row of as many elements
require 'nn'
local net = nn.Sequential():add(nn.Linear(3, 1))
net:get(1).weight:fill(1)
net:get(1).bias:zero()
local out, target = net:forward(torch.ones(4, 3)), torch.range(1, 4)
print(torch.eq(out, target):sum(), (out - target):sum(), torch.cmul(out, target):sum())
print(torch.gt(out, 0):eq(torch.ByteTensor{1, 0, 1, 1}):sum())
print(out:clone():add(-1, target):sum(), torch.dist(out, target))
local a, b = torch.range(1, 4), torch.ones(4, 1)
print(torch.gt(a, 2):add(torch.gt(b, 0)):sum(), torch.eq(a:gt(2), b:gt(0)):sum())
local t = torch.Tensor()
t:resizeAs(b):fill(1)
print(torch.eq(t, a):sum(), t:cmul(a):sum(), a:maskedSelect(b:eq(1)):size(1))
local function right(outputs, labels)
  local _, order = outputs:sort(2, true)
  return order[{{}, {1}}]:eq(labels):sum(), order:narrow(2, 1, 1):eq(labels):sum()
end
print(right(torch.eye(3), torch.range(1, 3):long()))
print((torch.ones(3, 2) * torch.ones(2, 1) - torch.ones(3)):sum())

-- # nn.Linear goes back through more dimensions than two without gradients
require 'nn'
local m = nn.Linear(2, 3)
local x, g = torch.ones(2, 3, 2), torch.ones(2, 3, 3)
print(m:backward(x, g):sum(), m:updateGradInput(x, g):dim(), m.gradInput:size(3))
m:accGradParameters(x, g)
m.weight:fill(1); m.gradWeight:zero()
local y = torch.ones(6, 2)
m:forward(y)
print(m:backward(y, torch.ones(6, 3)):sum(), m.gradWeight:sum())
print(m:backward(x, g):sum(), m.gradInput:dim(), m.gradWeight:sum())

-- # classes from a table, or by their names, with more than they take
local layers = {nn.Tanh, nn.Linear}
for i = 1, #layers do print(torch.type(layers[i](2, 2))) end
for _, name in ipairs{'Sigmoid', 'Identity'} do print(torch.type(nn[name](3))) end
local acts = {elu = nn.ELU, tanh = nn.Tanh}
local function make(k) local act = acts[k] return act(1, true) end
for _, k in ipairs{'elu', 'tanh'} do print(torch.type(acts[k](1, true)), torch.type(make(k))) end

-- # methods of layers and criterions that leave out what nn gives them
require 'nn'
local L, parent = torch.class('nn.Drop1', 'nn.Module')
function L:__init() parent.__init(self) end
function L:updateOutput(input) self.output = input return self.output end
function L:updateGradInput(input) self.gradInput = input return self.gradInput end
function L:accGradParameters(input, gradOutput) self.seen = true end
function L:type(t) self.kind = t return parent.type(self, t) end
local C = torch.class('nn.Flat', 'nn.Criterion')
function C:updateOutput(input) self.output = input:sum() return self.output end
function C:updateGradInput(input) self.gradInput = input:clone():fill(1) return self.gradInput end
local l, c, x = nn.Drop1(), nn.Flat(), torch.ones(2)
local net = nn.Sequential():add(l)
print(l:forward(x):sum(), net:forward(x):sum(), net:backward(x, x):sum(), l.seen)
print(c:forward(x), c:backward(x):sum(), c:forward(x, x), c:backward(x, x):sum())
net:float()
print(l.kind, torch.std(torch.range(1, 4), 1, true)[1] == math.sqrt(1.25))

-- # train is nil until the net is told
local Noise, parent = torch.class('nn.MyNoise', 'nn.Module')
function Noise:__init(p) parent.__init(self) self.p = p end
function Noise:updateOutput(x)
  if self.train then self.output = x + self.p else self.output = x end
  return self.output
end
function Noise:updateGradInput(x, g) self.gradInput = g return g end
local net = nn.Sequential():add(nn.MyNoise(1))
local x = torch.ones(2)
print(net:forward(x):sum())
net:training() print(net:forward(x):sum())
net:evaluate() print(net:forward(x):sum())
local D, dp = torch.class('nn.MyDrop', 'nn.Dropout')
function D:updateOutput(x) if self.train then return x * 2 end return x end
print(nn.MyDrop(0.5):forward(x):sum())

-- # a layer without parameters gives nil
local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh())
local n = 0
for i, m in ipairs(net.modules) do
  local p, g = m:parameters()
  if p then n = n + 1 end
  local q = m:parameters()
  print(q and #q or 'none', p == nil)
end
print(n)

-- # a net without parameters gives empty tables; so does a layer of the script's that says so
local L, parent = torch.class('nn.NoneOfIts', 'nn.Module')
function L:parameters() return {}, {} end
local ps, gs = nn.Sequential():add(nn.ReLU()):parameters()
if ps == nil then print('none') else print('some', #ps) end
if ps then print('yes') else print('no') end
local r = nn.ReLU()
r.parameters = function() end
for _, m in ipairs{nn.Sequential(), nn.ReLU(), nn.Linear(2, 2), nn.NoneOfIts(), r} do
  if m:parameters() then print('has') end
  if m:parameters() == nil then print('has none') end
  local p, g = m:parameters()
  if p then print(#p, #g) end
end

-- # what may be a layer of the script's or of nn's gives one value, whatever other classes give
local L, parent = torch.class('MyCell', 'nn.Module')
function L:__init(D) parent.__init(self) self.D = D end
function L:updateOutput(x) self.output = {x * 2, x} return self.output end
local function clones(proto, T)
  local out = {}
  for t = 1, T do out[t] = t == 1 and proto or proto:clone('weight') end
  return out
end
local U = {}
U.__index = U
function U.new(D) local self = setmetatable({}, U) self.cells = clones(MyCell(D), 2) return self end
function U:forward(x, y) local h = self.cells[1]:forward(x) return h[1], y end
local u = U.new(2)
local crits = clones(nn.MSECriterion(), 2)
local h, y = u:forward(torch.ones(2), torch.zeros(2))
local loss = 0
for t = 1, 2 do loss = loss + crits[t]:forward(h, y) end
print(loss)

-- # what layers and criterions give, beside a class that is none
local L, parent = torch.class('OwnCell', 'nn.Module')
function L:__init(D) parent.__init(self) self.weight, self.gradWeight = torch.ones(D), torch.zeros(D) end
function L:updateOutput(x) self.output = x * 2 return self.output end
local U = {}
U.__index = U
function U.new(D) return setmetatable({cell = OwnCell(D)}, U) end
function U:forward(x, y) return self.cell:forward(x), y end
local u = U.new(2)
print(u.cell:parameters()[1]:sum(), #u.cell:parameters())
local crit = {nn.MSECriterion(), nn.AbsCriterion()}
local h, y = u:forward(torch.ones(2), torch.zeros(2))
for t = 1, 2 do print(crit[t]:forward(h, y) + 1) end

-- # modules past the end of a net
local net = nn.Sequential():add(nn.Tanh()):add(nn.Sigmoid())
local i = 1
while net:get(i) do i = i + 1 end
local last = net:get(7)
if not last then last = net:get(2) end
print(i, net:get(3) == nil, torch.type(last))

-- # tables of a net's inputs that are filled in any order
require 'nn'
local at, n = {}, 0
for _, name in ipairs{'x', 'y'} do n = n + 1 at[name] = n end
local net = nn.ParallelTable():add(nn.Identity()):add(nn.MulConstant(2))
local input = {}
for t = 1, 2 do
  input[t] = {}
  input[t][at['y']] = torch.ones(2):mul(t)
  input[t][at['x']] = torch.ones(2)
  local out = net:forward(input[t])
  local g = net:backward(input[t], out)
  net:accGradParameters(input[t], out, 2)
  print(out[1]:sum(), out[2]:sum(), #out, g[1]:sum(), g[2]:sum())
end

-- # fields of a layer that nobody sets
require "nn"
local L, parent = torch.class('nn.L', 'nn.Module')
function L:__init()
  parent.__init(self)
  self.a = nn.Sequential()
  self.a:add(nn.Linear(2, 2))
  print(self.nothing, #self.a.modules)
  self.table = {self.other, 1}
end
local l = nn.L()
print(l.b, l.table[2])

-- # numbers where a layer takes true
require 'nn'
local x = {torch.ones(2), torch.ones(2)}
local n = 2
for _, add in ipairs{nn.CAddTable(n), nn.CAddTable(0), nn.CAddTable()} do print(add:forward(x)[1], x[1][1]) end
print(nn.ReLU(1).inplace == true, nn.ReLU(nil).inplace)

-- # a part of a tensor that stands in a table with tables is set: their keys are no tables
require 'nn'
local state, net = {}, nn.ConcatTable():add(nn.Identity()):add(nn.Identity())
state[0] = {}
for j = 1, 2 do state[0][j] = torch.zeros(3) end
for step = 1, 2 do
  local all = {torch.ones(2, 2), state[step - 1]}
  local part = all[step]
  if step == 1 then part[{{}, {1}}] = 5 end
  net:forward(all)
  local g = net:backward(all, {all, all})
  state[step] = g[2]
  print(all[1]:sum(), g[1]:sum(), #g[2])
end

-- # states by number in what a net gets
require 'nn'
local net = nn.ConcatTable():add(nn.Identity()):add(nn.Identity())
local function copy(to, from) for i = 1, #from do to[i]:copy(from[i]) end end
local state = {}
for j = 0, 2 do
  state[j] = {}
  for d = 1, 2 do state[j][d] = torch.zeros(2) end
end
local other = {}
for j = 0, 1 do other[j] = {} for k = 0, 1 do other[j][k] = torch.ones(2) end end
copy(other, {})
copy(state[1], {state[0][1]})
for t = 1, 2 do
  local made = net:forward({torch.ones(2), state[t - 1]})
  copy(state[t], made[2][2])
  local g = net:backward({torch.ones(2), state[t - 1]}, made)
  print(state[t][1][1], state[t][2][1], g[1][1], g[2][1][1], g[2][2][1], other[1][0][1])
end

-- # a field that a function sets of one of two layers
require 'nn'
local L, parent = torch.class('OfTwo', 'nn.Module')
function L:__init() parent.__init(self) end
function L:updateOutput(x) self.output = x * 2 return self.output end
local l = OfTwo()
local m = l:clone()
local function freeze(x) x.frozen = true end
freeze(l)
print(l.frozen, m.frozen)

-- # a layer that is made where it is missing
require 'nn'
if not nn.ScaledOnce then
  torch.class('nn.ScaledOnce', 'nn.Module')
end
function nn.ScaledOnce:__init(a) nn.Module.__init(self) self.a = a end
function nn.ScaledOnce:updateOutput(x) self.output = x * self.a return self.output end
print(nn.ScaledOnce(3):forward(torch.ones(2)))

-- # a table that is filled from its end, and given to a net
require 'nn'
local split = nn.SplitTable(1)
split:forward(torch.ones(3, 2))
local r = {}
local function one(x, g) return g * 2, g end
local function back(g, x)
  local gi = {}
  for i = #g, 1, -1 do gi[i], r.gradState = one(x, g[i]) end
  if torch.isTensor(x) then gi = split:backward(x, gi) end
  return gi
end
print(back({torch.ones(2), torch.ones(2), torch.ones(2)}, torch.ones(3, 2)))

-- # packages that nothing loads
print(cutorch and 1 or 2, cutorch ~= nil)
if not cudnn or cudnn.version < 5000 then print('no fast nets') else print(cudnn.version) end

-- # fields of a layer that are nil: of a file, and set under a condition
require 'nn'
local L = torch.class('nn.Limited', 'nn.Module')
local function second(_, x) return x end
function L:__init(n) nn.Module.__init(self) self.most = n or nil end
function L:kept() if not self.most then return 'none' end return self.most end
function L:sorted() return second(self._sorted, 'given') end
function L:sort(x) if x then self._sorted = 1 end end
local file = torch.MemoryFile()
file:writeObject(nn.Limited())
file:seek(1)
local read = file:readObject()
print(read:kept(), read:sorted(), nn.Limited(2):kept())
read:sort(true)
print(read:sorted())

-- # tables of tables for a net, filled by table.insert under other keys elsewhere
require 'nn'
local join = nn.ParallelTable():add(nn.Identity()):add(nn.JoinTable(1))
local nets = {a = join}
local kept = {[0] = torch.zeros(1)}
for i = 1, 2 do table.insert(kept, torch.ones(i)) end
local function narrowed(list, first, last)
  local out = {}
  for i = first, last do table.insert(out, list[i]) end
  return out
end
local function copied(list)
  local out = {}
  for k, v in pairs(list) do out[k] = v:clone() end
  return out
end
print(nets.a:forward({torch.ones(1), narrowed(copied(kept), 1, 2)})[2])
print(nn.View('2', 2):forward(torch.ones(4)))

-- # a layer whose constructor sets a field only sometimes has that of the class above
require 'nn'
local A, pa = torch.class('nn.HeldA', 'nn.Module')
A.gain = 2
function A:__init() pa.__init(self) end
local B, pb = torch.class('nn.HeldB', 'nn.HeldA')
function B:__init(g) pb.__init(self) if g then self.gain = g end end
function B:updateOutput(x) self.output = x * self.gain return self.output end
print(nn.HeldB():forward(torch.ones(2)):sum(), nn.HeldB(5):forward(torch.ones(2)):sum())

-- # what a parent of nn's gives is a tensor
require 'nn'
local Masked, parent = torch.class('nn.MaskedOfHere', 'nn.Linear')
function Masked:updateOutput(x)
  local y = parent.updateOutput(self, x)
  if self.mask then y:cmul(self.mask) end
  return y
end
local l = nn.MaskedOfHere(2, 2)
l.weight:fill(1) l.bias:zero()
print(l:forward(torch.ones(2)):sum())
l.mask = torch.Tensor{1, 0}
print(l:forward(torch.ones(2)):sum())

-- # fields of a layer's class that are taken away, and options
local NetA = torch.class('nn.NetA', 'nn.Module')
local NetB, parent = torch.class('nn.NetB', 'nn.NetA')
nn.NetA.tag = 'a'
nn.NetB.tag = 'b'
function NetA:hi() return 'A' .. tostring(self.tag) end
function NetB:hi() return 'B' .. parent.hi(self) end
local n = nn.NetB()
print(n.tag, n:hi())
nn.NetB.tag = nil
print(n.tag, nn.NetB.tag, n:hi())
nn.NetB.hi = nil
print(n:hi())
local cmd = torch.CmdLine()
cmd:option('-lr', 0.1, 'rate')
cmd:option('-name', 'x', 'name')
local opt = cmd:parse({})
local key = 'lr'
opt[key] = nil
print(opt.lr, opt.name)
for k, v in pairs(opt) do if v then opt[k] = nil end end
print(opt.name)

-- # a layer of tables that shortens its list of gradients
require 'nn'
local Sum, parent = torch.class('nn.SumOfAll', 'nn.Module')
function Sum:__init()
  parent.__init(self)
  self.gradInput = {}
end
function Sum:updateOutput(input)
  self.output:resizeAs(input[1]):copy(input[1])
  for i = 2, #input do self.output:add(input[i]) end
  return self.output
end
function Sum:updateGradInput(input, gradOutput)
  for i = 1, #input do
    self.gradInput[i] = self.gradInput[i] or input[1].new()
    self.gradInput[i]:resizeAs(input[i]):copy(gradOutput)
  end
  for i = #input + 1, #self.gradInput do self.gradInput[i] = nil end
  return self.gradInput
end
local sum = nn.SumOfAll()
local ones = torch.ones(2)
for _, input in ipairs{{ones, ones, ones}, {ones, ones}} do
  print(sum:forward(input)[1], #sum:backward(input, ones), sum.gradInput[#input][1])
end
local net = nn.Sequential():add(nn.ConcatTable():add(nn.Identity()):add(nn.MulConstant(2))):add(nn.SumOfAll())
print(net:forward(ones)[1], net:backward(ones, ones)[1])

-- # a layer that asserts what its arguments are, and fields that it sets when asked
require 'nn'
local Scaled, parent = torch.class('nn.Scaled', 'nn.Module')
function Scaled:__init(n, affine)
  parent.__init(self)
  assert(n and type(n) == 'number', 'n is a number')
  if affine ~= nil then
    assert(type(affine) == 'boolean', 'affine has to be true or false')
    self.affine = affine
  else
    self.affine = true
  end
  self.scales = torch.ones(n)
end
function Scaled:updateOutput(input)
  self.buffer = self.buffer or input.new()
  self.buffer:resizeAs(input):copy(input)
  if self.affine then self.buffer:mul(2) end
  self.output = self.buffer
  return self.output
end
print(nn.Scaled(3):forward(torch.ones(2)):sum(), nn.Scaled(3, false):forward(torch.ones(2)):sum())
print(pcall(nn.Scaled, 3, 1) == false, pcall(nn.Scaled, '3') == false)

-- # a field that nets have, and criterions do not
require 'nn'
local Mine = torch.class('MineOrNot', 'nn.Sequential')
function Mine:__init() nn.Sequential.__init(self) end
local protos = {net = MineOrNot(), criterion = nn.MSECriterion()}
local has = {}
for name, proto in pairs(protos) do has[name] = not proto.parameters end
print(has.net, has.criterion)

-- # a sum that a buffer is for, and a vector
require 'nn'
local Means, Base = torch.class('nn.MeansOfColumns', 'nn.Module')
function Means:__init(n)
  Base.__init(self)
  self.mean = torch.zeros(n)
end
function Means:updateOutput(input)
  self.buffer = self.buffer or input.new()
  self.row = self.row or input.new()
  self.buffer:mean(input:view(input:size(1), input:size(2), input:size(3)), 1)
  self.row:mean(self.buffer, 2)
  self.mean:mul(0.5):add(0.5, self.row)
  self.output:resizeAs(input):copy(input)
  return self.output
end
local layer = nn.MeansOfColumns(3)
for i = 1, 2 do layer:forward(torch.range(1, 12):resize(2, 2, 3)) end
print(layer.mean)

-- # a column among a net's outputs, and a vector
require 'nn'
local net = nn.ConcatTable():add(nn.Sum(2)):add(nn.Identity())
local place = loadstring('return {column = 2}')()
local active = {torch.Tensor{1, 0}}
local out = net:forward(torch.Tensor{{2}, {3}})
local column
if #active > 0 then
  column = out[place['column']]
  column:cmul(active[1])
end
print(column)

-- # a copy into a piece of one row
require 'nn'
local Halves, parent = torch.class('nn.Halves', 'nn.Module')
function Halves:__init() parent.__init(self) end
function Halves:updateOutput(input)
  self.rows = input:size(2) / 2
  local mean, spread = unpack(input:split(self.rows, 2))
  self.output:resizeAs(mean):copy(mean):add(spread)
  return self.output
end
function Halves:updateGradInput(input, gradOutput)
  self.gradInput:resizeAs(input)
  self.mean, self.spread = unpack(self.gradInput:split(self.rows, 2))
  self.mean:copy(gradOutput)
  self.spread:copy(gradOutput):mul(2):cmul(gradOutput)
  return self.gradInput
end
local halves = nn.Halves()
local x = torch.range(1, 12):resize(2, 2, 3)
print(halves:forward(x))
print(halves:backward(x, torch.range(1, 6):resize(2, 3)))

-- # sizes to repeat, and fewer pieces than names
local sizes, x = torch.LongStorage{2, 2}, torch.range(1, 4)
print(torch.range(1, 3):repeatTensor(sizes), torch.repeatTensor(torch.ones(1), sizes))
local a, b, c = unpack(x:split(2))
print(b, c)
local list = {}
for i = 1, 2 do list[#list + 1] = i end
local d, e, f = unpack(list)
print(e, f == nil)

-- # another layer like one that is there
require 'nn'
local Scale, parent = torch.class('nn.ScaleLikeIt', 'nn.Module')
function Scale:__init(n) parent.__init(self) self.n = n end
local function again(m)
  if torch.type(m) == 'nn.Linear' then return m.new(m.weight:size(2), 1) end
  return m.new(m.n + 1)
end
print(again(nn.Linear(3, 2)).weight:size(2), again(nn.ScaleLikeIt(3)).n)
local layer, net = nn.Linear(2, 2), nn.Sequential():add(nn.Linear(5, 2))
print(layer.new(4, 1).weight:size(2), net:get(1).new(6, 1).weight:size(2), torch.FloatStorage{1, 2}:size(1))

-- # parameters drawn as in the first years, or not
require 'nn'
if nn.oldSeed then print('old') else print('new') end
nn.oldSeed = true
if nn.oldSeed then print('old') else print('new') end
nn.oldSeed = false
if nn.oldSeed then print('old') else print('new') end

-- # a layer's own fields and methods like __size
require 'nn'
local L, parent = torch.class('nn.PLin', 'nn.Module')
function L:__init(k) parent.__init(self); self.__k = k; self._k = 2; self.__buf = torch.Tensor() end
function L:__scale(x) return x * self.__k end
function L:updateOutput(x) self.output:resizeAs(x):copy(self:__scale(x)):mul(self._k); self.__calls = (self.__calls or 0) + 1; return self.output end
function L:updateGradInput(x, g) self.gradInput:resizeAs(g):copy(g):mul(self.__k * self._k); return self.gradInput end
local M, mp = torch.class('nn.PLin2', 'nn.PLin')
function M:__init(k, b) mp.__init(self, k); self.__b = b end
function M:__scale(x) return mp.__scale(self, x) + self.__b + self.__k end
local m = nn.PLin2(3, 1)
print(m:forward(torch.ones(2)))
print(m:backward(torch.ones(2), torch.ones(2)), m.__calls)
local s = nn.Sequential():add(m):add(nn.PLin(2))
local c = s:clone()
print(c:forward(torch.ones(2)), c:get(1).__calls, c:get(1).__b, c:get(2).__b)
local t = {}
for k in pairs(m) do if k:sub(1, 2) == '__' then t[#t + 1] = k end end
table.sort(t); print(table.concat(t, ' '))
local name = '__' .. 'b'
print(m[name], rawget(m, '__k'))
m[name] = 5
print(m.__b, m:forward(torch.zeros(1)))
m.__b = nil
print(m.__b, m['__b'])
local obj = {__hidden = 1, _x = 2}
for k, v in pairs(obj) do if k == '__hidden' then print(k, v) end end
print(obj.__hidden, torch.serialize(m, 'ascii'):find('__calls') ~= nil)
m.__fn = function(self) return self.__k end
print(rawget(m, '_k'), rawget(m, '__k'), m:__fn())
local P = torch.class('PObj')
function P:__init() self.__a = 1; self['while'] = 2; self.b = 3 end
local p = _G.PObj()
local t = {}
for k, v in pairs(p) do t[#t + 1] = k .. v end
table.sort(t) print(table.concat(t, ' '), rawget(p, '__a'))
local q = torch.deserialize(torch.serialize(p))
print(q.__a, q['while'], q.b)

-- # what the program puts into a net is of the type that it has there
local function make()
  local sizes, layers, net = {3, 2}, {}, nn.Sequential()
  sizes[0] = 4
  for i = 1, #sizes do layers[i] = nn.Linear(sizes[i - 1], sizes[i]) net:add(layers[i]) end
  net.sizes, net.layers = sizes, layers
  net.tell = function(self, x) return x + #self.sizes end
  return net
end
local function count(net)
  local n = 0
  for i = 1, #net.sizes do n = n + net.layers[i].weight:nElement() end
  for i = 0, #net.sizes do n = n * 10 + net.sizes[i] end
  return n, net:tell(3), net.tell(net, 4)
end
print(count(make()))

-- # names of classes in a table that a program fills by a count; nn that comes behind the seed
if nowhere then require 'cunn' end
torch.manualSeed(1)
require 'nn'
require 'optim'
local first = torch.uniform()
local names, count = {}, 0
for _, name in ipairs{'cat', 'dog', 'cat'} do
  local known = false
  for i = 1, count do known = known or names[i] == name end
  if not known then count = count + 1 names[count] = name end
end
local confusion = optim.ConfusionMatrix(names)
confusion:add(torch.Tensor{1, 2}, 2)
print(confusion, first > 0)

-- # methods of nets that give nothing
require 'nn'
local m = nn.Sequential():add(nn.Tanh()):add(nn.Linear(2, 2)):add(nn.Tanh())
print(m:remove(1))
print(m:insert(nn.Tanh(), 1))
print(m:zeroGradParameters())
print(m:training(), m:evaluate())
print(m:training() == nil, (m:evaluate()))
local x = m:updateParameters(0.1)
local n = 0
print(x, m:apply(function() n = n + 1 end), n)
m:applyToModules(function() n = n + 1 end)
print(1, n, m:training())
local c = nn.CriterionTable(nn.MSECriterion())
local pair = {torch.ones(2), torch.zeros(2)}
print(c:forward(pair), c:backward(pair)[1])

-- # weights filled from a row of numbers
require 'nn'
local table, linear = nn.LookupTable(4, 2), nn.Linear(2, 3)
table.weight:copy(torch.range(1, 8))
nn.Sequential():add(linear):get(1).weight:copy(torch.range(1, 6):mul(2))
print(table.weight, linear.weight)

-- # sizes of layers: those that some have, and those that are computed
require 'nn'
local net = nn.Sequential():add(nn.SpatialConvolution(1, 2, 3, 3)):add(nn.Linear(2, 3)):add(nn.SpatialMaxPooling(2, 2))
local function fan(m) return (m.nInputPlane or m.weight:size(2)) * (m.kW or 1) * (m.kH or 1) end
for i, m in ipairs(net.modules) do
  if m.kW then print(i, m.kW, m.kH .. 'x' .. m.kW) end
  if m.nOutputPlane == nil then print(i, 'no planes', torch.type(m)) end
  if m.weight then print(fan(m), math.sqrt(2 / fan(m))) end
  print(m.padW, m.dW)
end
local conv = net:get(1)
conv.padW = (conv.kW - 1) / 2
conv.padH = (conv.kH - 1) / 2
print(conv.padW, conv)
for _, m in pairs(net:findModules('nn.SpatialConvolution')) do
  local n = m.kW * m.kH * m.nOutputPlane
  m.weight:normal(0, math.sqrt(2 / n))
  print(n, n / 4, m.kW * 0.5)
end
local function describe(l) return l.kW and ('conv ' .. l.kW) or 'other' end
print(describe(net:get(1)), describe(net:get(2)))

-- # criterions that give more than the loss
require 'nn'
local C, parent = torch.class('nn.WCriterion', 'nn.ClassNLLCriterion')
function C:__init(w, weights) parent.__init(self, weights) self.w = w end
function C:updateOutput(input, target)
  local a, b = parent.updateOutput(self, input, target)
  return a * self.w, b
end
local D, parent = torch.class('nn.DCriterion', 'nn.ClassNLLCriterion')
function D:updateOutput(input, target)
  return parent.updateOutput(self, input, target)
end
local c, d = nn.WCriterion(2, torch.Tensor{1, 2, 1}), nn.DCriterion(torch.Tensor{1, 2, 1})
local x, y = torch.Tensor{{-1, -2, -3}, {-3, -2, -1}}, torch.Tensor{1, 2}
local loss, total = c:forward(x, y)
print(loss, total)
print(d:forward(x, y))
local l = d:forward(x, y)
print(l)
local m = nn.MultiCriterion():add(c):add(d, 0.5)
print(m:forward(x, y))
local p = nn.ParallelCriterion():add(c):add(d, 0.5)
print(p:forward({x, x}, {y, y}))

-- # lists of which the second entry comes first
require 'nn'
local net = nn.ConcatTable():add(nn.Identity()):add(nn.Linear(2, 2)):add(nn.Identity())
net:get(2).weight:fill(0.5)
net:get(2).bias:fill(0.25)
local C = torch.class("P")
function C:__init(n)
  self.n = n
  self.dx = {}
  for t = 1, n do
    self.dx[t] = {}
    self.dx[t][2] = torch.ones(2)
  end
  self.hidden = self:states()
end
function C:states()
  local new = {}
  for t = 0, self.n do
    new[t] = {}
    for h = 1, 2 do new[t][h] = torch.ones(2) * h end
  end
  return new
end
function C:back(step)
  for t = self.n, 1, -1 do
    local out = net:forward(self.hidden[t][1])
    self.dx[t][1] = out[1] * 2
    self.dx[t][3] = out[3]
    print(#self.dx[t], self.dx[t][3][1])
    self.hidden[t - 1] = {net:backward(self.hidden[t][1], self.dx[t]):clone()}
    print(self.hidden[t - 1][1])
  end
end
function C:all(x)
  for t = 1, #x do print(#x[t], x[t][1][1]) end
end
local p = P(2)
p:back()
p:all(p.dx)
p:all(p.hidden and {{torch.ones(1)}})

-- # layers that call the constructor of a class above their parent
require 'nn'
local L, parent = torch.class('nn.LinearNoB', 'nn.Linear')
function L:__init(i, o)
  nn.Module.__init(self)
  self.weight = torch.Tensor(o, i):fill(1)
  self.gradWeight = torch.Tensor(o, i):zero()
end
function L:updateOutput(input) self.output = torch.mv(self.weight, input) return self.output end
function L:updateGradInput(input, g) self.gradInput = self.weight:t() * g return self.gradInput end
function L:accGradParameters(input, g, scale) self.gradWeight:addr(g, input) end
function L:type(t, c)
  print('type', t)
  return nn.Module.type(self, t, c)
end
local C, parent = torch.class('nn.MyC', 'nn.Sequential')
function C:__init(n)
  nn.Container.__init(self)
  for i = 1, n do self:add(nn.LinearNoB(2, 2)) end
end
function C:updateOutput(x)
  return nn.Sequential.updateOutput(self, x)
end
local c = nn.MyC(2)
print(c:forward(torch.ones(2)))
print(c:backward(torch.ones(2), torch.ones(2)))
print(#c:parameters(), c:get(1).bias, c:get(1).gradWeight)
c:float()
print(c:forward(torch.ones(2):float()), c)

-- # both results of a criterion that is made where it is used
require 'nn'
local x, y = torch.log(torch.Tensor{{0.5, 0.25, 0.25}, {0.125, 0.75, 0.125}}), torch.Tensor{1, 2}
print(nn.ClassNLLCriterion(torch.Tensor{1, 2, 3}, false):forward(x, y))

-- # tables that layers pass on
require 'nn'
require 'dpnn'
local x = torch.range(1, 6):resize(2, 3)
local checked = nn.NaN(nn.ConcatTable():add(nn.Identity()):add(nn.Tanh()))
local out = checked:forward(x)
print(#out, out[2][1][1])
local rows = nn.DontCast(nn.SplitTable(1)):forward(x)
print(#rows, rows[1])
print(#nn.SelectTable(2):forward{x, {x, x, x}}, #nn.SelectTable(1):forward{x, x})
local same = nn.Identity()
print(#same:forward({x, x, x}), #same:forward(x))
local back = nn.ReverseTable():forward{x, rows[2]}
print(#back, back[1])

-- # a class of nn that the program puts in another's place, and functions of the same name
require 'nn'
local tests = {}
function tests.Linear() print(nn.Sequential():add(nn.Linear(2, 3))) end
function tests.Tanh() return nn.Tanh(), nn.Sigmoid() end
tests.Linear()
print(nn.Sequential():add(nn.Tanh()))
local linear, tanh = nn.Linear, nn.Tanh
nn.Linear, nn.Tanh = nn.LinearWeightNorm, nn.Sigmoid
print(nn.Sequential():add(nn.Linear(2, 3)):add(nn.Tanh()))
nn.Linear, nn.Tanh = linear, tanh

-- # functions of nn that give no layers
require 'nn'
local full, pairs_of = nn.tables.full(2, 3), nn.tables.oneToOne(3)
print(full:size(1), full:dim(), full[4][2], pairs_of:size(1), nn.tables.random(3, 2, 2):size(1))
print(nn.utils.addSingletonDimension(torch.ones(3)):size(1))
print(nn.utils.contiguousView(torch.Tensor(), torch.ones(3, 2), 6):size(1))

-- # a package that the program chooses, given to functions and in a table
require 'nn'
local opt = {backend = 'nn'}
local backend
if opt.backend == 'nn' then backend = nn else require 'cudnn' backend = cudnn end
local function make(b, n)
  local m = b.Sequential()
  m:add(b.Linear(n, 2))
  m:add(b.Tanh())
  return m
end
local net = make(backend, 3)
print(#net.modules, torch.type(net:get(2)))
local c = backend.MSECriterion()
print(torch.type(c))
local pkg = opt.backend == 'cudnn' and cudnn or nn
print(torch.type(pkg.ReLU()))
local function build(conf) return conf.lib.Linear(2, 2) end
print(torch.type(build{lib = nn}))

-- # adding nil to a container
require 'nn'
print(#nn.ConcatTable():add(nil).modules, #nn.Container():add(nn.Identity()):add(nil).modules)
local class, parent = torch.class('Net', 'nn.Container')
function class:__init(net) parent.__init(self) self.net = net self:add(net) end
print(#_G.Net().modules, #_G.Net(nn.Tanh()).modules)

-- # tables with a field `modules`, and nets
require 'nn'
local F = {}
function F.load(p)
  if p.name == 'A' then return p.modules[1] end
  return #p.modules == 2 and p.modules[2] or p.modules[1]
end
local saved = {models = {a = {name = 'A', modules = {nn.Linear(2, 2)}}, b = {modules = {nn.Tanh(), nn.Identity()}}}}
local path = os.tmpname()
torch.save(path, saved)
local c = torch.load(path)
os.remove(path)
for _, k in ipairs{'a', 'b'} do print(torch.type(F.load(c.models[k]))) end

-- # a method of its own that a net loses again
require 'nn'
local store = {}
local function wrap(store, net)
  store.net = net
  store.forward = net.forward
  net.forward = function(self, x) store.x = x return store.forward(self, x) end
end
local desc = {a = {}, b = {}}
wrap(desc.a, nn.Sequential():add(nn.Identity()))
desc.b[1] = {}
wrap(desc.b[1], nn.Tanh())
for _, name in ipairs{'a', 'b'} do
  local d = desc[name]
  local net = d.net or d[1].net
  print(net:forward(torch.zeros(1)):sum())
  net[({a = 'forward', b = 'forward'})[name]] = nil
  print(net:forward(torch.ones(1)):sum() > 0)
end
print(desc.a.x:sum(), desc.b[1].x:sum())

-- # sizes that a layer keeps and changes
require 'nn'
local Joined, parent = torch.class('nn.Joined', 'nn.Module')
function Joined:__init(dimension)
  parent.__init(self)
  self.dimension = dimension
  self.size = torch.LongStorage()
end
function Joined:updateOutput(input)
  for i, x in ipairs(input) do
    if i == 1 then
      self.size:resize(x:dim()):copy(x:size())
    else
      self.size[self.dimension] = self.size[self.dimension] + x:size(self.dimension)
    end
  end
  self.output:resize(self.size)
  local offset = 1
  for _, x in ipairs(input) do
    self.output:narrow(self.dimension, offset, x:size(self.dimension)):copy(x)
    offset = offset + x:size(self.dimension)
  end
  return self.output
end
local net = nn.Joined(2)
print(net:forward{torch.ones(2, 1), torch.zeros(2, 3)}, net.size:totable()[2])
local size = torch.LongStorage()
size:resize(3)
size:fill(2)
size[1] = 1
print(torch.ones(size):sum(), #size)
local x = torch.ones(3, 4)
size:resize(2)
size:copy(x:size())
print(size[1], size[2], #size)

-- # a layer of tables derives from one, and keeps what a function makes of what it kept
require 'nn'
local Scaled, parent = torch.class('nn.ScaledSum', 'nn.CAddTable')
function Scaled:__init(factor)
  parent.__init(self)
  self.factor = factor
end
function Scaled:updateOutput(input)
  parent.updateOutput(self, input)
  return self.output:mul(self.factor)
end
function Scaled:updateGradInput(input, gradOutput)
  parent.updateGradInput(self, input, gradOutput)
  for i = 1, #self.gradInput do self.gradInput[i]:mul(self.factor) end
  return self.gradInput
end
local Pairs, parent = torch.class('nn.PairsWith', 'nn.Module')
local function zeros(to, from)
  if not to or torch.type(to) ~= torch.type(from) then to = from.new() end
  return to:resizeAs(from):zero()
end
function Pairs:updateOutput(input)
  self.output = {}
  for i, x in ipairs(input[1]) do self.output[i] = {x, input[2]} end
  return self.output
end
function Pairs:updateGradInput(input, gradOutput)
  self.all = zeros(self.all, input[2])
  self.each = {}
  for i = 1, #input[1] do
    self.each[i] = gradOutput[i][1]
    self.all:add(gradOutput[i][2])
  end
  self.gradInput = {self.each, self.all}
  return self.gradInput
end
local sum = nn.ScaledSum(0.5)
local x = {torch.ones(2), torch.ones(2)}
print(sum:forward(x):sum(), sum:backward(x, torch.ones(2))[2]:sum())
local pairs_with = nn.PairsWith()
local input = {x, torch.ones(3)}
print(#pairs_with:forward(input))
for i = 1, 2 do
  local made = pairs_with:backward(input, {{x[1], input[2]}, {x[2], input[2]}})
  print(made[2]:sum(), made[1][2]:sum())
end

-- # a net that gives up the memory of its gradients, and gets it again
require 'nn'
local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.ReLU())
net:apply(function(m)
  if m.gradWeight then m.gradWeight = m.gradWeight.new() end
  if m.gradBias then m.gradBias = m.gradBias.new() end
end)
print(net:get(1).gradWeight:nElement(), net:forward(torch.ones(3)):nElement())
net:apply(function(m)
  if m.gradWeight then m.gradWeight = m.gradWeight.new(m.weight:size()):zero() end
  if m.gradBias then m.gradBias = m.gradBias.new(m.bias:size()):zero() end
end)
net:get(1).weight:fill(1)
net:forward(torch.ones(3))
net:backward(torch.ones(3), torch.ones(2))
print(net:get(1).gradWeight:sum() >= 0, net:get(1).gradBias:nElement())

-- # classes of nn in variables, parameters and fields
local function createModel(nn, n)
  local model = nn.Sequential()
  model:add(nn.Linear(n, 4)):add(nn.ReLU(true))
  local branch = nn.ConcatTable()
  branch:add(nn.Identity()):add(nn.Linear(4, 4))
  model:add(branch):add(nn.CAddTable())
  return model
end
local m = createModel(nn, 3)
print(m:forward(torch.ones(2, 3)):size(), #m.modules)
local M = {}
function M.make(backend, n)
  local net = backend.Sequential()
  local conv = backend.SpatialConvolution
  net:add(conv(1, n, 3, 3))
  net:add(backend.ReLU())
  return net
end
print(M.make(nn, 2):forward(torch.ones(1, 5, 5)):size())
local opt = {gpu = false}
local Conv, Pool
if opt.gpu then
  Conv = cudnn.SpatialConvolution
  Pool = cudnn.SpatialMaxPooling
else
  Conv = nn.SpatialConvolutionMM
  Pool = nn.SpatialMaxPooling
end
local ReLU = opt.gpu and cudnn.ReLU or nn.ReLU
local net = nn.Sequential()
net:add(Conv(1, 2, 3, 3))
net:add(ReLU(true))
net:add(Pool(2, 2))
local function block(layer, n) return nn.Sequential():add(layer(n, n)):add(ReLU()) end
print(net:forward(torch.ones(1, 6, 6)):size())
print(block(nn.Linear, 3):forward(torch.ones(2, 3)):size())
local conv = Conv(1, 1, 3, 3)
print(conv.weight:size())
local M = {layer = nn.Linear}
print(M.layer(2, 3).weight:size(1))

-- # arguments that a net does not take
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 2))
net:get(1).weight:fill(1) net:get(1).bias:zero()
local mode = 'train'
print(net:forward(torch.ones(1, 2), mode), net:forward(torch.ones(1, 2), 'test', 3))
print(net:backward(torch.ones(1, 2), torch.ones(1, 2), 2, mode))
local crit = nn.MSECriterion()
print(crit:forward(torch.ones(2), torch.zeros(2)))
local lin = nn.Linear(2, 1)
lin.weight:fill(1) lin.bias:zero()
print(lin:updateGradInput(torch.ones(1, 2), torch.ones(1, 1), 5))

-- # the norm of gradients of a net that a function made single
require 'nn'
local flat, grads
local function setup()
  local net = nn.Linear(300, 700)
  net = net:float()
  flat, grads = net:getParameters()
end
setup()
grads:fill(0.0007)
print(string.format('%.8f', grads:norm()))

-- # an empty table where a layer has no parameters
require 'nn'
function nn.Module:countParameters()
  local n = 0
  for _, p in ipairs(self:parameters() or {}) do n = n + p:nElement() end
  return n
end
print(nn.Linear(2, 2):countParameters(), nn.ReLU():countParameters())
local function count(m)
  local ps = m:parameters() or {}
  local p, g = m:parameters()
  g = g or {}
  return #ps + #g, m:parameters() and #m:parameters() or 'none'
end
print(count(nn.Linear(2, 2))) print(count(nn.ReLU()))
local net = nn.Sequential():add(nn.ReLU()):add(nn.Linear(1, 2))
for i = 1, 2 do for j in ipairs(net:get(i):parameters() or {}) do io.write(i, j, ' ') end end print()
nn.Module.countParameters = nil

-- # defaults for the parameters of a layer that has none; options named by words of Python's
require 'nn'
local ps = nn.Tanh():parameters() or {0}
print(#ps)
local none = {1, 2}
local qs = nn.Tanh():parameters() or none
print(#qs)
for i, p in ipairs(nn.Tanh():parameters() or {torch.zeros(3)}) do print(i, p:size(1)) end
for i, p in ipairs(nn.Linear(2, 2):parameters() or {}) do print(i, p:size(1)) end
local cmd = torch.CmdLine() cmd:option('-lambda', 0.5, 'x') cmd:option('-from', 1, 'z')
local opt = cmd:parse({'-lambda', '2'})
opt.lambda = opt.lambda + 1  opt.pass = 3
print(opt.lambda, opt.pass)   opt.from = nil  print(opt.from)

-- # nets that are copied through memory, criterions under names, and functions that make tensors
require 'nn'
local function copies(net, n)
   local made, memory = {}, torch.MemoryFile('w'):binary()
   memory:writeObject(net)
   for t = 1, n do
      local reader = torch.MemoryFile(memory:storage(), 'r'):binary()
      made[t] = reader:readObject()
      reader:close()
   end
   memory:close()
   return made
end
local protos = {net = nn.Sequential():add(nn.ConcatTable():add(nn.Tanh()):add(nn.Identity())), criterion = nn.MSECriterion()}
local clones = {}
for name, proto in pairs(protos) do clones[name] = copies(proto, 2) end
local function prepare(x) x = x:transpose(1, 2):contiguous() return x end
local loss, state, x = 0, {[0] = {torch.zeros(2)}}, prepare(torch.range(1, 6):view(3, 2))
for t = 1, 2 do
   local out = clones.net[t]:forward(x[t])
   state[t] = {}
   for i = 1, 2 do table.insert(state[t], out[i]) end
   loss = loss + clones.criterion[t]:forward(out[1], out[#out])
end
print(('%.4f'):format(loss / 2), #state[2], state[2][2][3])
local function flat(parameters)
   local Tensor, n = parameters[1].new, 0
   for _, p in ipairs(parameters) do n = n + p:nElement() end
   local all = Tensor(n):fill(1)
   local sums = all:float():cumsum(1)
   return sums[2] + sums[n - 1]
end
print(flat(nn.Linear(2, 2):parameters()))
local function doubled(list)
   local made = {}
   for k, v in pairs(list) do made[k] = v * 2 end
   return made
end
local given = {}
table.insert(given, torch.ones(2))
print(doubled(given)[1][2], #doubled(given))

-- # a criterion of a file gets its target, in a program with a layer of its own
require 'nn'
local Gate, parent = torch.class('nn.FileGate', 'nn.Module')
function Gate:__init() parent.__init(self) end
function Gate:forward(x, mask)
  self.output = torch.cmul(x, mask)
  return self.output
end
local name = os.tmpname()
torch.save(name, {gate = nn.FileGate(), loss = nn.MSECriterion()})
local loaded = torch.load(name)
os.remove(name)
local x, y = torch.ones(2, 3), torch.zeros(2, 3)
local out = loaded.gate:forward(x, x)
print(out:size(2), loaded.loss:forward(out, y) + 1)

-- # a layer of the program's under a computed name
require 'nn'
local Twice, parent = torch.class('nn.NamedTwice', 'nn.Module')
function Twice:updateOutput(x) self.output = x * 2 return self.output end
local parts = {}
for i, name in ipairs{'NamedTwice', 'Tanh'} do parts[name] = nn[name]() end
print(torch.type(parts.NamedTwice), parts.NamedTwice:forward(torch.ones(2)):sum())
local name = os.getenv('THAT_NOBODY_SETS') or 'NamedTwice'
print(nn[name]():forward(torch.ones(3)):sum())

-- # what a net gives, copied into a slice of size 1
require 'nn'
local core = nn.Sequential():add(nn.Linear(3, 3)):add(nn.ConcatTable():add(nn.Tanh()):add(nn.Sigmoid()))
core:get(1).weight:fill(0)
core:get(1).bias:fill(0)
local out = torch.zeros(2, 2, 3)
local function steps(x)
  for t = 1, 2 do
    local y = core:forward(x)
    out:narrow(2, t, 1):copy(y[2])
    out:narrow(2, t, 1):add(1)
  end
end
steps(torch.ones(2, 3))
print(out)

-- # methods of layers that take less than containers give them
require 'nn'
local Plain, parent = torch.class('nn.TakesLess', 'nn.Module')
function Plain:__init(n)
  parent.__init(self)
  self.weight, self.gradWeight = torch.ones(n), torch.zeros(n)
end
function Plain:reset()
  self.weight:fill(1)
  return self
end
function Plain:updateParameters() self.weight:add(-1, self.gradWeight) end
function Plain:updateOutput(x)
  self.output = torch.cmul(x, self.weight)
  return self.output
end
local net = nn.Sequential():add(nn.TakesLess(2)):add(nn.TakesLess(2))
net:get(1).gradWeight:fill(2)
net:updateParameters(0.5)
print(net:forward(torch.ones(2)):sum())
net:reset(0.1)
print(net:forward(torch.ones(2)):sum(), net:get(1).weight:sum())

-- # what nets give that keep the dimensions
require 'nn'
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(4, 6)):add(nn.Tanh()):add(nn.Linear(6, 3)):add(nn.LogSoftMax())
local crit = nn.ClassNLLCriterion()
local x, y = torch.ones(2, 4), torch.Tensor{1, 3}
local out = net:forward(x)
print(out[1]:size(1), ('%.4f'):format(out[1][2]))
local _, best = out[1]:max(1)
print(best[1] <= 3)
local one = net:clone():forward(x[1])
print(('%.4f'):format(one[1] + one[2]))
local loss = crit:forward(out, y)
local df = crit:backward(out, y)
print(df[1][1], df[2][3])
local dx = net:backward(x, df)
print(dx[1]:size(1), ('%.4f'):format(dx[2][1]))
for i = 1, 3 do io.write(('%.3f '):format(one[i])) end print()

-- # nets of layers that are chosen
require 'nn'
local is_fast = os.getenv("NO_SUCH_NAME")
local backend = is_fast and cudnn or nn
local net = nn.Sequential():add(nn.Identity()):add(backend.View(2, 2))
local out = net:forward(torch.range(1, 4))
for i = 1, 2 do print(out[i]:sum()) end
local made = nn.Sequential()
for _, k in ipairs{'Tanh', 'Reshape'} do made:add(nn[k](2, 2)) end
print(made:forward(torch.zeros(4))[1]:size(1))

-- # own criterions that give tensors, among others
require 'nn'
local PC = torch.class('nn.PerPair', 'nn.Criterion')
function PC:updateOutput(x, y) self.output = torch.abs(x - y):sum(2) return self.output end
function PC:updateGradInput(x, y) return torch.sign(x - y) end
local list = {nn.PerPair(), nn.MSECriterion()}
for _, k in ipairs(list) do
   local o = k:forward(torch.ones(2, 3), torch.zeros(2, 3))
   print(torch.type(o), type(o) == 'number' and o or o:sum())
end

-- # a layer without a gradient of its output
require 'nn'
local Own, parent = torch.class('nn.Own', 'nn.Module')
function Own:__init() parent.__init(self) self.weight, self.gradWeight = torch.ones(2), torch.zeros(2) end
function Own:accGradParameters(input, gradOutput, scale)
  self.gradWeight:add(input)
  if gradOutput then self.gradWeight:add(gradOutput) end
end
local own = nn.Own()
print(own:backward(torch.ones(2)))
own:accGradParameters(torch.ones(2))
print(own.gradWeight, own.gradInput)
own:updateParameters(0.5)
print(own.weight)

-- # a layer that makes tensors like those in its input
require 'nn'
local Two, parent = torch.class('nn.LikeItsInputs', 'nn.Module')
function Two:__init() parent.__init(self) self.gradInput = {} end
function Two:updateOutput(input)
   self.output:resizeAs(input[2]):copy(input[2]):add(input[1])
   return self.output
end
function Two:updateGradInput(input, gradOutput)
   for i = 1, 2 do
      self.gradInput[i] = self.gradInput[i] or input[i].new()
      self.gradInput[i]:resizeAs(gradOutput):copy(gradOutput):mul(i)
   end
   return self.gradInput
end
local two, x = nn.LikeItsInputs(), {torch.ones(2), torch.zeros(2)}
print(two:forward(x)[1])
local g = two:backward(x, torch.ones(2))
print(g[1][1], g[2][2])

-- # objects of the program's layers and criterions that are called
require 'nn'
local C, parent = torch.class('nn.Twice', 'nn.Criterion')
function C:updateOutput(input, target) self.output = 2 * (input - target):sum() return self.output end
function C:updateGradInput(input, target) self.gradInput = input:clone():fill(2) return self.gradInput end
local L, above = torch.class('nn.Plus', 'nn.Module')
function L:updateOutput(input) self.output = input + 1 return self.output end
local c, l, net, a = nn.Twice(), nn.Plus(), nn.Sequential():add(nn.Tanh()), torch.ones(2)
print(c(a, l(a)), 'and')
print(c(a, a))
local loss, grad = c(a, torch.zeros(2))
print(loss, grad, #{c(a, a)})
print(l(a) * 2, net(torch.zeros(1))[1])
print(nn.Tanh()(a))

-- # fields of layers behind tests of their names
local net = nn.Sequential()
net:add(nn.SpatialConvolution(3, 4, 3, 3, 1, 1, 1, 1)):add(nn.ReLU()):add(nn.Linear(3, 2))
net:get(1).tag = 'first'
local function show(m, deep)
  deep = (deep == nil) and true or deep
  if m.tag and deep then print(m.tag, #m.tag) end
  if torch.type(m) == 'nn.SpatialConvolution' then
    print(m.nInputPlane, m.kW, m.padW, math.sqrt(2 / (m.kW * m.kH * m.nOutputPlane)))
  elseif torch.typename(m) == 'nn.Linear' then
    print(m.weight:size(1), m.kW)
  end
  if torch.type(m) == 'nn.Linear' or torch.type(m) == 'nn.ReLU' then print(m.weight and 1, m.inplace) end
  if torch.typename(m):find('Conv') or torch.typename(m):match('^nn.Lin') then print(torch.typename(m)) end
  if torch.type(m) ~= 'nn.ReLU' then m = nn.ReLU() end
  print(m.kW, m.inplace)
end
for i = 1, net:size() do show(net:get(i)) end
show(net:get(1), false)
for _, m in ipairs(net.modules) do
  if torch.isTypeOf(m, 'nn.SpatialConvolution') then print(m.dW + 1, m.padH) end
  if m.__typename == 'nn.ReLU' then print(m.threshold, m.val) end
end
for i = #net.modules, 1, -1 do net.modules[i] = nn.Sequential():add(net.modules[i]) end
print(net)

-- # a criterion that gives a list for two tensors
require 'nn'
local Pair = torch.class('nn.PairOfTwo', 'nn.Criterion')
function Pair:updateOutput(mean, var)
  local e = var:clone()
  e:exp():mul(-1)
  e:add(-1, torch.pow(mean, 2))
  self.output = torch.sum(e)
  return self.output
end
function Pair:updateGradInput(mean, var)
  self.gradInput = {}
  self.gradInput[1] = mean:clone()
  self.gradInput[2] = torch.exp(var):mul(-0.5)
  return self.gradInput
end
local net = nn.ConcatTable():add(nn.Linear(2, 2)):add(nn.Linear(2, 2))
net:forward(torch.ones(1, 2))
local mean, var = unpack(net.output)
local pair = nn.PairOfTwo()
local err = pair:forward(mean, var)
local grads = pair:backward(mean, var)
print(#grads, (grads[1] - mean):norm(), type(err))

-- # fields that some layers have, read of any
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Dropout(0.5)):add(nn.BatchNormalization(2))
for _, m in ipairs(net.modules) do print(torch.type(m), m.p, m.eps) end
local function rate(m) return m.p or 'none' end
print(rate(net:get(1)), rate(net:get(2)))

-- # methods that not all layers have
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 3)):add(nn.SpatialConvolution(1, 1, 1, 1))
net:get(1).flag = false
local other = setmetatable({}, {__index = {flag = function() return 1 end}})
print(other:flag())
net:apply(function(m)
  if m.noBias then print(torch.type(m)) m:noBias() end
  if not m.setMode then print('none') end
  if m.flag then print('flag') end
  if m.parameters and m.getParameters then print(#(m:parameters() or {})) end
end)

-- # parameters that are put into one vector by hand
local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Linear(2, 1))
for i, p in ipairs(net:parameters()) do p:fill(i) end
local flat, at = torch.zeros(11), 1
for _, p in ipairs(net:parameters()) do
  local n = p:nElement()
  flat:narrow(1, at, n):copy(p)
  at = at + n
end
print(flat)
local function put(all, first, p) all[{{first, first + p:nElement() - 1}}]:copy(p) end
put(flat, 3, net:get(1).weight:clone():fill(7))
print(flat:sum())

-- # fields of a layer of the program, asked of any layer
local R, parent = torch.class('nn.AskedOf', 'nn.Module')
function R:__init(s) parent.__init(self) self.scale = s or 1 end
function R:updateOutput(x) self.output = x * self.scale return self.output end
for _, m in ipairs{nn.ReLU(), nn.AskedOf(), nn.AskedOf(3)} do
  if m.scale then print('scale', m.scale) end
end
local net = nn.Sequential():add(nn.AskedOf(2)):add(nn.Tanh())
net:apply(function(m) if m.scale then m.scale = m.scale * 2 end end)
for _, m in ipairs(net.modules) do print(m.scale) end
local function show(m) print(m.scale) end
show(net:get(1)) show(nn.Tanh())

-- # methods that rawset takes away
require 'nn'
local net = nn.Sequential():add(nn.Linear(2, 3))
rawset(net:get(1), 'noBias', false)
if net:get(1).noBias then print('there') else print('gone') end

-- # a number of what a variable is that begins as nil
require 'nn'
local net = nn.Sequential():add(nn.ParallelTable():add(nn.Identity()):add(nn.Identity()))
local function pick(n, temp)
  local prev
  for i = 1, n do
    local o = net:forward{torch.ones(2), torch.ones(2):mul(i)}
    prev = o[2]
  end
  if temp == 0 then return prev:max(1)[1] end
  local p = torch.exp(prev / temp):squeeze()
  return p:div(p:sum())[1]
end
print(pick(2, 0), pick(1, 2))

-- # a table of the program's in a package
require 'nn'
nn.helpers = {names = {}}
nn.helpers.version = 2
function nn.helpers.add(a, b)
  table.insert(nn.helpers.names, a)
  return a + (b or 1)
end
print(nn.helpers.add(1), nn.helpers.add(2, 3), #nn.helpers.names, nn.helpers.version, nn.helpers.none)

-- # a container that calls what is in it with rethrowErrors
require 'nn'
local Twice, parent = torch.class('nn.RethrownTwice', 'nn.Container')
function Twice:__init(inner)
  parent.__init(self)
  self:add(inner)
end
function Twice:updateOutput(x)
  self.output = self:rethrowErrors(self.modules[1], 1, 'updateOutput', x) * 2
  return self.output
end
function Twice:updateGradInput(x, g)
  self.gradInput = self:rethrowErrors(self.modules[1], 1, 'updateGradInput', x, g * 2)
  return self.gradInput
end
local twice = nn.RethrownTwice(nn.Sequential():add(nn.Tanh()))
local x = torch.ones(2)
print(twice:forward(x):sum(), twice:backward(x, x):sum())

-- # an optimizer of a computed name
require 'optim'
local w = torch.Tensor{3, -2}
local losses = 0
for _, name in ipairs{'sgd', 'adam', 'lbfgs'} do
  local _, found = optim[name](function(p) return p:dot(p), p * 2 end, w, {learningRate = 0.1, maxIter = 2})
  losses = losses + found[1] / 2
end
print(losses)
