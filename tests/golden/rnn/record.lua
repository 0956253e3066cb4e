-- Records recurrent.t7: luajit record.lua recurrent.t7, with Torch7's rnn, nngraph and torchx.
require 'rnn'
require 'nngraph'
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)

local function copied(value)
   if torch.isTensor(value) then return value:clone() end
   if type(value) ~= 'table' then return value end
   local copy = {}
   for key, entry in pairs(value) do copy[key] = copied(entry) end
   return copy
end

local function as_file(net)
   return torch.deserialize(torch.serialize(net))
end

local function like(value)
   if torch.isTensor(value) then return torch.randn(value:size()) end
   local made = {}
   for key, entry in ipairs(value) do made[key] = like(entry) end
   return made
end

-- A net that starts with gradients of zero, and one pass forward and back.
local function pass(name, net, input)
   net:zeroGradParameters()
   local case = {name = name, net = as_file(net), input = copied(input)}
   case.output = copied(net:forward(input))
   case.gradOutput = like(case.output)
   case.gradInput = copied(net:backward(input, case.gradOutput))
   local _, gradients = net:parameters()
   case.gradParams = copied(gradients)
   return case
end

local function linear(n) return nn.Linear(n or 3, 2) end
local function sequential(...)
   local net = nn.Sequential()
   for _, module in ipairs{...} do net:add(module) end
   return net
end
local function recurrence(...)
   local both = nn.ParallelTable():add(linear()):add(linear(2))
   return nn.Recurrence(sequential(both, nn.CAddTable(), ...), 2, 1)
end
local function graph()
   local input = nn.Identity()()
   return nn.gModule({input}, {linear(2)(nn.Tanh()(linear()(input)))})
end

-- What the same seed makes.
local seeds = {}
for _, make in ipairs{'nn.LSTM(3, 2)', 'nn.LSTM(3, 2, nil, false)', 'nn.FastLSTM(3, 2)', 'nn.GRU(3, 2)'} do
   torch.manualSeed(7)
   local module = loadstring('return ' .. make)()
   table.insert(seeds, {make = make, params = copied((module:parameters()))})
end

-- Rows of zeros.
local rows = torch.randn(4, 3)
rows[2]:zero()
rows[4]:zero()
local steps = {torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)}
steps[2][1]:zero()
steps[3][2]:zero()
local masked = {
   pass('Linear', nn.MaskZero(linear(), 1), rows),
   pass('two Linear', nn.MaskZero(sequential(linear(), nn.Tanh(), linear(2)), 1), rows),
   pass('Tanh', nn.MaskZero(sequential(linear(), nn.Tanh()), 1), rows),
   pass('Concat', nn.MaskZero(nn.Concat(2):add(linear()):add(sequential(linear(), linear(2))), 1), rows),
   pass('CMul', nn.MaskZero(sequential(linear(), nn.CMul(2)), 1), rows),
   pass('BatchNormalization', nn.MaskZero(sequential(linear(), nn.BatchNormalization(2)), 1), rows),
   pass('WeightNorm', nn.MaskZero(nn.WeightNorm(linear()), 1), rows),
   pass('gModule', nn.MaskZero(graph(), 1), rows),
   pass('a sample', nn.MaskZero(linear(), 1), torch.zeros(3)),
   pass('TrimZero of a sample', nn.TrimZero(linear(), 1), torch.zeros(3)),
   pass('Recurrence', nn.Sequencer(recurrence(linear(2)):maskZero(1)), steps),
   pass('Recursor', nn.Sequencer(nn.Recursor(linear()):maskZero(1)), steps),
   pass('GRU', nn.Sequencer(nn.GRU(3, 2):maskZero(1)), steps),
}

-- Nets in the middle of a sequence.
local memory = {}
local function middle(name, net, evaluate, whole)
   if evaluate then net:evaluate() end
   local function input() return whole and torch.randn(2, 2, 3) or torch.randn(2, 3) end
   net:forward(input())
   net:forward(input())
   local case = {name = name, net = as_file(net), inputs = {input(), input()}, outputs = {}}
   for i, x in ipairs(case.inputs) do case.outputs[i] = copied(net:forward(x)) end
   table.insert(memory, case)
end
middle('GRU', nn.GRU(3, 2), false)
middle('Recurrent', nn.Recurrent(2, linear(), linear(2), nn.Tanh()), false)
middle('LSTM', nn.LSTM(3, 2), true)
middle('Recursor', nn.Recursor(sequential(nn.FastLSTM(3, 2), linear(2))), true)
for _, evaluate in ipairs{false, true} do
   middle('Recurrence', recurrence(nn.Tanh()), evaluate)
   for _, class in ipairs{'SeqLSTM', 'SeqGRU'} do
      middle(class, nn[class](3, 2):remember('both'), evaluate, true)
      local batchfirst = nn[class](3, 2):remember('both')
      batchfirst.batchfirst = true
      middle(class .. ' with batchfirst', batchfirst, evaluate, true)
   end
end

-- Nets that begin with graphs that have not gone backward.
local unrun = {
   pass('gModule', graph(), rows),
   pass('Sequential',
      sequential(nn.Linear(3, 3), sequential(graph(), nn.Tanh())), rows),
   pass('Concat', sequential(nn.Linear(3, 3), nn.Concat(2):add(graph()):add(nn.Sequential():add(graph()))), rows),
}

-- Sequences as tensors.
local tensor = {pass('GRU', nn.Sequencer(nn.GRU(3, 2)), torch.randn(3, 2, 3))}
local losses = {}
for _, average in ipairs{false, true} do
   local criterion = nn.SequencerCriterion(nn.MSECriterion(), average)
   local input, target = torch.randn(3, 2, 2), torch.randn(3, 2, 2)
   local case = {criterion = as_file(criterion), average = average, input = input, target = target}
   case.output = criterion:forward(input, target)
   case.gradInput = copied(criterion:backward(input, target))
   table.insert(losses, case)
end

-- What modules that share parameters leave in their gradients.
local shared = {}
for _, names in ipairs{{'weight', 'bias'}, {'weight', 'bias', 'gradWeight', 'gradBias'}} do
   local classes = {
      Linear = nn.Linear(3, 3), CMul = nn.CMul(3), TemporalConvolution = nn.TemporalConvolution(3, 3, 1),
   }
   for class, first in pairs(classes) do
      local second = first:clone():share(first, unpack(names))
      local net = sequential(first, nn.Tanh(), second)
      for _, gradient in ipairs(({net:parameters()})[2]) do gradient:fill(0.5) end
      local case = {class = class, names = names, params0 = copied((net:parameters()))}
      case.input, case.gradOutput = torch.randn(2, 3), torch.randn(2, 3)
      net:forward(case.input)
      net:backwardUpdate(case.input, case.gradOutput, 0.1)
      local params, gradients = net:parameters()
      case.params1, case.gradParams = copied(params), copied(gradients)
      table.insert(shared, case)
   end
end

torch.save(arg[1], {
   seeds = seeds, masked = masked, memory = memory, unrun = unrun, tensor = tensor, losses = losses,
   shared = shared,
})
