"""Split nested structures of tensors into several of one form, and join them again.

The structures are those of torch.nn.parallel: tuples, named tuples, lists and dicts, at any depth.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from compat.checks import given, listed

Place = tuple[Any, ...]
"""The keys and indices (from 0) that lead to something in a structure."""


def unzipped(
    structure: Any,
    parts: Callable[[Tensor, Place], Sequence[Any]],
    n: int,
    rest: Callable[[Any, Place], Any] = lambda value, place: value,
    place: Place = (),
) -> list[Any]:
    """Return ``n`` structures of the given form; the i-th holds entry i of each tensor's parts.

    Args:
        structure: the structure.
        parts: returns the parts of a tensor, for its place.
        n: the number of structures.
        rest: returns what to put, in all of them, for a value that is neither a tensor nor a
            structure.
        place: the place of ``structure`` in a larger one.
    """
    if isinstance(structure, Tensor):
        return list(parts(structure, place))
    if isinstance(structure, dict):
        columns = [unzipped(v, parts, n, rest, (*place, k)) for k, v in structure.items()]
        return [_updated(structure, [column[i] for column in columns]) for i in range(n)]
    if isinstance(structure, list | tuple):
        columns = [unzipped(v, parts, n, rest, (*place, i)) for i, v in enumerate(structure)]
        return [_rebuilt(structure, [column[i] for column in columns]) for i in range(n)]
    return [rest(structure, place)] * n


def zipped(
    structures: Sequence[Any],
    join: Callable[[list[Tensor]], Tensor],
    rest: Callable[[list[Any]], Any],
) -> Any:
    """Join several structures of one form, with ``join`` of their tensors at each place.

    Args:
        structures: the structures.
        join: joins the tensors at one place.
        rest: joins the values at a place that are neither tensors nor structures.

    Raises:
        ValueError: the structures differ in form.
    """
    first = structures[0]
    if any(type(other) is not type(first) for other in structures):
        kinds = listed([given(other) for other in structures], "and")
        raise ValueError(f"outputs has {kinds} at one place; structures built alike are accepted")
    if isinstance(first, Tensor):
        return join(list(structures))
    if isinstance(first, dict):
        if any(other.keys() != first.keys() for other in structures):
            raise ValueError("outputs has dicts of different keys; the same keys are accepted")
        return _updated(first, [zipped([s[key] for s in structures], join, rest) for key in first])
    if isinstance(first, list | tuple):
        if any(len(other) != len(first) for other in structures):
            raise ValueError(
                f"outputs has {type(first).__name__}s of different lengths; one length is accepted"
            )
        return _rebuilt(first, [zipped(c, join, rest) for c in zip(*structures, strict=True)])
    return rest(list(structures))


def at(structure: Any, place: Place) -> Any:
    """Return the value at ``place`` in a structure."""
    for key in place:
        structure = structure[key]
    return structure


def named(name: str, place: Place) -> str:
    """Return the text for a place in the argument ``name``; entries of lists count from 1."""
    return name + "".join(f"[{key + 1 if isinstance(key, int) else repr(key)}]" for key in place)


def _updated(like: dict[Any, Any], values: list[Any]) -> Any:
    # A copy keeps what a subclass knows besides its items, a defaultdict's factory for one.
    result = copy.copy(like)
    result.update(zip(like, values, strict=True))
    return result


def _rebuilt(like: list[Any] | tuple[Any, ...], members: list[Any]) -> Any:
    if hasattr(like, "_make"):
        return like._make(members)
    return type(like)(members)
