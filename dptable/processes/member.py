"""A DataParallelTable as one member of a group of processes.

Each process drives its own devices; the gradients, once summed over the local replicas, are summed
over the processes bucket by bucket while backward goes on, through ``torch.distributed``.
"""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Protocol

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d
from torch import Tensor

from compat.nn.core.module import Module
from dptable import comm
from dptable.container.batch_statistics import SYNCHRONISED, running
from dptable.processes.heartbeat import Heartbeat
from dptable.processes.rendezvous import end_group

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable


Finish = Callable[[], Any]

_siblings: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


class Exchange(Protocol):
    """How the gradients of the processes are put together."""

    def start(self, part: Tensor) -> Finish:
        """Begin to sum a part of the gradients in place; the result waits for it to be done."""

    def take_apart(self, gradients: list[Tensor]) -> None:
        """Let sums that are done count once in the next sum."""


class AllReduce:
    """Each process gets the whole sum."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.group = group

    def start(self, part: Tensor) -> Finish:
        work = dist.all_reduce(part, group=self.group, async_op=True)
        assert work is not None
        return work.wait

    def take_apart(self, gradients: list[Tensor]) -> None:
        torch._foreach_div_(gradients, dist.get_world_size(self.group))


class Member:
    """What ties one container to those of the other processes.

    Args:
        dpt: the container; flat parameters are summed where they lie.
        group: a process group; default: the one of ``torch.distributed.init_process_group``. Its
            timeout is how long this waits for another process.
        average: weigh what comes back from each process's loss by its share of the rows of this
            pass, so that with a criterion that averages over its batch everything is as in one
            process with the whole batch. Without it gradients are summed as they are.
        bucket_cap_mb: the size in MiB at which a bucket of gradients is full (docs/scaling.md).

    The construction verifies that all processes hold the same parameters and buffers, by name,
    shape and dtype, and broadcasts those of rank 0.

    Fields: ``exchange``, how gradients are put together; ``bucket_bytes``, the size at which a
    bucket of them is full; ``weight``, this process's in the latest pass; ``bytes_sent``, how many
    bytes of gradients it has given to be summed; ``control``, a group for what lies in the host's
    memory; ``names``, the ranks among all processes by those in the group.
    """

    def __init__(
        self,
        dpt: DataParallelTable,
        group: dist.ProcessGroup | None = None,
        average: bool = True,
        bucket_cap_mb: float = 25,
    ) -> None:
        if not bucket_cap_mb > 0:
            raise ValueError(f"bucket_cap_mb is {bucket_cap_mb}; a positive size is accepted")
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError(
                "there is no process group; call torch.distributed.init_process_group, or start "
                "the script with torchrun"
            )
        group = dist.group.WORLD if group is None else group
        if not isinstance(group, dist.ProcessGroup):
            raise ValueError("process_group is one that this process is not in")
        self.group = group
        self.average = average
        self._sum_locally = lambda copies: comm.reduce_into_(
            copies, zero=True, nccl=dpt._parameters.nccl()
        )
        self._gradients = lambda: dpt._parameters.gradients()[0]
        self.rank = dist.get_rank(self.group)
        self.size = dist.get_world_size(self.group)
        self.heartbeat = Heartbeat(self.group)
        self.checked = self.heartbeat.checked
        self.names = self.heartbeat.names
        self.exchange: Exchange = AllReduce(self.group)
        self.bucket_bytes = int(bucket_cap_mb * (1 << 20))
        self.bytes_sent = 0
        self.weight = 1.0
        # Statistics are exchanged in the middle of backward, in an order of their own.
        self._statistics: dist.ProcessGroup | None = (
            _sibling(self.group, dist.get_backend(self.group))
            if dpt.statistics == SYNCHRONISED
            else None
        )
        # What is counted lies in the memory of the host, which NCCL does not reach.
        self.control = self.group if _reaches_host(self.group) else _sibling(self.group, "gloo")
        named = list(named_tensors(dpt.modules[0]))
        try:
            self._verify(_layout(named))
        except BaseException:
            self.close()
            raise
        self._fingerprint = 0
        self.refresh(dpt.modules[0])
        self.broadcast([tensor for _, tensor in named])
        self._unfinished: list[Finish] = []
        # Whether the gradients are sums over the processes, or this process's part.
        self._whole = False
        # Whether they are zero.
        self._zero = False
        # The exchange that is still to be waited for, and where its result will be.
        self._asked: tuple[Finish, Tensor] | None = None
        # The rows of all processes in the latest pass, or those supposed for this one; 0: unknown.
        self._rows = 0
        # By what gradients are to be multiplied for having supposed wrong.
        self._factor = 1.0

    def refresh(self, module: Module) -> None:
        """Take down what the parameters look like now, for the others to compare."""
        self._fingerprint = _fingerprint(_layout(list(named_tensors(module))))

    def _verify(self, mine: list[tuple[str, tuple[int, ...], str]]) -> None:
        everybody: list[Any] = [None] * self.size
        self.checked(partial(dist.all_gather_object, everybody, mine, group=self.control))
        for rank, other in enumerate(everybody):
            for a, b in zip_longest(everybody[0], other):
                if a != b:
                    raise ValueError(
                        f"rank {self.names[rank]} has {_described(b)} "
                        f"where rank {self.names[0]} has {_described(a)}"
                    )

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Give all processes the values of rank 0."""
        source = dist.get_global_rank(self.group, 0)
        with torch.no_grad():
            for tensor in tensors:
                held = tensor.detach().contiguous()
                self.checked(partial(dist.broadcast, held, source, group=self.group))
                if held.data_ptr() != tensor.data_ptr():
                    tensor.copy_(held)

    # One backward pass.

    def begin(self, rows: int, fresh: bool = False) -> float:
        """Exchange how many rows each process has, and return the weight of this one's.

        Args:
            rows: how many there are here.
            fresh: this pass is all that will be in the gradients once its sums are done. Then
                nobody waits here: backward begins as if the processes had as many rows as in the
                pass before, and if they had not, ``end`` scales the gradients (but not the
                ``gradInput`` of modules inside). So it does in a process that waits, as for one
                without data, if others have not.
        """
        self._agree()
        self._unfinished = []
        ahead = bool(fresh and self._zero and self._rows)
        mine = torch.tensor([rows, self._fingerprint, self._rows if ahead else 0])
        everybody = torch.empty(self.size, 3, dtype=torch.int64)
        exchange = partial(
            dist.all_gather, list(everybody.unbind()), mine, group=self.control, async_op=True
        )
        self._asked = self.checked(exchange).wait, everybody
        self._factor, self._zero = 1.0, False
        self.weight = self._share(rows)
        if not ahead:
            self.weight = 1.0
            self._agree()
            self.weight = self._share(rows)
        # What the sum is to be multiplied by, this part of it is divided by.
        return self.weight if ahead else self.weight / self._factor

    def _share(self, rows: int) -> float:
        return rows / self._rows if self.average and self._rows else 1.0

    def _agree(self) -> None:
        """Wait for the rows of all processes, if that is still to be done."""
        if self._asked is None:
            return
        (wait, everybody), self._asked = self._asked, None
        self.checked(wait)
        self.heartbeat.met()
        counts, prints, guesses = everybody.unbind(1)
        for rank in (prints != prints[self.rank]).nonzero().flatten().tolist():
            raise RuntimeError(
                f"rank {self.names[rank]} has other parameters than rank {self.names[self.rank]}; "
                "they may not change after distribute()"
            )
        self._rows, supposed = int(counts.sum()), int(guesses.max())
        if supposed and self._rows and self.average:
            self._factor = supposed / self._rows
            self.weight *= self._factor

    def total(self, value: float) -> float:
        """The sum over the processes of a number, by the weights of the latest pass.

        Of each process's loss it makes the loss that the gradients belong to.
        """
        self._agree()
        held = torch.tensor(float(value) * self.weight, dtype=torch.float64)
        self.checked(partial(dist.all_reduce, held, group=self.control))
        return float(held)

    def take_apart(self, gradients: Sequence[Tensor]) -> None:
        """Let sums of earlier passes count once in the next sum."""
        if self._whole:
            with torch.no_grad():
                self.exchange.take_apart(list(gradients))
            self._whole = False

    def reduce(self, copies: list[Tensor]) -> None:
        """Sum a bucket over the local replicas, then start its sum over the processes."""
        self._agree()
        self._sum_locally(copies)
        first = copies[0]
        self.bytes_sent += first.numel() * first.element_size()
        self._unfinished.append(self.checked(partial(self.exchange.start, first)))

    def end(self) -> None:
        """After backward: wait for the sums."""
        self._agree()
        unfinished, self._unfinished = self._unfinished, []
        for finish in unfinished:
            self.checked(finish)
        if self._factor != 1:
            torch._foreach_mul_(self._gradients(), self._factor)
        self._whole = True

    def zeroed(self) -> None:
        """The gradients were set to zero."""
        self._whole = False
        self._zero = True

    # Batch normalisation.

    def add_statistics(self, total: Tensor) -> None:
        """Sum the statistics of a batch normalisation over the processes, in place."""
        self.checked(partial(dist.all_reduce, total, group=self._statistics))

    def share_statistics(self, replicas: Sequence[Module], averaged: bool) -> None:
        """Give all replicas the running statistics of rank 0's first, or the average's."""
        first, *others = [list(running(replica)) for replica in replicas]
        if averaged:
            for tensor in first:
                tensor.div_(self.size)
                self.checked(partial(dist.all_reduce, tensor, group=self.group))
        else:
            self.broadcast(first)
        for copies in others:
            for tensor, value in zip(copies, first, strict=True):
                tensor.copy_(value)

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Tell the others of an error inside."""
        try:
            yield
        except BaseException as error:
            self.abort(error)
            raise

    def abort(self, error: BaseException) -> None:
        """Tell the others that this process failed."""
        self._unfinished, self._asked, self._rows = [], None, 0
        self.heartbeat.report(error)

    def close(self) -> None:
        """Stop the heartbeat and leave the groups that were made for this container."""
        self.heartbeat.close()
        for group in (self._statistics, self.control):
            if group is not None and group is not self.group:
                end_group(group)


def _reaches_host(group: dist.ProcessGroup) -> bool:
    return torch.device("cpu") in group._device_types


def _sibling(group: dist.ProcessGroup, backend: str) -> dist.ProcessGroup:
    """Another group of the same processes, with the same timeout.

    ``new_group(use_local_synchronization=True)`` names it by how many groups the process is in.
    Where they differ in that, the processes wait for each other under different names; and a group
    made after one was left finds the former one's addresses under its own name.
    """
    ranks = dist.get_process_group_ranks(group)
    name: Any = f"{group.group_name}/sibling {next(_siblings[group.group_name])}"
    device = torch.device("cpu") if _reaches_host(group) else group._device_types[0]
    made, _ = c10d._new_process_group_helper(
        len(ranks),
        dist.get_rank(group),
        ranks,
        dist.Backend(backend),
        c10d._get_default_store(),
        name,
        timeout=group._get_backend(device).options._timeout,
        device_id=c10d._get_default_group().bound_device_id,
    )
    c10d._world.pg_group_ranks[made] = {rank: i for i, rank in enumerate(ranks)}
    return made


def named_tensors(module: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and running statistics below ``module``, with names that tell their place."""
    from compat.nn.core.native import Native

    for place, inner in module.named_modules():
        if isinstance(inner, Native):
            held = dict(inner.module.named_parameters()) | dict(inner.module.named_buffers())
        else:
            names = (*inner.parameter_names, "running_mean", "running_var")
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
