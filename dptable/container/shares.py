"""Divide batches unequally: how much of a batch each replica gets."""

from __future__ import annotations

from collections.abc import Sequence

from dptable import comm


def weighted_sizes(n: int, shares: Sequence[float]) -> list[int]:
    """Split ``n`` elements in the ratio of ``shares``, with at least one element each.

    With fewer elements than shares the first ones get one each, as without shares.
    """
    k = len(shares)
    if n < k:
        return comm.slice_sizes(n, k)
    total = sum(shares)
    exact = [(n - k) * share / total for share in shares]
    sizes = [1 + int(part) for part in exact]
    # What rounding left over goes to the largest fractions, the earlier ones first.
    order = sorted(range(k), key=lambda i: int(exact[i]) - exact[i])
    for i in order[: n - sum(sizes)]:
        sizes[i] += 1
    return sizes


def checked(shares: Sequence[float] | str, count: int) -> FixedShares | MeasuredShares:
    """Return the rule for an argument ``shares`` for ``count`` devices."""
    if isinstance(shares, str):
        if shares != "auto":
            raise ValueError(f"shares is {shares!r}; 'auto' or a list of numbers is accepted")
        return MeasuredShares(count)
    shares = list(shares)
    if len(shares) != count:
        raise ValueError(
            f"shares has {len(shares)} entries; one for each of the {count} devices is accepted"
        )
    if not all(isinstance(share, (int, float)) and share > 0 for share in shares):
        raise ValueError(f"shares is {shares}; positive numbers are accepted")
    return FixedShares(shares)


class FixedShares:
    """Shares that were given.

    Attributes:
        asked: the argument; ``checked`` makes an equal rule from it.
    """

    def __init__(self, shares: Sequence[float]) -> None:
        self.shares = [float(share) for share in shares]

    @property
    def asked(self) -> list[float] | str:
        return self.shares

    def sizes(self, n: int) -> list[int]:
        return weighted_sizes(n, self.shares)

    def observe(self, rows: Sequence[int], seconds: Sequence[float]) -> None:
        """Do nothing: fixed shares do not depend on times."""


class MeasuredShares(FixedShares):
    """Shares in the ratio of the replicas' measured speeds, in rows per second.

    Speeds are averaged with exponential weights, so that a device that slows down gets less.
    """

    def __init__(self, count: int, weight: float = 0.2) -> None:
        super().__init__([1.0] * count)
        self.weight = weight
        self._speeds: list[float | None] = [None] * count

    @property
    def asked(self) -> str:
        return "auto"

    def observe(self, rows: Sequence[int], seconds: Sequence[float]) -> None:
        """Update the speeds by the seconds that each used replica took for its rows."""
        for i, (n, time) in enumerate(zip(rows, seconds, strict=True)):
            if n == 0 or time <= 0:
                continue
            known, speed = self._speeds[i], n / time
            self._speeds[i] = speed if known is None else known + self.weight * (speed - known)
        speeds = [speed for speed in self._speeds if speed is not None]
        if len(speeds) == len(self._speeds):
            self.shares = speeds
