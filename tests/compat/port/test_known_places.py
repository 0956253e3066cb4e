"""Each place of a list, each call of a function has its own kinds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]


@pytest.mark.parametrize(
    ("lua", "python"),
    [
        # each place of a list has its own kind
        (
            "local function made() return {torch.ones(2, 3), 4, {'a'}} end\n"
            "local d = made()\nlocal x, n, names = d[1], d[2], d[3]\n"
            "print(x[1]:sum() + n, #names, names[1]:upper())",
            "{len(names)}\\t{names[0].upper()}",
        ),
        # so has each argument in a list of all
        (
            "local got = {}\nlocal function push(...)\n  local res = {...}\n  got[1] = res\nend\n"
            "push(torch.ones(2), {'a'})\nlocal res = got[1]\nlocal names = res[2]\n"
            "for i = 1, #names do print(names[i]:upper()) end",
            "print(names[i].upper())",
        ),
        # a function that calls another gives it what stands beside that
        (
            "local pool = {}\nfunction pool:add(f, g) g(f()) end\nlocal size = 0\n"
            "pool:add(function() return 1 end, function(n) size = n end)\n"
            "pool:add(function() return torch.ones(2, 2) end, function(x) print(x[1]:sum()) end)\n"
            "print(size + 1)",
            "print(size + 1)",
        ),
        # what is optional and never given is gone through nowhere
        (
            "local argcheck = require 'argcheck'\n"
            "local check = argcheck{pack = true, {name = 'n', type = 'number'},\n"
            "  {name = 'names', type = 'table', opt = true}}\n"
            "local D = torch.class('D')\nfunction D:__init(...)\n  local args = check(...)\n"
            "  for k, v in pairs(args) do self[k] = v end\n  self.classes = {}\n"
            "  if self.names then for k, v in pairs(self.names) do self.classes[k] = v end end\n"
            "  table.insert(self.classes, 'a')\nend\nlocal d = D{n = 3}\nprint(#d.classes)",
            "len(d.classes)",
        ),
        # a loop that replaces the entries of a list leaves it one
        (
            "local t = {}\nfor i = 1, 3 do t[i] = i end\nfor i = 1, #t do t[i] = t[i] * 2 end\n"
            "print(#t)",
            "print(len(t))",
        ),
        # a tensor without dimensions is put into another as a number is
        (
            "local function put(x, y) x[1] = y[2] end\n"
            "put(torch.ones(2), torch.ones(2))\nput(torch.ones(2, 2), torch.ones(2, 2))",
            "    x[0] = y[1]\n",
        ),
        # what a function asks for methods is no number
        (
            "local function less(x) return x:clone():add(-x:min()) end\n"
            "local b = torch.ones(2, 1, 3)\nfor i = 1, 2 do b[i] = less(b[i]:squeeze()) end",
            "less(b[i].squeeze())",
        ),
        # another type has as many dimensions
        (
            "local function to(x) return x:float() end\n"
            "print(to(torch.ones(2, 3))[1]:sum(), to(torch.ones(3))[1])",
            "to(torch.ones(3))[0].item()",
        ),
        # without the argument it is a list
        (
            "local function made(x, n)\n  if n == nil then return {x} end\n"
            "  return {[n] = {x}}\nend\nprint(#made(1), #made(1, 3)[3])",
            "{len(made(1))}\\t{len(made(1, 3)[3])}",
        ),
        # what is transposed has two dimensions or more
        (
            "local function rows(x) return x:transpose(1, 2) end\n"
            "local function f(x) local r = rows(x) print(r[1]) end\nf(torch.load('x.t7').data)",
            "lua.print(r[0])",
        ),
        # a class of one package is one of the other's
        (
            "require 'nn'\nif os.time() < 0 then backend = cudnn else backend = nn end\n"
            "print(backend.Linear(3, 2))",
            "print(backend.Linear(3, 2))",
        ),
        # lists of one length are unpacked as they are
        (
            "local list = {}\nfor i = 1, 2 do table.insert(list, {i, torch.ones(i)}) end\n"
            "for _, p in ipairs(list) do\n  local i, x = unpack(p)\n  print(i + 1, x:sum())\nend",
            "i, x = p\n",
        ),
        # Lua fails where it is the table that has no such method
        (
            "local function f(x) return x:clone():add(1) end\n"
            "local function g() return f({name = 'x'}) end\nprint(f, g)",
            "return x.clone().add_(1)",
        ),
        # twice a number from 1 on less 1 is 1 or more
        (
            "local t = {}\nfor i = 1, 4 do table.insert(t, i) end\n"
            "for i = 1, 2 do print(t[2 * i - 1]) end",
            "print(t[2 * i - 2])",
        ),
        # the name of a type of tensors tells what it makes
        (
            "local opt = {kind = 'torch.FloatTensor'}\n"
            "local x = torch[opt.kind:match('torch.(%a+)')](2, 3)\nprint(x[1]:sum())",
            "x[0].double().sum().item()",
        ),
        # what a call of anything gives a layer's method is not what the program's class takes
        (
            "require 'nn'\nlocal Tree = torch.class('Tree')\n"
            "function Tree:__init() self.n = 0 end\n"
            "local M, parent = torch.class('M', 'nn.Module')\n"
            "function M:__init() parent.__init(self) end\n"
            "function M:forward(tree, x) return tree.n == x end\n"
            "local function f(o, k) return o[k]:forward(torch.ones(2)) end\n"
            "print(M():forward(Tree(), 1), f)",
            "return tree.n == x",
        ),
    ],
)
def test_a_helper_is_not_needed(draft: Callable[[str], str], lua: str, python: str) -> None:
    assert python in draft(lua)
