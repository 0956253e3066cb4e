"""What public programs write that nets of Lua must answer as Torch7 does."""

from __future__ import annotations

import hashlib

import torch

from compat import lua


def test_flatten_of_any_tensors(runtime: lua.Runtime) -> None:
    found = runtime.execute(
        """require 'nn'
        local a, b, net = torch.ones(2), torch.zeros(2, 2), nn.Linear(3, 2)
        local flat = nn.Module.flatten{a, b, a}
        flat:fill(3)
        local weights = nn.Module.flatten((net:parameters()))
        weights:fill(7)
        local none, nothing = nn.Module.flatten(), nn.Module.flatten{}
        return {a, b, flat, net.weight, net.bias, none:dim(), nothing:dim()}"""
    )
    a, b, flat, weight, bias, *empty = found
    assert torch.equal(a, torch.full_like(a, 3)) and torch.equal(b, torch.full_like(b, 3))
    assert flat.shape == (6,)
    assert weight.eq(7).all() and bias.eq(7).all()
    assert empty == [0, 0]


def test_the_sizes_of_a_view_are_one_storage(runtime: lua.Runtime) -> None:
    view, shape, same = runtime.execute(
        """require 'nn'
        local view = nn.View(5, 3)
        view.size[1], view.numElements = 25, 75
        local shape = view:forward(torch.ones(75)):size():totable()
        local size = view.size
        size[2] = 4
        return view, shape, view.size == size"""
    )
    assert shape == [25, 3] and same
    assert view.size == [25, 4]
    assert view.clone().size == [25, 4] and repr(view) == "nn.View(25, 4)"
    assert runtime.execute("local view = ... view.size:resize(1) return view", view).size == [25]


def test_containers_without_a_print_of_their_own_are_their_names(runtime: lua.Runtime) -> None:
    texts = runtime.execute(
        """require 'nn'
        local Block, parent = torch.class('nn.Block', 'nn.Container')
        local Chain, parent = torch.class('nn.Chain', 'nn.Sequential')
        return {tostring(nn.Block():add(nn.Tanh())), tostring(nn.Container()),
                tostring(nn.Chain():add(nn.Tanh()))}"""
    )
    assert texts[:2] == ["nn.Block", "nn.Container"]
    assert texts[2].startswith("nn.Sequential {\n")


def test_a_class_may_keep_a_table_of_gradients(runtime: lua.Runtime) -> None:
    rows, same, found, cloned, restored = runtime.execute(
        """require 'nn'
        local Rows, parent = torch.class('nn.Rows', 'nn.Module')
        function Rows:__init()
           parent.__init(self)
           self.weight, self.gradWeight = torch.randn(3, 2), {}
        end
        local rows = nn.Rows()
        rows.gradWeight[2] = torch.ones(2)
        local weights, gradients = rows:parameters()
        local read, copy = torch.deserialize(torch.serialize(rows)), rows:clone()
        rows.gradWeight[2]:fill(5)
        local before = rows.gradWeight[2][1]
        rows.gradWeight = torch.zeros(3, 2)
        return before, gradients[1] ~= rows.gradWeight, read.gradWeight[2][2],
               copy.gradWeight[2][1], rows.gradWeight:dim()"""
    )
    assert (rows, same, found, cloned, restored) == (5, True, 1, 1, 2)


def test_a_lexer_takes_actions_of_both_kinds(runtime: lua.Runtime) -> None:
    found = runtime.execute(
        """local lexer = require 'pl.lexer'
        local yield, found = coroutine.yield, {}
        local function space(token) return yield('space', token) end
        local function word(token) return yield('word', token) end
        local function number(token) return 'number', tonumber(token) end
        local rules = {{'^%s+', space}, {'^%d+', number}, {'^%a+', word}}
        for kind, value in lexer.scan('ab 12  c', rules, {[space] = true}) do
           found[#found + 1] = kind .. ':' .. value
        end
        return found"""
    )
    assert found == ["word:ab", "number:12", "word:c"]


def test_md5(runtime: lua.Runtime) -> None:
    hexadecimal, raw = runtime.execute(
        "local md5 = require 'md5' return md5.sumhexa('abc'), md5.sum('abc'):byte()"
    )
    digest = hashlib.md5(b"abc").digest()
    assert hexadecimal == digest.hex() and raw == digest[0]


def test_products_begin_with_two_gradients(runtime: lua.Runtime) -> None:
    found = runtime.execute(
        """require 'nn'
        local found = {}
        for _, layer in ipairs{nn.MM(), nn.MV(), nn.DotProduct(), nn.CosineDistance(), nn.Index(1),
                               nn.Bilinear(2, 2, 2)} do
           local one, two = unpack(layer.gradInput)
           found[#found + 1] = one:dim() + two:dim() + #layer.gradInput
        end
        local mm = nn.MM()
        mm.gradInput[1] = mm.gradInput[1]:float()
        local input = {torch.rand(2, 3), torch.rand(3, 4)}
        mm:forward(input)
        found[#found + 1] = mm:backward(input, torch.ones(2, 4))[1]:dim()
        return found"""
    )
    assert found == [2] * 7


def test_checked_functions_can_be_saved(runtime: lua.Runtime) -> None:
    assert runtime.execute(
        """local add = require 'argcheck'{
           {name = 'x', type = 'number'}, {name = 'y', type = 'number', default = 3},
           call = function(x, y) return x + y end}
        local read = torch.deserialize(torch.serialize(add))
        return {read(1), read{x = 2, y = 5}, (pcall(read, 'a'))}"""
    ) == [4, 7, False]


def test_tuning_calls_of_cutorch_are_taken(runtime: lua.Runtime) -> None:
    assert runtime.execute(
        """require 'cutorch'
        cutorch.setHeapTracking(true)
        cutorch.reserveBlasHandles(2)
        cutorch.setBlasHandle(1)
        return {cutorch.getNumBlasHandles(), cutorch.getBlasHandle()}"""
    ) == [1, 1]
