"""The same elements in another shape or order, and repeated."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor


def in_shape(tensor: Tensor, size: Sequence[int]) -> Tensor:
    """Return ``tensor`` in another shape: a view where there can be one."""
    return tensor.reshape(size)


def contiguous(tensor: Tensor) -> Tensor:
    """Return the same memory, if the elements lie side by side there, or a copy."""
    return tensor.view(tensor.shape) if tensor.is_contiguous() else tensor.contiguous()


def transpose(input: Tensor, pairs: Sequence[tuple[int, int]]) -> Tensor:
    """Return a copy with pairs of dimensions swapped, one pair after the other."""
    for one, other in pairs:
        input = input.transpose(one, other)
    return input.clone(memory_format=torch.contiguous_format)


def replicate(input: Tensor, count: int, dim: int) -> Tensor:
    """Return a view in which ``input`` stands ``count`` times along a new dimension."""
    return input.unsqueeze(dim).expand(*input.shape[:dim], count, *input.shape[dim:])


def replicate_backward(input: Tensor, gradOutput: Tensor, dim: int) -> Tensor:
    return gradOutput.sum(dim).view(input.shape)
