-- Nets as files of early versions hold them: without the fields that came later, or with what came before them.
-- Run in this folder by Lua Torch7; writes old_fields.t7, a table of {name, module, input, output, gradInput}.
require 'nn'
require 'rnn'
torch.manualSeed(1)
torch.setdefaulttensortype('torch.DoubleTensor')

local cases = {}

local function copied(value)
   return torch.deserialize(torch.serialize(value))
end

-- `change` makes `module` that of an early version, after it has computed as today's does.
local function case(name, module, input, change)
   local output = copied(module:forward(copied(input)))
   local gradInput = copied(module:backward(copied(input), copied(output)))
   module:zeroGradParameters()
   if module.forget then module:forget() end
   module:clearState()
   module:apply(function(m) m._type = nil end)
   change(module)
   table.insert(cases, {name = name, module = module, input = input, output = output, gradInput = gradInput})
end

local function without(...)
   local names = {...}
   return function(m)
      for _, name in ipairs(names) do m[name] = nil end
   end
end

case('SpatialConvolutionMM of 2012', nn.SpatialConvolutionMM(2, 3, 2, 3), torch.randn(2, 2, 5, 4),
   without('dW', 'dH', 'padW', 'padH'))
case('SpatialConvolution of 2014', nn.SpatialConvolution(2, 3, 3, 3, 1, 1, 1, 1), torch.randn(2, 2, 5, 4),
   function(m) m.padW, m.padH, m.padding = nil, nil, 1 end)
case('SpatialMaxPooling of 2014', nn.SpatialMaxPooling(2, 2), torch.randn(2, 2, 5, 4),
   without('padW', 'padH', 'ceil_mode'))
case('VolumetricFullConvolution of 2016', nn.VolumetricFullConvolution(2, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1),
   torch.randn(1, 2, 3, 3, 3), function(m)
      m.pT, m.pW, m.pH = m.padT, m.padW, m.padH
      m.weight, m.gradWeight = m.weight:transpose(1, 2):contiguous(), m.gradWeight:transpose(1, 2):contiguous()
      for _, name in ipairs{'padT', 'padW', 'padH', 'adjT', 'adjW', 'adjH', 'ones'} do m[name] = nil end
   end)
case('WeightedEuclidean of 2014', nn.WeightedEuclidean(3, 2), torch.randn(4, 3), function(m)
   m.templates, m.gradTemplates = m.weight, m.gradWeight
   m.bias, m.gradBias, m.temp = m.diagCov, m.gradDiagCov, torch.Tensor(3)
   m.weight, m.gradWeight = nil, nil
end)
case('L1Penalty of 2014', nn.L1Penalty(0.1), torch.randn(4, 3), without('provideOutput'))
case('Mean of 2014', nn.Mean(1, 1), torch.randn(4, 3), without('sizeAverage', 'squeeze'))
case('MixtureTable of 2014', nn.MixtureTable(), {torch.rand(3, 2), {torch.randn(3, 4), torch.randn(3, 4)}},
   without('size2', 'backwardSetup', 'gradInput'))
case('Reshape without its count', nn.Reshape(6), torch.randn(2, 2, 3), without('nelement', 'batchMode'))
case('Padding of 2015', nn.Padding(1, 2, 1), torch.randn(2, 3), without('index'))

local net = nn.Sequential():add(nn.Linear(4, 6)):add(nn.View(2, 3)):add(nn.Reshape(6)):add(nn.Dropout(0)):add(nn.Linear(6, 2))
case('a net whose views tell no type', net, torch.randn(3, 4), function(m)
   without('output', 'gradInput')(m:get(2))
   without('inplace', 'stochastic_inference', 'noise')(m:get(4))
end)
net = nn.ParallelTable():add(nn.View(2, 2)):add(nn.Sequential():add(nn.Linear(4, 4)):add(nn.View(2, 2)))
case('a net in which only a layer tells its type', net, {torch.randn(3, 4), torch.randn(3, 4)}, function(m)
   m.output, m.gradInput = {}, {}
   without('output', 'gradInput')(m:get(1))
   without('output', 'gradInput')(m:get(2):get(2))
end)

local function cell(module)
   if module.inputSize then without('p', 'mono', 'gradOutputs', 'gradInputs')(module) end
end
local sequence = {torch.randn(2, 3), torch.randn(2, 3)}
case('FastLSTM of 2015', nn.Sequencer(nn.FastLSTM(3, 2)), sequence, function(m)
   without('_remember', 'tableoutput', 'tablegradInput')(m)
   m:apply(cell)
end)
case('GRU of 2015', nn.Sequencer(nn.GRU(3, 2)), sequence, function(m) m:apply(cell) end)
case('SeqLSTM of 2016', nn.SeqLSTM(3, 2), torch.randn(4, 2, 3), without('_remember', 'batchfirst', 'maskzero', 'hiddensize'))

torch.save('old_fields.t7', cases)
