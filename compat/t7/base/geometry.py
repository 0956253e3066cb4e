"""Check where the elements of a stored tensor may lie; every reader of files uses this."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from compat.t7.base.errors import T7Error

_MAX_DIMENSIONS = 64  # what PyTorch can hold


def check_dimensions(count: int) -> None:
    """Raise T7Error for a number of dimensions that no tensor has."""
    if not 0 <= count <= _MAX_DIMENSIONS:
        raise T7Error(f"{count} dimensions", f"0 to {_MAX_DIMENSIONS}")


def checked_strides(
    sizes: Sequence[int], strides: Sequence[int], offset: int, length: int
) -> tuple[int, ...]:
    """Return the strides of a tensor; raise T7Error if it leaves its storage.

    Args:
        sizes, strides: those of the tensor.
        offset: the place of its first element, from 0.
        length: the number of elements of the storage; 0 if there is none.

    Raises:
        T7Error: some element would lie outside.
    """
    # A size of 1 or 0 steps nowhere, so its stride does not matter; PyTorch wants none below 0.
    strides = tuple(
        stride if size > 1 else max(0, stride) for size, stride in zip(sizes, strides, strict=True)
    )
    geometry = f"a tensor of sizes {tuple(sizes)}, strides {strides}, offset {offset + 1}"
    if min((*sizes, *strides, offset)) < 0:
        raise T7Error(geometry, "no negative size or stride, and an offset from 1")
    is_empty = not sizes or 0 in sizes
    last = offset + sum((size - 1) * step for size, step in zip(sizes, strides, strict=True))
    if offset > length or (not is_empty and last >= length):
        raise T7Error(geometry, f"elements within its storage of {length}")
    if max(prod(sizes), *sizes, 0) >= 2**63:
        raise T7Error(geometry, "less than 2^63 elements")
    return strides
