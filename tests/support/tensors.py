"""Tensors that tests begin with, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from compat import cutorch
from compat.tensor_tables import map_tensors
from dptable import DataParallelTable


def randn(*size: int) -> Tensor:
    """Normal random numbers in double."""
    return torch.randn(*size, dtype=torch.float64)


def on(gpu: int, value: Any) -> Any:
    """The tensors of a table on a logical device."""
    device = cutorch.device(gpu)
    return map_tensors(lambda tensor: tensor.to(device), value)


def here(value: Any) -> Any:
    """A module or criterion moved to the first logical device; a table's tensors copied there."""
    if hasattr(value, "move"):
        value.move(cutorch.device(1))
        return value
    return map_tensors(lambda tensor: tensor.to(cutorch.device(1), copy=True), value)


def one_each(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Each tensor on the logical device of its position."""
    return [on(i, tensor) for i, tensor in enumerate(tensors, 1)]


def equal(one: Tensor, other: Tensor) -> bool:
    """Whether tensors have one size and the same numbers, wherever they are."""
    return torch.equal(one.cpu(), other.cpu())


def given_to(net: Any, value: Any) -> Any:
    """What a net is given: a container takes it from anywhere, a net around one on its device."""
    around = not isinstance(net, DataParallelTable) and net.findModules("nn.DataParallelTable")[0]
    return on(1, value) if around else value
