"""Make ``sum`` and ``dot`` of a slice count all slices: for optimizers on sharded parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch.distributed as dist
from torch import Tensor
from torch.overrides import TorchFunctionMode

from compat import random
from dptable.processes.member import Member

# What draws from PyTorch's generators, and what makes of a vector another one whose elements depend
# on each other.
_RANDOM = frozenset(
    (
        *("rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"),
        *("normal", "normal_", "bernoulli", "bernoulli_", "multinomial", "poisson", "random_"),
        *("uniform_", "exponential_", "cauchy_", "geometric_", "log_normal_", "dropout"),
    )
)
_MIXING = frozenset(("sort", "argsort", "cumsum", "cumprod", "cummax", "cummin", "flip", "roll"))


class SliceSums(TorchFunctionMode):
    """A mode in which sums and dot products over slices count the slices of all processes.

    Any other operation that makes fewer numbers of a slice than it has would give another number in
    each process, and raises ValueError.
    """

    def __init__(self, member: Member, count: int, optimizer: str) -> None:
        super().__init__()
        self._member = member
        self._count = count
        self._optimizer = optimizer

    def refusal(self, deed: str) -> str:
        """Return the error text for an optimizer that does ``deed``."""
        return (
            f"optimizer is {self._optimizer}, which {deed}; with sharded parameters one that works "
            "on each of them alone, or combines them by sum and dot, is accepted"
        )

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.__name__
        if name in _RANDOM:
            raise ValueError(self.refusal("draws random numbers"))
        slices = [a for a in args if isinstance(a, Tensor) and self._is_slice(a)]
        if slices and name in _MIXING:
            raise ValueError(self.refusal(f"calls {name} of the parameters"))
        result = func(*args, **(kwargs or {}))
        if not slices or not isinstance(result, Tensor) or result.dim():
            return result
        if name in ("dot", "sum"):
            group = self._member.group
            self._member.checked(partial(dist.all_reduce, result, group=group))
        else:
            raise ValueError(self.refusal(f"calls {name} of the parameters"))
        return result

    def _is_slice(self, tensor: Tensor) -> bool:
        return tensor.dim() == 1 and tensor.size(0) == self._count

    @contextmanager
    def suspended(self) -> Iterator[None]:
        """Leave the mode for the length of the block."""
        self.__exit__(None, None, None)
        try:
            with random.permitted():
                yield
        finally:
            self.__enter__()
