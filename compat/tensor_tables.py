"""Walking through what Torch7 calls a table of tensors: here lists, tuples and dicts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from compat.checks import given


def map_tensors(function: Callable[[Tensor], Any], value: Any) -> Any:
    """``value`` with every tensor in it replaced by ``function(tensor)``; the rest stays."""
    if isinstance(value, Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return [map_tensors(function, item) for item in value]
    if isinstance(value, dict):
        return {key: map_tensors(function, item) for key, item in value.items()}
    return value


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in ``value``, depth first."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors(item)


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
    """What lies in ``value`` and is no list, tuple or dict itself.

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
                stack.append(iter(item.values() if isinstance(item, dict) else item))
                break
        else:
            stack.pop()


def pairs(value: Any, other: Any, names: tuple[str, str]) -> Iterator[tuple[Tensor, Any]]:
    """Each tensor of ``value`` with its counterpart in ``other``, which may lack some (None).

    ``names`` are what an error calls the two.
    """
    if isinstance(value, Tensor):
        if other is not None and not isinstance(other, Tensor):
            raise TypeError(
                f"{names[1]} is {given(other)} where {names[0]} is a tensor of size "
                f"{tuple(value.shape)}; a tensor is accepted"
            )
        yield value, other
        return
    accepted: Any
    if isinstance(value, dict):
        accepted = dict
    elif isinstance(value, (list, tuple)):
        accepted = (list, tuple)
    else:
        return
    entries = value.values() if isinstance(value, dict) else value
    if other is None:
        for entry in entries:
            yield from pairs(entry, None, names)
        return
    fits = isinstance(other, accepted) and len(other) == len(value)
    if not fits or (isinstance(value, dict) and value.keys() != other.keys()):
        raise TypeError(
            f"{names[1]} is {given(other, counted=True)} where {names[0]} is a table of "
            f"{len(value)}; a table with the same keys is accepted"
        )
    others = [other[key] for key in value] if isinstance(value, dict) else other
    for entry, counterpart in zip(entries, others, strict=True):
        yield from pairs(entry, counterpart, names)
