-- Package dpnn inside nets of package rnn.
require 'rnn'
torch.manualSeed(3)
local net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.ReinforceNormal(0.2)):add(nn.HardTanh()):add(nn.Linear(3, 3)):add(nn.LogSoftMax())
local concat = nn.ConcatTable():add(nn.Identity()):add(nn.Sequential():add(nn.Constant(1,1)):add(nn.Add(1)))
local agent = nn.Sequential():add(net):add(nn.ConcatTable():add(nn.Identity()):add(concat))
local loss = nn.ParallelCriterion(true):add(nn.ModuleCriterion(nn.ClassNLLCriterion(), nil, nn.Convert())):add(nn.ModuleCriterion(nn.VRClassReward(agent, 1), nil, nn.Convert()))
local x, y = torch.randn(6, 4), torch.LongTensor{1,2,3,1,2,3}
for i = 1, 5 do
   local out = agent:forward(x)
   print(loss:forward(out, y))
   agent:backward(x, loss:backward(out, y))
   print(agent:gradParamClip(1))
   agent:updateGradParameters(0.9)
   agent:updateParameters(0.1)
   agent:maxParamNorm(2)
   agent:zeroGradParameters()
end
print(agent:parameters()[1])
print(nn.NCEModule.version)
-- a language model with noise contrast
local lm = nn.Sequential():add(nn.LookupTable(12, 5)):add(nn.SplitTable(1)):add(nn.Sequencer(nn.LSTM(5, 4)))
local nce = nn.NCEModule(4, 12, 5, torch.range(1, 12), 1)
local top = nn.Sequential():add(nn.ParallelTable():add(lm):add(nn.Identity())):add(nn.ZipTable()):add(nn.Sequencer(nn.MaskZero and nce or nce))
top:remember('both')
local crit = nn.SequencerCriterion(nn.NCECriterion())
local inp = torch.LongTensor(3, 2):random(1, 12)
local tg = {torch.LongTensor{1,2}, torch.LongTensor{3,4}, torch.LongTensor{12,6}}
for i = 1, 4 do
   local out = top:forward{inp, tg}
   print(crit:forward(out, tg))
   top:zeroGradParameters()
   top:backward({inp, tg}, crit:backward(out, tg))
   print(top:gradParamClip(1))
   top:updateParameters(0.3)
end
nce.normalized = true nce.logsoftmax = true
top:evaluate()
top:forget()
print(top:forward{inp, tg}[3])
