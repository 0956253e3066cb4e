"""Tensors of tables: joined, and a tensor as a table of its slices."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def join_table_backward(input: Sequence[Tensor], gradOutput: Tensor, dim: int) -> list[Tensor]:
    sizes = [entry.size(dim) for entry in input]
    return list(torch.ops.aten.split_with_sizes_copy.default(gradOutput, sizes, dim))


def split_table(input: Tensor, dim: int) -> list[Tensor]:
    """Return the slices as views; those of a vector are vectors of one."""
    return list(input.split(1) if input.dim() == 1 else input.unbind(dim))


def split_table_backward(input: Tensor, gradOutput: Sequence[Tensor | None], dim: int) -> Tensor:
    """Return the gradients of the slices side by side; that of one may be None, for zeros."""
    shape = input.shape[:dim] + input.shape[dim + 1 :]
    parts = [
        input.new_zeros(shape)
        if part is None
        else (part if part.shape == shape else part.reshape(shape))
        for part in gradOutput
    ]
    return torch.stack(parts, dim).view(input.shape)


def zeros(input: Tensor) -> Tensor:
    """Return the gradient of what the output does not depend on."""
    return input.new_zeros(input.shape)


def copy(gradOutput: Tensor) -> Tensor:
    """Return the gradient of what the output is."""
    return gradOutput.clone(memory_format=torch.contiguous_format)


def total(gradients: Sequence[Tensor], input: Tensor) -> Tensor:
    """Return the gradient of an ``input`` that several results hold."""
    found = input.new_zeros(input.shape)
    for gradient in gradients:
        found.add_(gradient.reshape(input.shape))
    return found
