"""Find the main thread of a Lua state, which lupa does not expose."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

_REGISTRY = -10000
_NAME = "compat.lua.main"
_COROUTINE = f"""
local coroutine = coroutine.create(function() end)
debug.getregistry()['{_NAME}'] = coroutine
return tostring(coroutine)
"""
_CALL = f"""
local registry = debug.getregistry()
registry['{_NAME}'] = registry['{_NAME}']()
"""


def keep_main_thread(lua: Any) -> None:
    """Put it into Lua's registry; a coroutine where lupa's library has no such functions."""
    address = ctypes.c_void_p(_address(lua.execute(_COROUTINE)))
    try:
        library = interface(lua)
        library.lua_pushcclosure.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
        library.lua_setfield.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p)
        # lua_pushthread happens to be a function for Lua, too: in the main state it returns that.
        pushthread = ctypes.cast(library.lua_pushthread, ctypes.c_void_p)
    except (AttributeError, OSError, TypeError):
        return
    library.lua_pushcclosure(address, pushthread, 0)
    library.lua_setfield(address, _REGISTRY, _NAME.encode())
    lua.execute(_CALL)


def main_state(lua: Any) -> int:
    """Return the address of the main state."""
    return _address(lua.execute(f"return tostring(debug.getregistry()['{_NAME}'])"))


def interface(lua: Any) -> ctypes.CDLL:
    """Load Lua's C functions from the library that lupa uses for this state.

    Raises:
        OSError: the library cannot be opened again.
    """
    return ctypes.CDLL(str(sys.modules[type(lua).__module__].__file__))


def _address(thread: Any) -> int:
    return int(str(thread).split("0x")[1], 16)
