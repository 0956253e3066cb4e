"""Small things that programs meet: what Lua Torch7 printed for these, dptable lua gives."""

from __future__ import annotations

import pytest

from compat import lua

GIVEN = {
    "an object is told by its class": (
        "require 'optim' local log = optim.Logger(os.tmpname()) "
        "return tostring(log), tostring(log:setNames{'a'})",
        ("optim.Logger", "optim.Logger"),
    ),
    "a matrix of confusions tells more": (
        "require 'optim' return tostring(optim.ConfusionMatrix(2)):sub(1, 15)",
        "ConfusionMatrix",
    ),
    "a node is told by its class": (
        "require 'nngraph' return tostring(nn.Identity()())",
        "nngraph.Node",
    ),
    "a logger logs no booleans": (
        "require 'optim' local log = optim.Logger(os.tmpname()) "
        "local ok, text = pcall(log.add, log, {true}) return text:match('<.*numbers and strings')",
        "<Logger> can only log numbers and strings",
    ),
    "rows of a tensor are a table's entries": (
        "require 'nn' local net = nn.ParallelTable():add(nn.MulConstant(2)):add(nn.Identity()) "
        "local x = torch.Tensor{{1, 2}, {3, 4}, {5, 6}} local out = net:forward(x) "
        "local back = net:backward(x, {torch.Tensor{1, 1}, torch.Tensor{2, 3}}) "
        "return #out, out[1][2], out[2][1], #back, back[1][1], back[2][2]",
        (2, 4, 3, 2, 2, 3),
    ),
    "a table with a largest norm looks rows up by itself": (
        "require 'nn' local net = nn.LookupTable(4, 2, 0, 1) "
        "local ok, text = pcall(net.forward, net, torch.Tensor{5}) "
        "return text:match('input need.*')",
        "input need to be in the range 1 <= input < 5, but got input of value: 5",
    ),
    "a switch that is taken away is nil": (
        "require 'nn' local net = nn.ReLU(true) net.inplace = nil local x = torch.Tensor{-1, 2} "
        "return net.inplace == nil, net:forward(x)[1], x[1], net:clone().inplace == nil",
        (True, 0, -1, True),
    ),
    "a layer of Linear's kind keeps its ones": (
        "require 'nn' local net = nn.Linear(2, 3) net:updateAddBuffer(torch.ones(4, 2)) "
        "return net.addBuffer:size(1), net.addBuffer:sum()",
        (4, 4),
    ),
    "layers tell their dimension": (
        "require 'nn' return nn.JoinTable(1, 1):_getPositiveDimension{torch.ones(2, 2)}, "
        "nn.Max(-1):_getPositiveDimension(torch.ones(2, 3)), "
        "nn.SplitTable(1, 2):_getPositiveDimension(torch.ones(2, 3, 4))",
        (2, 2, 2),
    ),
    "the place of a module's output": (
        "require 'nn' local window = nn.DepthConcat(1):windowNarrow("
        "torch.ones(3, 5, 5), torch.ones(2, 3, 2), 2) "
        "return window:storageOffset(), window:nElement()",
        (32, 12),
    ),
    "the input of a normalization is checked": (
        "require 'nn' local net = nn.BatchNormalization(3) "
        "local ok, text = pcall(net.checkInputDim, net, torch.ones(2)) return text:match('only.*')",
        "only mini-batch supported (2D tensor), got 1D tensor instead",
    ),
    "JSON that is wrong gives nil": (
        "local json = require 'cjson.safe' local value, text = json.decode('[1') "
        "return value == nil, type(text), json.encode{1, 2}, select('#', json.encode(1))",
        (True, "string", "[1,2]", 1),
    ),
    "as many results as a function on a device gives": (
        "require 'cutorch' return select('#', cutorch.withDevice(1, function() end)), "
        "select('#', cutorch.withDevice(1, function() return 1, 2 end))",
        (0, 2),
    ),
    "an error on a device": (
        "require 'cutorch' local function f() error('x', 0) end "
        "return select(2, pcall(cutorch.withDevice, 1, f))",
        "x",
    ),
    "one kernel takes the type of the planes": (
        "require 'image' "
        "local x = image.convolve(torch.ones(2, 3, 3), torch.FloatTensor(2, 2):fill(0.5)) "
        "local bytes = image.convolve(torch.ByteTensor(1, 2, 2):fill(3), torch.Tensor{{1.5}}) "
        "return torch.type(x), x:sum(), bytes:sum()",
        ("torch.DoubleTensor", 16, 12),
    ),
    "a number ends where no more of it follows": (
        "local f = torch.MemoryFile() f:writeString('1.5e3-3 7abc 0x1p3q --2') "
        "f:seek(1) f:quiet() "
        "local a, b, c = f:readDouble(), f:readDouble(), f:readDouble() "
        "f:seek(14) local d = f:readFloat() f:seek(21) local e = f:readInt() "
        "local failed = f:hasError() f:clearError() return a, b, c, d, e, failed, f:readInt()",
        (1500, -3, 7, 8, 0, True, -2),
    ),
    "longs of four bytes keep the last bits": (
        "local f = torch.MemoryFile():binary():longSize(4) f:writeLong(2 ^ 40 + 5) f:writeLong(-3) "
        "f:seek(1) return f:readLong(), f:readLong()",
        (5, -3),
    ),
    "inputs of a graph that lead nowhere": (
        "require 'nngraph' local a, b, c = nn.Identity()(), nn.Identity()(), nn.Identity()() "
        "local ok, text = pcall(nn.gModule, {a, b, c}, {nn.Tanh()(b)}) "
        "return text:match('%d of split%(3.*declared at')",
        "2 of split(3) outputs from the node declared at",
    ),
    "an output that no input leads to": (
        "require 'nngraph' local a, b = nn.Identity()(), nn.Identity()() "
        "local ok, text = pcall(nn.gModule, {a}, {nn.Tanh()(b)}) "
        "return text:match('expecting.*')",
        "expecting the forward innode",
    ),
    "results of Penlight's functions are its lists and maps": (
        "local tablex, List = require 'pl.tablex', require 'pl.List' "
        "local function class(t) return getmetatable(t) == List and 'List' or getmetatable(t) "
        "and t._name or nil end "
        "return class(tablex.filter({1, 2}, function(x) return x > 1 end)), "
        "class(tablex.range(1, 2)), class(tablex.imap(tostring, {1})), "
        "class(tablex.index_map{'a'}), "
        "class(tablex.union({a = 1}, {b = 2})), tostring(tablex.makeset{5}), "
        "class(tablex.sub({1, 2}, 2)), class(tablex.map(tostring, {1})) == nil",
        ("List", "List", "List", "Map", "Map", "[5]", "List", True),
    ),
    "what Penlight does not find is nil, one value": (
        "local tablex, text = require 'pl.tablex', require 'pl.stringx' "
        "return select('#', tablex.find({1}, 2)), select('#', text.lfind('a', 'b')), "
        "text.islower('two words'), text.isupper('Two')",
        (1, 1, True, False),
    ),
}


@pytest.mark.parametrize("case", GIVEN)
def test_this_is_as_in_torch7(runtime: lua.Runtime, case: str) -> None:
    script, value = GIVEN[case]
    assert runtime.execute(script) == value
