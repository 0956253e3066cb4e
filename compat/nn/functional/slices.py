"""Parts of a tensor along one dimension, chosen elements, and constants between them."""

from __future__ import annotations

import torch
from torch import Tensor


def narrow(input: Tensor, dim: int, first: int, length: int) -> Tensor:
    if input.is_contiguous():  # else the kernel copies all of it first
        return torch.narrow_copy(input, dim, first, length)
    return input.narrow(dim, first, length).clone(memory_format=torch.contiguous_format)


def narrow_backward(input: Tensor, gradOutput: Tensor, dim: int, first: int, length: int) -> Tensor:
    gradInput = torch.zeros_like(input, memory_format=torch.contiguous_format)
    _put(gradInput.narrow(dim, first, length), gradOutput)
    return gradInput


def _put(part: Tensor, gradOutput: Tensor) -> None:
    part.copy_(gradOutput if gradOutput.shape == part.shape else gradOutput.reshape(part.shape))


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """Return a copy of one slice; of a vector a vector of one."""
    part = input.narrow(dim, index, 1) if input.dim() == 1 else input.select(dim, index)
    return part.clone(memory_format=torch.contiguous_format)


def select_backward(input: Tensor, gradOutput: Tensor, dim: int, index: int) -> Tensor:
    gradInput = torch.zeros_like(input, memory_format=torch.contiguous_format)
    _put(gradInput.select(dim, index), gradOutput)
    return gradInput


def index_slices(input: Tensor, dim: int, indices: Tensor) -> Tensor:
    """Return the slices at ``indices``, which count from 1."""
    return input.index_select(dim, indices.long() - 1)


def index_slices_backward(input: Tensor, gradOutput: Tensor, dim: int, indices: Tensor) -> Tensor:
    return input.new_zeros(input.shape).index_add_(
        dim, indices.long() - 1, gradOutput.to(input.dtype)
    )


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    return input.masked_select(mask.bool())


def masked_select_backward(input: Tensor, gradOutput: Tensor, mask: Tensor) -> Tensor:
    return input.new_zeros(input.shape).masked_scatter_(mask.bool(), gradOutput.to(input.dtype))


def one_hot(input: Tensor, size: int, dtype: torch.dtype) -> Tensor:
    """Return a vector with a 1 for each number of ``input``, which count from 1."""
    zeros = torch.zeros((*input.shape, size), dtype=dtype, device=input.device)
    return zeros.scatter_(-1, input.long().unsqueeze(-1) - 1, 1)


def padding(input: Tensor, dim: int, before: int, count: int, value: float) -> Tensor:
    """``input`` with ``count`` constants after the first ``before`` entries of a dimension."""
    block = input.new_full((*input.shape[:dim], count, *input.shape[dim + 1 :]), value)
    left, right = input.split([before, input.size(dim) - before], dim)
    return torch.cat([left, block, right], dim)


def padding_backward(
    input: Tensor, gradOutput: Tensor, dim: int, before: int, count: int
) -> Tensor:
    left, _, right = gradOutput.split([before, count, input.size(dim) - before], dim)
    return torch.cat([left, right], dim).view(input.shape)
