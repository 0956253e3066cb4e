"""Sum the gradients of a container's replicas onto the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple

from torch import Tensor

from compat.nn.containers import completion
from compat.torch_internals import foreach_zero_
from dptable import comm
from dptable.container.completed_parameters import CompletedParameters
from dptable.container.parameters import Link, ReplicatedParameters
from dptable.container.replicas import Part, Replicas
from dptable.processes.member import Member
from dptable.processes.single_process import SingleProcess
from dptable.reducer import BUCKET_BYTES, Reducer
from dptable.torch_internals import foreach_mul_

# Below this many bytes for each thread, to share the work takes longer than to do it.
_SHARED_BYTES = 1 << 18


class BackwardPass(NamedTuple):
    """A backward pass of the replicas.

    Attributes:
        contexts: one for each replica, to compute backward in, if sums may begin meanwhile; else
            empty.
        reduce: to be called when all replicas have finished backward.
    """

    contexts: list[AbstractContextManager[Any]]
    reduce: Callable[[], None]


class GradientSum(Part):
    """Sum the gradients of the replicas onto the first and zero the others.

    Attributes:
        group: the processes over which gradients are summed, too.
        reducer: sums bucket by bucket; made in the first pass that needs it.
        accumulating: whether gradients stay on their replicas (``no_sync``).

    Args:
        replicas: the replicas.
        parameters: their parameters.
        overlap: returns whether to sum while backward goes on, where both ways are possible; None
            chooses by the devices.
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
        self.group: SingleProcess | Member = SingleProcess()
        self._bucket_bytes = BUCKET_BYTES
        self.reducer: Reducer | None = None
        # What the reducer is made for, and how it hears of each replica what is complete.
        self._reduced_link: Link | None = None
        self._completed: list[CompletedParameters] = []
        self.accumulating = False
        # How many replicas hold gradients of earlier passes.
        self._unreduced = 0
        # Whether a pass failed and left gradients that are not zeroed yet.
        self._failed = False

    def join(self, member: Member, bucket_bytes: int) -> None:
        """Sum over the processes of ``member``'s group, too, from the next pass on.

        Args:
            member: this process in the group.
            bucket_bytes: the size of a bucket of gradients, in bytes.
        """
        self.leave()
        self.group, self._bucket_bytes = member, bucket_bytes

    def leave(self) -> None:
        """Leave the group of processes."""
        self.group.close()
        self.group = SingleProcess()
        self.forget()

    def forget(self) -> None:
        """Drop all references to gradient tensors, which are about to be replaced."""
        self.reducer = self._reduced_link = None
        self._completed = []

    def zero(self, link: Link) -> None:
        """Fill the gradients of all replicas with zeros."""
        lists = self._parameters.lists(link)[1]
        zeros = [partial(foreach_zero_, gradients) for gradients in lists if gradients]
        if zeros and self._shared([t for gradients in lists for t in gradients], len(zeros)):
            self._replicas.dispatcher.share(zeros, self._replicas.gpus())
        else:
            for zero in zeros:
                zero()
        self._failed = False
        self.group.zeroed()

    def zero_after_failure(self, link: Link) -> None:
        """Zero the gradients of a failed pass if that was not possible at its failure."""
        if self._failed:
            self.zero(link)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Keep the gradients of the block's passes on their replicas, for the next pass to sum."""
        before, self.accumulating = self.accumulating, True
        try:
            yield
        finally:
            self.accumulating = before

    @contextmanager
    def summed(self, link: Link, used: int, early: bool) -> Iterator[BackwardPass]:
        """Sum the gradients of the block, in which the ``used`` replicas compute backward.

        If the block fails, some gradients may be summed and some not, so all are set to zero.

        Args:
            link: the tied replicas.
            used: the number of replicas with data.
            early: whether containers report finished modules, so that sums may begin during
                backward.
        """
        # Gradients of a failed pass would be added to this one's.
        self.zero_after_failure(link)
        reducer = self._prepared(link, used, early)
        contexts = self._listeners(reducer, used) if reducer is not None and early else []
        try:
            yield BackwardPass(contexts, lambda: self._reduce(link, reducer, used))
        except BaseException:
            # First: sums that threads still run must not write after the zeroing.
            if reducer is not None:
                reducer.abort()
            self._discard(link)
            raise

    def _prepared(self, link: Link, used: int, early: bool) -> Reducer | None:
        """Return the reducer if this pass is summed bucket by bucket, else None."""
        if self.accumulating:
            return None
        overlapping = early and used > 1 and self._overlaps() and not self._parameters.nccl()
        if not (self.group.exchanges or overlapping):
            return None
        # A reducer holds the gradient tensors; another link means other tensors.
        if self.reducer is None or self._reduced_link is not link:
            self.reducer, self._reduced_link = self._made(link), link
            pairs = zip(link.replicas, link.trained, strict=True)
            self._completed = [CompletedParameters(net, trained) for net, trained in pairs]
        self.reducer.prepare(used)
        return self.reducer

    def _listeners(self, reducer: Reducer, used: int) -> list[AbstractContextManager[Any]]:
        """Return a context for each of the first ``used`` replicas that reports to the reducer."""
        return [
            completion.listening(told.listener(partial(reducer.arrived, replica)))
            for replica, told in enumerate(self._completed[:used])
        ]

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

    def _reduce(self, link: Link, reducer: Reducer | None, used: int) -> None:
        # A smaller last batch may use fewer replicas; the others still hold gradients of earlier
        # accumulated passes, which must be summed, too.
        self._unreduced = max(self._unreduced, used)
        if self.accumulating:
            return
        used, self._unreduced = self._unreduced, 0
        gradients = self._parameters.lists(link)[1]
        if reducer is not None:
            # Also sums what did not arrive: parameters of branches that took no part.
            reducer.finish()
            # Not 1 if this process assumed a wrong number of rows; see Member.begin.
            correction = self.group.end()
            if correction != 1:
                foreach_mul_(gradients[0], correction)
        elif used > 1:
            for copies in zip(*gradients[:used], strict=True):
                self._sum(copies)

    def _sum(self, copies: tuple[Tensor, ...]) -> None:
        """Sum onto the first of ``copies``."""
        gpus = self._replicas.gpus()
        flat = [c.view(-1) for c in copies if c.is_contiguous()]
        if len(flat) == len(copies) and self._shared(flat[:1], len(gpus)):
            # Each thread sums its own range of all copies: one alone would wait for memory.
            self._replicas.dispatcher.share(
                [
                    partial(comm.reduce_slice_, flat, *own, zero=True)
                    for own in comm.slice_ranges(flat[0].numel(), len(gpus))
                ],
                gpus,
            )
        else:
            comm.reduce_into_(copies, zero=True, nccl=self._parameters.nccl())

    def _shared(self, tensors: Sequence[Tensor], count: int) -> bool:
        """Return whether ``count`` threads are to share work on these tensors of the CPU."""
        return (
            self._replicas.dispatcher.parallel
            and sum(t.numel() * t.element_size() for t in tensors) // count >= _SHARED_BYTES
            and all(device.type == "cpu" for device in self._replicas.devices())
        )

    def _discard(self, link: Link) -> None:
        self._unreduced = 0
        self._failed = True
        # Should that fail too, as on a device that is gone, the first error is the one to raise.
        with suppress(Exception):
            self.zero(link)
