"""Torch7's Lua: runs Lua scripts on PyTorch, and lets Lua and Python call each other.

::

    from compat import lua

    lua.run("train.lua", "-learningRate", "0.1")
    runtime = lua.Runtime()
    double = runtime.eval("function(x) return x * 2 end")
    double(torch.ones(3, dtype=torch.float64))

Needs lupa (``pip install "dptable[lua]"``).
"""

from compat.lua.errors import LuaError
from compat.lua.runtime import Runtime, run
from compat.lua.values import LuaFunction, LuaTable
from compat.storage_changes import moved

__all__ = ["LuaError", "LuaFunction", "LuaTable", "Runtime", "moved", "run"]
