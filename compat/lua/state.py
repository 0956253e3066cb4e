"""Make Lua states with lupa, and compile Torch7's core for them."""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from compat.lua.language import install_compiler

FOLDER = Path(__file__).parent
# In the order in which they need each other.
_CORE = (
    "classes", "init", "memory", "tensors", "subscripts", "tensor_types", "tensor_methods",
    "elements", "loops", "signatures", "operations/results",
    "operations/pointwise", "operations/products", "operations/reductions", "operations/sorting",
    "operations/shapes", "operations/indexing", "operations/linear_algebra", "operations/random",
    "operations/operators", "dispatch",
    "Tensor", "FFInterface", "types", "tables", "exchange", "objects", "thnn", "libraries",
    "files", "disk_files", "memory_files", "stored_tensors", "File", "timer", "CmdLine",
    "TestSuite", "Tester",
)  # fmt: skip

# Compiled code that LuaJIT stitches together around calls of C never looks whether Ctrl-C was
# pressed, and takes longer where the calls are Python's.
START = """
local python, folder = ...
local ok, ffi = pcall(require, 'ffi')
if jit and jit.version_num >= 20100 then jit.opt.start('minstitch=1000000') end
torch = {}
return {python = python, torch = torch, ops = {}, ffi = ok and ffi or nil, package_folder = folder}
"""
_COMPILE = "function(text, name) return string.dump(assert(loadstring(text, name))) end"
# lupa finds the wrapper of a Python object in a weak table. When Lua has cleared a dead wrapper
# there and not finalised it yet, another one may be made of the same object, whose reference the
# finaliser then drops: Lua holds an object that Python frees. Collections in one step leave no such
# moment.
COLLECT_IN_ONE_STEP = """
local collectgarbage = collectgarbage
local said = collectgarbage('setstepmul', 0)
function _G.collectgarbage(option, ...)
   if option ~= 'setstepmul' then return collectgarbage(option, ...) end
   local before = said
   said = tonumber((...)) or 0
   return before
end
"""


# lupa's objects remember the coroutine that they came from, and use it when they are dropped,
# though Lua may have freed it. What Python keeps goes through this function of the main one.
AT_HOME = "function(...) return ... end"


# From the best to the one that every wheel of lupa has.
_IMPLEMENTATIONS = ("luajit21", "luajit20", "lua51")


@functools.cache
def implementation(name: str | None) -> Any:
    """Return lupa's module for LuaJIT, or else Lua 5.1; or the one of this name."""
    if importlib.util.find_spec("lupa") is None:
        raise ImportError('Lua needs lupa; `pip install "dptable[lua]"` installs it')
    if name and name not in _IMPLEMENTATIONS:
        accepted = ", ".join(_IMPLEMENTATIONS)
        raise ValueError(f"DPTABLE_LUA is {name!r}; accepted are {accepted}")
    for candidate in (name,) if name else _IMPLEMENTATIONS:
        with contextlib.suppress(ImportError):
            found = importlib.import_module(f"lupa.{candidate}")
            break
    else:
        raise ImportError(f"lupa has no {name or 'Lua 5.1'} here")
    if found.__name__ == "lupa.lua51":
        print("Scripts run slower than usual: this is Lua 5.1, without LuaJIT", file=sys.stderr)
    return found


def new_state(implementation: Any) -> Any:
    """Return a new Lua state."""
    return implementation.LuaRuntime(
        unpack_returned_tuples=True, encoding="latin-1", register_eval=False
    )


@functools.cache
def compiled_core(implementation: Any) -> list[str]:
    """Return the bytecode of the core's files; compiling them takes most of a start."""
    compile = new_state(implementation).eval(_COMPILE)
    compiled = []
    for name in _CORE:
        text = (FOLDER / "core" / f"{name}.lua").read_text("latin-1")
        # Files with a small letter pose as C functions, the others as Torch7's files.
        posing = name[0].islower() and name != "init"
        compiled.append(compile(text, "=(torch)" if posing else f"@torch/{name}.lua"))
    return compiled


@functools.cache
def _compiler() -> Any:
    """Return a state that compiles texts, and runs none; None where lupa has no LuaJIT."""
    try:
        lua = new_state(implementation(None))
    except ImportError:
        return None
    install_compiler(lua)
    return lua if lua.globals().jit else None


def refusal(source: bytes) -> str:
    """Return why LuaJIT does not take a text, ``:3: 'end' expected``; nothing where it does, or is
    not here.
    """
    lua = _compiler()
    said = lua and lua.eval("function(text) return (select(2, loadstring(text, '='))) end")
    return (said and said(b" " + source)) or ""  # what begins with a space is no bytecode
