-- The programs of benchmarks/ported.py in Lua, for a Lua Torch7 that runs this file with `serve` as its argument.
require 'torch'
require 'nn'
require 'nngraph'
local optim = require 'optim'
local serve = dofile((arg[0]:match('.*/') or './') .. 'serve.lua')
torch.setnumthreads(1)
torch.setdefaulttensortype('torch.FloatTensor')
local SHARED = {'weight', 'bias', 'gradWeight', 'gradBias'}
local VOCABULARY = 65

-- Nets -------------------------------------------------------------------------------------------------------

-- Linear layers in the order in which a cell asks for them, in every further cell with the same parameters.
local function shared_linears()
   local made, position = {}, 0
   local function again() position = 0 end
   local function linear(inputs, outputs)
      position = position + 1
      local first = made[position]
      made[position] = first or nn.Linear(inputs, outputs)
      return first and first:clone(unpack(SHARED)) or made[position]
   end
   return linear, again
end

local CELLS = {lstm = {states = 2}, gru = {states = 1}}
function CELLS.lstm.step(linear, x, inputs, size, states)
   local c, h = unpack(states)
   local sums = nn.CAddTable()({linear(inputs, 4 * size)(x), linear(size, 4 * size)(h)})
   local n1, n2, n3, n4 = nn.SplitTable(2)(nn.Reshape(4, size)(sums)):split(4)
   local take, keep, show = nn.Sigmoid()(n1), nn.Sigmoid()(n2), nn.Sigmoid()(n3)
   local next_c = nn.CAddTable()({nn.CMulTable()({keep, c}), nn.CMulTable()({take, nn.Tanh()(n4)})})
   return {next_c, nn.CMulTable()({show, nn.Tanh()(next_c)})}
end
function CELLS.gru.step(linear, x, inputs, size, states)
   local h = states[1]
   local function sum(hidden) return nn.CAddTable()({linear(inputs, size)(x), linear(size, size)(hidden)}) end
   local update, reset = nn.Sigmoid()(sum(h)), nn.Sigmoid()(sum(h))
   local candidate = nn.Tanh()(sum(nn.CMulTable()({reset, h})))
   local rest = nn.AddConstant(1, false)(nn.MulConstant(-1, false)(update))
   return {nn.CAddTable()({nn.CMulTable()({update, candidate}), nn.CMulTable()({rest, h})})}
end

