"""What the verbs accept, said in one sentence when it is not given."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def one_of(**arguments: object) -> None:
    """Refuse that none or several of ``arguments`` are given."""
    given = [name for name, value in arguments.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"exactly one of {' and '.join(arguments)} must be given, not {given}")


def check_tensor(value: object, argument: str) -> None:
    """Refuse what is no tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(f"{argument} must be a tensor, not {type(value).__name__}")


def device_of(value: Tensor, argument: str) -> torch.device:
    """The device of a tensor; what is none is refused."""
    check_tensor(value, argument)
    return value.device


def common_device(tensors: Sequence[Tensor], argument: str) -> torch.device:
    """The device of all ``tensors``; several are refused."""
    homes = {device_of(tensor, argument) for tensor in tensors}
    if len(homes) > 1:
        raise ValueError(f"{argument} must be on one device, not on {sorted(map(str, homes))}")
    return homes.pop() if homes else torch.device("cpu")


def check_same(tensor: Tensor, like: Tensor, argument: str, *, dtype: bool = True) -> None:
    """Refuse a tensor of another shape, layout or, unless told not to, dtype than ``like``."""

    def facts(t: Tensor) -> tuple[object, ...]:
        return (tuple(t.shape), t.layout, t.dtype if dtype else None)

    check_tensor(tensor, argument)
    if facts(tensor) != facts(like):
        raise ValueError(
            f"{argument} is {tuple(tensor.shape)} {tensor.dtype} {tensor.layout}, but must be "
            f"{tuple(like.shape)} {like.dtype} {like.layout}"
        )


def check_replicas(tensors: Sequence[Tensor]) -> None:
    """Refuse tensors that differ in shape or dtype, and none."""
    if not tensors:
        raise ValueError("tensors must hold at least one tensor")
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        check_tensor(tensor, f"tensors[{i}]")
        if tensor.shape != first.shape or tensor.dtype != first.dtype:
            check_same(tensor, first, f"tensors[{i}]")


def checked_dim(tensor: Tensor, dim: int) -> int:
    """``dim`` counted from the front; ValueError if the tensor does not have it."""
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(f"dim {dim} does not exist in a tensor of {tensor.dim()} dimensions")
    return dim % tensor.dim()
