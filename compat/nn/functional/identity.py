"""The formulas of layers that pass their input on."""

from __future__ import annotations

import torch
from torch import Tensor


def zeros(input: Tensor) -> Tensor:
    """Return zeros of the size of ``input``."""
    return torch.zeros_like(input, memory_format=torch.contiguous_format)


def permute(input: Tensor, dims: list[int]) -> Tensor:
    """Return a copy of ``input`` with its dimensions in another order."""
    return input.permute(dims).clone(memory_format=torch.contiguous_format)


def weighted_norm(input: Tensor, weight: float) -> Tensor:
    """Return ``weight`` times the 1-norm of ``input``."""
    return input.abs().sum() * weight


def weighted_norm_backward(input: Tensor, weight: float) -> Tensor:
    """Return the gradient of ``weighted_norm``."""
    return input.sign().mul_(weight)
