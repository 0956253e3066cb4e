"""Programs of several files and scripts, and what their runs tell."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

PART = """\
local M = {}
function M.total(x)
  if torch.isTensor(x) then return x:sum() end
  return #x
end
return M
"""
TRAIN = """\
local part = require 'part'
kept = {lr = 1}
print(part.total(torch.ones(3)), kept.lr)
torch.save('x.t7', {1, 2})
"""
SAMPLE = """\
local part = require 'part'
kept = torch.load('x.t7')
print(part.total(kept), kept[1], arg[1])
"""


@pytest.fixture
def program(tmp_path: Path) -> list[Path]:
    texts = {"train": TRAIN, "sample": SAMPLE, "part": PART}
    paths = [tmp_path / "lua" / f"{name}.lua" for name in texts]
    paths[0].parent.mkdir()
    for path, text in zip(paths, texts.values(), strict=True):
        path.write_text(text)
    return paths


def test_scripts_of_one_program_have_their_own_global_variables(program: list[Path]) -> None:
    from compat.port.program import convert

    train, sample, part = convert(program)
    assert 'kept = {"lr": 1}' in train.text and "kept = t7.load(" in sample.text
    assert "shared" not in train.text + sample.text
    default = "torch7.setdefaulttensortype"
    assert default in train.text and default in sample.text and default not in part.text


def test_runs_and_checks_of_several_scripts_go_on_with_one_anothers_files(
    program: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port import command

    lines = ["", f"{program[1]} a"]
    code = command.run(
        [str(path) for path in program], str(tmp_path / "out"), run=lines, check=lines
    )
    said = capsys.readouterr().out
    assert code == 0, said
    assert "0 open. 0 marks." in said
    assert "The same: 1 line that both print, and x.t7\nThe same: 1 line" in said
    # The part was loaded from the copy of its folder, and seen there.
    assert "return len(x)" in (tmp_path / "out" / "part.py").read_text()
    assert sorted(path.name for path in program[0].parent.iterdir()) == [
        "part.lua",
        "sample.lua",
        "train.lua",
    ]


RECURRENT = """\
require 'nn'
torch.manualSeed(1)
local first = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh())
local second = nn.Sequential():add(nn.Linear(2, 2)):add(nn.Tanh())
local state = torch.ones(2)
for i = 1, 3 do
  local new = second:forward(first:forward(state))
  {}
  print(first:get(1).gradWeight:sum(), new:sum())
  state = new
