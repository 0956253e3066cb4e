"""Arithmetic on every element, also with parameters that broadcast, and ``normalize``."""

from __future__ import annotations

import math

import torch
from torch import Tensor

aten = torch.ops.aten


def abs(input: Tensor) -> Tensor:
    """Return ``|input|``."""
    return torch.abs(input)


def abs_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return the slope at 0 is 1."""
    return torch.where(input >= 0, gradOutput, -gradOutput)


def exp(input: Tensor) -> Tensor:
    """Return the exponential function."""
    return torch.exp(input)


def exp_backward(gradOutput: Tensor, output: Tensor) -> Tensor:
    """Return ``gradOutput * output``."""
    return gradOutput * output


def log(input: Tensor) -> Tensor:
    """Return the natural logarithm."""
    return torch.log(input)


def log_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return ``gradOutput / input``."""
    return gradOutput / input


def square(input: Tensor) -> Tensor:
    """Return ``input²``."""
    return torch.square(input)


def square_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return ``2 * gradOutput * input``."""
    return (gradOutput * 2).mul_(input)


def sqrt(input: Tensor, eps: float = 0) -> Tensor:
    """Return the root of ``input + eps``."""
    return (input + eps).sqrt_() if eps else torch.sqrt(input)


def sqrt_backward(gradOutput: Tensor, output: Tensor) -> Tensor:
    """Return ``gradOutput / output / 2``, and 0 where ``output`` is 0."""
    slope = (gradOutput / output).mul_(0.5)
    return aten.hardshrink_backward.default(slope, output, 0)  # 0 where output is exactly 0


def power(input: Tensor, pow: float) -> Tensor:
    """Raise each element to the power of ``pow``."""
    return torch.pow(input, pow)


def power_backward(gradOutput: Tensor, input: Tensor, pow: float) -> Tensor:
    """Return ``gradOutput * pow * input ** (pow - 1)``."""
    return torch.pow(input, pow - 1).mul_(gradOutput).mul_(pow)


def add(input: Tensor, other: Tensor | float, inplace: bool = False) -> Tensor:
    """Return ``input + other``, which broadcasts."""
    return input.add_(other) if inplace else input + other


def mul(input: Tensor, other: Tensor | float, inplace: bool = False) -> Tensor:
    """Return ``input * other``, which broadcasts."""
    return input.mul_(other) if inplace else input * other


def add_acc_(gradOutput: Tensor, gradBias: Tensor, scale: float) -> None:
    """Add ``scale`` times what ``gradOutput`` sums to over the dimensions of ``gradBias``."""
    gradBias.add_(gradOutput.sum_to_size(gradBias.shape), alpha=scale)


def mul_acc_(gradOutput: Tensor, input: Tensor, gradWeight: Tensor, scale: float) -> None:
    """Add ``scale`` times what ``gradOutput * input`` sums to over those of ``gradWeight``."""
    gradWeight.add_((gradOutput * input).sum_to_size(gradWeight.shape), alpha=scale)


def normalize(input: Tensor, p: float, eps: float) -> tuple[Tensor, Tensor]:
    """Return the vectors along the last dimension divided by their p-norms, and the norms.

    ``eps`` is added to the sum of powers, or to the largest value.
    """
    if p == math.inf:
        norm = input.abs().amax(-1, keepdim=True) + eps
    else:
        powers = input.abs().pow_(p) if p % 2 else input.pow(p)
        norm = powers.sum(-1, keepdim=True).add_(eps).pow_(1 / p)
    return input / norm, norm


def normalize_backward(
    gradOutput: Tensor, input: Tensor, norm: Tensor, p: float, eps: float
) -> Tensor:
    """Return the gradient for the norms of forward. For ``p`` below 2, ``eps`` keeps it finite at
    0.
    """
    cross = (input * gradOutput).sum(-1, keepdim=True)
    if p == math.inf:
        largest = input.abs().argmax(-1, keepdim=True)
        slope = torch.zeros_like(input)
        slope.scatter_(-1, largest, input.gather(-1, largest).div_(norm))
        size = norm
    else:
        size = norm.pow(p)
        if p == 2:
            slope = input
        elif p % 2:
            slope = (input.abs().add_(eps) if p < 2 else input.abs()).pow_(p - 2).mul_(input)
        else:
            slope = input.pow(p - 2).mul_(input)
    return (gradOutput * size).sub_(slope * cross).div_(size * norm)
