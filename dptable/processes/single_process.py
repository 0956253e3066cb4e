"""Training in one process: takes the place of ``Member``."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


class SingleProcess:
    """A group of one process, which exchanges nothing.

    It has the methods of ``dptable.processes.member.Member``; see there.

    Attributes:
        exchanges: False: no gradients are to be given to this object.
    """

    exchanges = False

    def begin(self, rows: int, fingerprint: int, fresh: bool = False) -> float:
        return 1.0

    def start(self, part: Tensor) -> None:
        pass

    def end(self) -> float:
        return 1.0

    def total(self, value: float) -> float:
        return float(value)

    def take_apart(self, gradients: Sequence[Tensor]) -> None:
        pass

    def zeroed(self) -> None:
        pass

    def add_statistics(self, total: Tensor) -> None:
        pass

    def share_statistics(self, statistics: Sequence[Tensor], averaged: bool) -> None:
        pass

    def abort(self, error: BaseException) -> None:
        pass

    def close(self) -> None:
        pass
