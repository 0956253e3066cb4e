"""How much of a file a page tells."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """How many bytes of the page are for what; what is nearest the top comes first.

    Attributes:
        modules: not bytes: those of the largest net whose multiply-adds are counted.
        items: for names, classes and fields of what lies in the file.
        numbers: for statistics, histograms and curves.
        pictures: for images.
    """

    modules: int = 2000
    items: int = 8 << 20
    numbers: int = 3 << 20
    pictures: int = 4 << 20


NOTEBOOK = Limits(modules=200, items=150_000, numbers=100_000, pictures=150_000)


class Room:
    """What is left of the limits.

    Attributes:
        left_out: how many things of each kind there was no room for.
    """

    def __init__(self, limits: Limits) -> None:
        self._left = {"items": limits.items, "numbers": limits.numbers, "pictures": limits.pictures}
        self.left_out = dict.fromkeys(self._left, 0)

    def take(self, kind: str, amount: int = 0) -> bool:
        """Whether there is room for a thing of ``amount`` bytes, which is taken then.

        What there is no room for is counted.
        """
        fits = self._left[kind] > amount
        self._left[kind] -= amount * fits
        self.left_out[kind] += not fits
        return fits

    def spend(self, kind: str, amount: int) -> None:
        """Take the room for what is told in any case."""
        self._left[kind] -= amount
