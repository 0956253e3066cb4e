-- Clones over time, tables of tables, tensors as states.
require 'nn'
require 'nngraph'
torch.manualSeed(2)
local function lstm(input_size, rnn_size)
  local x, prev_c, prev_h = nn.Identity()(), nn.Identity()(), nn.Identity()()
  local i2h = nn.Linear(input_size, 4 * rnn_size)(x)
  local h2h = nn.Linear(rnn_size, 4 * rnn_size)(prev_h)
  local sums = nn.CAddTable()({i2h, h2h})
  local reshaped = nn.Reshape(4, rnn_size)(sums)
  local n1, n2, n3, n4 = nn.SplitTable(2)(reshaped):split(4)
  local c = nn.CAddTable()({nn.CMulTable()({nn.Sigmoid()(n1), prev_c}), nn.CMulTable()({nn.Sigmoid()(n2), nn.Tanh()(n4)})})
  local h = nn.CMulTable()({nn.Sigmoid()(n3), nn.Tanh()(c)})
  return nn.gModule({x, prev_c, prev_h}, {c, h})
end
local B, T, D, H = 2, 3, 4, 5
local proto = lstm(D, H)
local params, grads = proto:getParameters()
params:uniform(-0.1, 0.1)
local clones = {}
for t = 1, T do clones[t] = proto:clone('weight', 'bias', 'gradWeight', 'gradBias') end
local xs = {}
for t = 1, T do xs[t] = torch.randn(B, D) end
local state = {[0] = {torch.zeros(B, H), torch.zeros(B, H)}}
for t = 1, T do
  local out = clones[t]:forward({xs[t], unpack(state[t - 1])})
  state[t] = {}
  for i, s in ipairs(out) do state[t][i] = s end
end
print(state[T][2], state[T][1]:sum())
grads:zero()
local d = {[T] = {torch.zeros(B, H), torch.ones(B, H)}}
for t = T, 1, -1 do
  local g = clones[t]:backward({xs[t], unpack(state[t - 1])}, d[t])
  d[t - 1] = {}
  for k, v in pairs(g) do if k > 1 then d[t - 1][k - 1] = v end end
end
print(('%.8f %.8f'):format(grads:norm(), d[0][1]:norm()))
local history = {}
for t = 1, T do history[#history + 1] = {loss = state[t][2]:sum(), t = t} end
table.sort(history, function(a, b) return a.loss > b.loss end)
for rank, h in ipairs(history) do print(rank, h.t, ('%.5f'):format(h.loss)) end
