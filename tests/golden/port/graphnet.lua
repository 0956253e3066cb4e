-- a net as a graph, with two inputs
require 'nn'
require 'nngraph'
torch.manualSeed(6)
local a = nn.Identity()()
local b = nn.Identity()()
local ha = nn.Tanh()(nn.Linear(3, 4)(a))
local hb = nn.Linear(2, 4)(b)
local joined = nn.CAddTable()({ha, hb})
local out = nn.Linear(4, 2)(nn.ReLU()(joined))
local net = nn.gModule({a, b}, {out, joined})
local xa, xb = torch.randn(2, 3), torch.randn(2, 2)
local r = net:forward({xa, xb})
print(r[1], r[2]:size())
net:zeroGradParameters()
local gi = net:backward({xa, xb}, {torch.ones(2, 2), torch.zeros(2, 4)})
print(gi[1], gi[2])
local params, grads = net:parameters()
print(#params, #grads, string.format('%.8f', grads[1]:norm()))
