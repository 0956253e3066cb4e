-- What benchmarks/lua.py measures, in Lua: for our runtime, and for a Lua Torch7 that runs this file with `serve` as its argument.
require 'torch'
require 'nn'
require 'nngraph'
local optim = require 'optim'
local here = BENCHMARKS or arg[0]:match('.*/') or './'
local serve = dofile(here .. 'serve.lua')
torch.setnumthreads(1)
torch.setdefaulttensortype('torch.FloatTensor')
local CLOCKS = serve.clocks

-- Costs: each runs an operation n times.
local x, s, m = torch.FloatTensor(1000):fill(1), torch.Tensor(10):fill(1), torch.Tensor(10, 10):fill(1)
local r = torch.Tensor(10, 10)
local large = torch.FloatTensor(100000):fill(1)
local COSTS = {
   {'x:size(1)', function(n) for _ = 1, n do x:size(1) end end},
   {'x[5]', function(n) for _ = 1, n do local _ = x[5] end end},
   {'x[5] = 1', function(n) for _ = 1, n do x[5] = 1 end end},
   {'m[{{1, 3}, 2}]', function(n) for _ = 1, n do local _ = m[{{1, 3}, 2}] end end},
   {'x:narrow(1, 2, 5)', function(n) for _ = 1, n do x:narrow(1, 2, 5) end end},
   {'pointer loop, 1000', function(n)
      local p = x:data()
      for _ = 1, n do for i = 0, 999 do p[i] = p[i] * 1 end end
   end},
   {'s:add(1)', function(n) for _ = 1, n do s:add(1) end end},
   {'s:cmul(s)', function(n) s:fill(1) for _ = 1, n do s:cmul(s) end end},
   {'x:add(x), 1000', function(n) x:zero() for _ = 1, n do x:add(x) end end},
   {'x:sum(), 1000', function(n) for _ = 1, n do x:sum() end end},
   {'m:max(1)', function(n) for _ = 1, n do m:max(1) end end},
   {'r:mm(m, m)', function(n) for _ = 1, n do r:mm(m, m) end end},
   {'s + s', function(n) for _ = 1, n do local _ = s + s end end},
   {'torch.Tensor(10)', function(n) for _ = 1, n do torch.Tensor(10) end end},
   {'torch.zeros(10)', function(n) for _ = 1, n do torch.zeros(10) end end},
   {'large:add(large), 100000', function(n) large:zero() for _ = 1, n do large:add(large) end end},
   {'large + large, 100000', function(n) for _ = 1, n do local _ = large + large end end},
}

-- What goes between a script and nets: fields, tables in them, calls.
local holder, sum, one = nn.Identity(), nn.CAddTable(), torch.ones(4)
holder.number, holder.tensor, holder.list = 1, one, {}
for i = 1, 100 do holder.list[i] = one end
local list, pair = holder.list, {one, one}
local BETWEEN = {
   {'a field, number', function(n) for _ = 1, n do local _ = holder.number end end},
   {'a field, tensor', function(n) for _ = 1, n do local _ = holder.tensor end end},
   {'a field = number', function(n) for _ = 1, n do holder.number = 2 end end},
   {'a table in a field', function(n) for _ = 1, n do local _ = holder.list end end},
   {'an entry of it', function(n) for i = 1, n do local _ = list[i % 100 + 1] end end},
   {'m.list[i]', function(n) for i = 1, n do local _ = holder.list[i % 100 + 1] end end},
   {'an entry of it = tensor', function(n) for i = 1, n do list[i % 100 + 1] = one end end},
   {'nn.Identity():forward(x)', function(n) for _ = 1, n do holder:forward(one) end end},
   {'nn.CAddTable():forward{x, x}', function(n) for _ = 1, n do sum:forward(pair) end end},
   {'parameters()', function(n) for _ = 1, n do holder:parameters() end end},
}
for _, cost in ipairs(BETWEEN) do table.insert(COSTS, cost) end
if torch._t7 then
   local call, nothing = torch._t7.call, torch._t7.raw_import('builtins').abs
   table.insert(COSTS, {'Lua to Python', function(n) for _ = 1, n do call(nothing, 1) end end})
end

-- Steps ------------------------------------------------------------------------------------------------------

