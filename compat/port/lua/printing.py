"""The output of ``print``."""

from __future__ import annotations

import sys
from typing import Any

import torch

from compat.port.lua import kinds
from compat.port.lua.objects import Object
from compat.port.lua.runtime import Storage
from compat.port.lua.tables import metamethod, pairs
from compat.port.lua.text import tostring
from compat.threads import threadid


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
    """Return whether Lua knows nothing of a table but its address."""
    if isinstance(value, Object):
        return type(value).__str__ is object.__str__ and not getattr(type(value), "typename", None)
    return isinstance(value, (list, dict)) and metamethod(value, "__tostring") is None


_DEPTH = 5  # of tables in tables that are shown


def _listed(t: Any, depth: int) -> str:
    """Return a table as ``th`` shows it."""
    pad = " " * (4 * depth)
    entries = list(pairs(t))
    if not entries:
        return f"{pad}{{}}\n"
    lines = [f"{pad}{{\n"]
    for key, value in entries:
        if kinds.type(value) != "table":
            shown = f"{_summary(value)}\n"
        elif depth < _DEPTH - 1 and list(pairs(value)):  # an object, too, whatever its __tostring
            shown = f"\n{_listed(value, depth + 1)}"
        else:
            shown = "{...}\n"
        lines.append(f"{pad}  {tostring(key)} : {shown}")
    return "".join([*lines, f"{pad}}}\n"])


def _summary(value: Any) -> str:
    """Return a value in a table."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (torch.Tensor, torch.Size, Storage)):
        kind = kinds.type_name(value).removeprefix("torch.")
        sizes = value.size() if isinstance(value, torch.Tensor) else [len(value)]
        if isinstance(value, torch.Tensor) and not value.numel():
            return f"{kind} - empty"
        return f"{kind} - size: {'x'.join(map(str, sizes))}"
    return tostring(value)
