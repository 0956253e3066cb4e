"""Exchange gradients between processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import torch.distributed as dist
from torch import Tensor

from dptable.torch_internals import foreach_div_

Finish = Callable[[], Any]


class Exchange(Protocol):
    """The interface of a gradient exchange.

    Gradients come part by part, in the same order in all processes, while backward goes on.
    """

    def start(self, part: Tensor) -> Finish:
        """Begin to sum a part of the gradients in place; return a function that waits for it."""

    def take_apart(self, gradients: list[Tensor]) -> None:
        """Divide gradients that hold a sum over all processes so that they add up to it again.

        Otherwise the next sum over all processes would count the earlier one once for each process.
        """


class AllReduce:
    """Give each process the whole sum.

    Args:
        group: the processes.
    """

    def __init__(self, group: dist.ProcessGroup) -> None:
        self.group = group

    def start(self, part: Tensor) -> Finish:
        work = dist.all_reduce(part, group=self.group, async_op=True)
        assert work is not None
        return work.wait

    def take_apart(self, gradients: list[Tensor]) -> None:
        foreach_div_(gradients, dist.get_world_size(self.group))
