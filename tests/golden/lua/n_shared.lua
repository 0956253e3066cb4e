-- Parameters that modules share, what modules without any say of them, and states that sequences hand on.
require 'rnn'
torch.manualSeed(3)

print(nn.Tanh():parameters() == nil, select('#', nn.Tanh():parameters()), #nn.Sequential():parameters())
print(#nn.Linear(2, 1):parameters(), nn.Dropout():parameters() == nil, nn.Recursor(nn.Tanh()):parameters() == nil)

-- What is shared moves once for each module that has it.
local one = nn.LookupTableMaskZero(3, 2)
local net = nn.ParallelTable():add(nn.Sequencer(one)):add(nn.Sequencer(one:sharedClone()))
local x, ones = torch.LongTensor{1, 2}, torch.ones(2, 2)
net:zeroGradParameters()
net:forward{{x}, {x}}
net:backward({{x}, {x}}, {{ones}, {ones}})
local before = one.weight:clone()
net:updateParameters(0.1)
print(one.weight - before, #net:parameters())

local map = nn.MapTable(nn.Linear(2, 1))
map:forward{torch.ones(2), torch.ones(2)}
map:zeroGradParameters()
map:backward({torch.ones(2), torch.ones(2)}, {torch.ones(1), torch.ones(1)})
before = map.modules[1].weight:clone()
map:updateParameters(0.1)
print(map.modules[1].weight - before)

print(nn.BiSequencerLM(nn.Recurrent(2, nn.Linear(2, 2), nn.Linear(2, 2))))

-- An encoder and a decoder that goes on from its state, and back.
for _, batchfirst in ipairs{false, true} do
   local enc, dec = nn.SeqLSTM(2, 3), nn.SeqLSTM(2, 3)
   enc:maskZero()
   enc.batchfirst, dec.batchfirst = batchfirst, batchfirst
   local a, b = torch.randn(4, 2, 2), torch.randn(3, 2, 2)
   a[1][2]:zero()
   local ga, gb = torch.zeros(4, 2, 3), torch.randn(3, 2, 3)
   if batchfirst then
      a, b, ga, gb = a:transpose(1, 2):clone(), b:transpose(1, 2):clone(), ga:transpose(1, 2):clone(), gb:transpose(1, 2):clone()
   end
   for step = 1, 3 do
      local out = enc:forward(a)
      print(enc.cell)
      dec.userPrevOutput = out:select(batchfirst and 2 or 1, 4)
      dec.userPrevCell = enc.cell[4]
      dec:forward(b)
      print(dec.userPrevCell, dec.cell:sum())
      enc:zeroGradParameters()
      dec:zeroGradParameters()
      dec:backward(b, gb)
      if step ~= 2 then
         enc.userNextGradCell = dec.userGradPrevCell
         enc.gradPrevOutput = dec.userGradPrevOutput
      end
      local g = enc:backward(a, ga)
      print(dec.userGradPrevCell, dec.userGradPrevOutput, g, enc.gradWeight:norm())
      enc:updateParameters(0.1)
      dec:updateParameters(0.1)
   end
end
local gru = nn.SeqGRU(2, 3)
local y, g = torch.randn(3, 1, 2), torch.randn(3, 1, 3)
gru.userPrevOutput = torch.randn(1, 3)
gru:forward(y)
gru.gradPrevOutput = torch.ones(1, 3)
print(gru:backward(y, g), gru.userGradPrevOutput)
