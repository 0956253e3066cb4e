"""The phases of a container's step: run, timed and balanced."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import torch

from compat import cutorch
from compat.nn.checks.indexing import zero_based
from compat.nn.core.module import Module
from compat.tensor_tables import tensors
from dptable import comm
from dptable.container.batch_statistics import SYNCHRONISED, Meeting, meet, part
from dptable.container.profiling import Profile
from dptable.container.shares import MeasuredShares
from dptable.container.stopwatch import Stopwatch
from dptable.threads.dispatch import Closure
from dptable.threads.part import Owned

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable


class Phases(Owned):
    """Runs the replicas' part of a pass, and tells how long it took to who wants to know.

    These are the container's profile, if one is being taken, and its shares, if they are measured.
    Where the replicas take their statistics together, one that fails leaves none waiting.
    """

    def __init__(self, dpt: DataParallelTable) -> None:
        super().__init__(dpt)
        self._profile: Profile | None = None
        self._meeting: Meeting | None = None
        # What ran, in order, until its times are known: rows and watches of the replicas.
        self._timed: deque[tuple[list[int], list[Stopwatch]]] = deque()

    @contextmanager
    def profile(self) -> Iterator[Profile]:
        """Time the phases of the steps taken inside."""
        before, self._profile = self._profile, Profile()
        try:
            yield self._profile
        finally:
            self._profile = before

    def begin(self) -> None:
        """A step begins."""
        if self._profile is not None:
            self._profile.steps += 1

    def span(self, phase: str, i: int = 1) -> AbstractContextManager[None]:
        """Time a ``with`` block on replica ``i``, for the profile."""
        if self._profile is None:
            return nullcontext()
        gpu = self.dpt.gpuAssignments[i - 1]
        name = f"GPU {gpu}" if isinstance(gpu, int) else str(gpu)
        return self._profile.span(phase, name, cutorch.device(gpu))

    def together(self, count: int, devices: list[torch.device]) -> AbstractContextManager[None]:
        """Let the first ``count`` replicas take statistics together where the container says so."""
        self._meeting = None
        if self.dpt.statistics != SYNCHRONISED or not self.dpt.train:
            return nullcontext()
        return self._met(count, devices)

    @contextmanager
    def _met(self, count: int, devices: list[torch.device]) -> Iterator[None]:
        dpt = self.dpt
        replicas = dpt.impl.setup()[:count]
        widen = None if dpt._member is None else dpt._member.add_statistics
        self._meeting = meet(replicas, dpt.impl, devices, widen)
        try:
            yield
        finally:
            part(replicas)

    def run(self, phase: str, closure: Closure, count: int) -> list[Any]:
        """``closure`` on the first ``count`` replicas."""
        dpt, meeting = self.dpt, self._meeting
        if self._profile is None and meeting is None and not self.measured:
            return dpt.impl.exec(closure, count)
        watches = [Stopwatch(device) for device in dpt._devices()[:count]]

        def job(module: Module, i: int) -> Any:
            try:
                with self.span(phase, i), watches[i - 1]:
                    return closure(module, i)
            except BaseException:
                if meeting is not None:
                    meeting.abort()
                raise

        results = dpt.impl.exec(job, count)
        if self.measured:
            slices = dpt.inputGpu if phase == "backward" else results
            rows = [next(iter(tensors(held))).size(zero_based(dpt.dimension)) for held in slices]
            self._timed.append((rows, watches))
            self._learn()
        return results

    def _learn(self) -> None:
        """Tell the shares how long the replicas took, as far as it is known by now."""
        shares = self.dpt._shares
        assert shares is not None
        while self._timed:
            rows, watches = self._timed[0]
            seconds = [s for watch in watches if (s := watch.seconds()) is not None]
            if len(seconds) < len(watches):
                return
            self._timed.popleft()
            shares.observe(rows, seconds)

    @property
    def measured(self) -> bool:
        """Whether the replicas' speeds decide on their slices."""
        return isinstance(self.dpt._shares, MeasuredShares)

    def slice_sizes(self, n: int) -> list[int]:
        """How many of ``n`` rows each replica gets."""
        dpt = self.dpt
        if dpt._shares is None:
            return comm.slice_sizes(n, len(dpt.gpuAssignments))
        return dpt._shares.sizes(n)
