"""Joining tensors along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def joined(parts: Sequence[Tensor], dim: int, name: str) -> Tensor:
    """``torch.cat(parts, dim)``, with errors that call part 1 ``name.format(1)``."""
    try:
        return torch.cat(list(parts), dim)
    except (IndexError, RuntimeError, TypeError, ValueError):
        _check(parts, dim, name)
        raise


def _check(parts: Sequence[Tensor], dim: int, name: str) -> None:
    if not parts:
        raise ValueError("there is nothing to join; at least one tensor is accepted")
    first = parts[0]
    for i, part in enumerate(parts, 1):
        if not isinstance(part, Tensor):
            raise TypeError(f"{name.format(i)} is a {type(part).__name__}; a tensor is accepted")
        if not -part.dim() <= dim < part.dim():
            number = dim + 1 if dim >= 0 else dim
            raise ValueError(
                f"{name.format(i)} has {part.dim()} dimensions; dimension {number} is wanted"
            )
        sizes = [[*tensor.shape] for tensor in (first, part)]
        if len(sizes[0]) == len(sizes[1]):
            sizes[0][dim] = sizes[1][dim]
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"{name.format(i)} has size {tuple(part.shape)}, {name.format(1)} has "
                f"{tuple(first.shape)}; they may differ only in the dimension along which they "
                "are joined"
            )
