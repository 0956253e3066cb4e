"""Checks of arguments for the collective operations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from compat.checks import check_some, check_tensor, listed


def one_of(**arguments: object) -> None:
    """Raise ValueError unless exactly one of ``arguments`` is given."""
    missing = [value is None for value in arguments.values()]
    if missing.count(False) != 1:
        raise ValueError(
            f"{listed(arguments, 'and')} are {'None' if all(missing) else 'given'}; exactly one "
            "of them is accepted"
        )


def device_of(value: Tensor, argument: str) -> torch.device:
    """Return the device of a tensor; raise TypeError for anything else."""
    check_tensor(value, argument)
    return value.device


def common_device(tensors: Sequence[Tensor], argument: str) -> torch.device:
    """Return the device of all ``tensors``; raise ValueError if there are several."""
    homes = {device_of(tensor, argument) for tensor in tensors}
    if len(homes) > 1:
        raise ValueError(
            f"{argument} is on {listed(sorted(map(str, homes)), 'and')}; one device is accepted"
        )
    return homes.pop() if homes else torch.device("cpu")


def check_same(tensor: Tensor, like: Tensor, argument: str, *, dtype: bool = True) -> None:
    """Raise ValueError unless shape, layout and dtype are those of ``like``."""

    def facts(t: Tensor) -> tuple[object, ...]:
        return (tuple(t.shape), t.layout, t.dtype if dtype else None)

    check_tensor(tensor, argument)
    if facts(tensor) != facts(like):
        raise ValueError(
            f"{argument} is {tuple(tensor.shape)} {tensor.dtype} {tensor.layout}; "
            f"{tuple(like.shape)} {like.dtype} {like.layout} is accepted"
        )


def check_replicas(tensors: Sequence[Tensor]) -> None:
    """Raise ValueError if the tensors differ in shape or dtype, or if there are none."""
    check_some(tensors, "tensors", "tensor")
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        check_tensor(tensor, f"tensors[{i}]")
        if tensor.shape != first.shape or tensor.dtype != first.dtype:
            check_same(tensor, first, f"tensors[{i}]")


def dim_from_front(tensor: Tensor, dim: int) -> int:
    """Return ``dim`` counted from the front; raise ValueError if the tensor does not have it."""
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(
            f"tensor has {tensor.dim()} dimensions; one that has dimension {dim} is accepted"
        )
    return dim % tensor.dim()
