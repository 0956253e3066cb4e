"""A file is loaded where its program loads it, if that can be seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.needs("tree_sitter"),
    pytest.mark.needs("tree_sitter_lua"),
    pytest.mark.needs("lupa"),
]

PROGRAM = {
    "main.lua": """
opt = {size = 3, model = require('defaults').model}
print('begin')
local data = require 'data.load'
local helper = require 'helper'
require 'mods'
if opt.size > 2 then
   local extra = dofile 'extra.lua'
   print(extra.n)
end
print(data.n, helper.double(4), Thing(2).k)
function later() return require('lazy').v end
opt.size = 9
print(later())
print(dofile(opt.model), dofile(arg[1]), known)
known = 3
require 'nn'
require 'patched'
print(nn.Identity():forward(torch.ones(1)))
""",
    # What a package has is kept before the program sets its own, which the package calls as it
    # likes.
    "patched.lua": """
local before = nn.Identity.updateOutput
function nn.Identity:updateOutput(x, more)
   print('in', more)
   return before(self, x)
end
return 'patched'
""",
    "data/load.lua": "print('loading with', opt.size)\nreturn {n = opt.size * 2}",
    "helper.lua": """
local M = {}
function M.double(x) return 2 * x + opt.size end
return M
""",
    "mods.lua": """
local Thing = torch.class('Thing')
function Thing:__init(k) self.k = k + opt.size end
""",
    "extra.lua": "return {n = opt.size + 100}",
    "defaults.lua": "return {model = 'models/a.lua'}",
    "models/a.lua": "known = opt.size return 'a'",
    "models/b.lua": "return known + 1",  # nothing in the program names it
    "lazy.lua": "return {v = opt.size}",
}


def test_a_file_that_reads_what_is_set_before_is_loaded_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from compat.port import command

    for name, text in PROGRAM.items():
        (tmp_path / "lua" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "lua" / name).write_text(text)
    out = tmp_path / "out"
    code = command.run([str(tmp_path / "lua/main.lua")], str(out), check=["models/b.lua"])
    assert code == 0, capsys.readouterr().out
    draft = (out / "main.py").read_text()
    top, _, _ = draft.partition("torch7.setdefault")
    # What only defines stands at the top, as in any Python.
    assert "import helper\n" in top
    assert "from data.load" not in top
    assert (out / "models/a.py").is_file()


def test_a_function_imports_a_file_once(agree: Callable[..., Path]) -> None:
    main = """
print('begin')
local function later(n)
   if n > 2 then return require('lazy').v end
   local sum = require('lazy').v + n
   if n > 1 then sum = sum + require('lazy').v end
   return sum * require('lazy').v
end
print(later(1), later(2), later(3))
"""
    out = agree({"main.lua": main, "lazy.lua": "print('lazy')\nlocal M = {v = 3}\nreturn M"})
    # for the first branch, which ends, and for all that comes behind it
    assert (out / "main.py").read_text().count("from lazy import M") == 2


def test_a_name_that_has_become_another_thing_is_imported_again(
    agree: Callable[..., Path],
) -> None:
    main = """
local function f(k)
  local m = require 'm'
  k = m.f(k)
  local m = 5
  k = k + m
  local m = require 'm'
  for _, m in ipairs({1, 2}) do k = k + m end
  local m = require 'm'
  return m.f(k)
end
print(f(1))
local m = require 'm'
print(m.f(2))
m = nil
local m = require 'm'
print(m.f(3))
"""
    own = "print('load m')\nlocal M = {}\nfunction M.f(x) return x + 1 end\nreturn M"
    agree({"main.lua": main, "m.lua": own})


EARLY = {
    "main.lua": "nets = {}\nrequire 'Layer'\nlocal m = require 'm'\nprint(m.a, nets.Layer():f())",
    "m.lua": """
if arg[1] then
   return {a = 1}
end
print('whole')
local M = {a = 2}
return M
""",
    "Layer.lua": """
