"""Derivatives of the log probability of what was drawn, and what a reward makes of them."""

from __future__ import annotations

import torch
from torch import Tensor


def reinforced(slope: Tensor, reward: Tensor, parameter: Tensor) -> Tensor:
    """Return the gradient of a parameter, which may be one for all samples."""
    return slope.mul(reward).neg_().sum_to_size(parameter.shape).contiguous()


def bernoulli_slope(output: Tensor, p: Tensor) -> Tensor:
    return (output - p) / ((1 - p) * p)


def categorical_slope(output: Tensor, p: Tensor) -> Tensor:
    return output / (p + 1e-8)


def normal_slopes(output: Tensor, mean: Tensor, stdev: Tensor | float) -> list[Tensor]:
    """Return those of the mean, and of a standard deviation that is a tensor."""
    difference = output - mean
    if not isinstance(stdev, Tensor):
        return [difference / stdev**2]
    variance = stdev * stdev
    of_stdev = (difference**2 - variance) / (variance * stdev + 1e-8)
    return [difference / stdev / stdev, of_stdev]


def gamma_slopes(output: Tensor, shape: Tensor, scale: Tensor | float) -> list[Tensor]:
    """Return those of the shape and of the scale."""
    scale = torch.as_tensor(scale, dtype=shape.dtype, device=shape.device)
    of_shape = output.log() - scale.log() - shape.digamma()
    return [of_shape, output / scale**2 - shape / scale]
