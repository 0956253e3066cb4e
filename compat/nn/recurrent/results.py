"""Tables of results: copies and sums."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import given
from compat.tensor_tables import map_tensors


def copied(value: Any) -> Any:
    """Return tensors with memory of their own."""
    return map_tensors(torch.clone, value)


def added(value: Any, other: Any) -> Any:
    """Return the sum, in memory of its own; the sizes must be the same."""
    if isinstance(value, Tensor):
        if not isinstance(other, Tensor) or other.shape != value.shape:
            size = tuple(other.shape) if isinstance(other, Tensor) else given(other)
            raise ValueError(f"gradOutput has size {size}; {tuple(value.shape)} is accepted")
        return value + other
    if not isinstance(other, (list, tuple)) or len(other) != len(value):
        found = given(other, counted=True)
        raise ValueError(f"gradOutput is {found}; a table of {len(value)} is accepted")
    return [added(a, b) for a, b in zip(value, other, strict=True)]
