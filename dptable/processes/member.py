"""One process as a member of a group of processes that train together.

Each process drives its own devices. After the sum over the local replicas, gradients are summed
over the processes through ``torch.distributed``, bucket by bucket while backward goes on.
"""

from __future__ import annotations

import itertools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import zip_longest
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from dptable.processes.exchange import AllReduce, Exchange, Finish
from dptable.processes.heartbeat import Heartbeat
from dptable.processes.rendezvous import end_group
from dptable.torch_internals import device_types, sibling

_NOTHING = "nothing more"
_siblings: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)


class Member:
    """Connects this process's container to those of the other processes.

    The constructor checks that all processes hold the same tensors, by name, shape and dtype,
    and the same facts. Then it broadcasts the tensors of rank 0.

    Args:
        tensors: the parameters and buffers of the container's net, by name.
        group: a process group; default: the one of ``torch.distributed.init_process_group``. Its
            timeout is how long this process waits for another.
        average: weigh each process's gradients by its share of the rows of the pass. With a
            criterion that averages over its batch, everything is then as in one process with the
            whole batch. False sums gradients as they are.
        exchange: makes the gradient exchange for the group.
        statistics: whether statistics will be exchanged during passes.
        facts: lines that must be the same in all processes.
        doubtful: lines that should be the same in all; a difference is only a warning.

    Attributes:
        exchange: the gradient exchange.
        weight: this process's weight in the latest pass.
        bytes_sent: how many bytes of gradients this process has given to be summed.
        control: a group for CPU tensors.
        names: the global ranks of the group's members.
        exchanges: True: gradients are to be given to this object.
    """

    exchanges = True

    def __init__(
        self,
        tensors: Sequence[tuple[str, Tensor]],
        group: dist.ProcessGroup | None = None,
        average: bool = True,
        exchange: Callable[[dist.ProcessGroup], Exchange] = AllReduce,
        statistics: bool = False,
        facts: Iterable[str] = (),
        doubtful: Iterable[str] = (),
    ) -> None:
        if not dist.is_available() or not dist.is_initialized():
            raise RuntimeError(
                "there is no process group; call torch.distributed.init_process_group, or start "
                "the script with torchrun"
            )
        group = dist.group.WORLD if group is None else group
        if not isinstance(group, dist.ProcessGroup):
            raise ValueError(
                "process_group is one that this process is not in; one that it is in is accepted"
            )
        self.group = group
        self.average = average
        self.rank = dist.get_rank(self.group)
        self.size = dist.get_world_size(self.group)
        self.heartbeat = Heartbeat(self.group)
        self.checked = self.heartbeat.checked
        self.names = self.heartbeat.names
        self.exchange = exchange(self.group)
        self.bytes_sent = 0
        self.weight = 1.0
        # Statistics are exchanged in the middle of backward, in an order of their own, and the host
        # waits for them anyway. NCCL must not run collectives of two groups side by side.
        self._statistics = _sibling(self.group, "gloo") if statistics else None
        # Counts are CPU tensors, which NCCL cannot carry.
        self.control = self.group if _reaches_host(self.group) else _sibling(self.group, "gloo")
        try:
            mine = [f"{name} of size {tuple(t.shape)} and {t.dtype}" for name, t in tensors]
            self._verify([*mine, *facts], list(doubtful))
        except BaseException:
            self.close()
            raise
        # Only after the check: tensors of other sizes would make the collective fail, or hang.
        self.broadcast([tensor for _, tensor in tensors])
        # In the order in which they were started, which is that of all processes.
        self._unfinished: list[Finish] = []
        # Whether the gradients already hold a sum over all processes: see `take_apart`.
        self._summed = False
        # Whether the gradients are zero.
        self._zero = False
        # The exchange of row counts that is under way: what waits for it, and its result to be.
        self._asked: tuple[Finish, Tensor] | None = None
        # How many rows all processes together had in the latest pass, which a fresh pass assumes to
        # have too until it knows. 0: unknown.
        self._rows = 0
        # What the gradients must be multiplied by when that assumption was wrong.
        self._correction = 1.0

    def _verify(self, *mine: list[str]) -> None:
        # All lines of all ranks, so that the error names the first difference and both ranks.
        everybody: list[Any] = [None] * self.size
        self.checked(partial(dist.all_gather_object, everybody, mine, group=self.control))
        facts, doubtful = ([each[i] for each in everybody] for i in (0, 1))
        if (found := self._difference(facts)) is not None:
            raise ValueError(f"{found}; the same net in all processes is accepted")
        if self.rank == 0 and (found := self._difference(doubtful)) is not None:
            warnings.warn(f"{found}; is that meant?", stacklevel=4)  # at distribute()

    def _difference(self, lines: list[list[str]]) -> str | None:
        """Return the first difference between a rank's lines and those of the first rank."""
        for rank, other in enumerate(lines):
            for a, b in zip_longest(lines[0], other):
                if a != b:
                    return (
                        f"rank {self.names[rank]} has {b or _NOTHING} where rank {self.names[0]} "
                        f"has {a or _NOTHING}"
                    )
        return None

    def broadcast(self, tensors: Sequence[Tensor]) -> None:
        """Copy the values of rank 0 to all processes."""
        source = dist.get_global_rank(self.group, 0)
        with torch.no_grad():
            for tensor in tensors:
                # Collectives need contiguous memory; what is not is copied there and back.
                held = tensor.detach().contiguous()
                self.checked(partial(dist.broadcast, held, source, group=self.group))
                if held.data_ptr() != tensor.data_ptr():
                    tensor.copy_(held)

    # One backward pass.

    def begin(self, rows: int, fingerprint: int, fresh: bool = False) -> float:
        """Exchange the processes' numbers of rows; return this process's weight.

        Args:
            rows: the number of rows here.
            fingerprint: a hash of the parameters' form. If it differs between processes, a later
                method raises RuntimeError.
            fresh: whether the gradients will hold this pass only. If they are zero now, this
                process does not wait for the other ranks' numbers: it assumes as many rows in all
                as in the pass before. If the assumption was wrong, ``end`` returns a factor for the
                gradients (not for the ``gradInput`` of inner modules). ``end`` returns this factor
                also on a rank that did wait, as a rank without data must.
        """
        # An exchange of a pass that nobody ended is finished first: collectives must match in
        # number.
        self._agree()
        self._unfinished = []
        supposed = self._rows if fresh and self._zero else 0
        mine = torch.tensor([rows, fingerprint, supposed])
        # One collective for all three numbers. It runs during forward and is waited for only when
        # its result is needed.
        everybody = torch.empty(self.size, 3, dtype=torch.int64)
        exchange = partial(
            dist.all_gather, list(everybody.unbind()), mine, group=self.control, async_op=True
        )
        self._asked = self.checked(exchange).wait, everybody
        self._correction, self._zero = 1.0, False
        self.weight = self._share(rows)
        # The gradients are zero and belong to this pass alone, so a wrong weight can be corrected
        # by one factor at the end.
        if supposed:
            return self.weight
        self.weight = 1.0
        self._agree()
        self.weight = self._share(rows)
        # If others assumed a count, the sum will be multiplied by the correction: this part of it
        # has the right weight already, so that it is divided by that now.
        return self.weight / self._correction

    def _share(self, rows: int) -> float:
        return rows / self._rows if self.average and self._rows else 1.0

    def _agree(self) -> None:
        """Finish the exchange of row counts, if one is under way, and check its result."""
        if self._asked is None:
            return
        (wait, everybody), self._asked = self._asked, None
        self.checked(wait)
        # A collective of all has succeeded: every rank has seen the old report, or never will.
        self.heartbeat.met()
        counts, prints, guesses = everybody.unbind(1)
        # All ranks compare the same numbers, so all raise, and none is left waiting.
        for rank in (prints != prints[self.rank]).nonzero().flatten().tolist():
            raise RuntimeError(
                f"rank {self.names[rank]} has other parameters than rank {self.names[self.rank]}; "
                "they may not change after distribute()"
            )
        self._rows, supposed = int(counts.sum()), int(guesses.max())
        if supposed and self._rows and self.average:
            self._correction = supposed / self._rows
            self.weight *= self._correction

    def total(self, value: float) -> float:
        """Sum a number over the processes, with the weights of the latest pass.

        For the processes' losses, the result is the loss that the summed gradients belong to.
        """
        self._agree()
        # In double precision, so that the sum does not depend on how rows are divided.
        held = torch.tensor(float(value) * self.weight, dtype=torch.float64)
        self.checked(partial(dist.all_reduce, held, group=self.control))
        return float(held)

    def take_apart(self, gradients: Sequence[Tensor]) -> None:
        """Prepare for a pass: if the gradients hold a sum over all ranks, divide it among them.

        With all-reduce, each rank divides it by the number of ranks, so that the next all-reduce
        does not count it once per rank.
        """
        if self._summed:
            with torch.no_grad():
                self.exchange.take_apart(list(gradients))
            self._summed = False

    def start(self, part: Tensor) -> None:
        """Begin to sum a part of the gradients over the processes."""
        self._agree()
        self.bytes_sent += part.numel() * part.element_size()
        self._unfinished.append(self.checked(partial(self.exchange.start, part)))

    def end(self) -> float:
        """Wait for the sums after backward. Return the factor to multiply them by."""
        self._agree()
        unfinished, self._unfinished = self._unfinished, []
        for finish in unfinished:
            self.checked(finish)
        self._summed = True
        return self._correction

    def zeroed(self) -> None:
        """Note that the gradients were set to zero."""
        self._summed = False
        self._zero = True

    # Batch normalisation.

    def add_statistics(self, total: Tensor) -> None:
        """Sum the statistics of a batch normalisation over the processes, in place."""
        # Gloo carries CPU tensors; the group of the gradients may be NCCL's.
        held = total.cpu()
        self.checked(partial(dist.all_reduce, held, group=self._statistics))
        total.copy_(held)

    def share_statistics(self, statistics: Sequence[Tensor], averaged: bool) -> None:
        """Set running statistics to those of rank 0, or to the average of all, in place."""
        if not averaged:
            self.broadcast(statistics)
            return
        for tensor in statistics:
            # Divided before the sum, which then cannot overflow in half precision.
            tensor.div_(self.size)
            self.checked(partial(dist.all_reduce, tensor, group=self.group))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """Tell the other processes if the block fails."""
        try:
            yield
        except BaseException as error:
            self.abort(error)
            raise

    def abort(self, error: BaseException) -> None:
        """Tell the others that this process failed."""
        # The next pass must not wait for sums of this one, nor assume its number of rows.
        self._unfinished, self._asked, self._rows = [], None, 0
        self.heartbeat.report(error)

    def close(self) -> None:
        """Stop the heartbeat and leave the groups that were made for this container."""
        self.heartbeat.close()
        # The program's own group stays: it may use it after this container.
        for group in (self._statistics, self.control):
            if group is not None and group is not self.group:
                end_group(group)


def _reaches_host(group: dist.ProcessGroup) -> bool:
    return torch.device("cpu") in device_types(group)


def _sibling(group: dist.ProcessGroup, backend: str) -> dist.ProcessGroup:
    name = group.group_name
    return sibling(group, backend, f"{name}/sibling {next(_siblings[name])}")