end
"""


@pytest.mark.slow
def test_a_check_tells_results_that_are_overwritten_from_other_differences(tmp_path: Path) -> None:
    from compat.port.check import checking
    from compat.port.program import make
    from compat.port.project.folder import write
    from compat.port.project.following import follow

    script = tmp_path / "script.lua"
    script.write_text(RECURRENT.replace("{}", "first:backward(state, torch.ones(2))"))
    (draft,) = write(make(follow([script])), None).files
    outcome = checking.check(script, draft)
    assert outcome.difference is None and outcome.kept and outcome.lines == 3
    assert "where no result is overwritten" in str(outcome)
    draft.write_text(draft.read_text().replace("torch.ones(2)\nfor", "torch.zeros(2)\nfor"))
    assert "line 1 of" in str(checking.check(script, draft).difference)


def test_results_that_are_read_before_they_are_overwritten_have_no_mark(
    draft: Callable[[str], str],
) -> None:
    mark = "docs/porting.md#port-outputs"
    assert mark not in draft(RECURRENT.replace("{}", ""))
    assert mark in draft(RECURRENT.replace("{}", "print(state:sum())"))
    assert mark in draft(RECURRENT.replace("{}", "first:backward(state, torch.ones(2))"))


def test_tables_by_number_come_back_from_files_as_the_dicts_that_they_were(
    both: Callable[[str], tuple[str, str]],
) -> None:
    lua, python = both(
        """
        require 'nn'
        local Coder, parent = torch.class('nn.PortCoder', 'nn.Module')
        function Coder:__init(words)
          parent.__init(self)
          self.words = {}
          for word, n in pairs(words) do self.words[tonumber(n)] = word end
        end
        function Coder:word(n) return self.words[n] end
        torch.save('coder.t7', nn.PortCoder({a = '1', b = '2'}))
        local coder = torch.load('coder.t7')
        print(coder:word(1), coder:word(2), coder:word(3))
        """
    )
    assert python == lua == "a\tb\tnil\n"


def test_names_of_files_become_names_of_modules_of_their_own(tmp_path: Path) -> None:
    from compat.port.project.modules import module_names

    names = ("main", "1_data", "types", "shared", "in/2d-util", "in/types", "class", "test")
    made, why = module_names([tmp_path / f"{name}.lua" for name in names], tmp_path)
    assert made == ["main", "_1_data", "types_", "shared_", "in_._2d_util", "in_.types", "class_",
                    "test"]  # fmt: skip
    assert why[tmp_path / "types.lua"] == "Python has a module of this name"
    assert set(why) == {tmp_path / f"{name}.lua" for name in names[1:7]} - {
        tmp_path / "in/types.lua"
    }


def test_what_was_edited_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from compat.port import command
    from compat.port.read.syntax import PortError

    script, draft = tmp_path / "script.lua", tmp_path / "script.py"
    script.write_text("print('a')\n")
    with pytest.raises(PortError, match="does not exist; without --keep"):
        command.run([str(script)], keep=True, check=[""])
    command.run([str(script)])
    made = draft.read_text()
    draft.write_text(made.replace('"a"', '"edited"'))
    assert command.run([str(script)], keep=True, check=[""]) == 1
    assert "edited" in draft.read_text() and "script.py: edited" in capsys.readouterr().out
    command.run([str(script)])
    assert draft.read_text() == made
    assert "edited" in (tmp_path / "script.py~").read_text()
    draft.write_text("a third\n")
    command.run([str(script)])
    assert "edited" in (tmp_path / "script.py~").read_text()
    assert (tmp_path / "script.py~2").read_text() == "a third\n"
    with pytest.raises(PortError, match="one file, and there are 2 drafts"):
        command.run([str(script), str(script.with_name("script.lua")), str(_other(tmp_path))],
                    out=str(tmp_path / "x.py"))  # fmt: skip


def _other(folder: Path) -> Path:
    path = folder / "other.lua"
    path.write_text("print(1)\n")
    return path


def test_values_of_options_may_begin_as_options_do() -> None:
    from compat.port.command import joined

    words = ["port", "a.lua", "--run", "-hidden 5", "--check", "-o x", "-o", "out"]
    assert joined(words) == ["port", "a.lua", "--run=-hidden 5", "--check=-o x", "-o", "out"]


PARTS = {
    "main.lua": """
local ok, Early = pcall(require, 'parts.Base')
local Third = setmetatable({}, {__index = Early})
Third.__index = Third
local t = setmetatable({}, Third)
t:init(5)
print(ok, t:show())
local Base = require 'parts.Base'
local Derived = setmetatable({}, {__index = Base})
Derived.__index = Derived
function Derived.new(n) local o = setmetatable({}, Derived) o:init(n) return o end
function Derived:show() return 'derived ' .. Base.show(self) end
local d = Derived.new(4)
print(d:show(), d.n, Base.new(3):show(), getmetatable(Derived).__index == Base)
print(require('parts.named').name, require('md5').own)
local failed, text = pcall(require, 'parts.bad')
print(failed, type(text))
local counted = require 'parts.counted'
print(counted.n, counted.first, counted.second)
""",
    "parts/Base.lua": """
local Base = {}
Base.__index = Base
function Base.new(n) local o = setmetatable({}, Base) o:init(n) return o end
function Base:init(n) self.n = n end
function Base:show() return 'base ' .. self.n end
return Base
""",
    "parts/named.lua": "return {name = (...):gsub('%.named$', '') .. '!'}",
    "parts/bad.lua": "error('boom')",
    "parts/counted.lua": "local a, b = ... return {n = select('#', ...), first = a, second = b}",
    "md5.lua": "return {own = true}",  # torchx brings one of the name, which is not Torch7's
}


def test_classes_names_and_packages_of_several_files(agree: Callable[..., Path]) -> None:
    assert "class Derived(Base):" in (agree(PARTS) / "main.py").read_text()


MIXED = {
    "main.lua": """
