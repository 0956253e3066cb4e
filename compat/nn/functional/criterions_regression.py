"""Losses of a value for each number of the input, and their gradients.

``target`` has the shape of ``input``. With ``mean`` a loss is divided by the number of elements.
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def abs_loss(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the sum of the absolute differences."""
    losses = (input - target).abs_()
    return losses.mean() if mean else losses.sum()


def abs_loss_backward(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the slope is 1 at 0, and -1 where there is a NaN."""
    slope = 1 / max(input.numel(), 1) if mean else 1
    # One or zero, made to one or minus one: several times as fast as torch.where.
    return (input - target).ge_(0).mul_(2 * slope).sub_(slope)


def mse_loss(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the sum of the squared differences."""
    return aten.mse_loss.default(input, target, 1 if mean else 2)


def mse_loss_backward(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the gradient of ``mse_loss``."""
    return aten.mse_loss_backward.default(input.new_ones(()), input, target, 1 if mean else 2)


def smooth_l1_loss(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return half the squared differences below 1, and the absolute ones, less a half, above."""
    return aten.smooth_l1_loss.default(input, target, 1 if mean else 2, 1.0)


def smooth_l1_loss_backward(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the gradient of ``smooth_l1_loss``."""
    one = input.new_ones(())
    return aten.smooth_l1_loss_backward.default(one, input, target, 1 if mean else 2, 1.0)


def kl_div_loss(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the Kullback-Leibler divergence; targets that are not above 0 do not count."""
    losses = torch.where(target > 0, target * (target.log() - input), 0)
    return losses.mean() if mean else losses.sum()


def kl_div_loss_backward(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the gradient of ``kl_div_loss``."""
    slope = 1 / max(input.numel(), 1) if mean else 1
    return torch.where(target > 0, target * -slope, 0)


def l1_cost(input: Tensor) -> Tensor:
    """Return the sum of the absolute values."""
    return input.abs().sum()


def l1_cost_backward(input: Tensor) -> Tensor:
    """Return the gradient of ``l1_cost``, 0 at 0 and for NaN."""
    return input.sign()
