-- nngraph nets with several inputs and outputs
require 'nngraph'
torch.manualSeed(5)
local function cell(n)
   local x, h, c = nn.Identity()(), nn.Identity()(), nn.Identity()()
   local gates = nn.CAddTable()({nn.Linear(n, 4 * n)(x), nn.Linear(n, 4 * n)(h)})
   local r = nn.Reshape(4, n)(gates)
   local i, f, o, g = nn.SplitTable(2)(r):split(4)
   i, f, o, g = nn.Sigmoid()(i), nn.Sigmoid()(f), nn.Sigmoid()(o), nn.Tanh()(g)
   local nc = nn.CAddTable()({nn.CMulTable()({f, c}), nn.CMulTable()({i, g})})
   local nh = nn.CMulTable()({o, nn.Tanh()(nc)})
   return nn.gModule({x, h, c}, {nh, nc})
end
local net = cell(3)
local params, grads = net:getParameters()
params:uniform(-0.2, 0.2)
print(params:nElement())
local x, h, c = torch.randn(2, 3), torch.zeros(2, 3), torch.zeros(2, 3)
local out = net:forward({x, h, c})
print(#out, out[1]:size(1), out[2]:size(2), string.format('%.5f %.5f', out[1]:sum(), out[2]:sum()))
local nh, nc = unpack(out)
grads:zero()
local gin = net:backward({x, h, c}, {torch.ones(2, 3), torch.zeros(2, 3)})
print(#gin, string.format('%.5f %.5f %.5f', gin[1]:sum(), gin[2]:norm(), gin[3]:sum()))
print(string.format('%.5f', grads:norm()))
-- two outputs, one a table's part
local a = nn.Identity()()
local left = nn.Linear(3, 2)(a)
local right = nn.Tanh()(nn.Linear(3, 2)(a))
local joined = nn.JoinTable(2)({left, right})
local m = nn.gModule({a}, {joined, right})
local y = m:forward(x)
print(y[1]:size(2), y[2]:size(2), y[1][{{}, {3, 4}}]:equal(y[2]))
local crit = nn.ParallelCriterion():add(nn.MSECriterion(), 0.5):add(nn.MSECriterion())
local t = {torch.zeros(2, 4), torch.zeros(2, 2)}
local loss = crit:forward(y, t)
m:zeroGradParameters()
local g = m:backward(x, crit:backward(y, t))
print(string.format('%.5f %.5f', loss, g:sum()))
for i, node in ipairs(m.forwardnodes) do
   if node.data.module then io.write(torch.type(node.data.module), ' ') end
end
print()
-- steps over time with clones
local T = 3
local clones = {}
for s = 1, T do clones[s] = net:clone('weight', 'bias', 'gradWeight', 'gradBias') end
local hs, cs = {[0] = h}, {[0] = c}
for s = 1, T do
   local o = clones[s]:forward({x, hs[s - 1], cs[s - 1]})
   hs[s], cs[s] = o[1], o[2]
end
print(string.format('%.5f', hs[T]:sum()))
local dh, dc = hs[T]:clone():fill(1), cs[T]:clone():zero()
grads:zero()
for s = T, 1, -1 do
   local _
   _, dh, dc = unpack(clones[s]:backward({x, hs[s - 1], cs[s - 1]}, {dh, dc}))
end
print(string.format('%.5f %.5f', dh:sum(), grads:norm()))
