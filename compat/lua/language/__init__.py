"""The language of Torch7's LuaJIT, which is built with Lua 5.2's features; lupa's LuaJIT is not.

Whatever turns text into functions (``loading.lua``) first rewrites what the compiler lacks
(``rewrite.lua``). The operators' functions are in ``operators.lua``, those of the standard library
in ``library.lua``.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from compat.lua.language.main_thread import keep_main_thread

_FOLDER = Path(__file__).parent
_PARTS = ("operators", "library", "rewrite", "loading")
# Named as C's functions are, and without line numbers, they look like these in tracebacks.
_COMPILE = "function(text) return string.dump(assert(loadstring(text, '=[C]')), true) end"


@functools.cache
def _compiled(kind: Any) -> dict[str, str]:
    """Return the bytecode of these files for one Lua."""
    lua = kind(encoding="latin-1", register_eval=False)
    compile = lua.eval(_COMPILE)
    return {name: compile((_FOLDER / f"{name}.lua").read_text("latin-1")) for name in _PARTS}


def install(lua: Any, t7: Any) -> None:
    """Give a state the language; text that it has compiled before stays as it is.

    Args:
        lua: lupa's runtime.
        t7: the core's table.
    """
    _load(lua, "operators", lua.globals().jit, t7.ffi)
    keep_main_thread(lua)
    _load(lua, "library", t7)
    install_compiler(lua)


def install_compiler(lua: Any) -> None:
    """Give a state what turns text of the language into functions."""
    jit = lua.globals().jit
    _load(lua, "loading", jit, _load(lua, "rewrite", jit))


def _load(lua: Any, part: str, *arguments: Any) -> Any:
    kind: Any = type(lua)
    load = lua.eval("function(code, ...) return assert(loadstring(code, '=[C]'))(...) end")
    return load(_compiled(kind)[part], *arguments)
