"""How recurrent modules call what is in them, and what they do with tables of results."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import given
from compat.nn.checks.error_place import locate
from compat.nn.core.module import Module
from compat.tensor_tables import map_tensors


def call(owner: Module, position: int, module: Module, method: str, *arguments: Any) -> Any:
    """Call a method of ``module``, child ``position`` of ``owner`` or a clone of it, from 0.

    An error tells which one it was.
    """
    try:
        return getattr(module, method)(*arguments)
    except Exception as error:
        locate(error, module)
        locate(error, owner, position + 1)
        raise


def copied(value: Any) -> Any:
    """Tensors with memory of their own."""
    return map_tensors(torch.clone, value)


def added(value: Any, other: Any) -> Any:
    """The sum, in memory of its own; the sizes must be the same."""
    if isinstance(value, Tensor):
        if not isinstance(other, Tensor) or other.shape != value.shape:
            size = tuple(other.shape) if isinstance(other, Tensor) else given(other)
            raise ValueError(f"gradOutput has size {size}; {tuple(value.shape)} is accepted")
        return value + other
    if not isinstance(other, (list, tuple)) or len(other) != len(value):
        found = given(other, counted=True)
        raise ValueError(f"gradOutput is {found}; a table of {len(value)} is accepted")
    return [added(a, b) for a, b in zip(value, other, strict=True)]
