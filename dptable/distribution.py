"""Splitting nested tables of tensors over replicas, and joining them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from compat.nn.indexing import zero_based
from compat.nn.nested import tensors
from dptable import comm


def has_data(value: Any) -> bool:
    """Whether any tensor of a nested table has elements."""
    return any(t.numel() for t in tensors(value))


def distribute(
    value: Any, devices: Sequence[torch.device], dimension: int, like: Sequence[Any] | None = None
) -> list[Any]:
    """One part of ``value`` for each device that gets data, at least one.

    Every tensor is split along ``dimension`` (from 1) into slices that differ by at most one
    element, the larger ones first; empty tensors stay empty. With ``like``, the outputs of the
    replicas, the slices have their sizes instead.
    """
    if like is not None:
        return _split(value, devices[: len(like)], dimension, list(like), "gradOutput")
    parts = _split(value, devices, dimension, None, "input")
    used = 0
    while used < len(parts) and has_data(parts[used]):
        used += 1
    return parts[: max(used, 1)]


def _split(
    value: Any,
    devices: Sequence[torch.device],
    dimension: int,
    like: list[Any] | None,
    name: str,
) -> list[Any]:
    if isinstance(value, Tensor):
        return _slices(value, devices, dimension, like, name)
    if isinstance(value, (list, tuple)):
        keys: Any = range(len(value))
        make: Any = list
    elif isinstance(value, dict):
        keys = list(value)
        make = dict
    else:
        raise TypeError(
            f"{name} holds a {type(value).__name__}; a tensor or a table of tensors is accepted"
        )
    columns = {
        key: _split(value[key], devices, dimension, like and [part[key] for part in like], name)
        for key in keys
    }
    if make is list:
        return [[columns[key][i] for key in keys] for i in range(len(devices))]
    return [{key: columns[key][i] for key in keys} for i in range(len(devices))]


def _slices(
    tensor: Tensor,
    devices: Sequence[torch.device],
    dimension: int,
    like: list[Any] | None,
    name: str,
) -> list[Tensor]:
    dim = zero_based(dimension)
    if tensor.numel() == 0:
        return [tensor.to(device) for device in devices]
    if not -tensor.dim() <= dim < tensor.dim():
        raise ValueError(
            f"{name} of size {tuple(tensor.shape)} has no dimension {dimension} to split"
        )
    n = tensor.size(dim)
    if like is None:
        sizes = comm.slice_sizes(n, len(devices))
    else:
        sizes = [part.size(dim) if part.numel() else 0 for part in like]
        if sum(sizes) != n:
            raise ValueError(
                f"{name} has size {n} in dimension {dimension}, output has {sum(sizes)}"
            )
    return [
        part.to(device, non_blocking=True).contiguous()
        for part, device in zip(tensor.split(sizes, dim), devices, strict=True)
    ]


def concat(parts: Sequence[Any], dimension: int, device: torch.device, name: str) -> Any:
    """The replicas' results joined along ``dimension`` on ``device``; empty ones are left out."""
    first = parts[0]
    if isinstance(first, Tensor):
        full = [part for part in parts if part.numel()]
        if not full:
            return first.to(device)
        if len(full) == 1:
            return full[0].to(device, non_blocking=True)
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