-- The states of all layers and the probabilities of the next character.
local function step(kind, linear, x, size, layers, states)
   local count, new = CELLS[kind].states, {}
   for layer = 1, layers do
      local own = {}
      for k = 1, count do own[k] = states[(layer - 1) * count + k] end
      local inputs = layer == 1 and VOCABULARY or size
      for _, state in ipairs(CELLS[kind].step(linear, x, inputs, size, own)) do table.insert(new, state) end
      x = new[#new]
   end
   return new, nn.LogSoftMax()(linear(size, VOCABULARY)(x))
end

local function inputs_of(n)
   local nodes = {}
   for i = 1, n do nodes[i] = nn.Identity()() end
   return nodes
end

local function one_hot(batch, t)
   local x = torch.zeros(batch, VOCABULARY)
   for i = 1, batch do x[i][(i + t) % VOCABULARY + 1] = 1 end
   return x
end

-- Programs ---------------------------------------------------------------------------------------------------

local PROGRAMS = {}

-- As char-rnn: a net of one step, cloned for each character.
local function clones(kind)
   return function(size, layers, steps, batch)
      local linear = shared_linears()
      local x, states = nn.Identity()(), inputs_of(CELLS[kind].states * layers)
      local new, scores = step(kind, linear, x, size, layers, states)
      table.insert(states, 1, x)
      table.insert(new, scores)
      local net = nn.gModule(states, new)
      local parameters, gradients = net:getParameters()
      local cells, criterions, xs, targets, zeros = {}, {}, {}, {}, {}
      for t = 1, steps do
         cells[t], criterions[t] = net:clone(unpack(SHARED)), nn.ClassNLLCriterion()
         xs[t], targets[t] = one_hot(batch, t), torch.Tensor(batch):fill(t % VOCABULARY + 1)
      end
      for k = 1, #states - 1 do zeros[k] = torch.zeros(batch, size) end
      local function feval()
         gradients:zero()
         local inputs, outputs, now, loss = {}, {}, zeros, 0
         for t = 1, steps do
            inputs[t] = {xs[t], unpack(now)}
            local all = cells[t]:forward(inputs[t])
            now = {}
            for k = 1, #all - 1 do now[k] = all[k] end
            outputs[t] = all[#all]
            loss = loss + criterions[t]:forward(outputs[t], targets[t])
         end
         local back = {unpack(zeros)}
         for t = steps, 1, -1 do
            back[#zeros + 1] = criterions[t]:backward(outputs[t], targets[t])
            local all = cells[t]:backward(inputs[t], back)
            back = {}
            for k = 2, #all do back[k - 1] = all[k] end
         end
         gradients:clamp(-5, 5)
         return loss / steps, gradients
      end
      local config = {learningRate = 2e-3, alpha = 0.95}
      return function() optim.rmsprop(feval, parameters, config) end
   end
end
PROGRAMS.clones_lstm, PROGRAMS.clones_gru = clones('lstm'), clones('gru')

-- A step of SGD for a net with one input and labels.
local function training(net, input, labels)
   local criterion = nn.ClassNLLCriterion()
   local parameters, gradients = net:getParameters()
   local config = {learningRate = 0.01}
   local function feval()
      gradients:zero()
      local output = net:forward(input)
      local loss = criterion:forward(output, labels)
      net:backward(input, criterion:backward(output, labels))
      return loss, gradients
   end
   return function() optim.sgd(feval, parameters, config) end
end

-- All steps in one graph.
local function unrolled(kind)
   return function(size, layers, steps, batch)
      local linear, again = shared_linears()
      local xs, initial = inputs_of(steps), inputs_of(CELLS[kind].states * layers)
      local states, all, input = initial, {}, {}
      for t = 1, steps do
         again()
         states, all[t] = step(kind, linear, xs[t], size, layers, states)
         input[t] = one_hot(batch, t)
      end
      for _, node in ipairs(initial) do
         table.insert(xs, node)
         table.insert(input, torch.zeros(batch, size))
      end
      local net = nn.gModule(xs, {nn.JoinTable(1)(all)})
      local labels = torch.Tensor(steps * batch)
      for i = 1, labels:size(1) do labels[i] = (i - 1) % VOCABULARY + 1 end
      return training(net, input, labels)
   end
end
PROGRAMS.unrolled_lstm, PROGRAMS.unrolled_gru = unrolled('lstm'), unrolled('gru')

function PROGRAMS.tiny(layers, size, batch)
   local net = nn.Sequential()
   for _ = 1, layers / 2 do net:add(nn.Linear(size, size)):add(nn.Tanh()) end
   net:add(nn.LogSoftMax())
   return training(net, torch.randn(batch, size), torch.Tensor(batch):fill(1))
end

-- As StochasticGradient: sample by sample.
local function samples(net, input, count)
   local criterion, examples = nn.ClassNLLCriterion(), {}
   for i = 1, count do examples[i] = {input:clone():normal(), i % 10 + 1} end
   return function()
      for _, example in ipairs(examples) do
         criterion:forward(net:forward(example[1]), example[2])
         net:zeroGradParameters()
         net:backward(example[1], criterion:backward(net.output, example[2]))
         net:updateParameters(0.01)
      end
   end
end

function PROGRAMS.lenet_samples(count)
   local net = nn.Sequential()
      :add(nn.SpatialConvolution(1, 6, 5, 5)):add(nn.Tanh()):add(nn.SpatialMaxPooling(2, 2, 2, 2))
      :add(nn.SpatialConvolution(6, 16, 5, 5)):add(nn.Tanh()):add(nn.SpatialMaxPooling(2, 2, 2, 2))
      :add(nn.Reshape(16 * 5 * 5)):add(nn.Linear(16 * 5 * 5, 120)):add(nn.Tanh()):add(nn.Linear(120, 84)):add(nn.Tanh())
      :add(nn.Linear(84, 10)):add(nn.LogSoftMax())
   return samples(net, torch.Tensor(1, 32, 32), count)
end

function PROGRAMS.mlp_samples(inputs, hidden, count)
   local net = nn.Sequential():add(nn.Linear(inputs, hidden)):add(nn.Tanh()):add(nn.Linear(hidden, 10)):add(nn.LogSoftMax())
   return samples(net, torch.Tensor(inputs), count)
end

-- REINFORCE: an action for each made-up state of four numbers, rewarded and gone back from at once.
function PROGRAMS.reinforce(hidden, steps)
   local net = nn.Sequential():add(nn.Linear(4, hidden)):add(nn.Tanh()):add(nn.Linear(hidden, 2)):add(nn.LogSoftMax())
   return function()
      local state, baseline = torch.Tensor({0.1, 0, -0.1, 0}), 0
      net:zeroGradParameters()
      for t = 1, steps do
         local scores = net:forward(state)
         local action = math.random() < math.exp(scores[1]) and 1 or 2
         local push = action == 1 and -1 or 1
         local reward = 1 - math.abs(state[1]) - (math.abs(state[3]) > 0.5 and 1 or 0)
         baseline = 0.9 * baseline + 0.1 * reward
         local gradient = torch.zeros(2)
         gradient[action] = -(reward - baseline)
         net:backward(state, gradient)
         local new = state:clone()
         for i = 1, 3, 2 do
            new[i] = state[i] + 0.02 * state[i + 1]
            new[i + 1] = 0.9 * state[i + 1] + 0.1 * push * (2 - i)
         end
         state = new
      end
      net:updateParameters(0.01)
   end
end

if arg[1] == 'serve' then serve.lines({step = serve.steps(PROGRAMS)}) end
