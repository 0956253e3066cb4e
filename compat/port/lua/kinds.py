"""The type of a value: ``type`` and ``torch.type``."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import torch

from compat import torch as torch7
from compat.cmdline import CmdLine
from compat.port.lua import coroutine
from compat.port.lua.objects import Object
from compat.port.lua.runtime import Original, Package, Storage, function_of, original_typename
from compat.port.lua.tensors import Pointer
from compat.random import Generator
from compat.t7.objects import registry
from compat.tensor_types import tensor_type
from compat.timer import Timer

_type = type


def type(value: Any, *_: Any) -> str:
    """``type``."""
    if isinstance(value, torch.Tensor):
        return "userdata"
    if isinstance(value, (torch.Size, Storage, Timer, Generator)):
        return "userdata"
    if isinstance(value, Pointer):
        return "cdata"
    if isinstance(value, coroutine.Coroutine):
        return "thread"
    if isinstance(value, Original):
        return str(function_of("type")(value))
    name = typename(value)
    if is_of_lua(value) or isinstance(value, (Package, dict, ModuleType)):
        return "table"
    if isinstance(value, Object) or name is not None:
        return "userdata" if name is not None and name.endswith("Storage") else "table"
    if isinstance(value, _type):
        return "table"
    return torch7.type(value)


def typename(value: Any) -> str | None:
    """``torch.typename``."""
    is_class = isinstance(value, _type) and issubclass(value, Object)
    if is_class or isinstance(value, ModuleType):
        return None  # it is a table
    if isinstance(value, torch.Tensor) and value.dtype == torch.bool:
        return "torch.ByteTensor"
    if isinstance(value, torch.Tensor):
        return tensor_type(value)
    if isinstance(value, torch.Size):
        return "torch.LongStorage"
    if isinstance(value, Storage):
        return tensor_type(value.tensor).replace("Tensor", "Storage")
    if isinstance(value, (Object, dict)):
        own = getattr(_type(value), "typename", None)  # a table's own fields tell nothing
        return own or _entry_name(_type(value))
    if isinstance(value, Original) or is_of_lua(value):
        return original_typename(value)
    if isinstance(value, (Timer, CmdLine, Generator)):
        return f"torch.{_type(value).__name__}"
    if isinstance(value, _type):
        found = getattr(value, "typename", None)
        return found if isinstance(found, str) else None
    return torch7.typename(value)


def type_name(value: Any) -> str:
    """``torch.type``: the class, or Lua's name of the type."""
    return "table" if isinstance(value, _type) else typename(value) or type(value)


def is_type_of(value: Any, name: Any) -> bool:
    """``torch.isTypeOf``: whether an object is of a class or of one derived from it."""
    if isinstance(name, _type):
        return isinstance(value, name)
    wanted = name if isinstance(name, str) else typename(name)
    return (
        any(
            getattr(kind, "typename", None) == wanted or _entry_name(kind) == wanted
            for kind in _type(value).__mro__
        )
        or typename(value) == wanted
    )


def istype(value: Any, name: str) -> bool:
    """``istype`` of package class: of a class, or Lua's own type."""
    return type_name(value) == name or is_type_of(value, name)


def _entry_name(kind: Any) -> str | None:
    entry = registry.find_class(kind)
    return entry.typename if entry else None


def is_of_lua(value: Any) -> bool:
    """Return whether ``value`` is a table of the Lua runtime's: there is none before that runs."""
    values = sys.modules.get("compat.lua.values")
    return values is not None and isinstance(value, values.LuaTable)
