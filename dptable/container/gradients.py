"""The gradients of a container's replicas, summed onto the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from torch import Tensor

from compat.nn.core.contributions import Contributions
from compat.nn.core.module import Module
from compat.torch_internals import call_gradient_hooks, foreach_zero_
from dptable import comm
from dptable.container.parameters import Link, ReplicatedParameters
from dptable.container.replicas import Part, Replicas
from dptable.container.shared_gradients import Addition
from dptable.processes.alone import Alone
from dptable.processes.member import Member
from dptable.reducer import BUCKET_BYTES, Reducer
from dptable.torch_internals import foreach_mul_

# Below this many bytes per replica, handing the work to the threads costs more than the sum.
_SHARED_SUM = 1 << 18


class GoingBack(NamedTuple):
    """A backward pass of the replicas: ``kept``, for each of them, what it contributes to gradients
    that they share, if they do; ``sum_up``, to be called when all have gone back.
    """

    kept: list[Contributions]
    sum_up: Callable[[], None]


def _contributes(module: Module) -> bool:
    """Whether a module leaves it to the engine to add to its gradients."""
    tape = module.latest_tape
    return module.recordable and (tape is None or all(cut.module.recordable for cut in tape.cuts))


class GradientSum(Part):
    """Sums the gradients of the replicas onto the first and zeroes the others.

    Fields: ``group``, the processes over which gradients are summed too; ``reducer``, made when a
    pass first sums while backward goes on; ``accumulating``, whether gradients are left on their
    replicas.

    Args:
        replicas: the replicas.
        parameters: their parameters.
        overlap: tells whether to sum while backward goes on, where both ways are possible; None for
            what suits the devices.
    """

    def __init__(
        self,
        replicas: Replicas,
        parameters: ReplicatedParameters,
        overlap: Callable[[], bool | None],
    ) -> None:
        self._replicas = replicas
        self._parameters = parameters
        self._overlap = overlap
        self.group: Alone | Member = Alone()
        self._bucket_bytes = BUCKET_BYTES
        self.reducer: Reducer | None = None
        self._reduced_link: Link | None = None
        self.accumulating = False
        # How many replicas hold gradients of earlier passes.
        self._unreduced = 0
        # Whether a pass failed and left gradients that are not zeroed yet.
        self._torn = False

    def join(self, member: Member, bucket_bytes: int) -> None:
        """Sum over the processes of a group too, in buckets of so many bytes, from now on."""
        self.leave()
        self.group, self._bucket_bytes = member, bucket_bytes

    def leave(self) -> None:
        """Be alone again."""
        self.group.close()
        self.group = Alone()
        self.forget()

    def forget(self) -> None:
        """Let go of the gradient tensors, which are about to change."""
        if self.reducer is not None:
            self.reducer.close()
            self.reducer = self._reduced_link = None

    def zero(self) -> None:
        """Fill the gradients of all replicas with zeros."""
        for gradients in self._own_gradients():
            if gradients:
                foreach_zero_(gradients)
        self._torn = False
        self.group.zeroed()

    def _own_gradients(self) -> list[list[Tensor]]:
        """The gradients of each replica that has its own."""
        gradients = self._parameters.gradients()
        return gradients[:1] if self._parameters.tied().one_gradient else gradients

    def mend(self) -> None:
        """Zero the gradients of a failed pass if that was not possible when it failed."""
        if self._torn:
            self.zero()

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients of the passes inside on their replicas, for the next one to sum."""
        before, self.accumulating = self.accumulating, True
        try:
            yield
        finally:
            self.accumulating = before

    @contextmanager
    def summed(self, modules: Sequence[Module], early: bool) -> Iterator[GoingBack]:
        """A block in which ``modules``, the replicas with data, go back.

        Yields what they need for it, and the function that sums the gradients, to be called when
        all have gone back. If anything fails, some may be summed already and some not: all are set
        to zero.

        Args:
            early: whether sums may begin while backward goes on, since each gradient comes once.
        """
        self.mend()
        used = len(modules)
        shared = used > 1 and self._shares(modules)
        if shared:
            self.forget()  # a reducer, with its hooks
        reducer = self._prepared(used, early)
        kept = [Contributions() for _ in modules] if shared else []
        try:
            yield GoingBack(kept, lambda: self._reduce(reducer, used, kept))
        except BaseException:
            if reducer is not None:
                reducer.abort()
            self._discard()
            raise

    def _shares(self, modules: Sequence[Module]) -> bool:
        """Whether the replicas share one gradient: not if one was found to add to it by itself."""
        link = self._parameters.tied()
        if link.one_gradient and not all(map(_contributes, modules)):
            link = self._parameters.tie()
        return link.one_gradient

    def _prepared(self, used: int, early: bool) -> Reducer | None:
        """The reducer, if gradients of this pass are to be summed bucket by bucket."""
        if self.accumulating:
            return None
        overlapping = early and used > 1 and self._overlaps() and not self._parameters.nccl()
        if not (self.group.exchanges or overlapping):
            return None
        link = self._parameters.tied()
        if self.reducer is None or self._reduced_link is not link:
            self.forget()
            self.reducer, self._reduced_link = self._made(link), link
        self.reducer.prepare(used, early=early)
        return self.reducer

    def _made(self, link: Link) -> Reducer:
        if not self.group.exchanges:
            return Reducer(link.trained)
        return Reducer(link.trained, self._bucket_bytes, reduce=self._reduce_bucket, ordered=True)

    def _reduce_bucket(self, copies: list[Tensor]) -> None:
        """Sum a bucket over the replicas, then start its sum over the processes."""
        comm.reduce_into_(copies, zero=True, nccl=self._parameters.nccl())
        self.group.start(copies[0])

    def _overlaps(self) -> bool:
        wanted = self._overlap()
        if wanted is not None:
            return wanted
        return self._replicas.dispatcher.parallel and len(set(self._replicas.devices())) > 1

    def _reduce(self, reducer: Reducer | None, used: int, kept: list[Contributions]) -> None:
        if kept:
            self._add(kept)
            return
        self._unreduced = max(self._unreduced, used)
        if self.accumulating:
            return
        used, self._unreduced = self._unreduced, 0
        if reducer is not None:
            reducer.finish()
            correction = self.group.end()
            if correction != 1:
                foreach_mul_(self._parameters.gradients()[0], correction)
        elif used > 1:
            for copies in zip(*self._own_gradients()[:used], strict=True):
                self._sum(copies)

    def _add(self, kept: list[Contributions]) -> None:
        """Add what the replicas contribute to their one gradient, by the threads together."""
        parts = len(kept)
        addition = Addition(kept, parts, parts * _SHARED_SUM)
        addition.add_small()
        if addition.divided:
            self._replicas.exec(lambda m, i: addition.add_part(i - 1), parts)
        for parameter in dict.fromkeys(p for own in kept for p in own.announced):
            call_gradient_hooks(parameter)

    def _sum(self, copies: tuple[Tensor, ...]) -> None:
        """Sum onto the first of ``copies``, by the threads together where that is worth while."""
        first, count = copies[0], len(self._replicas.gpus())
        flat = [c.view(-1) if c.is_contiguous() else c for c in copies]
        if (
            self._replicas.dispatcher.parallel
            and first.numel() // count * first.element_size() >= _SHARED_SUM
            and all(c.dim() == 1 and c.device.type == "cpu" for c in flat)
        ):
            ranges = comm.slice_ranges(first.numel(), count)
            self._replicas.exec(lambda m, i: comm.reduce_slice_(flat, *ranges[i - 1], zero=True))
        else:
            comm.reduce_into_(copies, zero=True, nccl=self._parameters.nccl())

    def _discard(self) -> None:
        self._unreduced = 0
        self._torn = True
        # Should that fail too, as on a device that is gone, the first error is the one to raise.
        with suppress(Exception):
            self.zero()
