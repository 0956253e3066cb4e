"""The functions of Lua's package ``table``, and ``unpack``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from compat.port.lua import kinds
from compat.port.lua.tables import index, length, need_table, pairs, put, rawget, rawset
from compat.port.lua.text import Error, tostring
from compat.port.lua.values import first, results, truth


def unpack(t: Any, first: int = 1, last: int | None = None) -> Any:
    """Return the entries of a list."""
    need_table(t, "unpack")
    last = length(t) if last is None else int(last)
    return results(index(t, i) for i in range(int(first), last + 1))


def maxn(t: Any) -> float:
    """``table.maxn``: the largest key that is a number."""
    return max((k for k, _ in pairs(t) if kinds.type(k) == "number"), default=0)


def concat(t: Any, glue: Any = "", begin: int = 1, last: int | None = None) -> str:
    """``table.concat``."""
    need_table(t, "concat")
    last = length(t) if last is None else int(last)
    parts = [index(t, i) for i in range(int(begin), last + 1)]
    for i, part in enumerate(parts, int(begin)):
        if not isinstance(part, (str, int, float)) or isinstance(part, bool):
            raise Error(f"invalid value ({kinds.type(part)}) at index {i} in table for 'concat'")
    return tostring(glue).join(map(tostring, parts))


def insert(t: Any, *args: Any) -> None:
    """``table.insert``."""
    need_table(t, "insert")
    if isinstance(t, list):
        t.insert(len(t) if len(args) == 1 else int(args[0]) - 1, args[-1])
        return
    n = length(t)
    place = n + 1 if len(args) == 1 else int(args[0])
    for i in range(n, place - 1, -1):
        rawset(t, i + 1, rawget(t, i))
    rawset(t, place, args[-1])


def remove(t: Any, place: int | None = None) -> Any:
    """``table.remove``."""
    need_table(t, "remove")
    if isinstance(t, list):
        if place is None:
            return t.pop() if t else None
        return t.pop(int(place) - 1) if 1 <= place <= len(t) else None
    n = length(t)
    start = n if place is None else int(place)
    if not 1 <= start <= n:
        return None
    found = rawget(t, start)
    for i in range(start, n + 1):
        rawset(t, i, rawget(t, i + 1))
    return found


def removed(t: Any) -> tuple[Any, ...]:
    """Return all that ``table.remove`` gives: of an empty table nothing."""
    return (remove(t),) if length(t) else ()


def sort(t: Any, before: Callable[[Any, Any], Any] | None = None) -> None:
    """``table.sort``."""
    entries = [index(t, i) for i in range(1, length(t) + 1)]
    if before is None:
        entries.sort()
    else:
        entries.sort(
            key=functools.cmp_to_key(
                lambda a, b: -1 if truth(first(before(a, b))) else int(truth(first(before(b, a))))
            )
        )
    for i, value in enumerate(entries, 1):
        put(t, i, value)
