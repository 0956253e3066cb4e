"""Joining tensors along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from compat.checks import check_tensor
from compat.nn.checks.indexing import lacks_dimension


def joined(parts: Sequence[Tensor], dim: int, name: str) -> Tensor:
    """Return ``torch.cat(parts, dim)``, with errors that call part 1 ``name.format(1)``."""
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
        check_tensor(part, name.format(i))
        if not -part.dim() <= dim < part.dim():
            raise lacks_dimension(part, dim + 1 if dim >= 0 else dim, name.format(i))
        sizes = [[*tensor.shape] for tensor in (first, part)]
        if len(sizes[0]) == len(sizes[1]):
            sizes[0][dim] = sizes[1][dim]
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"{name.format(i)} has size {tuple(part.shape)}, {name.format(1)} has "
                f"{tuple(first.shape)}; sizes that differ only in the dimension to join along are "
                "accepted"
            )
