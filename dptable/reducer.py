"""Sum gradients over replicas while backward still computes the next gradients.

After DistributedDataParallel's reducer (S. Li et al., "PyTorch Distributed: Experiences on
Accelerating Data Parallel Training", VLDB 2020). Parameters are assigned to buckets in the reverse
order of their definition, in which backward roughly computes their gradients. The thread that
computes a replica's backward tells the reducer when a gradient is complete. The thread whose
gradient completes a bucket on all replicas sums the bucket, while the others go on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from compat.checks import check_some, listed
from compat.nn.core.flat_storage import side_by_side
from dptable import comm
from dptable.bucketing import compute_bucket_assignment_by_size
from dptable.tensors.streams import Streams

__all__ = [
    "Bucket",
    "Reducer",
]

FIRST_BUCKET_BYTES = 1 << 20
BUCKET_BYTES = 25 << 20

Sum = Callable[[list[Tensor]], Any]


def _sum_onto_first(copies: list[Tensor]) -> None:
    comm.reduce_into_(copies, zero=True)


class Bucket:
    """Parameters whose gradients are summed together.

    Attributes:
        parts: for each tensor to sum, the list of its copies, one per replica. With flat gradients
            there is one tensor, a range of the flat one; otherwise one for each parameter.
        pending: how many gradients, of all replicas, are still to come in this pass.
        done: whether the bucket is summed.

    Args:
        indices: the numbers of the parameters.
        gradients: the gradients of all parameters, a list per replica.
        aliases: parameters whose gradients share memory with gradients in the bucket. The bucket is
            complete only after theirs have come, too.
    """

    def __init__(
        self, indices: list[int], gradients: Sequence[Sequence[Tensor]], aliases: list[int]
    ) -> None:
        self.indices = indices + aliases
        members = sorted(indices, key=lambda i: gradients[0][i].storage_offset())
        copies = [[replica[i] for i in members] for replica in gradients]
        flat = [side_by_side(replica) for replica in copies]
        if all(f is not None for f in flat):
            self.parts: list[list[Tensor]] = [[f for f in flat if f is not None]]
        else:
            self.parts = [list(part) for part in zip(*copies, strict=True)]
        self.pending = 0
        self.done = False


class Reducer:
    """Sum the gradients of several replicas onto the first, bucket by bucket, during backward.

    Call ``prepare(used)`` before backward runs on the first ``used`` replicas, ``arrived(replica,
    index)`` whenever a gradient is complete, and ``finish()`` after backward has ended on all of
    them, or ``abort()`` if it failed. ``finish`` also sums the buckets whose gradients did not all
    come, because parameters took no part or nobody reported them.

    The reducer registers no hooks. For towers of torch.nn, call ``arrived`` from a hook that
    ``register_post_accumulate_grad_hook`` registers.

    Args:
        replicas: the parameters of each replica, in the same order; every one has a ``grad``.
            Gradients that lie side by side in a flat tensor are summed there, without a copy.
        bucket_bytes: the size in bytes at which a bucket is full.
        first_bucket_bytes: the size of the first bucket, small so that the first sum starts early.
        reduce: sums a list of copies, one per replica, onto the first and zeroes the rest. It is
            called in the thread that completed the bucket.
        ordered: sum the buckets one at a time and in order, as collectives between processes need
            it. Otherwise each bucket is summed as soon as it is complete.
    """

    def __init__(
        self,
        replicas: Sequence[Sequence[Tensor]],
        bucket_bytes: int = BUCKET_BYTES,
        first_bucket_bytes: int = FIRST_BUCKET_BYTES,
        reduce: Sum = _sum_onto_first,
        ordered: bool = False,
    ) -> None:
        check_some(replicas, "replicas", "list of parameters")
        counts = {len(replica) for replica in replicas}
        if len(counts) > 1:
            raise ValueError(
                f"replicas has lists of {listed(sorted(counts), 'and')} parameters; as many of "
                "each are accepted"
            )
        for r, replica in enumerate(replicas, 1):
            for i, parameter in enumerate(replica, 1):
                if parameter.grad is None:
                    raise ValueError(
                        f"parameter {i} of replica {r} has no gradient tensor; parameters with "
                        "one are accepted"
                    )
        self._replicas = [list(replica) for replica in replicas]
        self._reduce = reduce
        self._ordered = ordered
        self._limits = [min(first_bucket_bytes, bucket_bytes), bucket_bytes]
        self._devices = {p.device for replica in self._replicas for p in replica}
        self._streams = Streams(self._devices)
        # Guards `pending`, `_arrived`, `_active` and `_error`. Held only to count, never during a
        # sum, so that a replica's backward does not wait for another replica's sum.
        self._lock = threading.Lock()
        # Held while buckets are summed in order: collectives between processes must be called in
        # the same order in every process. Taken without `_lock`, so there is no order of locks.
        self._turn = threading.Lock()
        self._active = False
        self._error: BaseException | None = None
        self._arrived: set[tuple[int, int]] = set()
        self.buckets = self._assign()
        self._bucket_of = {i: b for b in self.buckets for i in b.indices}

    def _assign(self) -> list[Bucket]:
        first = self._replicas[0]
        if not first:
            return []
        gradients = [[_gradient(p) for p in replica] for replica in self._replicas]
        # Shared parameters have one gradient tensor, which must be summed once.
        places: dict[tuple[int, int], list[int]] = {}
        for i, gradient in enumerate(gradients[0]):
            # Those without elements share no memory, wherever they are.
            where = gradient.data_ptr() if gradient.numel() else -i
            places.setdefault((where, gradient.numel()), []).append(i)
        aliases = {same[0]: same[1:] for same in places.values()}
        order = sorted(aliases, reverse=True)
        indices, _ = compute_bucket_assignment_by_size(
            [first[i] for i in order], self._limits, tensor_indices=order
        )
        return [
            Bucket(bucket, gradients, [alias for i in bucket for alias in aliases[i]])
            for bucket in indices
        ]

    def prepare(self, used: int | None = None) -> None:
        """Expect a backward pass on the first ``used`` replicas, by default on all.

        On GPUs the sums are queued on the streams that are current in the calling thread.
        """
        used = len(self._replicas) if used is None else used
        self._streams = Streams(self._devices)
        with self._lock:
            self._arrived.clear()
            for bucket in self.buckets:
                bucket.pending = len(bucket.indices) * used
                bucket.done = False
            self._active, self._error = True, None

    def arrived(self, replica: int, index: int) -> None:
        """Report a complete gradient, in the thread that computed it.

        Args:
            replica: the number of the replica, from 0.
            index: the number of the parameter, from 0.
        """
        with self._lock:
            if not self._active or (replica, index) in self._arrived:
                return
            self._arrived.add((replica, index))
            # Under the lock: whoever finds the bucket complete must find all waits queued.
            self._streams.follow(self._replicas[replica][index].device)
            bucket = self._bucket_of[index]
            bucket.pending -= 1
            # Under the lock, too: otherwise two threads whose gradients are the last two could both
            # see 0, and both sum the bucket.
            complete = bucket.pending == 0
        if complete:
            try:
                self._sum_now(bucket)
            except BaseException as error:
                # Not the fault of the replica in whose backward it happens: `finish` raises it.
                with self._lock:
                    self._active, self._error = False, self._error or error

    def _sum_now(self, bucket: Bucket) -> None:
        if not self._ordered:
            self._sum(bucket)
            return
        with self._turn:
            for earlier in self.buckets:
                if earlier.pending > 0 or self._error is not None:
                    break
                self._sum(earlier)

    def _sum(self, bucket: Bucket) -> None:
        if not bucket.done:
            # The caller's streams, not this thread's: the replica's backward does not wait for it.
            with self._streams.current():
                for copies in bucket.parts:
                    self._reduce(copies)
            bucket.done = True

    def finish(self) -> None:
        """Sum what is left, after backward has ended on every replica.

        Raises an error that a sum during backward raised.
        """
        with self._lock:
            active, self._active = self._active, False
            error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback holds this frame
        if active:
            for bucket in self.buckets:
                self._sum(bucket)

    def abort(self) -> None:
        """Forget the pass after backward failed; no more gradients will come."""
        with self._lock:
            self._active, self._error = False, None


def _gradient(parameter: Tensor) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
