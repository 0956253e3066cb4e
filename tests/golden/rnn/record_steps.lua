-- Records steps.t7 with torch/rnn: th record_steps.lua
require 'rnn'
local makes = {
   'nn.StepLSTM(3, 4)', 'nn.StepLSTM(3, 4, 2)', 'nn.StepGRU(3, 4)', 'nn.RecLSTM(3, 4)', 'nn.RecLSTM(3, 4, 2)', 'nn.RecGRU(3, 4)',
   'nn.LinearRNN(3, 4)', 'nn.LinearRNN(3, 4, nn.Tanh())', 'nn.LookupRNN(5, 4)', 'nn.SeqLSTM(3, 4)', 'nn.SeqLSTM(3, 4, 2)', 'nn.SeqGRU(3, 4)',
   'nn.SeqBLSTM(3, 4)', 'nn.SeqBLSTM(3, 4, 2)', 'nn.SeqBGRU(3, 4, nn.JoinTable(3))', 'nn.BiSequencer(nn.RecGRU(3, 4))',
   'nn.Sequencer(nn.Recurrence(nn.StepGRU(3, 4), 4, 1))',
}
local function like(x)
   if torch.isTensor(x) then return torch.randn(x:size()) end
   local found = {}
   for i, part in ipairs(x) do found[i] = like(part) end
   return found
end
local cases = {}
for i, make in ipairs(makes) do
   torch.manualSeed(7)
   local net = loadstring('return ' .. make)()
   local case = {make = make, params = {}}
   for j, p in ipairs((net:parameters())) do case.params[j] = p:clone() end
   if make:find('Rec') == 4 or make:find('RNN') then net = nn.Sequencer(net) end
   case.input = torch.randn(3, 2, 3)
   if make:find('Lookup') then case.input = torch.LongTensor{{1, 5}, {0, 2}, {5, 5}} end
   if make:find('Step') == 4 then
      local cell = make:find('LSTM') and torch.randn(2, 4)
      case.input = {torch.randn(2, 3), torch.randn(2, make:find(', 2') and 2 or 4), cell or nil}
   end
   case.output = net:forward(case.input)
   case.gradOutput = like(case.output)
   net:zeroGradParameters()
   local given = torch.deserialize(torch.serialize(case.gradOutput))
   case.gradInput = net:backward(case.input, given)
   local _, gradients = net:parameters()
   case = torch.deserialize(torch.serialize(case))
   case.gradParams = {}
   for j, g in ipairs(gradients) do case.gradParams[j] = g:clone() end
   case.net, case.printed = net:clearState() or net, tostring(net)
   cases[i] = case
end
torch.save('steps.t7', cases)
