"""Splitting nested tables of tensors over replicas, and joining them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.checks.indexing import zero_based
from compat.tensor_tables import pairs, tensors
from dptable import comm
from dptable.tensors.copies import on, sent

# How many of n elements each replica gets.
Sizes = Callable[[int], list[int]]


def has_data(value: Any) -> bool:
    """Whether any tensor of a nested table has elements."""
    return any(t.numel() for t in tensors(value))


def distribute(
    value: Any, devices: Sequence[torch.device], dimension: int, sizes: Sizes
) -> list[Any]:
    """One part of the input ``value`` for each device that gets data, at least one.

    Every tensor is split along ``dimension`` (from 1) as ``sizes`` says; empty tensors stay empty.
    """

    def rule(n: int, likes: list[Any]) -> list[int]:
        return sizes(n)

    parts = _split(value, devices, dimension, rule, [None] * len(devices), "input")
    used = 0
    while used < len(parts) and has_data(parts[used]):
        used += 1
    return parts[: max(used, 1)]


def distribute_like(
    value: Any, devices: Sequence[torch.device], dimension: int, outputs: Sequence[Any]
) -> list[Any]:
    """One part of the gradient ``value`` for each replica, split as the ``outputs`` are."""

    def rule(n: int, likes: list[Any]) -> list[int]:
        dim = zero_based(dimension)
        sizes = [part.size(dim) if part.numel() else 0 for part in likes]
        if sum(sizes) != n:
            raise ValueError(
                f"gradOutput has size {n} in dimension {dimension}, output has {sum(sizes)}"
            )
        return sizes

    for _ in pairs(outputs[0], value, ("output", "gradOutput")):
        pass  # refuses a table of another form
    used = devices[: len(outputs)]
    return _split(value, used, dimension, rule, list(outputs), "gradOutput")


def _split(
    value: Any,
    devices: Sequence[torch.device],
    dimension: int,
    rule: Callable[[int, list[Any]], list[int]],
    likes: list[Any],
    name: str,
) -> list[Any]:
    """``likes`` holds what each part is measured by, if anything."""
    if value is None and likes[0] is not None:
        return [None] * len(devices)  # a gradient that is not there
    if isinstance(value, Tensor):
        return _slices(value, devices, dimension, rule, likes, name)
    if isinstance(value, (list, tuple)):
        keys: Any = range(len(value))
    elif isinstance(value, dict):
        keys = list(value)
    else:
        given = "None" if value is None else f"a {type(value).__name__}"
        raise TypeError(f"{name} is {given}; a tensor or a table of tensors is accepted")
    columns = {
        key: _split(
            value[key],
            devices,
            dimension,
            rule,
            [like if like is None else like[key] for like in likes],
            f"{name}[{key!r}]" if isinstance(value, dict) else f"{name}[{key + 1}]",
        )
        for key in keys
    }
    parts = [{key: columns[key][i] for key in keys} for i in range(len(devices))]
    return parts if isinstance(value, dict) else [list(part.values()) for part in parts]


def _slices(
    tensor: Tensor,
    devices: Sequence[torch.device],
    dimension: int,
    rule: Callable[[int, list[Any]], list[int]],
    likes: list[Any],
    name: str,
) -> list[Tensor]:
    if tensor.numel() == 0:
        return [tensor.to(device) for device in devices]
    dim = zero_based(dimension)
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(
            f"{name} of size {tuple(tensor.shape)} has no dimension {dimension} to split"
        )
    # .data, because views count their changes together: a layer that works in place in one replica
    # would seem to change what the others have computed.
    return [
        sent(part.data, device).contiguous()
        for part, device in zip(
            tensor.split(rule(tensor.size(dim), likes), dim), devices, strict=True
        )
    ]


def concat(parts: Sequence[Any], dimension: int, device: torch.device, name: str) -> Any:
    """The replicas' results joined along ``dimension`` on ``device``; empty ones are left out."""
    first = parts[0]
    if first is None:
        return None
    if isinstance(first, Tensor):
        full = [part for part in parts if part.numel()]
        if not full:
            return first.to(device)
        if len(full) == 1:
            return on(full[0], device)
        dim = zero_based(dimension)
        if not -full[0].dim() <= dim < max(full[0].dim(), 1):
            raise ValueError(
                f"{name} of size {tuple(full[0].shape)} has no dimension {dimension} to join"
            )
        return comm.gather(full, dim, device)
    if isinstance(first, (list, tuple)):
        return [
            concat([part[i] for part in parts], dimension, device, name) for i in range(len(first))
        ]
    if isinstance(first, dict):
        return {
            key: concat([part[key] for part in parts], dimension, device, name) for key in first
        }
    raise TypeError(
        f"{name} of a replica holds a {type(first).__name__}; "
        "a tensor or a table of tensors can be joined"
    )
