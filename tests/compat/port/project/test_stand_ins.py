"""Files and functions that stay Lua: a program does the same, whichever of its parts do."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.forked_python import forked_python

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

PROGRAM = {
    "train.lua": """
require 'nn'
local util = require 'lib.util'
local L = require 'lib.layers'
local function tail(x) return x + 1, 'tail' end
local opt = {n = tonumber(arg[1]) or 2}
counter = 5
print(util.twice(opt.n), tail(1))
local net = nn.Sequential():add(nn.Scale(3)):add(L.Twice(2))
print(net:forward(torch.ones(2)), torch.typename(net:get(2)))
print(util.bump(), counter, util.count)
local q = L.queue(3)
q:push(4)
print(q:size(), q.n, L.Q.name)
local x = torch.zeros(3)
util.fill(x, 7)
print(x:sum(), #util.list, util.list[2], util.each({1, 2, 3}, function(v) return v * 10 end))
local d = Dog('rex')
print(d:speak(), torch.type(d), d.name)
""",
    "lib/util.lua": """
local M = {}
M.count = 0
M.list = {3, 4, 5}
function M.twice(x) M.count = M.count + 1 return 2 * x end
function M.bump() counter = counter + 1 return counter end
function M.fill(x, v) x:fill(v) end
function M.each(t, f) local s = 0 for _, v in ipairs(t) do s = s + f(v) end return s end
return M
""",
    "lib/layers.lua": """
local util = require 'lib.util'
require 'lib.animals'
local Scale, parent = torch.class('nn.Scale', 'nn.Module')
function Scale:__init(k) parent.__init(self) self.k = util.twice(k) end
function Scale:updateOutput(x) self.output = x * self.k return self.output end
local Twice, scale = torch.class('nn.Twice', 'nn.Scale')
function Twice:__init(k) scale.__init(self, k) self.more = 1 end
function Twice:updateOutput(x) return scale.updateOutput(self, x) + self.more end
local Q = {}
Q.__index = Q
Q.name = 'queue'
function Q.new(n) local self = setmetatable({}, Q) self.n = n self.list = {} return self end
function Q:push(x) self.list[#self.list + 1] = x self.n = self.n + 1 end
function Q:size() return #self.list end
return {queue = Q.new, Q = Q, Twice = nn.Twice}
""",
    "lib/animals.lua": """
local Animal = torch.class('Animal')
function Animal:__init(name) self.name = name end
function Animal:speak() io.write('é', '\\n') return self.name .. '!' end
local Dog, parent = torch.class('Dog', 'Animal')
function Dog:speak() return 'wóof ' .. parent.speak(self) end
""",
}
FILES = [name.rpartition("/")[2] for name in PROGRAM]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lua")
    (folder / "lib").mkdir()
    for name, text in PROGRAM.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture(scope="module")
def printed(source: Path) -> str:
    """What the program prints in Lua."""
    done = subprocess.run(
        [forked_python(), "-m", "compat.lua", "train.lua"],
        cwd=source, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def ported(source: Path, out: Path, monkeypatch: pytest.MonkeyPatch, *stay: str) -> Path:
    """The program in Python, with these files, or all ``functions``, in Lua."""
    from compat.port import program
    from compat.port.project import drafting, folder
    from compat.port.project.following import follow

    plain, written = program._reason, drafting.written
    monkeypatch.setattr(
        program, "_reason", lambda s: "it is asked for" if s.path.name in stay else plain(s)
    )

    def in_lua(draft: drafting.Draft) -> str:
        scopes = draft.file.scopes.of_function
        draft.in_lua.update({n: "it is asked for" for n in scopes if drafting._is_outer(scopes[n])})
        return written(draft)

    if "functions" in stay:
        monkeypatch.setattr(drafting, "written", in_lua)
    folder.write(program.make(follow([source / "train.lua"])), out)
    return out


@pytest.mark.parametrize(
    "stay", [[], ["layers.lua"], ["animals.lua", "util.lua"], FILES, ["functions"]], ids=" ".join
)
@pytest.mark.slow
def test_a_program_does_the_same_whichever_parts_stay_in_lua(
    stay: list[str], source: Path, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = ported(source, tmp_path / "out", monkeypatch, *stay)
    done = subprocess.run(
        [forked_python(), str(out / "train.py")],
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == printed, done.stderr
    texts = [path.read_text() for path in out.rglob("*.py")]
    whole = sum("lua.module(" in text or "lua.main(" in text for text in texts)
    assert whole == sum(name in stay for name in FILES)


def test_what_is_still_lua_is_told(
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from compat.port import command
    from compat.port.project.status import status
    from compat.port.read.syntax import PortError

    out = ported(source, tmp_path / "out", monkeypatch, "animals.lua")
    found = status(out)
    assert found.files == 4 and found.in_lua == ["lib/animals.py"]
    assert found.marks["lib/animals.py"] == 1
    assert command.run([str(out)], show_status=True) == 0
    assert "3 of 4 files are Python.\nstill Lua: lib/animals.py\n" in capsys.readouterr().out
    with pytest.raises(PortError, match=r"has no port\.json"):
        status(source)


@pytest.mark.slow
def test_the_share_of_time_in_lua_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    from compat.port import command

    text = "local s = 0\nfor i = 1, 3e8 do s = s + i % 7 end\nprint(s)\n"
    shares = []
    for name, stay in (("train.lua", ["train.lua"]), ("train.lua", [])):
        (tmp_path / name).write_text(text if stay else text.replace("3e8", "3e6"))
        out = ported(tmp_path, tmp_path / f"out{len(stay)}", monkeypatch, *stay)
        monkeypatch.undo()
        command.run([str(out)], show_status=True, run=[""])
        told = re.search(r"train\.py: (\d+) % of [\d.]+ s run in Lua", capsys.readouterr().out)
        assert told is not None
        shares.append(int(told[1]))
    assert shares[0] > 90 and shares[1] < 10


def test_a_status_runs_the_script_that_is_named_as_in_lua(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port import command

    scripts, out = [tmp_path / name for name in ("sample.lua", "train.lua")], tmp_path / "out"
    for script in scripts:
        script.write_text("print(arg[1])\n")
    command.run([str(script) for script in scripts], str(out))
    command.run([str(out)], show_status=True, run=["train.lua 3", "sample.py"])
    told = [line.split(":")[0] for line in capsys.readouterr().out.splitlines() if "run in" in line]
    assert told == ["train.py", "sample.py"]


def test_a_function_that_python_cannot_say_stays_lua(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local optim = require 'optim'\nlocal l, n = 3, 0\n"
        "local function up(x)\n  ::top::\n  x, n = x + l, n + 1\n"
        "  if x < 10 then goto top end\n  return x, optim.sgd\nend\n"
        "local function plain() return 1 end\nprint(up(1), n, plain())\n"
        "local function again()\n  for i = 1, 2 do\n    ::redo::\n    n = n + i\n"
        "    if n < 9 then goto redo end\n    print(n)\n  end\nend\nagain()\n"
    )
    made = convert([path])[0]
    assert made.functions == ["up", "again"] and "def plain():" in made.text
    assert made.text.count("# port: ") == 2
    assert "# port: this function runs in Lua: Python has no goto" in made.text
    assert '"l=l_ n"' in made.text and "local optim = require 'optim'" in made.text


def test_a_parameter_and_a_global_variable_of_one_name(tmp_path: Path) -> None:
    from compat.port.program import convert

    path = tmp_path / "script.lua"
    path.write_text(
        "local function each(f) f(1, 2) end\n"
        "each(function() _, x = math.modf(2.5) print(x) end)\nprint(_)\n"
    )
    made = convert([path])[0]
    compile(made.text, "script.py", "exec")
    assert not made.functions and not made.in_lua


def test_a_draft_that_fails_leaves_the_others(
    source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compat.port.program import convert
    from compat.port.project import drafting

    written = drafting.written

    def failing(draft: drafting.Draft) -> str:
        if draft.file.path.endswith("util.lua"):
            raise KeyError("unknown")
        return written(draft)

    monkeypatch.setattr(drafting, "written", failing)
    made = {one.source.name: one for one in convert([source / "train.lua"])}
    assert [name for name, one in made.items() if one.in_lua] == ["util.lua"]
    assert "M = lua.named(lua.module(" in made["util.lua"].text
    assert "from lib.util import M as util" in made["train.lua"].text
