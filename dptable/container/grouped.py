"""Let a container of replicas train together with those of other processes."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import torch
import torch.distributed as dist

from compat.nn.core.net_tensors import described, named_tensors, running_statistics
from compat.tensor_tables import map_tensors
from dptable.container.batch_statistics import AVERAGED, SYNCHRONISED
from dptable.container.replicated import Replicated
from dptable.processes.exchange import Exchange
from dptable.processes.member import Member
from dptable.processes.shared_memory import SharedMemory

C = TypeVar("C", bound="Grouped")


class Grouped(Replicated, abstract=True):
    """The methods of a container that involve other processes."""

    def distribute(
        self: C,
        process_group: dist.ProcessGroup | None = None,
        average: bool = True,
        bucket_cap_mb: float = 25,
        exchange: Callable[[dist.ProcessGroup], Exchange] = SharedMemory,
    ) -> C:
        """Train together with the containers of other processes.

        Every process calls this, and then ``backward`` equally often; a process without data calls
        ``skip`` instead of a pass.

        Args:
            process_group: default: all processes.
            average: weigh gradients by each process's share of the rows, as for a criterion that
                averages; False sums them as they are.
            bucket_cap_mb: the size in MiB of the buckets in which gradients are exchanged while
                backward goes on; docs/scaling.md says what to choose.
            exchange: makes, for the process group, the object that exchanges gradients. By default
                every process gets the whole sum, on one machine through shared memory;
                ``dptable.sharding`` gives each its slice. For your own, see
                ``dptable.processes.exchange.Exchange``.

        Returns:
            This container.

        Raises:
            ValueError: the nets differ in parameters, modules or options; the message names the
                rank and the first difference. Differing fields of your own classes (which may hold
                the rank, for instance) only cause a warning.
        """
        if not bucket_cap_mb > 0:
            raise ValueError(f"bucket_cap_mb is {bucket_cap_mb}; a positive number is accepted")
        self._check_net()
        self._parameters.refresh()
        tensors = list(named_tensors(self.modules[0]))
        synchronised = self.statistics == SYNCHRONISED
        facts = described(self.modules[0])
        others = described(self.modules[0], others=True)
        member = Member(tensors, process_group, average, exchange, synchronised, facts, others)
        self._gradients.join(member, int(bucket_cap_mb * (1 << 20)))
        self.needsSync = True
        return self

    def skip(self: C, input: Any = None) -> C:
        """Take part in a pass of the group, forward and backward, without data.

        Args:
            input: a batch of zero rows; needed only with synchronised statistics.
        """
        if not self.group.exchanges:
            raise RuntimeError("skip() is for containers in a group; call distribute() first")
        if input is not None:
            output = self.updateOutput(input)
            self.backward(input, map_tensors(torch.zeros_like, output))
        elif self.statistics == SYNCHRONISED and self.train:
            raise ValueError(
                "input is None; with synchronised statistics, a batch of zero rows is accepted"
            )
        else:
            self._passes.skip()
            self.needsSync = True
        return self

    def syncStatistics(self: C) -> C:
        """Set the running statistics of all replicas, in all processes, to those of rank 0's first.

        With ``statistics="averaged"`` they are set to the average over all. Every process calls
        this before ``evaluate()`` or saving, so that all of them test the net that is saved.
        Without a group only averages are taken.
        """
        self.settleStatistics()
        if self.group.exchanges:
            first, *others = (list(running_statistics(r)) for r in self._replicas.setup())
            self.group.share_statistics(first, self.statistics == AVERAGED)
            for statistics in others:
                for tensor, value in zip(statistics, first, strict=True):
                    tensor.copy_(value)
        return self

    def total_loss(self, loss: float) -> float:
        """Return the loss over the rows of all processes.

        Every process calls this after its ``backward`` or ``skip``. Optimizers that decide by the
        loss, such as those with a line search, need it: by their own losses the processes would
        decide differently.

        Args:
            loss: the loss of this process's rows.

        Returns:
            The mean, weighted by the rows of the latest pass, or with ``average=False`` the sum.
            Without a group, ``loss`` itself.
        """
        return self.group.total(loss)

    def close_group(self) -> None:
        """Leave the group of processes."""
        self._gradients.leave()

    def no_sync(self) -> AbstractContextManager[None]:
        """Keep gradients of the block's passes on their replicas; the next pass sums them."""
        return self._gradients.no_sync()
