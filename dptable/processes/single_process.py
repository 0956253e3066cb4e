"""Training in one process: what stands where a group of processes may stand."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor


class SingleProcess:
    """A group of one process, with which nothing is exchanged.

    Its methods are those of ``dptable.processes.member.Member``, which says what they are for.
    Field ``exchanges``: whether gradients are to be given to it.
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
