"""Tables of functions that files return become Python's modules, where nobody can tell."""

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

M = """local M = {}
function M.twice(x) return 2 * x end
function M.four(x) return M.twice(M.twice(x)) end
"""
MAIN = "local m = require 'm'\nprint(m.twice(3), m.four(2))\n"


def drafted(texts: dict[str, str], folder: Path) -> tuple[str, str, str]:
    """Return the drafts of main.lua and m.lua, and what the first prints."""
    from compat.port import command

    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    command.run([str(folder / "main.lua")], str(folder / "out"))
    words = [forked_python(), str(folder / "out/main.py")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    main, own = ((folder / "out" / name).read_text() for name in ("main.py", "m.py"))
    return main, own, done.stdout


def test_functions_that_a_file_returns_stand_in_it_by_themselves(tmp_path: Path) -> None:
    texts = {"main.lua": MAIN, "m.lua": f"-- Doubles numbers.\n{M}M.base = 10\nreturn M\n"}
    main, own, printed = drafted(texts, tmp_path)
    assert printed == "6\t8\n"
    assert "\nimport m\n" in main
    assert "class" not in own
    assert "\ndef four(x):\n    return twice(twice(x))\n" in own
    assert "base = 10" in own


def test_a_module_in_a_folder_is_imported_from_it(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local u = require 'util.text'\nlocal m = require 'm'\n"
        "print(u.shout('a'), m.twice(1))\n",
        "util/text.lua": "local utils = {}\nlocal marks = [[\n    !\n]]\n"
        "function utils.shout(s)\n  local t = [[\n    x]]\n  return s .. t .. marks\nend\n"
        "return utils\n",
        "m.lua": f"{M}return M\n",
    }
    main, _, printed = drafted(texts, tmp_path)
    assert "from util import text as u" in main
    assert printed == "a    x    !\n\t2\n"


def test_a_module_may_have_further_names(tmp_path: Path) -> None:
    texts = {
        "main.lua": "util = require 'm'\nlocal part = require 'part'\n"
        "print(util.twice(1), part())\n",
        "part.lua": "return function()\n  local m = require 'm'\n"
        "  return m.four(1) + util.twice(5)\nend\n",
        "m.lua": f"{M}return M\n",
    }
    main, own, printed = drafted(texts, tmp_path)
    assert printed == "2\t14\n"
    assert "class" not in own
    assert "shared.util = " in main


@pytest.mark.parametrize(
    "part",
    ["util.more = function(x) return 3 end", "local n = 0 for k in pairs(util) do n = n + 1 end"],
)
def test_a_global_table_that_another_file_changes_or_walks_stays_a_class(
    part: str, tmp_path: Path
) -> None:
    texts = {
        "main.lua": "util = require 'm'\nlocal part = require 'part'\nprint(part())\n",
        "part.lua": f"return function()\n  {part}\n  return util.twice(5)\nend\n",
        "m.lua": f"{M}return M\n",
    }
    _, own, printed = drafted(texts, tmp_path)
    assert printed == "10\n"
    assert "class M(lua.Object):" in own or "M = {" in own


@pytest.mark.parametrize(
    ("main", "own", "printed"),
    [
        pytest.param(
            "local m = require 'm'\nlocal n = 0\nfor k in pairs(m) do n = n + 1 end\nprint(n)\n",
            f"{M}return M\n",
            "2\n",
            id="somebody goes through the table",
        ),
        pytest.param(
            "local m = require 'm'\nm.base = 3\nprint(m.based(1))\n",
            f"{M}function M.based(x) return M.base + x end\nreturn M\n",
            "4\n",
            id="somebody sets a field",
        ),
        pytest.param(
            "local m = require 'm'\nm.set(4)\nprint(m.get())\n",
            "local M = {}\nfunction M.set(x) M.x = x end\nfunction M.get() return M.x end\n"
            "return M\n",
            "4\n",
            id="a function sets a field",
        ),
        pytest.param(
            "local m = require 'm'\nprint(m.f(2))\n",
            "local M = {}\nfunction M.g(x) return x + 1 end\n"
            "function M.f(g)\n  return M.g(g)\nend\nreturn M\n",
            "3\n",
            id="a parameter has a function's name",
        ),
        pytest.param(
            "local m = require 'm'\nprint(m.max(2, 3))\n",
            "local M = {}\nfunction M.max(a, b) return math.max(a, b) end\nreturn M\n",
            "3\n",
            id="one of Python's functions has the name",
        ),
        pytest.param(
            "local m = require 'm'\nprint(m.object():get())\n",
            "local M = {}\nM.__index = M\nfunction M.object() return setmetatable({v = 5}, M) end\n"
            "function M:get() return self.v end\nreturn M\n",
            "5\n",
            id="it has objects",
        ),
        pytest.param(
            "util = require 'm'\nutil.more = function(x) return x + 1 end\n"
            "print(util.more(1), require('m').more(2))\n",
            f"{M}return M\n",
            "2\t3\n",
            id="a field of another name is set",
        ),
        pytest.param(
            "local m = require 'm'\nlocal other = m\nother = {twice = function() return 1 end}\n"
            "print(m.twice(1), other.twice(1))\n",
            f"{M}return M\n",
            "2\t1\n",
            id="another name becomes something else",
        ),
        pytest.param(
            "local m = require 'm'\nlocal t = {m}\nprint(t[1].twice(4))\n",
            f"{M}return M\n",
            "8\n",
            id="the table is put into another",
        ),
        pytest.param(
            "local name = arg[1] or 'm'\nlocal m = require(name)\n"
            "print(type(m), m.twice(2))\nfor k, f in pairs(m) do print(f(1) > 0) end\n",
            f"{M}return M\n",
            "table\t4\ntrue\ntrue\n",
            id="it is loaded by a computed name",
        ),
    ],
)
def test_what_can_be_told_from_a_module_stays_a_class(
    main: str, own: str, printed: str, tmp_path: Path
) -> None:
    _, text, said = drafted({"main.lua": main, "m.lua": own}, tmp_path)
    assert said == printed
    assert "class M(lua.Object):" in text or "M = {" in text


def test_a_file_that_a_computed_name_may_mean_gives_its_module(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local m = require 'm'\nlocal s = require('parts/' .. (arg[1] or 'a'))\n"
        "local b = require 'parts/b'\nprint(m.twice(1), s.f(2), b.f(3))\n"
        "print(require('parts/' .. (arg[2] or 'b')).f(4))\n",
        "m.lua": f"{M}return M\n",
        "parts/a.lua": "local A = {}\nfunction A.f(x) return x + 1 end\nreturn A\n",
        "parts/b.lua": "local B = {}\nfunction B.f(x) return x + 2 end\nreturn B\n",
    }
    main, own, printed = drafted(texts, tmp_path)
    assert printed == "2\t3\t5\n6\n"
    assert "exports" not in own
    assert "from parts import b" in main


def test_a_module_is_a_table_of_its_members(tmp_path: Path) -> None:
    texts = {
        "main.lua": "local m = require 'm'\nlocal other = require(arg[1] or 'm')\n"
        "local names = {}\nfor k, v in pairs(other) do names[#names + 1] = k .. type(v) end\n"
        "table.sort(names)\n"
        "print(m.twice(1), type(other), type(string), table.concat(names, ' '))\n",
        "m.lua": "local paths = require 'paths'\nlocal function own() end\n"
        f"{M}M.size = 2\nreturn M\n",
    }
    _, own, printed = drafted(texts, tmp_path)
    assert printed == "2\ttable\ttable\tfourfunction sizenumber twicefunction\n"
    assert '__all__ = ["four", "size", "twice"]' in own


def test_packages_are_tables() -> None:
    from compat import nn
    from compat.port import lua

    assert (lua.type(nn), lua.type_name(nn), lua.typename(nn)) == ("table", "table", None)
    assert dict(lua.pairs(nn))["Linear"] is nn.Linear


LOADER = """
local M = {}
local Loader, parent = torch.class('app.Loader', M)
function Loader.create(n) return M.Loader(n) end
function Loader:__init(n) self.n = n end
function Loader:size() return self.n end
return M.Loader
"""


def test_a_table_that_holds_a_class_alone_goes(tmp_path: Path) -> None:
    texts = {
        "main.lua": "require 'torch'\nlocal Loader = require 'm'\n"
        "print(Loader.create(3):size(), Loader(4):size(), torch.type(Loader(1)))\n",
        "m.lua": LOADER,
    }
    main, own, printed = drafted(texts, tmp_path)
    assert printed == "3\t4\tapp.Loader\n"
    assert "\nfrom m import Loader\n" in main
    assert "return Loader(n)" in own
    assert "M" not in own.split()
    assert "exports" not in own


@pytest.mark.parametrize(
    ("rest", "use", "printed"),
    [
        pytest.param("M.size = 3\nreturn M", "m.Loader(m.size):size()", "3\n", id="more in it"),
        pytest.param(
            "function M.make() return M.Loader(7) end\nreturn M",
            "m.make():size()",
            "7\n",
            id="given",
        ),
        pytest.param(
            "local n = 0\nfor k in pairs(M) do n = n + 1 end\nreturn n", "m", "1\n", id="counted"
        ),
        pytest.param(
            "local function f(Loader) return M.Loader(Loader):size() end\nreturn f(6)",
            "m",
            "6\n",
            id="a parameter has the name",
        ),
    ],
)
def test_other_tables_with_a_class_stay(rest: str, use: str, printed: str, tmp_path: Path) -> None:
    texts = {
        "main.lua": f"require 'torch'\nlocal m = require 'm'\nprint({use})\n",
        "m.lua": LOADER.replace("return M.Loader", rest),
    }
    assert drafted(texts, tmp_path)[2] == printed


def test_a_file_of_a_class_may_be_meant_by_a_computed_name(tmp_path: Path) -> None:
    texts = {
        "main.lua": "require 'torch'\nlocal A = require 'm'\n"
        "local B = require(arg[1] or 'm')\nprint(A(1):size(), B(2):size())\n",
        "m.lua": LOADER,
    }
    _, own, printed = drafted(texts, tmp_path)
    assert printed == "1\t2\n"
    assert "exports = Loader" in own
