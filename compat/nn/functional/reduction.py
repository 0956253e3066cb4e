"""One dimension as a number: sums, means, and what the largest or smallest elements get back."""

from __future__ import annotations

import torch
from torch import Tensor


def extreme_backward(input: Tensor, gradOutput: Tensor, indices: Tensor, dim: int) -> Tensor:
    """Return the gradients of ``max`` and ``min``, where their indices are."""
    size = (*input.shape[:dim], 1, *input.shape[dim + 1 :])
    zeros = input.new_zeros(input.shape)
    return zeros.scatter_(dim, indices.view(size), gradOutput.to(input.dtype).reshape(size))


def sum_over(input: Tensor, dim: int, keepdim: bool, average: bool) -> Tensor:
    """Return the sum over a dimension, or the mean."""
    return input.mean(dim, keepdim) if average else input.sum(dim, keepdim)


def sum_over_backward(input: Tensor, gradOutput: Tensor, dim: int, average: bool) -> Tensor:
    size = (*input.shape[:dim], 1, *input.shape[dim + 1 :])
    gradient = gradOutput.reshape(size)
    if average:
        gradient = gradient / input.size(dim)
    return gradient.expand(input.shape).clone(memory_format=torch.contiguous_format)