local Named = require 'Named'
local Ordered = require 'Ordered'
local include = require('mix').include
local P = {}
P.__index = P
include(P, Named, Ordered)
function P.new(n, v) return setmetatable({name = n, value = v, lines = {}}, P) end
function P:label() return 'P:' .. Named.label(self) end
for _, level in ipairs{'info', 'warn'} do
  P[level] = function(self, ...)
    self.lines[#self.lines + 1] = level .. ':' .. self.name:format(...)
  end
end
local a, b = P.new('a', 1), P.new('b', 2)
a:info()
print(a:show(), b:show(), a:less(b), b:less(a), a:most(b):show(), #a.lines, a.lines[1])
""",
    "Named.lua": """
local Named = {}
function Named:label() return 'label ' .. self.name end
function Named:show() return '<' .. self:label() .. '>' end
return Named
""",
    "Ordered.lua": """
return {
  less = function(self, other) return self.value < other.value end,
  most = function(self, other) if self:less(other) then return other end return self end,
}
""",
    "mix.lua": """
local M = {}
function M.include(class, ...)
  for _, mixin in ipairs({...}) do
    for k, v in pairs(mixin) do class[k] = v end
  end
end
return M
""",
}


@pytest.mark.parametrize("run", [None, ""])
def test_functions_of_several_files_are_mixed_into_a_class(
    run: str | None, agree: Callable[..., Path]
) -> None:
    assert "def label(self)" in (agree(MIXED, run=run) / "Named.py").read_text()


def test_a_line_for_the_shell_is_no_docstring(tmp_path: Path) -> None:
    from compat.port.program import convert

    (tmp_path / "train.lua").write_text("#!/usr/bin/env th\n-- Trains it.\nprint(1)\n")
    assert convert([tmp_path / "train.lua"])[0].text.startswith('"""Trains it."""\n')


GUARDED = {
    "main.lua": """
local Counter = require 'Counter'
local ranks = {a = 1, b = 2}
local word = arg[1]
print(ranks[word] or -1, Counter(4):get())
local rank = ranks[arg[2]]
print(pcall(function() assert(rank, {}) return rank end) == (rank ~= nil))
local list = {10, 20, 30}
print(tonumber(arg[3]) or 5, list[tonumber(arg[4]) or 1] or 'none')
if not ranks[word] then print('missing') end
print(arg[5] and tonumber(arg[5]) or 7)
""",
    "Counter.lua": """
local Counter = {}
Counter.__index = Counter
setmetatable(Counter, {__call = function(cls, ...) return cls.new(...) end})
function Counter.new(n) local self = setmetatable({}, Counter) self.n = n return self end
function Counter:get() return self.n end
return Counter
""",
}


@pytest.mark.parametrize("line", ["a b 3 2 1", "q z", "a", "b a x 9"])
def test_what_the_source_asks_for_may_be_missing_though_a_run_met_it(
    line: str, agree: Callable[..., Path]
) -> None:
    agree(GUARDED, line, run="a b 3 2 1")


@pytest.mark.parametrize(("line", "is_other"), [("error('odd')", False), ("print(u.z)", True)])
def test_a_check_shows_both_errors_where_they_differ(
    line: str, is_other: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port import command

    (tmp_path / "main.lua").write_text(f"print('start')\nlocal u\n{line}\n")
    command.run([str(tmp_path / "main.lua")], str(tmp_path / "out"), check=[""])
    found = capsys.readouterr().out
    assert "  it ended in: luajit: " in found
    assert ("  the draft ended in: TypeError: " in found) is is_other


JOBS = """
local threads = require 'threads'
local scale, data, runs = 1, {1, 2}, 0
local function helper(x) return x * scale end
seen = 'main'
local pool = threads.Threads(1, function() require 'torch' end, function(id) seen = 'w' .. id end)
scale, data[3] = 5, 7
local late = torch.ones(3)
for i = 1, 2 do
   pool:addjob(function() late:mul(2) return scale + i, #data, helper(i), late:sum(), seen end,
      print)
   pool:synchronize()
end
scale = 9
local function fact(n) if n < 2 then return 1 end return n * fact(n - 1) end
local after = 3
pool:addjob(function() runs = runs + 1 return helper(1), runs, fact(after) end, print)
pool:synchronize()
pool:addjob(function(a, b) return a, b end, function(a, b, c) print(a, b, c) end, 1)
pool:synchronize()
print(late:sum(), runs, seen)
pool:terminate()
threads.Threads.serialization('threads.sharedserialize')
pool = threads.Threads(1, function() require 'torch' end)
pool:addjob(function() late[2] = 42 end)
pool:synchronize()
print(late[2])
pool:terminate()
"""


def test_variables_of_the_file_go_with_a_job_as_they_are_when_it_is_added(
    agree: Callable[..., Path],
) -> None:
    draft = (agree({"main.lua": JOBS}) / "main.py").read_text()
    assert draft.count("sets a copy of its own of runs") == 1


@pytest.mark.parametrize("job", ["bump", "function() return bump() end"])
def test_a_job_that_sets_a_variable_of_the_file_by_what_it_calls_is_marked(
    job: str, tmp_path: Path
) -> None:
    from compat.port.program import convert

    (tmp_path / "main.lua").write_text(
        "local pool = require('threads').Threads(1)\nlocal n = 1\n"
        "local function bump() n = n + 1 return n end\n"
        f"pool:addjob({job}, print)\npool:synchronize()\n"
    )
    assert "sets a copy of its own of n " in convert([tmp_path / "main.lua"])[0].text


def test_options_of_the_script_may_lack_those_that_a_file_has_for_itself(
    agree: Callable[..., Path],
) -> None:
    declare = "cmd = torch.CmdLine()\ncmd:option('-size', 3, 'size')\n"
    model = (
        f"if not opt then\n{declare}cmd:option('-show', true, 'show')\nopt = cmd:parse(arg)\nend\n"
        "if opt.show then print('shown') end\nprint(opt.show, opt.size + 1)\n"
    )
    main = f"{declare}opt = cmd:parse(arg)\ndofile 'model.lua'\nprint(opt.show)\n"
    made = agree({"main.lua": main, "model.lua": model}, "-size 4")
    assert "opt.size + 1" in (made / "model.py").read_text()


def test_what_a_file_brings_draws_behind_the_seed_though_a_branch_would_have(
    agree: Callable[..., Path],
) -> None:
    main = (
        "if arg[1] == 'cuda' then require 'cunn' end\ntorch.manualSeed(1)\ndofile 'data.lua'\n"
        "print(torch.uniform())\n"
    )
    made = agree({"main.lua": main, "data.lua": "require 'nn'\nx = nn.Identity()\n"})
    assert "torch7.random()" in (made / "main.py").read_text()


def test_what_is_tried_draws_as_what_is_required(agree: Callable[..., Path]) -> None:
    main = """
        torch.manualSeed(1)
        ok, cunn = pcall(require, 'cunn')
        local ok2, cutorch = pcall(require, 'cutorch')
        if ok and ok2 then cutorch.manualSeed(2) end
        print(ok, ok2, torch.uniform())
        has, elsewhere = pcall(require, 'elsewhere')
        print(has)
    """
    made = agree({"main.lua": main})
    text = (made / "main.py").read_text()
    assert "ok = True  # cunn is here" in text and "cutorch.manualSeed(2)" in text


def test_what_a_branch_may_have_brought_draws_once(agree: Callable[..., Path]) -> None:
    main = """
        torch.manualSeed(1)
        if arg[1] == 'cuda' then require 'cunn' end
        local function make(n) require 'nn' return nn.Linear(n, 2) end
        print(make(3).weight, torch.uniform(), make(2).weight)
        require 'nn'
        print(torch.uniform())
    """
    made = agree({"main.lua": main})
    assert (made / "main.py").read_text().count("lua.draw_for_nn()") == 3


def test_files_that_do_something_are_loaded_in_their_order(agree: Callable[..., Path]) -> None:
    part = "print('%s')\nreturn {name = '%s'}"
    main = (
        "local train = require 'train'\nlocal data = require 'data'\nlocal test = require 'test'\n"
        "print(train.name, data.name, test.name)\n"
        "local function more()\n  local z = require 'z'\n  local a = require 'a'\n"
        "  return z.name .. a.name\nend\nprint(more())"
    )
    names = ("train", "data", "test", "z", "a")
    files = {f"{name}.lua": part % (name, name) for name in names}
    made = agree({"main.lua": main, **files}, "").joinpath("main.py").read_text()
    assert made.count("# isort: split") == 2


def test_what_a_file_is_run_for_has_the_name_that_it_gets(agree: Callable[..., Path]) -> None:
    data = "local data = {}\nfunction data.new(n) return {n, n + 1} end\nreturn data\n"
    main = (
        "print('begins')\nlocal Loader = dofile 'data.lua'\nlocal data = Loader.new(2)\n"
        "print(data[2])\nlocal one = dofile 'one.lua'\nprint(one)\n"
    )
    made = agree({"main.lua": main, "data.lua": data, "one.lua": "return 1, 2\n"})
    text = (made / "main.py").read_text()
    assert "import data as Loader" in text and "data = Loader.new(2)" in text
