"""Functions of Lua in place of methods, and names that differ in both languages."""

from __future__ import annotations

import copy
from typing import Any

from compat.lua.gpu_types import tell_types
from compat.lua.values import LuaFunction, LuaSequence, LuaTable
from compat.lua_tables import attribute

# Methods of Lua's classes that Python calls by another name.
_PYTHON_NAMES = {
    "__init": "__init__",
    "__tostring__": "__repr__",
    "__call__": "__call__",
    "__unm__": "__neg__",
    "__sub__": "__sub__",
}


def python_name(key: str) -> str:
    """Return Python's name of a field or method of Lua's."""
    return _PYTHON_NAMES.get(key) or attribute(key)


class LuaMethod:
    """A method of a class that is a function of Lua."""

    def __init__(self, function: LuaFunction) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: type | None = None) -> Any:
        return self if owner is None else BoundLuaMethod(self.function, owner)

    def __call__(self, *args: Any) -> Any:
        tell_types(*args)
        return _readable(self.function(*args))


class BoundLuaMethod:
    """A function of Lua in place of a method of one object; copied, it is one of the copy."""

    def __init__(self, function: LuaFunction, owner: Any) -> None:
        self.function, self.owner = function, owner

    def __call__(self, *args: Any) -> Any:
        tell_types(self.owner, *args)
        return _readable(self.function(self.owner, *args))

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundLuaMethod:
        return BoundLuaMethod(self.function, copy.deepcopy(self.owner, memo))


def _readable(result: Any) -> Any:
    """Return a method's result for Python: outputs with a metatable can be read as lists."""
    entries = result.entries() if isinstance(result, LuaTable) else ()
    if not entries:
        return result
    sequence = LuaSequence(result)
    sequence.extend(entries)
    return sequence
