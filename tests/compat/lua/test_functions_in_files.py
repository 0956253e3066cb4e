"""Functions of Lua in files: bytecode is not run, its source is written anew and compiled."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.forked_python import forked_python
from support.paths import ROOT

from compat.lua import Runtime, command
from compat.lua.bytecode import BytecodeError, source_of

lupa = pytest.importorskip("lupa.luajit21")
older = pytest.importorskip("lupa.luajit20")

# Functions with arguments for them, as Lua writes both.
LISTED = Path(__file__).with_name("functions.lua").read_text()
CASES = re.findall(r"^(function.*)\n-->(.*)$", LISTED, re.MULTILINE)
MANY = ", ".join(f"a{i}" for i in range(180))
CASES.append(
    (
        f"function({MANY}) local f = function() a170 = a170 + 1 end f() return a170, a179 end",
        ", ".join(map(str, range(180))),
    )
)
_COMPARE = """
function(make_one, make_other, arguments)
   local function shown(...)
      local words = {}
      for i = 1, select('#', ...) do words[i] = tostring((select(i, ...))) end
      return table.concat(words, ' ')
   end
   local function results(make) return shown(pcall(make(), arguments())) end
   return results(make_one), results(make_other)
end
"""


def _compare(
    state: Any, text: str, source: tuple[str, str, int], arguments: str
) -> tuple[str, str]:
    one = state.eval(f"function() return {text} end")
    other = state.eval("function(...) return assert(loadstring(...)) end")(*source[:2])
    return state.eval(_COMPARE)(
        one, other, state.eval(f"function() return {arguments or 'nil'} end")
    )


@pytest.mark.parametrize("strip", ["false", "true"])
@pytest.mark.parametrize("dumps", [lupa, older], ids=["2.1", "2.0"])
@pytest.mark.parametrize(("text", "arguments"), CASES)
def test_the_source_does_what_the_bytecode_does(
    text: str, arguments: str, dumps: Any, strip: str
) -> None:
    state = lupa.LuaRuntime(encoding="latin-1", unpack_returned_tuples=True)
    writer = dumps.LuaRuntime(encoding="latin-1")
    bytecode = writer.eval(f"string.dump({text}, {strip})").encode("latin-1")
    expected, found = _compare(state, text, source_of(bytecode), arguments)
    if strip == "true":  # the place of an error goes, too
        found, expected = found.removeprefix("false ?:1:"), re.sub(r"^false .*?:1:", "", expected)
    assert found == expected


def test_a_frame_of_more_slots_than_lua_has_local_variables() -> None:
    names, values = (", ".join(f"{letter}{i}" for i in range(190)) for letter in ("v", ""))
    text = f"function(v) local {names} = {values} v0 = v return table.concat({{{names}}}, ' ') end"
    state = lupa.LuaRuntime(encoding="latin-1", unpack_returned_tuples=True)
    bytecode = state.eval(f"string.dump({text})").encode("latin-1")
    expected, found = _compare(state, text, source_of(bytecode), "5")
    assert found == expected


_SAVED = """
local total, step = 10, 1
local net = {}
function net.add(n) total = total + n * step return total end
function net.total() return total end
function net.run(names)
   local out = {}
   for i, name in ipairs(names) do out[i] = function() return name .. i end end
   return out
