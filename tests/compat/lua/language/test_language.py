"""The language is that of a LuaJIT with Lua 5.2's features."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from support.forked_python import forked_python

from compat import lua
from compat.lua import language
from compat.lua.state import implementation

HERE = Path(__file__).parent
LENGTH = "setmetatable({}, {__len = function() return 7 end})"
JIT = os.environ.get("DPTABLE_LUA") != "lua51" and "jit" in implementation(None).__name__


@pytest.mark.skipif(not JIT, reason="recorded from LuaJIT")
def test_programs_print_what_luajit_prints(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    lua.run(HERE / "programs.lua")
    printed = capfdbinary.readouterr().out.decode("latin-1").splitlines()
    assert printed == (HERE / "programs.out").read_text("latin-1").splitlines()


@functools.cache
def rewriter() -> Callable[[str, bool], str]:
    state = implementation(os.environ.get("DPTABLE_LUA")).LuaRuntime(encoding="latin-1")
    text = (Path(language.__file__).parent / "rewrite.lua").read_text("latin-1")
    made: Callable[[str, bool], str] = state.execute(text, state.globals().jit)
    return made


@pytest.mark.parametrize(
    "text",
    [
        'local s = \'#x\' .. "#y\\"#z" -- #comment\nreturn s',
        "--[==[ #x ]] #y ]==] return [[#z]] .. [=[ ]] #w ]=]",
        "#!/usr/bin/env th #x\nreturn 1",
        "return #'abc', #{1, 2}, #[[x]]",
        "local x = {}\n(print or x)('new statement')",
        "local x\n(print or x)('new statement')",
        "function f\n(a) end local function g\n(a) end",
        "x = function() end\n(print)(x)",
        "while x do if y then break end break; end return {1; 2;};",
        "::a:: goto a",
        "return a < b",
    ],
)
def test_text_that_needs_nothing_stays(text: str) -> None:
    assert rewriter()(text, False) == text


SOURCES = sorted((Path(lua.__file__).parent / "modules").rglob("*.lua"))


@pytest.mark.parametrize("ordered", [False, True])
def test_whole_files_keep_their_lines_and_compile(ordered: bool) -> None:
    compiled = implementation(os.environ.get("DPTABLE_LUA")).LuaRuntime(encoding="latin-1")
    compiles = compiled.eval("function(text) return (assert(loadstring(text))) ~= nil end")
    changed = 0
    for path in SOURCES:
        text = path.read_text("latin-1")
        new = rewriter()(text, ordered)
        assert new.count("\n") == text.count("\n")
        assert compiles(new)
        changed += new != text
    assert changed > 20


def test_dumped_functions_work_in_other_states(tmp_path: Path) -> None:
    first, second = lua.Runtime(), lua.Runtime()
    first.execute(
        "local function f(t) return #t end torch.save(..., {f = f, dump = string.dump(f)})",
        str(tmp_path / "f.t7"),
    )
    for runtime in (first, second):
        text = f"local t = torch.load(...) return t.f({LENGTH}), loadstring(t.dump)({LENGTH})"
        assert runtime.execute(text, str(tmp_path / "f.t7")) == (7, 7)
    code = (
        "from compat import lua; r = lua.Runtime();"
        f"print(r.execute('return torch.load(...).f({LENGTH})', {str(tmp_path / 'f.t7')!r}))"
    )
    done = subprocess.run([forked_python(), "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7"]


def test_jobs_of_threads_have_the_language(runtime: lua.Runtime) -> None:
    text = f"""
    local threads = require 'threads'
    local pool, found = threads.Threads(1, function() require 'torch' end), nil
    pool:addjob(function() return #{LENGTH}, loadstring 'return #(...)'({LENGTH}) end,
                function(...) found = {{...}} end)
    pool:synchronize()
    pool:terminate()
    return found
    """
    assert runtime.execute(text) == [7, 7]


def test_every_way_of_loading(runtime: lua.Runtime, tmp_path: Path) -> None:
    text = f"local t = {LENGTH};; return\n#t"
    (tmp_path / "a_package.lua").write_text(text)
    found = runtime.execute(
        f"""
        local folder, text = ...
        package.path = folder .. '/?.lua;' .. package.path
        package.preload.another = function() return #{LENGTH} end
        local path, done = folder .. '/a_package.lua', false
        local function piece() done = not done return done and text or nil end
        return require 'a_package', require 'another', dofile(path), loadfile(path)(), load(text)(),
           load(piece)(), loadstring(text)(), #{LENGTH}
        """,
        str(tmp_path),
        text,
    )
    assert found == (7,) * 8
    assert runtime.run(tmp_path / "a_package.lua") == 7
    assert runtime.eval("require('trepl').evaluate")(f"result = #{LENGTH}") is None
    assert runtime.globals().result == 7


def test_changes_of_basic_metatables_do_no_harm(runtime: lua.Runtime) -> None:
    text = f"""
    local string_index = getmetatable('').__index
    getmetatable('').__index = function(s, i) return s:sub(i, i) end
    debug.setmetatable(nil, {{__call = error}})
    local n = #{LENGTH} .. ''
    debug.setmetatable(nil, nil)
    getmetatable('').__index = string_index
    return n
    """
    assert runtime.execute(text) == "7"


# Lua's own test suites, as far as LuaJIT with Lua 5.2's features passes them.
PASSED = {
    "5.1": ("calls", "code", "files", "literals", "locals", "sort"),
    "5.2": ("attrib", "code", "goto", "sort", "vararg"),
}
SUITES = [
    Path(folder) for folder in os.environ.get("DPTABLE_LUA_TESTS", "").split(os.pathsep) if folder
]


def _version(folder: Path) -> str:
    return "5.2" if (folder / "goto.lua").exists() else "5.1"


@pytest.mark.slow
@pytest.mark.skipif(
    not SUITES, reason="DPTABLE_LUA_TESTS names folders with Lua's 5.1 and 5.2 tests"
)
@pytest.mark.parametrize(
    ("folder", "name"),
    [pytest.param(f, n, id=f"{f.name}-{n}") for f in SUITES for n in PASSED[_version(f)]],
)
def test_suite_of_lua(folder: Path, name: str, tmp_path: Path) -> None:
    for file in folder.glob("*.lua"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    for part in ("libs", "libs/P1"):
        (tmp_path / part).mkdir()
    code = (
        "from compat import lua; r = lua.Runtime();"
        f"r.execute('_soft, _port, _nomsg = true, true, true'); r.run('{name}.lua')"
    )
    done = subprocess.run(
        [forked_python(), "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        env=os.environ | {"PYTHONPATH": str(Path(lua.__file__).parents[2])},
    )
    assert done.returncode == 0, done.stderr[-2000:]
