-- Tables that are longer than they need be, files of empty sizes, and programs that look into these.
require 'nngraph'
torch.manualSeed(1)

local a, b = torch.ones(2), torch.ones(2) * 2
local net = nn.ParallelTable():add(nn.Mul()):add(nn.Sequential():add(nn.ConcatTable():add(nn.Tanh()):add(nn.Identity())))
net:get(1).weight:fill(2)
net:forward{a, b}
print(unpack(net:updateGradInput({a, b}, {a, {b, a, a}, b})))
net:zeroGradParameters()
net:accGradParameters({a, b}, {a, {b, a, a}, b})
print(net:get(1).gradWeight)

local x, y = nn.Identity()(), nn.Identity()()
local graph = nn.gModule({x, y}, {nn.CAddTable()({nn.Linear(2, 2)(x), y}), nn.Tanh()(nn.JoinTable(2)({x, y}))})
local c, d, e = torch.ones(1, 2), torch.ones(1, 2) * 2, torch.ones(1, 4)
graph:forward{c, d}
graph:zeroGradParameters()
-- What a graph goes back with is what its nodes were given.
local gradients = graph:backward({c, d, {c, d}}, {c, e})
print(#gradients, gradients[1], gradients[2], (select(2, graph:parameters()))[1])
print(pcall(graph.backward, graph, {c, d}, {c, e, e}) == false)

print(nn.JoinTable(2).size)
torch.save('join.t7', nn.Sequential():add(nn.JoinTable(2)))
print(torch.load('join.t7'):get(1).size, torch.load('join.t7'):forward{c, d})

-- include names files by their whole path.
local file = io.open('part.lua', 'w')
file:write("return print((debug.getinfo(1, 'S').source:match('^@/.*/part.lua$')) ~= nil)")
file:close()
include 'part.lua'
