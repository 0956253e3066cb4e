-- Dropout of the package rnn, and nodes given twice
require 'rnn'
require 'nngraph'
local d = nn.Dropout(0.5, false, false, true)
print(d, d.lazy, d.mono)
local x = torch.ones(2, 5)
torch.manualSeed(1)
local first = d:forward(x):clone()
print(d:forward(x):equal(first))
d:backward(x, x)
print(d:forward(x))
local m = nn.Dropout(0.5, false, false, false, true)
print(m:forward(x))
print(nn.Dropout(), nn.Dropout(nil, true).v2, nn.Dropout(0.1, nil, true).inplace)
print(nn.Sequential():add(nn.Dropout(0.5, false, false, true)):add(nn.Dropout(0.5)))
print(torch.deserialize(torch.serialize(d)))
local n = nn.Identity()()
print((select(2, pcall(function() return nn.CAddTable(){n, n} end)):gsub('^.*: ', '')))
print((select(2, pcall(function() return nn.gModule({n}, {n, n}) end)):gsub('^.*: ', '')))
