"""A DataParallelTable as one member of a group of processes.

Each process drives its own devices; the gradients, once summed over the local replicas, are summed
over the processes bucket by bucket while backward goes on, through ``torch.distributed``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor

from compat.nn.module import Module
from dptable import comm
from dptable.guards import named_modules
from dptable.heartbeat import Heartbeat

if TYPE_CHECKING:
    from dptable.data_parallel_table import DataParallelTable


class Member:
    """What ties one container to those of the other processes.

    Args:
        dpt: the container; flat parameters are summed where they lie.
        group: a process group; default: the one of ``torch.distributed.init_process_group``.
        average: weigh what comes back from each process's loss by its share of the rows of this
            pass, so that with a criterion that averages over its batch everything is as in one
            process with the whole batch. Without it gradients are summed as they are.

    The construction verifies that all processes hold the same parameters and buffers, by name,
    shape and dtype, and broadcasts those of rank 0.
    """

    def __init__(
        self, dpt: DataParallelTable, group: dist.ProcessGroup | None = None, average: bool = True
    ) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError(
                "there is no process group; call torch.distributed.init_process_group, or start "
                "the script with torchrun"
            )
        self.group = dist.group.WORLD if group is None else group
        assert self.group is not None
        self.average = average
        self._sum_locally = lambda copies: comm.reduce_into_(copies, zero=True, nccl=dpt._nccl())
        self.rank = dist.get_rank(self.group)
        self.size = dist.get_world_size(self.group)
        self.heartbeat = Heartbeat(self.rank, self.size)
        self.bytes_sent = 0
        named = list(named_tensors(dpt.modules[0]))
        self._verify(_layout(named))
        self._fingerprint = 0
        self.refresh(dpt.modules[0])
        self._broadcast([tensor for _, tensor in named])
        self._works: list[dist.Work] = []
        # Whether the gradients are sums over the processes, or this process's part.
        self._whole = False
        # Statistics are exchanged in the middle of backward, in an order of their own.
        self.statistics_group = (
            dist.new_group(dist.get_process_group_ranks(self.group))
            if dpt.statistics == "synchronised"
            else None
        )

    def refresh(self, module: Module) -> None:
        """Take down what the parameters look like now, for the others to compare."""
        self._fingerprint = _fingerprint(_layout(list(named_tensors(module))))

    def _verify(self, mine: list[tuple[str, tuple[int, ...], str]]) -> None:
        everybody: list[Any] = [None] * self.size
        self._checked(lambda: dist.all_gather_object(everybody, mine, group=self.group))
        for rank, other in enumerate(everybody):
            for a, b in zip_longest(everybody[0], other):
                if a != b:
                    raise ValueError(
                        f"rank {rank} has {_described(b)} where rank 0 has {_described(a)}"
                    )

    def _broadcast(self, tensors: Sequence[Tensor]) -> None:
        source = dist.get_global_rank(self.group, 0)  # type: ignore[arg-type]
        with torch.no_grad():
            for tensor in tensors:
                held = tensor.detach().contiguous()
                self._checked(lambda held=held: dist.broadcast(held, source, group=self.group))
                if held.data_ptr() != tensor.data_ptr():
                    tensor.copy_(held)

    def _checked(self, collective: Any) -> Any:
        """Run a collective; an error tells which rank is to blame."""
        try:
            return collective()
        except (RuntimeError, ValueError) as error:
            raise RuntimeError(f"{self.heartbeat.blame()}: {error}") from error

    # One backward pass.

    def begin(self, rows: int) -> float:
        """Exchange how many rows each process has, and return the weight of this one's."""
        self.heartbeat.progress += 1
        self._works = []
        mine = torch.tensor([rows, self._fingerprint])
        everybody = torch.zeros(self.size, 2, dtype=torch.int64)
        into = list(everybody.unbind())
        self._checked(lambda: dist.all_gather(into, mine, group=self.group))
        counts, prints = everybody.unbind(1)
        for rank in (prints != prints[self.rank]).nonzero().flatten().tolist():
            raise RuntimeError(
                f"rank {rank} has other parameters than rank {self.rank}; they may not change "
                "after distribute()"
            )
        total = int(counts.sum())
        return rows / total if self.average and total else 1.0

    def take_apart(self, gradients: Sequence[Tensor]) -> None:
        """Let sums of earlier passes, the same in every process, count once in the next sum."""
        if self._whole:
            with torch.no_grad():
                torch._foreach_div_(list(gradients), self.size)
            self._whole = False

    def reduce(self, copies: list[Tensor]) -> None:
        """Sum a bucket over the local replicas, then start its sum over the processes."""
        self._sum_locally(copies)
        first = copies[0]
        self.bytes_sent += first.numel() * first.element_size()
        work = self._checked(lambda: dist.all_reduce(first, group=self.group, async_op=True))
        self._works.append(work)

    def end(self) -> None:
        """After backward: wait for the sums."""
        works, self._works = self._works, []
        for work in works:
            self._checked(work.wait)
        self._whole = True

    def zeroed(self) -> None:
        """The gradients were set to zero."""
        self._whole = False

    def add_statistics(self, total: Tensor) -> None:
        """Sum the statistics of a batch normalisation over the processes, in place."""
        self._checked(lambda: dist.all_reduce(total, group=self.statistics_group))

    def abort(self, error: BaseException) -> None:
        """Tell the others that this process failed."""
        self._works = []
        self.heartbeat.report(error)

    def close(self) -> None:
        """Stop the heartbeat."""
        self.heartbeat.close()


def named_tensors(module: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and running statistics below ``module``, with names that tell their place."""
    from compat.nn.native import Native

    for place, inner in named_modules(module):
        if isinstance(inner, Native):
            held = dict(inner.module.named_parameters()) | dict(inner.module.named_buffers())
        else:
            names = (*inner._parameter_names, "running_mean", "running_var")
            held = {n: vars(inner)[n] for n in names if vars(inner).get(n) is not None}
        for name, tensor in held.items():
            yield f"{place}.{name}", tensor


def _layout(named: list[tuple[str, Tensor]]) -> list[tuple[str, tuple[int, ...], str]]:
    return [(name, tuple(tensor.shape), str(tensor.dtype)) for name, tensor in named]


def _fingerprint(description: Any) -> int:
    digest = hashlib.sha256(repr(description).encode()).digest()
    return int.from_bytes(digest[:7], "little")


def _described(entry: tuple[str, tuple[int, ...], str] | None) -> str:
    if entry is None:
        return "nothing more"
    name, shape, dtype = entry
    return f"{name} of size {shape} and {dtype}"
