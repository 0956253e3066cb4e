"""The gradients of a container's replicas, summed onto the first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from compat import cutorch
from compat.nn.checks.indexing import zero_based
from compat.tensor_tables import map_tensors, tensors
from dptable import comm
from dptable.reducer import Reducer
from dptable.threads.dispatch import Threads
from dptable.threads.part import Owned

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable

# Below this many bytes per replica, handing the work to the threads costs more than the sum.
_SHARED_SUM = 1 << 18


class GradientSum(Owned):
    """Sums the gradients of the replicas onto the first and zeroes the others.

    Field ``reducer``: what does so while backward goes on, if anything has done yet.
    """

    def __init__(self, dpt: DataParallelTable) -> None:
        super().__init__(dpt)
        self.reducer: Reducer | None = None
        self._accumulating = False
        # How many replicas hold gradients of earlier passes.
        self._unreduced = 0
        # Whether the gradients are parts of a sum that failed.
        self._torn = False

    def forget(self) -> None:
        """Let go of the gradient tensors, which are about to change."""
        if self.reducer is not None:
            self.reducer.close()
            self.reducer = None

    def zero(self) -> None:
        """Fill the gradients of all replicas with zeros."""
        dpt = self.dpt
        with cutorch.device_guard():
            for gradients in dpt._parameters.gradients():
                if gradients:
                    torch._foreach_zero_(gradients)
        self._torn = False
        if dpt._member is not None:
            dpt._member.zeroed()

    def mend(self) -> None:
        """Zero the gradients of a failed pass if that was not possible when it failed."""
        if self._torn:
            self.zero()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients of the passes inside on their replicas, for the next one to sum."""
        before, self._accumulating = self._accumulating, True
        try:
            yield
        finally:
            self._accumulating = before

    @contextmanager
    def of(self, method: str) -> Iterator[None]:
        """Sum the gradients to which ``method`` adds inside.

        If it fails they are parts of a sum, and all are set to zero.
        """
        if method == "updateGradInput":
            yield
            return
        self.mend()
        reducer = self._prepared(method)
        try:
            yield
            with self.dpt._phases.span("reduce"):
                self._reduce(reducer)
        except BaseException:
            if reducer is not None:
                reducer.abort()
            self._discard()
            raise

    def _prepared(self, method: str) -> Reducer | None:
        """What sums the gradients of this pass during backward, if anything does."""
        if self._accumulating:
            return None
        dpt = self.dpt
        member, used = dpt._member, dpt.maxUsedGpu
        replayed = dpt._passes.replays is not None
        if member is None:
            wanted = self._overlaps() and method == "backward" and not dpt._parameters.nccl()
            if not wanted or used < 2 or replayed:
                return None
        link = dpt._parameters.tied()
        if self.reducer is None:
            self.reducer = (
                Reducer(link.trained)
                if member is None
                else Reducer(link.trained, member.bucket_bytes, reduce=member.reduce, ordered=True)
            )
        tapes = [m.latest_tape if m.recordable else None for m in dpt.impl.setup()[:used]]
        # A module that computes its own gradients may add to one several times.
        once = not any(tape is None or tape.cuts for tape in tapes)
        # Nobody calls the hooks when a graph is replayed.
        self.reducer.prepare(used, early=once and not replayed)
        return self.reducer

    def _overlaps(self) -> bool:
        dpt = self.dpt
        if dpt.overlap is not None:
            return dpt.overlap
        return isinstance(dpt.impl, Threads) and len(set(dpt._devices())) > 1

    def _reduce(self, reducer: Reducer | None) -> None:
        dpt = self.dpt
        self._unreduced = max(self._unreduced, dpt.maxUsedGpu)
        if self._accumulating:
            return
        used, self._unreduced = self._unreduced, 0
        if reducer is not None:
            reducer.finish()
            if dpt._member is not None:
                dpt._member.end()
        elif used > 1:
            nccl = dpt._parameters.nccl()
            for copies in zip(*dpt._parameters.gradients()[:used], strict=True):
                _sum(dpt, copies, nccl)

    def _discard(self) -> None:
        self._unreduced = 0
        self._torn = True
        # A device that is gone cannot be written to; the error is told already.
        with suppress(Exception):
            self.zero()

    def weighted(self, method: str, gradOutput: Any, distributed: bool) -> Any:
        """``gradOutput`` as it would be in one process with the rows of all.

        ``distributed`` tells that `updateGradInput` has come here with it.
        """
        dpt = self.dpt
        member = dpt._member
        if member is None:
            return gradOutput
        if method != "updateGradInput":
            member.take_apart(dpt._parameters.gradients()[0])
        if distributed:
            return gradOutput
        dim = zero_based(dpt.dimension)
        first = [next(tensors(part)) for part in dpt.inputGpu]
        rows = sum(tensor.size(dim) for tensor in first if tensor.numel())
        # What is returned, and what is left on the replicas, must have its weight at once.
        fresh = method == "backward" and dpt.gradInput is None and not self._accumulating
        weight = member.begin(rows, fresh)
        return gradOutput if weight == 1 else map_tensors(lambda t: t * weight, gradOutput)


def _sum(dpt: DataParallelTable, copies: tuple[Tensor, ...], nccl: bool) -> None:
    """Sum onto the first of ``copies``, by the threads together where that is worth while."""
    first = copies[0]
    share = first.numel() // len(dpt.gpuAssignments)
    flat = [c.view(-1) if c.is_contiguous() else c for c in copies]
    if (
        isinstance(dpt.impl, Threads)
        and share * first.element_size() >= _SHARED_SUM
        and all(c.dim() == 1 and c.device.type == "cpu" for c in flat)
    ):
        ranges = comm.slice_ranges(first.numel(), len(dpt.gpuAssignments))
        dpt.impl.exec(lambda m, i: comm.reduce_slice_(flat, *ranges[i - 1], zero=True))
    else:
        comm.reduce_into_(copies, zero=True, nccl=nccl)