if nets and nets.Layer then return nets.Layer end
local Layer = torch.class('nets.Layer')
function Layer:__init() end
function Layer:f() return 3 end
return Layer
""",
}


@pytest.mark.parametrize("line", ["", "x"])
def test_a_file_may_return_before_its_end(line: str, agree: Callable[..., Path]) -> None:
    out = agree(EARLY, line)
    # Python loads a file once: whether it was loaded before is no question.
    assert "if" not in (out / "Layer.py").read_text().split("as in Lua")[-1]


def test_a_file_that_brings_nn_after_a_seed_draws_as_in_lua(agree: Callable[..., Path]) -> None:
    main = "torch.manualSeed(3)\nlocal m = require 'm'\nrequire 'nn'\nprint(torch.random(), m.f())"
    m = "require 'n'\nlocal M = {}\nfunction M.f() return 1 end\nreturn M"
    agree({"main.lua": main, "m.lua": m, "n.lua": "local nn = require 'nn'\nnn.n = 3"})


@pytest.mark.parametrize("line", ["1", "2"])
def test_two_files_may_have_classes_of_one_name(line: str, agree: Callable[..., Path]) -> None:
    loader = (
        "local d = torch.class('Loader')\nfunction d:__init(x) self.{0} = x end\n"
        "function d:get() return self.{0} + {1} end\nmade = Loader({1})"
    )
    main = (
        "require 'paths'\nlocal names = {'one.lua', 'two.lua'}\n"
        "paths.dofile(names[tonumber(arg[1])])\n"
        "print(made:get(), torch.type(made))\n"
        "print(paths.basename(paths.thisfile()), paths.basename(paths.thisfile(), 'lua'))"
    )
    texts = {"main.lua": main, "one.lua": loader.format("x", 1), "two.lua": loader.format("y", 10)}
    agree(texts, line)


@pytest.mark.parametrize("run", [None, ""])
def test_a_folder_has_the_name_of_a_package(run: str | None, agree: Callable[..., Path]) -> None:
    main = (
        "utils = {}\nlocal optim = require 'optim'\nrequire 'utils.words'\nrequire 'optim.mine'\n"
        "print(utils.twice('a'), optim.mine(2), optim.sgd ~= nil)\n"
        "for _, name in ipairs{'Made', 'number', 'absent'} do\n"
        "   print(name, _G[name] and type(_G[name]))\nend\n"
        "print(_G['Ma' .. 'de'](3).x)"
    )
    words = (
        "function utils.twice(x) return x .. x end\nnumber = 4\nlocal M = torch.class('Made')\n"
        "function M:__init(x) self.x = x + number end"
    )
    mine = "function optim.mine(x) return x + 1 end"
    agree({"main.lua": main, "utils/words.lua": words, "optim/mine.lua": mine}, "", run)


def test_classes_of_several_files_are_found_in_tables(agree: Callable[..., Path]) -> None:
    main = (
        "require 'parts.init'\nparts.utils.Check.positive(true, 'a %d', 3)\n"
        "local line = parts.utils.Line.new('x')\nprint(line.script, #line.helplines)\n"
        "print(line.first({a = 1}, 'a'), line:parse({'-n', '4'}).n)"
    )
    init = (
        "parts = {}\nlocal utils = {}\nutils.Check = require 'parts.Check'\n"
        "utils.Line = require 'parts.Line'\nparts.utils = utils\nreturn parts"
    )
    check = (
        "local Check = torch.class('Check')\n"
        "function Check.positive(x, text, ...) if x then print(string.format(text, ...)) end end\n"
        "return Check"
    )
    line = (
        "local Line, parent = torch.class('Line', 'torch.CmdLine')\n"
        "function Line:__init(script) parent.__init(self) self.script = script\n"
        "   self:option('-n', 3, 'how many') end\n"
        "function Line.first(t, key) return t[key] end\nreturn Line"
    )
    texts = {"main.lua": main, "parts/init.lua": init, "parts/Check.lua": check}
    out = agree({**texts, "parts/Line.lua": line})
    text = (out / "main.py").read_text()
    assert "port:" not in text and "lua.index" not in text and "getattr" not in text
    assert 'shared.parts["utils"]["Check"].positive(True, "a %d", 3)' in text


@pytest.mark.parametrize("run", [None, ""])
def test_global_variables_of_all_files_are_gone_through(
    run: str | None, agree: Callable[..., Path]
) -> None:
    main = (
        "require 'operations'\nlocal names = {}\nfor name, value in pairs(_G) do\n"
        "   if name:find('_opr$') then names[#names + 1] = name .. value(2) end\nend\n"
        "table.sort(names)\nprint(table.concat(names, ' '))"
    )
    operations = "function twice_opr(x) return 2 * x end\nfunction half_opr(x) return x / 2 end"
    agree({"main.lua": main, "operations.lua": operations}, "", run)


def test_a_function_of_lua_s_that_one_file_replaces_is_replaced_in_all(
    agree: Callable[..., Path],
) -> None:
    work = "return function(n) print('working', n) return n * 2 end\n"
    log = """
    local old, lines = print, {}
    function print(...) lines[#lines + 1] = select('#', ...) old('>', ...) end
    function unlog() print = old return #lines end
    """
    main = "require 'log'\nprint(require 'work'(3))\nprint(unlog(), 'end')\nprint 'plain'\n"
    agree({"main.lua": main, "log.lua": log, "work.lua": work})