local function lenet()
   return nn.Sequential()
      :add(nn.SpatialConvolution(1, 6, 5, 5, 1, 1, 2, 2)):add(nn.Tanh()):add(nn.SpatialMaxPooling(2, 2, 2, 2))
      :add(nn.SpatialConvolution(6, 16, 5, 5)):add(nn.Tanh()):add(nn.SpatialMaxPooling(2, 2, 2, 2))
      :add(nn.View(16 * 5 * 5))
      :add(nn.Linear(16 * 5 * 5, 120)):add(nn.Tanh()):add(nn.Linear(120, 84)):add(nn.Tanh()):add(nn.Linear(84, 10))
      :add(nn.LogSoftMax())
end

local STEPS = {}
function STEPS.LeNet(batch)
   local net, criterion = lenet(), nn.ClassNLLCriterion()
   local images, labels = torch.randn(batch, 1, 28, 28), torch.Tensor(batch):random(1, 10)
   local parameters, gradients = net:getParameters()
   local config = {learningRate = 0.01, momentum = 0.9, dampening = 0}
   local function feval()
      gradients:zero()
      local output = net:forward(images)
      local loss = criterion:forward(output, labels)
      net:backward(images, criterion:backward(output, labels))
      return loss, gradients
   end
   return function() optim.sgd(feval, parameters, config) end
end

-- An LSTM, unrolled: a clone for each character, as char-rnn does.
local VOCABULARY, SIZE, LENGTH = 50, 64, 10
local function cell()
   local x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
   local sums = nn.CAddTable()({nn.Linear(VOCABULARY, 4 * SIZE)(x), nn.Linear(SIZE, 4 * SIZE)(h)})
   local function part(k) return nn.Narrow(2, k * SIZE + 1, SIZE)(sums) end
   local take, keep, show = nn.Sigmoid()(part(0)), nn.Sigmoid()(part(1)), nn.Sigmoid()(part(2))
   local new_c = nn.CAddTable()({nn.CMulTable()({keep, c}), nn.CMulTable()({take, nn.Tanh()(part(3))})})
   local new_h = nn.CMulTable()({show, nn.Tanh()(new_c)})
   return nn.gModule({x, c, h}, {new_c, new_h, nn.LogSoftMax()(nn.Linear(SIZE, VOCABULARY)(new_h))})
end

STEPS['char-rnn'] = function(batch)
   local net = cell()
   local parameters, gradients = net:getParameters()
   local cells, criterions, inputs, targets = {}, {}, {}, {}
   for t = 1, LENGTH do
      cells[t], criterions[t] = net:clone('weight', 'bias', 'gradWeight', 'gradBias'), nn.ClassNLLCriterion()
      inputs[t] = torch.zeros(batch, VOCABULARY)
      for i = 1, batch do inputs[t][i][(i + t) % VOCABULARY + 1] = 1 end
      targets[t] = torch.Tensor(batch):fill(t + 1)
   end
   local zeros = torch.zeros(batch, SIZE)
   local function feval()
      gradients:zero()
      local c, h, outputs, states, loss = zeros, zeros, {}, {}, 0
      for t = 1, LENGTH do
         states[t] = {inputs[t], c, h}
         c, h, outputs[t] = unpack(cells[t]:forward(states[t]))
         loss = loss + criterions[t]:forward(outputs[t], targets[t])
      end
      local dc, dh = zeros, zeros
      for t = LENGTH, 1, -1 do
         local dy = criterions[t]:backward(outputs[t], targets[t])
         local _
         _, dc, dh = unpack(cells[t]:backward(states[t], {dc, dh, dy}))
      end
      gradients:clamp(-5, 5)
      return loss / LENGTH, gradients
   end
   local config = {learningRate = 2e-3, alpha = 0.95}
   return function() optim.rmsprop(feval, parameters, config) end
end

-- Serving ----------------------------------------------------------------------------------------------------

local measure = {step = serve.steps(STEPS)}
-- Seconds for n times an operation.
function measure.cost(clock, number, n)
   local cost = COSTS[tonumber(number)]
   if not cost then return 0 / 0 end
   collectgarbage()
   local start = CLOCKS[clock]()
   cost[2](tonumber(n))
   return CLOCKS[clock]() - start
end

if arg and arg[1] == 'serve' then serve.lines(measure) end
local names = {}
for i, cost in ipairs(COSTS) do names[i] = cost[1] end
return names, measure.cost, measure.step
