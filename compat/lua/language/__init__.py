"""The language of Torch7's LuaJIT, which is built with Lua 5.2's features; lupa's is not.

What the compiler lacks is rewritten in the text that it gets (``rewrite.lua``), by whatever turns
text into functions (``loading.lua``); what the operators in it do is in ``operators.lua``, and the
functions of the standard library are in ``library.lua``.
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
    """The bytecode of the parts for one Lua."""
    lua = kind(encoding="latin-1", register_eval=False)
    compile = lua.eval(_COMPILE)
    return {name: compile((_FOLDER / f"{name}.lua").read_text("latin-1")) for name in _PARTS}


def install(lua: Any, t7: Any) -> None:
    """Give a state the language; text that it has compiled before stays as it is.

    Args:
        lua: lupa's runtime.
        t7: the core's table.
    """
    load = lua.eval("function(code, ...) return assert(loadstring(code, '=[C]'))(...) end")
    kind: Any = type(lua)
    parts = _compiled(kind)
    jit = lua.globals().jit
    load(parts["operators"], jit, t7.ffi)
    keep_main_thread(lua)
    load(parts["library"], t7)
    load(parts["loading"], jit, load(parts["rewrite"], jit))
