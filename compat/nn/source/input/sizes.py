"""Sizes of images, sequences and volumes: the usual ones, then those that a net asks for."""

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
    """The sizes that nets of so many open dimensions were made for: squares, cubes."""
    known = {0: (1,), 1: _FRAMES, 2: _IMAGES, 3: _VOLUMES}[dims]
    return ((size,) * dims for size in known)


def fitting(dims: int, compare: Callable[[Sizes], int]) -> Iterator[Sizes]:
    """Sizes that fit: of equal sides first, then of images of a usual height.

    Args:
        dims: how many sizes are open.
        compare: whether sizes are too small (-1), too large (1) or neither. What is larger than
            what is too large is that, too.
    """
    if dims:
        yield from _one((), dims, compare)
    if dims == 2:
        for height in _IMAGES:
            yield from _one((height,), 1, compare)


def _one(first: Sizes, times: int, compare: Callable[[Sizes], int]) -> Iterator[Sizes]:
    """The roundest of the sizes that fit, if any does, behind the first ones."""

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
