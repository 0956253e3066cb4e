"""Values as text, as ``tostring`` shows them, and errors, which have one."""

from __future__ import annotations

import io
import sys
from typing import Any

import torch

from compat.port.lua.objects import Object
from compat.port.lua.originals import tensor_text
from compat.port.lua.runtime import Storage


class Error(Exception):
    """An error with a value that may be no text.

    ``level``: whose place stands before a text. 0: no function's, 1: the failing function's, 2: its
    caller's.
    """

    def __init__(self, value: Any = None, level: int = 0) -> None:
        if level and type(value) in (int, float):  # a text in Lua, too
            value = tostring(value)
        super().__init__(value)
        self.value, self.level = value, level

    def __str__(self) -> str:
        return tostring(self.value)


def tostring(value: Any = None, *_: Any) -> str:
    """``tostring``: 3.0 is 3, nil and true are written as in Lua, tensors as in Torch7."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return _shown(value)
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, torch.Tensor) and not value.dim():
        return _shown(value.item())  # a number in Lua
    if isinstance(value, (torch.Tensor, torch.Size, Storage)):
        return tensor_text(value)
    if isinstance(value, (list, dict)):
        is_plain = type(value).__str__ is object.__str__  # no ``Table``, whose metatable may know
        return f"table: 0x{id(value):08x}" if is_plain else str(value)
    if isinstance(value, Object) and type(value).__str__ is object.__str__:
        return getattr(type(value), "typename", None) or f"table: 0x{id(value):08x}"
    if isinstance(value, type) and issubclass(value, Object):
        return f"table: 0x{id(value):08x}"
    if callable(value) and not hasattr(value, "typename"):
        return f"function: 0x{id(value):08x}"
    return str(value)


def text(value: Any) -> str:
    """Return a value between ``..``: a string or a number.

    Raises:
        TypeError: it is anything else.
    """
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if is_number or isinstance(value, (str, bytes)):
        return tostring(value)
    if isinstance(value, torch.Tensor) and not value.dim():
        return tostring(value)
    kind = {"NoneType": "nil", "bool": "boolean", "function": "function", "Tensor": "userdata"}
    raise TypeError(f"attempt to concatenate a {kind.get(type(value).__name__, 'table')} value")


def _shown(value: float) -> str:
    if value != value:
        return "nan"
    if isinstance(value, int) and abs(value) < 10**14:
        return str(value)
    return format(float(value), ".14g")


def bytes_as_text(data: bytes) -> str:
    """Return the text of the bytes in a script's string; what is no UTF-8 becomes surrogates."""
    if not data.isascii():
        shows_bytes()
    return data.decode("utf-8", "surrogateescape")


def bytes_as_letters(data: bytes) -> str:
    """Return a text with a letter for each byte; those that are no ASCII become surrogates."""
    if not data.isascii():
        shows_bytes()
    return data.decode("ascii", "surrogateescape")


def shows_bytes() -> None:
    """Have the output take bytes that are no text, which Python's strings hold as surrogates."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")
