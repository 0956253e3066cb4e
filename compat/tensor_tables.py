"""Walking through what Torch7 calls a table of tensors: here lists, tuples and dicts of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from torch import Tensor

from compat.checks import given
from compat.lua_tables import LuaDict, MixedTable, values


def map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """``value`` with every tensor in it replaced by ``function(tensor)``; the rest stays."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return [
            function(item) if isinstance(item, Tensor) else map_tensors(function, item)
            for item in value
        ]
    if isinstance(value, dict):
        return {key: map_tensors(function, item) for key, item in value.items()}
    return value


def with_tensors(value: Any, replacements: Iterable[Any]) -> Any:
    """``value`` with its tensors, depth first, replaced one by one."""
    remaining = iter(replacements)
    return map_tensors(lambda _: next(remaining), value)


def tensors(value: Any) -> list[Tensor]:
    """Return the tensors in ``value``, depth first."""
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return found
    for item in value:
        if isinstance(item, Tensor):
            found.append(item)
        elif isinstance(item, (list, tuple, dict)):
            found += tensors(item)
    return found


def form(value: Any, of: Callable[[Tensor], Any]) -> Any:
    """``value`` with ``of(tensor)`` for every tensor in it, and with tuples for its tables.

    So that it can be compared, and be a key.
    """
    if isinstance(value, Tensor):
        return of(value)
    if isinstance(value, (list, tuple)):
        return tuple([form(item, of) for item in value])
    if isinstance(value, dict):
        return dict, tuple([(key, form(item, of)) for key, item in value.items()])
    return value


def contents(value: Any) -> Iterator[Any]:
    """Yield what lies in ``value`` and is no list, tuple or dict itself.

    Every table is walked through once, so that one may contain itself, as in a file it can.
    """
    seen: set[int] = set()
    stack = [iter((value,))]
    while stack:
        for item in stack[-1]:
            if not isinstance(item, (list, tuple, dict)):
                yield item
            elif id(item) not in seen:
                seen.add(id(item))
                stack.append(iter(values(item)))
                break
        else:
            stack.pop()


def deep_copy(value: Any, memo: dict[int, Any]) -> Any:
    """``copy.deepcopy`` for tables that may be nested deeper than Python's calls."""
    waiting: list[tuple[Any, Any]] = []

    def begun(value: Any) -> Any:
        if type(value) not in (list, dict, LuaDict, MixedTable):
            return copy.deepcopy(value, memo)
        new = memo.get(id(value))
        if new is None:
            new = memo[id(value)] = type(value)()
            # What is remembered by its identity must live.
            memo.setdefault(id(memo), []).append(value)
            waiting.append((value, new))
        return new

    result = begun(value)
    while waiting:
        old, new = waiting.pop()
        if isinstance(old, MixedTable):
            waiting.append((old.further(), new.others))
        if isinstance(old, dict):
            new.update((begun(key), begun(item)) for key, item in old.items())
        else:
            new.extend(map(begun, old))
    return result


def pairs(value: Any, other: Any, names: tuple[str, str]) -> list[tuple[Tensor, Any]]:
    """Return each tensor of ``value`` with its counterpart in ``other``, which may lack some
    (None).

    ``names`` are what an error calls the two.
    """
    if isinstance(value, Tensor):
        if other is not None and not isinstance(other, Tensor):
            raise TypeError(
                f"{names[1]} is {given(other)} where {names[0]} is a tensor of size "
                f"{tuple(value.shape)}; a tensor is accepted"
            )
        return [(value, other)]
    accepted: Any
    if isinstance(value, dict):
        accepted = dict
    elif isinstance(value, (list, tuple)):
        accepted = (list, tuple)
    else:
        return []
    if other is None:
        return [(tensor, None) for tensor in tensors(value)]
    fits = isinstance(other, accepted) and len(other) == len(value)
    if not fits or (isinstance(value, dict) and value.keys() != other.keys()):
        raise TypeError(
            f"{names[1]} is {given(other, counted=True)} where {names[0]} is a table of "
            f"{len(value)}; a table with the same keys is accepted"
        )
    entries = value.values() if isinstance(value, dict) else value
    others = [other[key] for key in value] if isinstance(value, dict) else other
    found: list[tuple[Tensor, Any]] = []
    for entry, counterpart in zip(entries, others, strict=True):
        if isinstance(entry, Tensor) and isinstance(counterpart, Tensor):
            found.append((entry, counterpart))
        else:
            found += pairs(entry, counterpart, names)
    return found
