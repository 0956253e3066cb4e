"""Time the parts of a container's step, for profiles and for measured shares."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from compat import cutorch
from dptable.container.profiling import Profile
from dptable.container.replicas import Part, Replicas
from dptable.container.shares import FixedShares, MeasuredShares
from dptable.container.stopwatch import Stopwatch


class TimedSteps(Part):
    """Time the phases of steps for a profile, and the replicas for measured shares.

    Attributes:
        profile: the profile that is being taken, or None.
        shares: the rule that divides batches, or None for equal parts.

    Args:
        replicas: the replicas.
    """

    def __init__(self, replicas: Replicas) -> None:
        self._replicas = replicas
        self.profile: Profile | None = None
        self.shares: FixedShares | None = None
        # Runs whose times are not known yet, in order: rows and watches of the replicas.
        self._timed: deque[tuple[list[int], list[Stopwatch]]] = deque()

    @contextmanager
    def profiled(self) -> Iterator[Profile]:
        """Profile the steps of the block."""
        before, self.profile = self.profile, Profile()
        try:
            yield self.profile
        finally:
            self.profile = before

    @property
    def measured(self) -> bool:
        """Whether the replicas' speeds decide on their slices."""
        return isinstance(self.shares, MeasuredShares)

    def span(self, phase: str, i: int = 1) -> AbstractContextManager[None]:
        """Time the block on replica ``i`` as ``phase``, for the profile."""
        if self.profile is None:
            return nullcontext()
        gpu = self._replicas.gpus()[i - 1]
        name = f"GPU {gpu}" if isinstance(gpu, int) else str(gpu)
        return self.profile.span(phase, name, cutorch.device(gpu))

    @contextmanager
    def timed(
        self, phase: str, rows: list[int]
    ) -> Iterator[Sequence[Sequence[AbstractContextManager[Any]]]]:
        """Time the replicas that run in the block.

        Args:
            phase: the name for the profile.
            rows: the number of rows of each replica with data.

        Yields:
            The contexts to run each replica in.
        """
        if self.profile is None and not self.measured:
            yield [[]] * len(rows)
            return
        watches = [Stopwatch(device) for device in self._replicas.devices()[: len(rows)]]
        yield [[self.span(phase, i), watch] for i, watch in enumerate(watches, 1)]
        if self.measured:
            self._timed.append((rows, watches))
            self._learn()

    def _learn(self) -> None:
        """Pass the replicas' times to the shares, as far as they are known by now."""
        assert self.shares is not None
        while self._timed:
            rows, watches = self._timed[0]
            seconds = [s for watch in watches if (s := watch.seconds()) is not None]
            if len(seconds) < len(watches):
                return
            self._timed.popleft()
            self.shares.observe(rows, seconds)
