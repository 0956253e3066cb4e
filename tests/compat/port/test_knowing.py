"""What is known of what no call tells: by names, by fields, by files with computed names."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.needs("tree_sitter"), pytest.mark.needs("tree_sitter_lua")]


@pytest.mark.parametrize(
    ("lua", "python"),
    [
        # a method that only one class has tells its parameters and results
        (
            "local C = torch.class('C')\n"
            "function C:__init() self.n = 1 end\n"
            "function C:grown(by) return self.n + by end\n"
            "local function f(c) return c:grown(2) + 1 end\nprint(f)",
            "return self.n + by",
        ),
        # what rules of argcheck's say of arguments that no call gives
        (
            "local argcheck = require 'argcheck'\n"
            "local f = argcheck{{name = 'x', type = 'torch.*Tensor'},"
            "\n  {name = 'n', type = 'number'}, call = function(x, n) return x:size(n) * n end}",
            "x.size(int(n - 1)) * n",
        ),
        # fields that one table alone has all of
        (
            "local opt = {rate = 0.1, size = 3, name = 'x'}\n"
            "local M = {}\nfunction M.f(o) return o.rate * o.size end\nprint(opt, M)",
            'return o["rate"] * o["size"]',
        ),
        # a name with one argument that the program's own functions do not take
        (
            "local D = {}\nfunction D.size() return 3 end\n"
            "local function f(x, y) x = y return x:size(2) end\nprint(f, D)",
            "return x.size(1)",
        ),
        # an object of one of two classes: both methods are called with what it is given
        (
            "local A = torch.class('A')\nlocal B = torch.class('B')\n"
            "function A:run(o) return o.n + 1 end\nfunction B:run(o) return o.n + 2 end\n"
            "local m\nif arg[1] then m = A() else m = B() end\nprint(m:run({n = 3}))",
            'return o["n"] + 2',
        ),
        # a number has no entries, so that what is copied is the table here
        (
            "local function copied(o)\n  if type(o) ~= 'table' then return o end\n"
            "  local made = {}\n  for k, v in pairs(o) do made[k] = copied(v) end\n"
            "  return made\nend\nlocal c = copied({n = 3})\nlocal n = c.n",
            'c.get("n")',
        ),
        # what is no table, or is made one, behind the test
        (
            "local function f(n)\n  if type(n) == 'table' then n = #n end\n"
            "  return torch.zeros(n)[1] + n\nend\nprint(f{1}, f(2))",
            "return torch.zeros(n)[0].item() + n",
        ),
        # what a job gives is what its end is given
        (
            "local Threads = require 'threads'\nlocal pool = Threads(1)"
            "\npool:addjob(function() return torch.ones(2) end, function(x) print(x:sum() + 1) end)"
            "\npool:synchronize()",
            "x.sum().item()",
        ),
        # and a job what stands behind its end
        (
            "local pool = require('threads').Threads(1)\nlocal function job(x, opt, i)\n"
            "  for k = i, 2 do opt.to[k] = x[k] end\nend\n"
            "local x, opt = torch.ones(2), {to = torch.zeros(2)}\n"
            "pool:addjob(job, function() end, x, opt, 1)\npool:synchronize()",
            'opt["to"][k - 1] = x[k - 1]',
        ),
        # an index may be nil, where Lua fails
        (
            "local x, n = torch.zeros(2, 3), {a = 1}\n"
            "for k in pairs{a = 1, b = 2} do x[n[k]][1] = x[{n[k], 1}] + x[n[k]][n[k]] end",
            "x[n.get(k) - 1][0] = (",
        ),
    ],
)
def test_a_helper_is_not_needed(draft: Callable[[str], str], lua: str, python: str) -> None:
    made = draft(lua)
    assert python in made
    assert "lua.index" not in made
    assert "lua.method" not in made


def test_entries_under_computed_keys_may_be_nil(both: Callable[[str], tuple[str, str]]) -> None:
    lua, python = both(
        """
        local names = {a = 'x'}
        local function named(key) return names[key] end
        for key in ('a b'):gmatch('%a') do
           local name = names[key]
           print(name)
           print(named(key))
        end
        """
    )
    assert python == lua == "x\nx\nnil\nnil\n"


def test_a_table_of_a_field_is_no_object_of_the_class(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua, python = both(
        """
        trees = {}
        local Tree = torch.class('trees.Tree')
        function Tree:__init() self.children = {}; self.count = 0 end
        function Tree:add(child)
           self.count = self.count + 1
           self.children[self.count] = child
        end
        local function walk(tree, name) return tree[name] end
        local tree = trees.Tree()
        tree:add(trees.Tree())
        print(walk(tree, 'count'), #tree.children, walk(tree.children[1], 'count'))
        """
    )
    assert python == lua == "1\t1\t0\n"


def test_a_variable_of_a_field_that_may_be_missing_is_shown_as_nil(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua, python = both(
        """
        local list = {}
        table.insert(list, {score = 1})
        table.insert(list, {score = 2, tag = 'x'})
        for i, item in ipairs(list) do
           local tag = item.tag
           print(item.score, tag)
           if tag then print('tag ' .. tag) end
        end
        """
    )
    assert python == lua == "1\tnil\n2\tx\ntag x\n"


def test_a_variable_behind_its_test_is_plain(draft: Callable[[str], str]) -> None:
    made = draft(
        """
        local list = {{score = 1}, {score = 2, tag = 'x'}}
        for i, item in ipairs(list) do
           local tag = item.tag
           if tag then print('tag ' .. tag) end
        end
        """
    )
    assert 'print(f"tag {tag}")' in made


@pytest.mark.parametrize(
    "use",
    [
        "if f() then print(1) end",
        "if false then print(1) elseif f() == 2 then print(2) end",
        "local n = 0 while f() == 2 and n < 2 do n = n + 1 end",
        "repeat until f() == 2",
    ],
)
def test_a_call_in_a_condition_tells_the_function(draft: Callable[[str], str], use: str) -> None:
    assert "def f(a=None):" in draft(f"local function f(a) a = a or 2 return a end\n{use}")


@pytest.mark.parametrize(
    ("lua", "python"),
    [
        ("local n = x:nElement()\nif x[1] > 0 then return n end\nreturn x[2]", "x[1].item()"),
        ("x:resizeAs(y)\nx[1]:add(0.3, y[2])\nreturn y[1]", "return y[0]"),
        ("local o = x:forward(y)\nfor i = 1, #o - 1 do print(o[i]) end\nreturn o[#o]", "o[-1]"),
        ("local g = x:backward({y, y}, y)\nreturn g[1]", "g[0]"),
        ("local gnuplot = require 'gnuplot'\ngnuplot.plot(x)", "gnuplot.plot(x)"),
        ("return x:view(1, y, -1):size(2)", "x.view(1, int(y), -1).size(1)"),
        ("local a = x:size(2)\nlocal b = y:narrow(1, x[1][1] + 1, 2)\nreturn x[1]", "x[0]"),
        ("torch.cmul(x, y)\nreturn x:cat(y, 1)", "torch.cat([x, y], 0)"),
        ("return (('a-b'):match('^(%w+)'))", 'lua.match("a-b"'),
        (
            "x:resizeAs(y)\nlocal n = y:size(1)\nif x[1] ~= n then return x[2] end",
            "x[0].item() != n",
        ),
        ("x:resizeAs(y)\nreturn string.format('%s%%%5.2f', 'a', x[1])", "{x[0].item():5.2f}"),
        ("x:resizeAs(y)\nreturn ('%d'):format(x[1])", "{int(x[0].item())}"),
    ],
)
def test_uses_tell_what_entries_are(lua: str, python: str, draft: Callable[[str], str]) -> None:
    made = draft(f"local function f(x, y)\n{lua}\nend\nreturn f")
    assert python in made
    assert not re.search(r"lua\.(item|index|first|package)\b", made)


def test_a_tensor_whose_view_a_method_becomes_is_no_number(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua = """
        local M = {}
        function M.set(to, from, n) to:view(from, n, 2) return to end
        for _, f in pairs(M) do print(f(torch.Tensor(), torch.ones(4), 2)) end
    """
    expected, got = both(lua)
    assert got == expected


def test_layers_that_ask_for_fields_are_given_tables(draft: Callable[[str], str]) -> None:
    made = draft("""
        local C, parent = torch.class('nn.C', 'nn.Criterion')
        function C:updateOutput(input, target)
            self.output = input:sum() + target.style:sum() + target.content:sum()
            return self.output
        end
    """)
    assert 'target["style"]' in made and "lua.index" not in made


def test_entries_of_a_package_of_lua_have_its_names(draft: Callable[[str], str]) -> None:
    made = draft("""
        local shown
        if arg[1] then shown = require 'shown' end
        shown.plot(1)
    """)
    assert "shown.plot(1)" in made


def test_an_option_that_a_function_looks_up_has_its_own_type(draft: Callable[[str], str]) -> None:
    made = draft("""
        local function getopt(opt, key, default)
            local v = opt[key]
            if v == nil then v = default end
            return v
        end
        local o = {size = 3, name = 'a'}
        print(getopt(o, 'size') + 1)
    """)
    assert 'getopt(o, "size") + 1' in made


def test_a_table_of_a_net_beside_a_dict_of_the_program_is_not_known() -> None:
    from compat.port.know.structures import Table
    from compat.port.know.types import Kind, Type

    table = Type(Kind.TABLE, table=Table(keys={"other"}))
    assert table.shape is not None and table.shape.is_dict and table.is_known
    table.buffer = True  # a net gave it, perhaps: a list
    assert not table.is_known


@pytest.mark.parametrize(
    "lua",
    [
        "local x = torch.ones(2)\nlocal y = x.new(3, 4):fill(x.new(2):sum())\nprint(y)",
        "local net = torch.load('f').net:get(1)\nlocal m = nn.LSTM(2, 2)\nm.cells[1] = net.output\n"
        "print(m.cells[1], nn.Sequential().modules[1])",
        "local x = torch.ones(2)\nfor i = 1, 3 do x = nn.utils.addSingletonDimension(x, 1)\n"
        "x = x:unfold(1, 1, 1) end\nprint(x)",
        "local f = os.tmpname()\nlocal t = {n = 1}\nfor i = 1, 2 do torch.save(f, t)\n"
        "local u = torch.load(f) u.next = t t = u end\nprint(t.next.n)",
        "local x = torch.ones(2)\nlocal t = {x.new(2), x.new()}\nprint(#t)",
        "local net = nn.Sequential():add(nn.Tanh()):add(nn.SplitTable(1))\nprint(net)",
        "local function f(t) if t == nil then return {1} end return {t = {t}} end\n"
        "print(f()[1], f(2).t[1])",
        "local function f(a, b) b(a(1)) end\n"
        "f(function(x) return {x} end, function(t) print(t[1]) end)",
        "local a, b = {1, {2, 3}}, {...}\nlocal n, t = unpack(a)\nprint(n, t[2], b[1])",
    ],
)
def test_inference_ends_where_nothing_is_new(lua: str) -> None:
    from compat.port.know.files import File
    from compat.port.know.inference import Inference
    from compat.port.know.scopes import Scopes
    from compat.port.read.parser import parse

    source = lua.encode()
    block = parse(source, "piece.lua")
    file = File("piece.lua", "piece", block, Scopes(block, {}), source, is_script=True)
    assert not Inference([file], {}).infer().changed


def test_long_chains_are_looked_at_once(draft: Callable[[str], str]) -> None:
    links = "\n   ".join(":add(lib.Tanh():float())" for _ in range(40))
    made = draft(
        f"local lib = require(arg[1])\nlocal net = nn.Sequential()\n   {links}\nprint(net)"
    )
    assert made.count(".add(") == 40
    links = ".modules[1]" * 20
    made = draft(f"local net = nn.Sequential()\nprint(net{links}.weight, net{links}:size(1))")
    assert made.count("modules[0]") == 40
    nested = "lib.Tanh()(" * 20 + "x" + ")" * 20
    made = draft(f"local lib = require(arg[1])\nlocal x = nn.Identity()()\nprint({nested})")
    assert made.count("Tanh") == 20


def test_a_part_of_a_tensor_in_a_variable_has_no_mark(draft: Callable[[str], str]) -> None:
    made = draft("local x = torch.zeros(3)\nlocal part = {{1, 2}}\nx[part] = 1\nprint(x[part])")
    assert "# port" not in made


def test_a_length_that_a_nil_may_end_is_marked(draft: Callable[[str], str]) -> None:
    made = draft("local function f(...) local t = {...} return #t end\nprint(f(1, nil, 3))")
    assert "# port: Lua's # may end at a nil in a table" in made
    assert "# port" not in draft("local function f(...) local t = {...} return #t end\nprint(f(1))")
    assert "# port: Lua's # may end" in draft("local t = {1, nil, 3}\nprint(#t)")


def test_a_test_tells_how_many_dimensions_a_tensor_has(draft: Callable[[str], str]) -> None:
    first = "local function f(x) {} local a = x[1] return a end\nreturn f"
    for test in ("assert(x:dim() == 1)", "if x:dim() ~= 1 then error('no vector') end"):
        made = draft(first.format(test))
        assert "x[0].item()" in made and "# port" not in made
    made = draft(first.format("assert(x:nDimension() == 1) x:resize(2, 2)"))
    assert "lua.item(x[0])" in made  # which has others by now


def test_the_outputs_of_a_graph_tell_what_it_gives(draft: Callable[[str], str]) -> None:
    first = "require 'nngraph'\nlocal x = nn.Identity()()\nlocal y = nn.Tanh()(x)\n"
    last = "\nlocal out = net:forward(torch.ones(2))\nfor n = 1, 2 do print(out[n]:sum()) end"
    listed = draft(f"{first}local net = nn.gModule({{x}}, {{y, x}}){last}")
    assert "out[n].sum()" in listed and "# port" not in listed
    assert "what out is" in draft(f"{first}local net = nn.gModule({{x}}, {{x}}){last}")
    grown = "local outs = {} table.insert(outs, y) x = y table.insert(outs, x) "
    assert "out[n].sum()" in draft(f"{first}{grown}local net = nn.gModule({{x}}, outs){last}")
    last = last.replace("[n]:sum()", "[n]")
    assert "out[n].item()" in draft(f"{first}local net = nn.gModule({{x}}, {{y}}){last}")


def test_what_is_known_of_copies_criterions_and_new_tensors(draft: Callable[[str], str]) -> None:
    loss = "local f = torch.load('f') local loss = 0 loss = loss + f.crit:forward(f.x, f.y) "
    assert "loss += f" in draft(loss + "print(loss)")
    read = "local f = torch.MemoryFile() f:writeObject(x) local y = f:readObject() "
    made = draft(f"local function copy(x) {read} return y end\nprint(#copy({{1, 2}}))")
    assert "len(copy_([1, 2]))" in made
    made = draft("local Tensor = torch.ones(2).new\nlocal x = Tensor(3):fill(1)\nprint(x[1] + 1)")
    assert "x[0].item() + 1" in made
    net = "local net = torch.load('f').net local x = net:forward(torch.ones(2)) "
    made = draft(f"{net} for i = 1, 2 do print(x[i]:sum()) end print(x[#x]:sum())")
    assert "x[-1].sum()" in made and "# port" not in made


def test_a_guess_leaves_open_how_many_dimensions_a_tensor_has(draft: Callable[[str], str]) -> None:
    rows = "local function rows(x) x = x:contiguous() return x[1] + 1 end\n"
    assert "return x[0] + 1" in draft(f"{rows}return rows(torch.load('f').x:view(2, -1))")
    assert "lua.item(x[0])" in draft(f"{rows}return rows(torch.load('f').x)")
    first = "local x = torch.load('f').x local a = x[1] "
    assert "lua.item(x[0])" in draft(f"{first}x = x:view(-1)\nreturn a, x[1], x:size(1)")


def test_what_methods_and_numbers_leave(draft: Callable[[str], str]) -> None:
    own = "local Data = torch.class('Data')\nfunction Data:size(kind, list) return 3 end\n"
    made = draft(f"{own}return function(x) for i = 1, x:size(1) do x[i]:fill(i) end end")
    assert "range(1, x.size(0) + 1):" in made and "# port" not in made
    held = "local f = {x = function(self, n) end, f = 2}\nfunction f:size(n) return n end\n"
    assert 'lua.method(x, "size", 1)' in draft(
        f"{held}return function(x) for i = 1, x:size(1) do end end"
    )


def test_a_parameter_is_what_has_its_fields_of_all_of_its_name(
    draft: Callable[[str], str],
) -> None:
    first = (
        "local function first(opt) return opt.rate * 2 end\n"
        "local function second(opt) return #opt.words end\n"
        "print(first{rate = 2}, second{words = {'a'}})\n"
    )
    assert 'opt["rate"]' in draft(f"{first}return function(opt) return opt.rate end")
    assert "lua.index(opt" in draft(f"{first}return function(opt) return opt.other end")


def test_a_row_that_is_squeezed_has_one_dimension(draft: Callable[[str], str]) -> None:
    made = draft("local x = torch.ones(3, 3):sum(2):squeeze()\nfor i = 1, 3 do print(x[i]) end")
    assert "x[i].item()" in made and "# port" not in made


def test_sizes_and_ranges_tell_dimensions(draft: Callable[[str], str]) -> None:
    view = "return function(x, n, m) local y = x:view(#n, -1, #m) return y[1][2] end"
    assert "return y[0][1]" in draft(view)
    assert "lua.item(y[0][1])" in draft(view.replace("-1, #m", "unpack(m)"))
    column = (
        "return function(x) if x.n then x = torch.ones(2) end local y = x[{{}, 1}] return y end"
    )
    assert "y = x[:, 0]" in draft(column) or "return x[:, 0]" in draft(column)


def test_a_method_that_layers_alone_have_needs_no_mark(draft: Callable[[str], str]) -> None:
    layer = "local L = torch.class('nn.L', 'nn.Module')\nfunction L:clearState() return self end\n"
    assert "# port" not in draft(f"{layer}return function(make) return make():clearState() end")
    own = layer.replace("'nn.L', 'nn.Module'", "'L'")
    assert "# port" in draft(f"{own}return function(make) return make():clearState() end")


def test_nets_give_as_many_dimensions_where_all_layers_do(draft: Callable[[str], str]) -> None:
    net = "local net = nn.Sequential():add(nn.Linear(2, 3)):add({})\nlocal y = net:forward({})\n"
    rest = "for i = 1, 3 do print(y[i]) end"
    made = draft(net.format("nn.Tanh()", "torch.ones(2)") + rest)
    assert "y[i].item()" in made and "# port" not in made
    assert "lua.item(y[i])" in draft(net.format("nn.View(3)", "torch.ones(2)") + rest)
    for other in ("nn.SomeOther()", "loadcaffe.load('a', 'b', 'nn')"):
        assert "lua.item(y[i])" in draft(net.format(other, "torch.ones(2)") + rest)
    loaded = "local net = torch.load('net')\nlocal y = net:forward(torch.ones(2))\n"
    assert "lua.index(y, i)" in draft(loaded + rest)


def test_a_confusion_matrix_is_given_rows_of_what_a_net_gives(draft: Callable[[str], str]) -> None:
    first = "local c = optim.ConfusionMatrix(3)\nlocal net = nn.Sequential():add(nn.View(2, 3))\n"
    made = draft(f"{first}local y = net:forward(torch.ones(6))\nfor i = 1, 2 do c:add(y[i], i) end")
    assert "c.add(y[i - 1], i)" in made and "# port" not in made
    other = "for i = 1, 2 do c:add(y[i], i) end"
    assert "lua.item(y[i - 1])" in draft(f"{first}return function(y, n) y = y:view(n) {other} end")


def test_copies_and_graphs_of_nothing_stop_no_file(draft: Callable[[str], str]) -> None:
    read = "local f = torch.MemoryFile() f:writeObject() return f:readObject()"
    for lua in (read, "return torch.deserialize(torch.serialize())", "return nn.gModule()"):
        assert "def made(" in draft(f"local function made() print(1) {lua} end\nreturn made")


def test_what_is_saved_tells_what_is_loaded(draft: Callable[[str], str]) -> None:
    save = (
        "local opt = {size = 3, rate = 0.5}\ntorch.save(dir .. '/net.t7', {opt = opt, n = {'a'}})\n"
    )
    use = "print(c.opt.size * 2, #c.n)\nfor i = 1, c.opt.size do print(c.n[i]:upper()) end"
    made = draft(f"local dir = 'd'\n{save}local c = torch.load(paths.concat('d', 'net.t7'))\n{use}")
    assert "len(c['n'])" in made and "# port" not in made and "lua." not in made
    # by the fields that are read where nothing of the name is written
    by_fields = f"local dir = 'd'\n{save}local c = torch.load(arg[1])\n{use}"
    assert "len(c['n'])" in draft(by_fields)
    # another file's are not known
    other = draft(f"local dir = 'd'\n{save}local c = torch.load(dir .. '/data.t7')\n{use}")
    assert "what c.n is" in other and "lua.length(c['n'])" in other
    # nor are they where two forms are saved under one name
    more = "torch.save('net.t7', {1, 2})\nlocal c = torch.load('net.t7')"
    assert "lua.length" in draft(f"local dir = 'd'\n{save}{more}\n{use}")


def test_what_is_set_before_is_there(draft: Callable[[str], str]) -> None:
    begin = "local function f(o, k)\n  if not o.d then o.d = 2 end\n  o.n = o.d + 1\n"
    made = draft(f"{begin}  o.x:add(1)\n  return o.d, o.n, o.x, o.m\nend\nf(torch.load('o.t7'))")
    assert made.count('o["d"]') == 3 and 'o["n"], o["x"], o.get("m")' in made
    loop = "local o = {a = 1}\nfor k in pairs(o) do print(o[k] + 1) end\n"
    assert "print(o[k] + 1)" in draft(loop)
    # another table may be there behind a loop, a jump or a call
    for change in ("while true do o = {} break end", "if k then o = {} end"):
        assert 'o.get("d")' in draft(f"{begin}  {change}\n  print(o.d)\nend\nf{{d = 1}}\nf{{}}")
    by_call = "local o = {}\nlocal function g() o = {} end\no.d = 1\ng()\nprint(o.d)"
    assert 'o.get("d")' in draft(by_call)
    # and somebody may have taken it away
    assert 'o.get("d")' in draft("local o = {}\no.d = 1\no[arg[1]] = nil\nprint(o.d)")


def test_settings_of_the_environment(
    draft: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lua = (
        "local o = {lr = 0.1, name = 'x'}\n"
        "for k in pairs(o) do o[k] = tonumber(os.getenv(k)) or os.getenv(k) or o[k] end\n"
        "local root = os.getenv('ROOT') or '/data'\nprint(o.lr * 2, o.name, root)\n"
    )
    made = draft(lua)
    assert "o[k] = lua.setting(k, o[k])" in made and 'os.environ.get("ROOT", "/data")' in made
    monkeypatch.setenv("lr", "0")
    monkeypatch.setenv("name", "")
    monkeypatch.setenv("ROOT", "")
    found: dict[str, Any] = {"lua": importlib.import_module("compat.port.lua"), "os": os}
    exec(made, found)  # what is set counts, 0 and "" too
    assert (found["o"], found["root"]) == ({"lr": 0, "name": ""}, "")


def test_one_value_behind_and_or_takes_a_default(draft: Callable[[str], str]) -> None:
    made = draft("local function f(o)\n  return o and o.k or 10\nend\nprint(f(), f{k = 3}, f{})")
    assert 'return o.get("k", 10) if o is not None else 10' in made


def test_parts_of_a_permutation_are_indices(draft: Callable[[str], str]) -> None:
    begin = "local ids = {'a', 'b'}\nlocal p\nfor e = 1, 2 do\n  p = torch.randperm(2)\n"
    made = draft(f"{begin}  local b = p:narrow(1, 1, 1)\n  print(ids[b[1]])\nend")
    assert "p = torch7.randperm(2)\n" in made and "ids[b[0].item() - 1]" in made
    assert "get_default_dtype" in draft(f"{begin}  local b = p:narrow(1, 1, 1):mean()\nend")
