"""Values as text, as ``tostring`` and ``print`` show them."""

from __future__ import annotations

import io
import math
import sys
from typing import Any

import torch

from compat.port import tensor_text
from compat.port.lua import kinds
from compat.port.lua.objects import Object
from compat.port.lua.tables import index, length, metamethod, pairs
from compat.port.lua.values import first
from compat.port.runtime import Storage
from compat.threads import threadid


class Error(Exception):
    """An error with a value that may be no text."""

    def __init__(self, value: Any = None) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return tostring(self.value)


def concat(t: Any, glue: Any = "", begin: int = 1, last: int | None = None) -> str:
    """``table.concat``."""
    last = length(t) if last is None else int(last)
    parts = [index(t, i) for i in range(int(begin), last + 1)]
    for i, part in enumerate(parts, int(begin)):
        if not isinstance(part, (str, int, float)) or isinstance(part, bool):
            raise Error(f"invalid value ({kinds.type(part)}) at index {i} in table for 'concat'")
    return tostring(glue).join(map(tostring, parts))


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
    if isinstance(value, torch.Tensor):
        return tensor_text.shown(value) if value.dim() else _shown(value.item())  # a number in Lua
    if isinstance(value, torch.Size):
        return tensor_text.sizes(value)
    if isinstance(value, Storage):
        return tensor_text.storage(value.tensor)
    handler = metamethod(value, "__tostring")
    if handler is not None:
        return str(first(handler(value)))
    if isinstance(value, (list, dict)):
        return f"table: 0x{id(value):08x}"
    if isinstance(value, Object) and type(value).__str__ is object.__str__:
        return getattr(value, "typename", f"table: 0x{id(value):08x}")
    if callable(value) and not hasattr(value, "typename"):
        return f"function: 0x{id(value):08x}"
    return str(value)


def _shown(value: float) -> str:
    if value != value:
        return "nan" if math.copysign(1, value) > 0 else "-nan"
    if isinstance(value, int) and abs(value) < 10**14:
        return str(value)
    return format(float(value), ".14g")


def print(*args: Any) -> None:
    """``print`` as scripts under ``th`` have it: tabs between, and tables with what is in them.

    In the threads of a pool, which are not ``th``'s, tables are shown by their addresses.
    """
    if threadid() is not None or not any(map(_is_plain, args)):
        sys.stdout.write("\t".join(map(tostring, args)) + "\n")
        return
    for i, value in enumerate(args, 1):
        if _is_plain(value):
            sys.stdout.write(_listed(value, 0))
        else:
            own_line = i == len(args) or kinds.type(value) in ("table", "userdata")
            sys.stdout.write(tostring(value) + ("\n" if own_line else "\t"))


def _is_plain(value: Any) -> bool:
    """Whether Lua knows nothing of a table but its address."""
    if isinstance(value, Object):
        return type(value).__str__ is object.__str__ and not hasattr(value, "typename")
    return isinstance(value, (list, dict)) and metamethod(value, "__tostring") is None


_DEPTH = 5  # of tables in tables that are shown


def _listed(t: Any, depth: int) -> str:
    """A table as ``th`` shows it."""
    pad = " " * (4 * depth)
    entries = list(pairs(t))
    if not entries:
        return f"{pad}{{}}\n"
    lines = [f"{pad}{{\n"]
    for key, value in entries:
        shown = f"{_summary(value)}\n"
        if isinstance(value, (list, dict)):
            is_shown = value and depth < _DEPTH - 1
            shown = f"\n{_listed(value, depth + 1)}" if is_shown else "{...}\n"
        lines.append(f"{pad}  {tostring(key)} : {shown}")
    return "".join([*lines, f"{pad}}}\n"])


def _summary(value: Any) -> str:
    """A value in a table."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (torch.Tensor, torch.Size, Storage)):
        kind = kinds.type_name(value).removeprefix("torch.")
        sizes = value.size() if isinstance(value, torch.Tensor) else [len(value)]
        if isinstance(value, torch.Tensor) and not value.numel():
            return f"{kind} - empty"
        return f"{kind} - size: {'x'.join(map(str, sizes))}"
    return tostring(value)


def shows_bytes() -> None:
    """Have the output take bytes that are no text, which Python's strings hold as surrogates."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")


def write(*args: Any) -> None:
    """``io.write``."""
    sys.stdout.write("".join(map(tostring, args)))
