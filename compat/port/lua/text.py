"""Values as text, as ``tostring`` and ``print`` show them."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Iterator
from typing import Any

import torch

from compat.port import tensor_text
from compat.port.lua import kinds
from compat.port.lua.tables import Object, index, length, metamethod, pairs
from compat.port.lua.values import first
from compat.port.runtime import Storage


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


_DEEPEST = 5  # tables in tables that are shown


def print(*args: Any) -> None:
    """``print`` as ``th`` has it: tables with what is in them, on lines of their own."""
    if not any(map(_is_plain_table, args)):
        sys.stdout.write("\t".join(map(tostring, args)) + "\n")
        return
    for i, value in enumerate(args, 1):
        if _is_plain_table(value):
            sys.stdout.write("".join(f"{line}\n" for line in _listed(value, 0)))
        else:
            is_word = kinds.type(value) not in ("table", "userdata", "cdata")
            sys.stdout.write(tostring(value) + ("\t" if is_word and i < len(args) else "\n"))


def _is_plain_table(value: Any) -> bool:
    """Whether Lua would tell the address only."""
    if isinstance(value, Object):
        return type(value).__str__ is object.__str__ and not hasattr(value, "typename")
    return isinstance(value, (list, dict)) and metamethod(value, "__tostring") is None


def _listed(t: Any, depth: int) -> Iterator[str]:
    """The lines of a table."""
    pad = "    " * depth
    entries = list(pairs(t))
    if not entries:
        yield f"{pad}{{}}"
        return
    yield f"{pad}{{"
    for key, value in entries:
        if kinds.type(value) != "table":
            yield f"{pad}  {tostring(key)} : {_entry(value)}"
        elif depth + 1 >= _DEEPEST or next(pairs(value), None) is None:
            yield f"{pad}  {tostring(key)} : {{...}}"
        else:
            yield f"{pad}  {tostring(key)} : "
            yield from _listed(value, depth + 1)
    yield f"{pad}}}"


def _entry(value: Any) -> str:
    """What is no table, in a table."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (torch.Tensor, torch.Size, Storage)):
        kind = kinds.type_name(value).removeprefix("torch.")
        sizes = value.size() if isinstance(value, torch.Tensor) else [len(value)]
        size = "x".join(map(str, sizes))
        return f"{kind} - size: {size}" if size and size != "0" else f"{kind} - empty"
    return tostring(value)


def shows_bytes() -> None:
    """Have the output take bytes that are no text, which Python's strings hold as surrogates."""
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="surrogateescape")


def write(*args: Any) -> None:
    """``io.write``."""
    sys.stdout.write("".join(map(tostring, args)))