end
torch.save('PATH', net)
"""
_LOADED = """
local net = torch.load('PATH')
assert(net.add(5) == 15 and net.total() == 15)
assert(net.run{'a', 'b'}[2]() == 'b2')
local bytes = torch.serialize(net)
local again = torch.deserialize(torch.serialize(torch.deserialize(bytes)))
assert(#torch.serialize(again) == #bytes)
assert(again.add(1) == 16 and again.total() == 16 and net.total() == 15)
assert(debug.getupvalue(again.add, 1) == 'total' and debug.getupvalue(again.add, 2) == 'step')
assert(debug.getupvalue(again.add, 3) == nil)
local inner = torch.deserialize(torch.serialize(net.run{'x'}))
assert(inner[1]() == 'x1')
"""


def test_closures_go_through_files(runtime: Runtime, tmp_path: Path) -> None:
    path = str(tmp_path / "net.t7")
    runtime.execute(_SAVED.replace("PATH", path), name="=script")
    runtime.execute(_LOADED.replace("PATH", path))


def test_errors_name_the_line_that_the_source_had(runtime: Runtime) -> None:
    runtime.execute(
        "\n\nfunction g(x)\n local y = x\n\n return y.z.t end"
        " f = torch.deserialize(torch.serialize(g))",
        name="=s",
    )
    message = runtime.execute("local ok, message = pcall(f, {}) return message")
    assert message.startswith("s:6: attempt to index local")


def test_upvalues_that_others_change_are_seen_by_compiled_code(runtime: Runtime) -> None:
    """LuaJIT takes upvalues to which nobody assigns for constants."""
    runtime.execute(
        """
        local x = 1
        local pair = {get = function() return x end, put = function(y) x = y end}
        pair = torch.deserialize(torch.serialize(pair))
        local get = pair.get
        for i = 1, 500 do pair.put(i) assert(get() == i) end
        """
    )


def _mutated(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 5])):
        changed[draw.randrange(5, len(changed))] = draw.randrange(256)
    return bytes(changed[: draw.randrange(5, len(changed))] if draw.random() < 0.05 else changed)


_CALL = """
function(code, name)
   local make = loadstring(code, name)
   if not make then return end
   setfenv(make, {select = select, pairs = pairs, ipairs = ipairs, next = next, unpack = unpack})
   local ok, f = pcall(make)
   -- Loops without end are ended.
   debug.sethook(function() error('too long', 0) end, '', 1000)
   if ok then pcall(f, 3, 4) pcall(f, {1, 2}) end
   debug.sethook()
   return true
end
"""


def _survive(seed: int, count: int) -> int:
    """Call mutated functions; how many were called."""
    state = lupa.LuaRuntime(encoding="latin-1", unpack_returned_tuples=True)
    state.execute("jit.off()")  # hooks reach no compiled code
    call, draw, called = state.eval(_CALL), random.Random(seed), 0
    dumps = [state.eval(f"string.dump({text})").encode("latin-1") for text, _ in CASES]
    for _ in range(count):
        try:
            source, name, _ = source_of(_mutated(draw.choice(dumps), draw))
        except BytecodeError:
            continue
        called += bool(call(source, name))
    return called


@pytest.mark.parametrize("count", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_damaged_bytecode_cannot_end_the_process(count: int) -> None:
    program = f"import test_functions_in_files as t; print(t._survive(1, {count}))"
    path = [str(Path(__file__).parent), str(ROOT), str(ROOT / "tests")]
    done = subprocess.run(
        [forked_python(), "-c", f"import sys; sys.path[:0] = {path!r}; {program}"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > count / 10


@pytest.mark.parametrize(
    ("bytecode", "words"),
    [
        (b"\x1bLua", "not bytecode of LuaJIT"),
        (b"\x1bLJ\x07\x00", "not bytecode of LuaJIT"),
        (b"\x1bLJ\x02\x02", "ends too early"),
        (b"\x1bLJ\x02\x02\x00", "more than one function"),
    ],
)
def test_what_is_no_bytecode_is_refused(bytecode: bytes, words: str) -> None:
    with pytest.raises(BytecodeError, match=words):
        source_of(bytecode)


def test_no_code_leaves_functions_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], runtime: Runtime
) -> None:
    path = str(tmp_path / "net.t7")
    runtime.execute(_SAVED.replace("PATH", path))
    code = f"local t = torch.load('{path}') print(t.add, t.total, next(t))"
    assert command.main(["--no-code", "-e", code]) == 0
    out, err = capfd.readouterr()
    assert out == "nil\tnil\tnil\n"
    assert err == "Warning: functions in files are left out (--no-code)\n"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("function_plain", "return f(3, 4) == 7"),
        ("function_plain_ascii", "return f(3, 4) == 7"),
        ("function_recursive", "return f(5) == 120"),
        ("function_mutual", "return f.even(4) and not f.odd(4) and f.list[3] == f.even"),
        ("function_shared_upvalue", "f.inc() return f.get() == 11"),
        ("function_upvalues", "local n, s, t = f() return n == 5 and s == 'text' and t.k ~= nil"),
    ],
)
def test_functions_that_torch7_saved_run(name: str, code: str, runtime: Runtime) -> None:
    mode = "ascii" if name.endswith("ascii") else "binary"
    path = ROOT / "tests/golden/format" / f"{name}.t7"
    assert runtime.execute(f"local f = torch.load(...) {code}", str(path), mode) is True
