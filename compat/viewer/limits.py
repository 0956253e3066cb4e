"""Limits how much of a file a page shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The bytes of a page for each kind of content; values nearest the top come first.

    Attributes:
        modules: the number of modules of the largest net whose multiply-adds are counted.
        items: bytes for names, classes and fields of values.
        numbers: bytes for statistics, histograms and curves.
        pictures: bytes for images.
    """

    modules: int = 2000
    items: int = 8 << 20
    numbers: int = 3 << 20
    pictures: int = 4 << 20


NOTEBOOK = Limits(modules=200, items=150_000, numbers=100_000, pictures=150_000)


class Room:
    """The bytes left of the limits.

    Attributes:
        left_out: the number of values of each kind that found no room.
    """

    def __init__(self, limits: Limits) -> None:
        self._left = {"items": limits.items, "numbers": limits.numbers, "pictures": limits.pictures}
        self.left_out = dict.fromkeys(self._left, 0)

    def take(self, kind: str, amount: int = 0) -> bool:
        """Take ``amount`` bytes if there is room; return whether there was.

        Values without room are counted in ``left_out``.
        """
        fits = self._left[kind] > amount
        self._left[kind] -= amount * fits
        self.left_out[kind] += not fits
        return fits

    def spend(self, kind: str, amount: int) -> None:
        """Take the room for content that is always shown."""
        self._left[kind] -= amount
