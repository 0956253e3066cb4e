-- Package rnn: states and gradients by step, and the rarer classes.
require 'rnn'
torch.manualSeed(11)

local function sums(value)
   if value == nil then return 'nil' end
   if torch.isTensor(value) then
      local sum = value:sum()
      return string.format('%.10f', math.abs(sum) < 1e-12 and 0 or sum)
   end
   local parts = {}
   for i = 1, #value do parts[i] = sums(value[i]) end
   return '{' .. table.concat(parts, ' ') .. '}'
end

local function sequence(n, ...)
   local x = {}
   for i = 1, n do x[i] = torch.randn(...) end
   return x
end

-- An encoder gives its state to a decoder, and gets its gradient back.
local encoder, decoder = nn.LSTM(3, 4), nn.LSTM(3, 4)
local first, second = nn.Sequencer(encoder), nn.Sequencer(decoder)
local x, y = sequence(3, 2, 3), sequence(4, 2, 3)
first:zeroGradParameters() second:zeroGradParameters()
first:forward(x)
decoder:setHiddenState(0, encoder:getHiddenState(3))
second:forget()
decoder.userPrevOutput = nn.rnn.recursiveCopy(decoder.userPrevOutput, encoder.outputs[3])
decoder.userPrevCell = nn.rnn.recursiveCopy(decoder.userPrevCell, encoder.cells[3])
print('output', sums(second:forward(y)))
print('gradInput', sums(second:backward(y, sequence(4, 2, 4))))
print('first state', sums(decoder:getGradHiddenState(0)))
encoder:setGradHiddenState(3, decoder:getGradHiddenState(0))
print('gradInput', sums(first:backward(x, {torch.zeros(2, 4), torch.zeros(2, 4), torch.zeros(2, 4)})))
print('gradients', sums({select(2, encoder:parameters())}))
print('modules of steps', #encoder.sharedClones, encoder.step, encoder.rho)
for step = 1, 2 do print('cell', step, sums(encoder.gradCells[step]), sums(encoder._gradOutputs[step])) end

-- Step by step, in a net that is no Sequencer.
local net = nn.Sequential():add(nn.GRU(3, 4)):add(nn.Identity())
net:zeroGradParameters()
for i = 1, 3 do print('step', sums(net:forward(x[i])), sums(net:getHiddenState(i))) end
local g = sequence(3, 2, 4)
for i = 3, 1, -1 do print('back', sums(net:getGradHiddenState(i)), sums(net:backward(x[i], g[i]))) end
print('gradients', sums({select(2, net:parameters())}))

local function run(module, input, gradOutput)
   module:zeroGradParameters()
   print('output', sums(module:forward(input)))
   print('gradInput', sums(module:backward(input, gradOutput)))
   print('gradients', sums({select(2, module:parameters())}))
end

print(tostring(nn.MuFuRu(3, 4)))
run(nn.MuFuRu(3, 4), torch.randn(2, 3), torch.randn(2, 4))
run(nn.MuFuRu(3, 4, {'keep', 'replace'}), torch.randn(2, 3), torch.randn(2, 4))

local penalty = nn.NormStabilizer(2)
local whole = nn.Sequencer(penalty)
whole:forward(x)
print('penalty', sums(whole:backward(x, sequence(3, 2, 3))), string.format('%.10f', penalty:updateLoss()))

for _, zero in ipairs{false, true} do
   local projected = nn.SeqLSTMP(3, 5, 4)
   projected.maskzero = zero
   local input = torch.randn(3, 2, 3)
   if zero then input[{2, 1}]:zero() end
   projected:zeroGradParameters()
   print('SeqLSTMP', sums(projected:forward(input)), sums(projected:backward(input, torch.randn(3, 2, 4))))
   print('gradients', sums({select(2, projected:parameters())}))
end

local lstm = nn.SeqLSTM(3, 4)
local input = torch.randn(3, 2, 3)
print('toFastLSTM', sums(lstm:forward(input)), sums(nn.Sequencer(lstm:toFastLSTM()):forward(input)))
local gru = nn.SeqGRU(3, 4)
print('toGRU', sums(gru:forward(input)), sums(nn.Sequencer(gru:toGRU()):forward(input)))

local criterion = nn.MaskZeroCriterion(nn.MSECriterion(), 1)
local scores, wanted = torch.randn(4, 3), torch.randn(4, 3)
scores[2]:zero()
print('masked', string.format('%.10f', criterion:forward(scores, wanted)), sums(criterion:backward(scores, wanted)))
print('all masked', criterion:forward(torch.zeros(2, 3), torch.randn(2, 3)))

-- A recurrent class with a model of its own, and one that computes its own gradients.
local Own, parent = torch.class('nn.OwnLSTM', 'nn.LSTM')
function Own:buildModel()
   local model = parent.buildModel(self)
   return nn.Sequential():add(model):add(nn.ParallelTable():add(nn.MulConstant(2)):add(nn.Identity()))
end
run(nn.Sequencer(nn.OwnLSTM(3, 4)), x, g)

local Gate, base = torch.class('nn.Counted', 'nn.AbstractRecurrent')
function Gate:__init()
   base.__init(self)
   self.recurrentModule = nn.Linear(3, 3)
   self.modules[1], self.sharedClones[1] = self.recurrentModule, self.recurrentModule
end
function Gate:updateOutput(input)
   self:recycle()
   self.output = self:getStepModule(self.step):updateOutput(input)
   self.outputs[self.step] = self.output
   self.step = self.step + 1
   self.updateGradInputStep, self.accGradParametersStep = nil, nil
   return self.output
end
function Gate:_updateGradInput(input, gradOutput)
   return self:getStepModule(self.updateGradInputStep - 1):updateGradInput(input, gradOutput)
end
function Gate:_accGradParameters(input, gradOutput, scale)
   self:getStepModule(self.accGradParametersStep - 1):accGradParameters(input, gradOutput, scale)
end
run(nn.Sequencer(nn.Counted()), x, sequence(3, 2, 3))
