"""Group tensors of one kind up to a size in bytes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from torch import Tensor

K = TypeVar("K", bound=Hashable)


def grouped(
    tensors: Iterable[tuple[int, Tensor]],
    kind: Callable[[int, Tensor], K | None],
    limit: Callable[[K], int],
    *,
    may_exceed: bool,
) -> Iterator[tuple[K | None, list[int]]]:
    """Collect tensors of one kind until a group reaches its limit.

    Args:
        tensors: each with the index that stands for it.
        kind: returns the kind of a tensor, such as its dtype; None for one that stays alone.
        limit: returns the size in bytes at which the growing group of a kind closes.
        may_exceed: whether the tensor that reaches the limit is in the group. Otherwise the group
            closes before a tensor that would exceed it.

    Yields:
        The groups as they close, each with its kind. Groups that never filled up come last, in
        the order of their first tensors.
    """
    growing: dict[K, list[int]] = {}
    sizes: dict[K, int] = {}
    for index, tensor in tensors:
        own = kind(index, tensor)
        if own is None:
            yield None, [index]
            continue
        size = tensor.numel() * tensor.element_size()
        if not may_exceed and own in growing and sizes[own] + size > limit(own):
            yield own, growing.pop(own)
        if own not in growing:
            growing[own], sizes[own] = [], 0
        growing[own].append(index)
        sizes[own] += size
        if may_exceed and sizes[own] >= limit(own):
            yield own, growing.pop(own)
    yield from growing.items()
