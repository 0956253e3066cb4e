-- Writes checkpoint.t7: what a training script saves of a net that is a graph, after one step.
require 'nn'
require 'nngraph'
torch.setdefaulttensortype('torch.FloatTensor')
torch.manualSeed(1)

local x, h = nn.Identity()(), nn.Identity()()
local sum = nn.CAddTable()({nn.Linear(3, 4)(x), nn.Linear(4, 4)(h)})
local gates = nn.SplitTable(2)(nn.Reshape(2, 2)(sum))
local i, o = gates:split(2)
local next = nn.CMulTable()({nn.Sigmoid()(i), nn.Tanh()(o)})
local net = nn.gModule({x, h}, {next, nn.LogSoftMax()(nn.Linear(2, 3)(next))})
local input = {torch.randn(2, 3), torch.randn(2, 4)}
local output = net:forward(input)
net:backward(input, {output[1]:clone(), output[2]:clone()})
torch.save('checkpoint.t7', {
   protos = {rnn = net, criterion = nn.ClassNLLCriterion()},
   opt = {rnn_size = 4, seed = 1, savefile = 'lstm'},
   epoch = 1.5, train_losses = {3, 2.5}, vocab = {a = 1, b = 2},
})
