"""What a run sees at the places of a script."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from compat import torch as torch7

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

SCRIPT = """\
local function pick(x, k) return x[k], k end
local t = {}
t[#t + 1] = 'a'
for i = 1, 2 do pick(torch.ones(2, 3), i) end
print(pick({5.5}, 1))
if arg[1] == 'never' then t.other = 1 end
"""


def test_kinds_counts_and_writes_are_noted(tmp_path: Path) -> None:
    from compat.port.know.files import File
    from compat.port.know.scopes import Scopes
    from compat.port.know.trace import traced
    from compat.port.read.parser import parse

    path = tmp_path / "script.lua"
    path.write_text(SCRIPT)
    source = path.read_bytes()
    block = parse(source, str(path))
    facts, problem, _ = traced([File(str(path), "script", block, Scopes(block, {}), source)], [])
    assert problem is None

    def seen(text: str, before: str = "") -> list[str] | None:
        start = SCRIPT.index(before + text) + len(before)
        return facts.get((str(path), start, start + len(text)))

    assert seen("x", "return ") == ["list", "tensor Double 2"]
    assert seen("k", "x[") == ["int"]
    assert seen("t", "then ") is None  # not reached
    key, call = SCRIPT.index("#t + 1"), SCRIPT.index("pick({5.5}, 1)")
    assert facts[str(path), key, -(key + 6)] == ["append"]
    assert facts[str(path), -call, call + 14] == ["2"]


def test_a_run_sees_what_stands_in_another_form(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local C = {}\n"
        "local mt = {__index = C}\n"
        "function C.new(f) return setmetatable({f = f}, mt) end\n"
        "local o = C.new(loadstring('return {1, {n = 2}}'))\n"
        "local t = assert(o.f(), 'none')\n"
        "print(t[2].n)\n"
    )
    assert "t[1][" in convert([path], runs=[[]])[0].text


def test_what_is_true_is_no_package(tmp_path: Path) -> None:
    from compat.port.program import convert

    (tmp_path / "gives_nothing.lua").write_text("")
    path = tmp_path / "script.lua"
    path.write_text(
        "require 'gives_nothing'\nlocal f = loadstring('return ...')\n"
        "local function show(x) if type(x) == 'number' then return x + 1 end return x end\n"
        "print(show(f(1)), show(f(true)))\n"
    )
    assert (
        "isinstance(x, (int, float))" not in convert([path], [[]], tmp_path)[0].text
    )  # True is an int


def test_what_a_run_saw_added_may_be_nil(agree: Callable[..., Path]) -> None:
    lua = (
        "local rows = {}\nfor i = 1, 2 do\n  rows[i] = {}\n"
        "  for j = 1, 3 do rows[i][j] = j < 3 and j or nil end\nend\n"
        "print(#rows[1], rows[1][3])\n"
        "require 'nn'\nlocal Mine = torch.class('MineOrNot', 'nn.Sequential')\n"
        "local has = {}\n"
        "for k, p in pairs{net = MineOrNot(), criterion = nn.MSECriterion()} do\n"
        "  has[k] = p.parameters == nil\nend\nprint(has.net, has.criterion)\n"
    )
    agree({"main.lua": lua}, run="")


def test_what_a_script_was_run_for_comes_from_its_run(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function f(x) return x:add(x) end\n"
        "return f(assert(loadstring('return torch.ones(2)'))())\n"
    )
    assert "lua.method" in convert([path])[0].text
    assert "return x.add_(x)" in convert([path], [[]])[0].text


def test_what_threads_compute_with_is_seen(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local threads = require 'threads'\n"
        "local pool = threads.Threads(1, function() require 'torch' end)\n"
        "local function load(x) return x:sum() end\n"
        "pool:addjob(function() return load(loadstring('return torch.ones(2)')()) end, print)\n"
        "pool:synchronize()\n"
    )
    made = convert([path], [[]])[0]
    assert "return x.sum().item()" in made.text


def test_files_are_found_whose_names_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port.program import make
    from compat.port.project.folder import write
    from compat.port.project.following import follow

    (tmp_path / "parts_of_it").mkdir()
    (tmp_path / "script.lua").write_text(
        "local made = require('parts_of_it/' .. 'small')\nprint(made.size)\n"
    )
    (tmp_path / "parts_of_it" / "small.lua").write_text("local M = {size = 3}\nreturn M\n")
    made = make(follow([tmp_path / "script.lua"]))  # which finds the part by itself
    write(made, tmp_path / "out")
    monkeypatch.syspath_prepend(tmp_path / "out")
    exec((tmp_path / "out" / "script.py").read_text(), {"__name__": "__main__"})
    assert capsys.readouterr().out == "3\n"
    for name in ("parts_of_it", "parts_of_it.small"):
        sys.modules.pop(name, None)


def test_what_a_run_saw_of_a_variable_holds_where_it_did_not_come(tmp_path: Path) -> None:
    from compat.port.program import convert

    torch7.save(tmp_path / "x.t7", torch.ones(14))
    path = tmp_path / "script.lua"
    path.write_text(
        "local data = torch.load('x.t7')\n"
        "if data:size(1) > 100 then data = data:sub(1, 100) end\n"
        "local path = require 'pl.path'\n"
        "if not path.exists('x.t7') then print('none') end\n"
    )
    made = convert([path], [[]], tmp_path)[0].text
    assert "    data = data[:100]\n" in made
    assert 'if not os.path.exists("x.t7"):\n' in made


def test_several_runs_are_put_together(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function f(x) return x:add(x) end\n"
        "local function g(y) return y:add(y) end\n"
        "local made = assert(loadstring('return torch.ones(2)'))\n"
        "if arg[1] == 'a' then return f(made()) end\n"
        "return g(made())\n"
    )
    for runs, names in ([["a"]], "x"), ([["b"]], "y"), ([["a"], ["b"]], "xy"):
        text = convert([path], runs)[0].text
        assert [f" {name}.add_({name})" in text for name in "xy"] == [n in names for n in "xy"]


def test_a_file_that_is_loaded_by_a_computed_name_is_known(tmp_path: Path) -> None:
    from compat.port.program import convert

    (tmp_path / "script.lua").write_text(
        "local maker = dofile('makers/' .. (arg[1] or 'a') .. '-gen.lua')\nprint(maker.make(2))\n"
    )
    (tmp_path / "makers").mkdir()
    (tmp_path / "makers" / "a-gen.lua").write_text(
        "local M = {}\nfunction M.make(n) return n + 1 end\nreturn M\n"
    )
    files = [tmp_path / "script.lua", tmp_path / "makers" / "a-gen.lua"]
    assert "maker.make(2)" in convert(files)[0].text


def test_what_a_loaded_file_computes_with_is_seen_by_the_command(tmp_path: Path) -> None:
    from compat.port import command

    (tmp_path / "inner").mkdir()
    (tmp_path / "script.lua").write_text(
        "local inner = require 'inner.file'\n"
        "inner.f(assert(loadstring('return torch.ones(2)'))())\n"
    )
    (tmp_path / "inner" / "file.lua").write_text(
        "local M = {}\nfunction M.f(x) return x:sum() end\nreturn M\n"
    )
    files = [str(tmp_path / "script.lua"), str(tmp_path / "inner" / "file.lua")]
    assert command.run(files, str(tmp_path / "out"), run=[""]) == 0
    assert "x.sum().item()" in (tmp_path / "out" / "inner" / "file.py").read_text()


def test_numbers_that_a_run_saw_whole_are_sizes_unless_they_are_quotients(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function size(opt, name) return opt[name] end\n"
        "local opt = assert(loadstring('return {n = 4}'))()\n"
        "local n = size(opt, 'n')\n"
        "local half = n / 2\n"
        "local x, y = torch.zeros(2 * n, n), torch.zeros(half, n)\n"
        "print(x[{{1, n}, {1, half}}]:size(1))\n"
    )
    text = convert([path], [[]])[0].text
    assert "torch.zeros(2 * n, n), torch.zeros(int(half), n)" in text
    assert "x[:n, : int(half)]" in text


def test_a_run_that_saw_an_object_and_another_table_knows_neither(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local Box = {}\nBox.__index = Box\n"
        "function Box.new(n) return setmetatable({n = n}, Box) end\n"
        "local function describe(x) return x.name or x.n end\n"
        "print(describe(Box.new(3)), describe({name = 'n'}))\n"
    )
    assert 'lua.index(x, "name")' in convert([path], [[]])[0].text


def test_a_run_sees_no_object_in_a_table_with_a_metatable(tmp_path: Path) -> None:
    from compat.port.program import convert

    (tmp_path / "config.lua").write_text(
        "local config = {}\nlocal mt = {__index = config, __mode = 'k'}\n"
        "function config.load()\n"
        "  local self = setmetatable({values = {}, order = {}}, mt) self:set('a', 1) return self\n"
        "end\n"
        "function config:set(k, v)\n"
        "  self.order[#self.order + 1] = k self.values[k] = v return self\n"
        "end\n"
        "function config:merge(other)\n"
        "  for _, k in ipairs(other.order) do self:set(k, other.values[k]) end return self\n"
        "end\n"
        "return config\n"
    )
    path = tmp_path / "main.lua"
    path.write_text(
        "local config = require 'config'\nlocal c = config.load()\n"
        "c:merge(config.load():set('b', 2))\nprint(c.values.b)\n"
    )
    made = convert([path], [[]], tmp_path)[1].text
    assert 'self["order"].append(k)' in made


def test_a_divisor_that_a_run_saw_zero_is_divided_by_as_in_lua(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function share(a, b) return a / b end\nlocal function rest(a, b) return a % b end\n"
        "print(share(1, tonumber('0')), share(1, 2), rest(5, 3))\n"
    )
    made = convert([path], [[]])[0].text
    assert "lua.divided(a, b)" in made and "return a % b" in made


def test_an_object_without_a_length_may_have_numbers_for_keys(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local C = torch.class('Counted')\n"
        "function C:__init(t) for k, v in pairs(t) do self[k] = v end end\n"
        "print(Counted({5, n = 1})[1])"
    )
    assert "Counted" in convert([path], [[]], tmp_path)[0].text


def test_a_table_that_a_run_saw_filled_from_its_end_is_a_list_for_nets(
    agree: Callable[..., Path],
) -> None:
    main = (
        "require 'nn'\nlocal split, kept = nn.SplitTable(1), {}\n"
        "local function double(x) return x * 2, x end\n"
        "local function back(g, x)\n  local made = {}\n"
        "  for i = #g, 1, -1 do made[i], kept.last = double(g[i]) end\n"
        "  return split:backward(x, made)\nend\n"
        "print(back({torch.ones(2), torch.ones(2)}, torch.ones(2, 2)))"
    )
    agree({"main.lua": main}, run="")


def test_a_list_of_torch7_may_be_where_the_program_has_a_table(agree: Callable[..., Path]) -> None:
    main = (
        "local own = setmetatable({}, {__index = function(t, k) return torch.ones(k) end})\n"
        "own.x = 5\n"
        "local function g(a)\n  if torch.isTensor(a) then a = a:split(1, 1) end\n  local s = 0\n"
        "  for i = #a, 1, -1 do s = s * 2 + a[i]:sum() end\n  return s\nend\n"
        "print(g(torch.range(1, 6):view(3, 2)))\nif arg[1] then print(g(own)) end"
    )
    agree({"main.lua": main}, run="")


def test_packages_stay_packages_whatever_a_run_sees(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local nn = require 'nn'\nlocal optim = require 'optim'\nlocal m = 'sgd'\n"
        "print(optim[m] == optim.sgd, torch.type(nn['Ta' .. 'nh']()))\n"
    )
    text = convert([path], [[]])[0].text
    assert "getattr(optim, m" in text and "getattr(nn, " in text
    path.write_text(
        "local found, tds = pcall(require, 'tds')\ntds = found and tds or nil\nprint(#tds.Hash())\n"
    )
    assert "tds.Hash()" in convert([path], [[]])[0].text


def test_what_a_run_saw_of_entries_keeps_their_tables_those_of_the_program(
    agree: Callable[..., Path],
) -> None:
    main = (
        "local i = 0\n"
        "local function read()\n  i = i + 1\n"
        "  if i == 1 then local t = {} t[('ab'):sub(1, 1)] = read() return t end\n"
        "  if i == 2 then local t = {} t[#t + 1] = read() t[#t + 1] = read() return t end\n"
        "  return i\nend\n"
        "local found = read()\nprint(found.a[1], found.a[2], #found.a)\n"
        "local function all(...) return ... end\n"
        "local function more(a, ...) return a, all(...) end\n"
        "print(more(1))\nprint((more(1, 2)))\n"
    )
    agree({"main.lua": main}, run="")


def test_a_table_that_a_run_saw_loaded_may_get_a_metatable(agree: Callable[..., Path]) -> None:
    main = (
        "local path = os.tmpname()\n"
        "torch.save(path, {data = torch.ones(3, 2), label = torch.range(1, 3)})\n"
        "trainset = torch.load(path)\n"
        "setmetatable(trainset, {__index = function(t, i) return {t.data[i], t.label[i]} end})\n"
        "trainset.data = trainset.data:double()\n"
        "function trainset:size() return self.data:size(1) end\n"
        "print(trainset:size(), trainset[2][2])\n"
    )
    agree({"main.lua": main}, run="")


def test_arguments_that_a_run_saw_may_be_a_list_and_a_dict(agree: Callable[..., Path]) -> None:
    main = (
        "local function f(...)\n"
        "  local args, params, size = {...}\n"
        "  local x, s = args[1], 0\n"
        "  if select('#', ...) == 3 then params = args[2] size = args[3] end\n"
        "  for j = 1, #params do\n"
        "    local jit = params[j]\n"
        "    jit.rotate = jit.rotate or 0\n"
        "    s = s + jit.x * size.w + jit.rotate\n"
        "  end\n  return s + x:sum()\nend\n"
        "local size, jit = {w = 2}, {{x = 2}, {x = 3}}\n"
        "print(f(torch.ones(2), jit, size))\n"
    )
    agree({"main.lua": main}, run="")


def test_remainders_that_a_run_saw_whole_are_indices(agree: Callable[..., Path]) -> None:
    agree(
        {"main.lua": "for i = 1, 3 do print(torch.eye(3)[{math.fmod(i, 3) + 1, {}}]) end"}, run=""
    )


def test_methods_of_lua_may_have_names_that_are_words_of_python(
    agree: Callable[..., Path],
) -> None:
    main = (
        "local tester, suite = torch.Tester(), torch.TestSuite()\n"
        "function suite.one() tester:assert(1 == 1, 'one') end\ntester:add(suite)\ntester:run()\n"
        "print(tester:assert(true))"
    )
    agree({"main.lua": main}, run="")


def test_tables_with_the_fields_of_options_stay_tables(agree: Callable[..., Path]) -> None:
    main = (
        "lapp = require 'pl.lapp'\n"
        "opt = lapp[[\n  --rate (default 0.1) r\n  --momentum (default 0.5) m\n]]\n"
        "local step = require 'step'\nconfigs = {}\n"
        "for _, c in pairs({'D', 'G'}) do\n  configs[c] = {}\n"
        "  configs[c].rate = opt.rate\n  configs[c].momentum = opt.momentum\nend\n"
        "step()\nconfigs.D.rate = configs.D.rate / 2\nprint(configs.D.rate)"
    )
    step = "return function() print(configs.G.rate .. ' ' .. configs.G.momentum) end"
    agree({"main.lua": main, "step.lua": step}, run="")


def test_a_run_makes_no_draft_less_general(agree: Callable[..., Path]) -> None:
    lines = [
        "local cmd = torch.CmdLine()",
        "cmd:option('-batch', 2)",
        "cmd:option('-verbose', false)",
        "local opt = cmd:parse(arg)",
        "local counts = {}",
        "for w in ('a b a ' .. opt.batch):gmatch('%w+') do counts[w] = (counts[w] or 0) + 1 end",
        "print(3, counts['2'], counts[tostring(opt.batch)], counts.a + counts[('b'):lower()])",
        "if opt.verbose then print 'verbose' end",
        "local rows = {size = function() return 4 end}",
        "for t = 1, rows:size(), opt.batch do",
        "  for i = t, math.min(t + opt.batch - 1, rows:size()) do print(i, opt.lr or 0.1) end",
        "end",
        "opt.extra = {1}",
        "local Model = {}",
        "Model.__index = Model",
        "function Model.new(o) local m = setmetatable({}, Model) m.opt = o return m end",
        "function Model:run(n)",
        "  local opt = self.opt",
        "  for t = 1, n or opt.batch do print(t) end",
        "end",
        "Model.new(opt):run()",
        "Model.new(opt):run(1)",
        "for k, v in pairs(opt) do counts[k] = v end",
    ]
    out = agree({"main.lua": "\n".join(lines) + "\n"}, "-batch 3 -verbose", "")
    text = (out / "main.py").read_text()
    assert "f\"3\\t{lua.tostring(counts.get('2'))}" in text and "counts['a'] + counts[" in text
    for part in ("if opt.verbose:", '"-batch", type=int', "for i in range(", "range(1, (n if "):
        assert part in text
    assert "lua.either" not in text


def test_a_permutation_that_a_run_saw_is_one_of_indices(agree: Callable[..., Path]) -> None:
    lua = "local order = torch.randperm(4)\nlocal x = torch.range(1, 4)\nprint(x[order[2]])\n"
    out = agree({"main.lua": lua}, "", "")
    assert "x[order[1].item() - 1]" in (out / "main.py").read_text()


def test_options_that_another_file_parses_stay_options(agree: Callable[..., Path]) -> None:
    opts = (
        "local M = {}\nfunction M.parse(arg)\n  local cmd = torch.CmdLine()\n"
        "  cmd:option('-LR', 0.5, 'rate')\n  cmd:option('-tenCrop', 'false', 'crops')\n"
        "  local opt = cmd:parse(arg or {})\n  opt.tenCrop = opt.tenCrop ~= 'false'\n"
        "  return opt\nend\nreturn M"
    )
    trainer = (
        "local M = {}\nlocal Trainer = torch.class('own.Trainer', M)\n"
        "function Trainer:__init(opt) self.opt = opt end\n"
        "function Trainer:rate(n) return self.opt.LR * n * (self.opt.tenCrop and 10 or 1) end\n"
        "return M.Trainer"
    )
    main = (
        "local opt = require('opts').parse(arg)\nlocal Trainer = require 'trainer'\n"
        "print(Trainer(opt):rate(1), opt.LR)"
    )
    out = agree({"main.lua": main, "opts.lua": opts, "trainer.lua": trainer}, run="")
    assert "return self.opt.LR * n" in (out / "trainer.py").read_text()


def test_the_arguments_that_a_run_saw_are_a_list_as_drafts_pass_it(
    agree: Callable[..., Path],
) -> None:
    main = (
        "local function after(args, name)\n"
        "  for i = 1, #args do if args[i] == name and i < #args then return args[i + 1] end end\n"
        "end\nprint(after(arg, '-x') or 'none')"
    )
    agree({"main.lua": main}, run="-x 4", check="-y 3 -x 5")
