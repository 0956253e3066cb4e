"""Several values, and what counts as true."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch


class Box:
    """A variable of which each turn of a loop has its own."""

    def __init__(self, value: Any = None) -> None:
        self.value = value


def values(result: Any) -> tuple[Any, ...]:
    """Return all results of a call."""
    return result if isinstance(result, tuple) and not isinstance(result, torch.Size) else (result,)


def first(result: Any) -> Any:
    """Return the first result of a call; None if there is none."""
    if isinstance(result, tuple) and not isinstance(result, torch.Size):
        return result[0] if result else None
    return result


def adjust(result: Any, count: int) -> tuple[Any, ...]:
    """So many results of a call: what is missing is None."""
    found = values(result)
    return (*found[:count], *[None] * (count - len(found)))


def array_size(keys: Iterable[Any]) -> int:
    """Return how many entries LuaJIT keeps in a row: a power of two, of which a quarter is used."""
    counts = Counter(
        (math.ceil(k) - 1).bit_length() for k in keys if type(k) in (int, float) and k > 0
    )
    size, used = 0, 0
    for power in sorted(counts):
        used += counts[power]
        size = max(2, 1 << power) if used * 4 > 1 << power else size
    return size


def border(get: Callable[[int], Any], size: int) -> int:
    """Return the length that LuaJIT finds in entries with holes: behind it there is none."""
    low, high = (0, size) if size == 0 or get(size) is None else (size, size + 1)
    while high > size and get(high) is not None:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if get(middle) is None else (middle, high)
    return low


def results(found: Iterable[Any]) -> Any:
    """Return values as a function gives them: one by itself, others as a tuple."""
    made = tuple(found)
    return made[0] if len(made) == 1 else made


class Steps(Iterator[Any]):
    """An iterator that may be called for the next, too: ``s:gmatch('%a')()``."""

    def __init__(self, found: Iterable[Any]) -> None:
        self.found = iter(found)

    def __iter__(self) -> Iterator[Any]:
        return self.found

    def __next__(self) -> Any:
        return next(self.found)

    def __call__(self, *_: Any) -> Any:
        return next(self.found, ())


def lists(value: Any) -> Any:
    """Return tables with the keys 1…n as lists, also those in tables, as nets take them."""
    entries = value
    if isinstance(value, dict) and all(i in value for i in range(1, len(value) + 1)):
        entries = [value[i] for i in range(1, len(value) + 1)]
    if not isinstance(entries, (list, tuple)):
        return value
    made = [lists(entry) for entry in entries]
    is_same = entries is value and all(map(operator.is_, made, value))
    return value if is_same else made


def trimmed(found: list[Any]) -> list[Any]:
    """Return a list without nil at its end, where Lua puts the next one."""
    while found and found[-1] is None:
        found.pop()
    return found


def given(value: Any) -> tuple[Any, ...]:
    """Return what a call gives that may give nothing, which is None in Python."""
    return () if value is None else (value,)


def nothing(_: Any) -> tuple[()]:
    """Return what a call gives in Lua whose result is Python's alone: nothing."""
    return ()


def select(n: int | str, *args: Any) -> Any:
    """Return Lua's ``select``."""
    if n == "#":
        return len(args)
    n = int(n)
    return results(args[n - 1 :] if n > 0 else args[n:])


def numbered(start: int, *found: Any) -> dict[int, Any]:
    """Return values under the numbers from ``start`` on, less those that are None."""
    return {i: v for i, v in enumerate(found, start) if v is not None}


def counted(result: tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return values and indices as Torch7 gives them: counted from 1."""
    return result[0], result[1] + 1


def truth(value: Any) -> bool:
    """Return whether a condition holds: of all values only nil and false do not."""
    return value is not None and value is not False


def either(value: Any, other: Any) -> Any:
    """``value or other``; ``other`` may be a function that computes it."""
    return value if truth(value) else _computed(other)


def both(value: Any, other: Any) -> Any:
    """``value and other``; ``other`` may be a function that computes it."""
    return _computed(other) if truth(value) else value


def _computed(value: Any) -> Any:
    if value is list or value is dict:  # which a linter makes of ``lambda: []``
        return value()
    is_lambda = getattr(value, "__name__", "") == "<lambda>" and value.__code__.co_argcount == 0
    return value() if is_lambda else value
