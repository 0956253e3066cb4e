"""Proposes sizes of images, sequences and volumes: usual sizes first, then sizes that fit a net."""

from __future__ import annotations

from collections.abc import Callable, Iterator

Sizes = tuple[int, ...]

# Sizes of images that nets were made for, in the order in which they are tried.
_IMAGES = (28, 32, 48, 64, 96, 112, 128, 160, 192, 224, 227, 231, 256, 299, 320, 384, 448, 512)
_FRAMES = (16, 32, 50, 64, 100, 128, 200, 256, 300, 512, 1000, 1014)
_VOLUMES = (16, 28, 32, 64, 112)
_ROUND = (64, 32, 16, 10, 8, 4, 2)
LARGEST = 2048


def usual(dims: int) -> Iterator[Sizes]:
    """Yield usual sizes, squares and cubes, for ``dims`` open dimensions."""
    known = {0: (1,), 1: _FRAMES, 2: _IMAGES, 3: _VOLUMES}[dims]
    return ((size,) * dims for size in known)


def fitting(dims: int, compare: Callable[[Sizes], int]) -> Iterator[Sizes]:
    """Yield sizes that fit: equal sides first, then images of a usual height.

    Args:
        dims: the number of open sizes.
        compare: returns -1 for sizes that are too small, 1 for too large ones and 0 for others.
            Sizes larger than a too large one are also too large.
    """
    if dims:
        yield from _one((), dims, compare)
    if dims == 2:
        for height in _IMAGES:
            yield from _one((height,), 1, compare)


def _one(first: Sizes, times: int, compare: Callable[[Sizes], int]) -> Iterator[Sizes]:
    """Yield the roundest fitting size after ``first``, if any fits."""

    def compared(size: int) -> int:
        return compare(first + (size,) * times)

    low, high = 1, LARGEST
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if compared(middle) < 0 else (low, middle)
    if compared(low) == 0:
        rounded = (-(-low // step) * step for step in _ROUND)
        size = next((size for size in rounded if compared(size) == 0), low)
        yield first + (size,) * times
