"""The functions of Lua's package ``table``, and ``unpack``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.port.lua import kinds
from compat.port.lua.tables import index, length, need_table, pairs, put, rawget, rawset
from compat.port.lua.text import Error, tostring
from compat.port.lua.values import first, given, numbered, results, truth


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
    if not 1 <= len(args) <= 2:
        raise Error("wrong number of arguments to 'insert'")
    if isinstance(t, list) and (len(args) == 1 or args[0] <= len(t) + 1):
        if args != (None,):
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


def removed(t: Any, place: int | None = None) -> tuple[Any, ...]:
    """Return all that ``table.remove`` gives: where there is no entry, nothing."""
    return given(remove(t, place))


def sort(t: Any, before: Callable[[Any, Any], Any] | None = None) -> None:
    """``table.sort``: what is equal comes in the order that Lua's way of sorting gives it."""
    entries = [index(t, i) for i in range(1, length(t) + 1)]
    try:
        if before is None:
            entries.sort()
        else:
            _sort(entries, lambda a, b: truth(first(before(a, b))), 0, len(entries) - 1)
    finally:
        for i, value in enumerate(entries, 1):
            put(t, i, value)


def _sort(a: list[Any], is_before: Callable[[Any, Any], bool], low: int, high: int) -> None:
    """Sort a part of a list as Lua does, with the same comparisons."""

    def order(i: int, k: int) -> bool:
        if is_before(a[k], a[i]):
            a[i], a[k] = a[k], a[i]
            return True
        return False

    while low < high:
        order(low, high)
        middle = (low + high) // 2
        if high - low > 1 and not order(low, middle):
            order(middle, high)
        if high - low < 3:
            return
        pivot = a[middle]
        a[middle], a[high - 1] = a[high - 1], pivot
        i, k = low, high - 1
        while True:
            while is_before(a[i := i + 1], pivot):
                _need_order(i < high)
            while is_before(pivot, a[k := k - 1]):
                _need_order(k > low)
            if k < i:
                break
            a[i], a[k] = a[k], a[i]
        a[high - 1], a[i] = a[i], a[high - 1]
        if i - low < high - i:
            _sort(a, is_before, low, i - 1)
            low = i + 1
        else:
            _sort(a, is_before, i + 1, high)
            high = i - 1


def _need_order(is_inside: bool) -> None:
    if not is_inside:
        raise Error("invalid order function for sorting")


def pack(*args: Any) -> dict[Any, Any]:
    """``table.pack``."""
    return {"n": len(args), **numbered(1, *args)}
