"""Losses of inputs that belong to classes, and their gradients.

``labels`` count from 0. With ``mean`` a loss is divided by the number of what it is a sum of.
"""

from __future__ import annotations

import torch
from torch import Tensor

aten = torch.ops.aten


def nll_loss(
    input: Tensor, labels: Tensor, weights: Tensor | None, mean: bool, ignored: int
) -> tuple[Tensor, Tensor]:
    """Return minus the weighted numbers of the right classes, and the sum of the weights.

    ``C``, ``N x C`` or ``N x C x H x W``. With ``mean`` one is divided by the other, unless that is
    0. PyTorch's kernels raise IndexError for labels that are no class and not ``ignored``.
    """
    forward = aten.nll_loss2d_forward if input.dim() == 4 else aten.nll_loss_forward
    loss, total = forward.default(input, labels, weights, 1 if mean else 2, ignored)
    if mean and total.item() == 0:
        loss, total = forward.default(input, labels, weights, 2, ignored)
    return loss, total


def nll_loss_backward(
    input: Tensor,
    labels: Tensor,
    weights: Tensor | None,
    total: Tensor,
    mean: bool,
    ignored: int,
) -> Tensor:
    """Return the gradient of ``nll_loss``, which gave ``total``; 0 where that is not above 0.

    Not every version of the kernels checks the labels: these should have passed ``nll_loss``.
    """
    if not total.item() > 0:
        return input.new_zeros(input.shape)
    backward = aten.nll_loss2d_backward if input.dim() == 4 else aten.nll_loss_backward
    one, reduction = input.new_ones(()), 1 if mean else 2
    # The kernel of images cannot write to others.
    return backward.default(one, input.contiguous(), labels, weights, reduction, ignored, total)


def bce_loss(input: Tensor, target: Tensor, weights: Tensor | None, mean: bool) -> Tensor:
    """Return the cross entropy of probabilities; 1e-12 is added inside the logarithms."""
    on, off = (input + 1e-12).log_(), (1 - input).add_(1e-12).log_()
    losses = off.lerp_(on, target)
    if weights is not None:
        losses.mul_(weights)
    return (losses.mean() if mean else losses.sum()).neg_()


def bce_loss_backward(input: Tensor, target: Tensor, weights: Tensor | None, mean: bool) -> Tensor:
    """Return the gradient of ``bce_loss``, 0 where input and target are both 0 or both 1."""
    slopes = (input - target).div_((1 - input).add_(1e-12).mul_(input + 1e-12))
    if weights is not None:
        slopes.mul_(weights)
    return slopes.div_(max(input.numel(), 1)) if mean else slopes


def multi_label_soft_margin_loss(
    input: Tensor, target: Tensor, weights: Tensor | None, mean: bool
) -> Tensor:
    """Return ``bce_loss`` of the sigmoid. An input of infinity gives NaN."""
    above = (input >= 0).to(input.dtype)
    losses = torch.addcmul(input, input, above, value=-2).exp_().log1p_()
    losses.addcmul_(input, target - above, value=-1)
    if weights is not None:
        losses.mul_(weights)
    return losses.mean() if mean else losses.sum()


def multi_label_soft_margin_loss_backward(
    input: Tensor, target: Tensor, weights: Tensor | None, mean: bool
) -> Tensor:
    """Return the gradient of ``multi_label_soft_margin_loss``."""
    slopes = input.sigmoid().sub_(target)
    if weights is not None:
        slopes.mul_(weights)
    return slopes.div_(max(input.numel(), 1)) if mean else slopes


def margin_loss(input: Tensor, target: Tensor, margin: float, mean: bool) -> Tensor:
    """Return ``margin - target * input`` where it is above 0; NaN is not."""
    losses = margin - input * target
    losses = torch.where(losses > 0, losses, 0)
    return losses.mean() if mean else losses.sum()


def margin_loss_backward(input: Tensor, target: Tensor, margin: float, mean: bool) -> Tensor:
    """Return the gradient of ``margin_loss``."""
    slope = 1 / max(input.numel(), 1) if mean else 1
    return torch.where(input * target < margin, target * -slope, 0)


def soft_margin_loss(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return ``log(1 + exp(-target * input))``."""
    return aten.soft_margin_loss.default(input, target, 1 if mean else 2)


def soft_margin_loss_backward(input: Tensor, target: Tensor, mean: bool) -> Tensor:
    """Return the gradient of ``soft_margin_loss``."""
    one = input.new_ones(())
    return aten.soft_margin_loss_backward.default(one, input, target, 1 if mean else 2)


def logistic_loss(input: Tensor, target: Tensor, share: float) -> Tensor:
    """``share`` times the sum of ``log(1 + exp(-target * input))``, which does not overflow."""
    exponents = -input * target
    return torch.logaddexp(torch.zeros_like(exponents), exponents).sum().mul_(share)


def logistic_loss_backward(input: Tensor, target: Tensor, share: float) -> Tensor:
    """Return the gradient of ``logistic_loss``."""
    return (-input * target).sigmoid_().mul_(target).mul_(-share)


def multi_margin_loss(
    input: Tensor, labels: Tensor, p: int, margin: float, weights: Tensor | None, mean: bool
) -> Tensor:
    """Return a hinge, to the power of ``p``, for every wrong class."""
    return aten.multi_margin_loss.default(input, labels, p, margin, weights, 1 if mean else 2)


def multi_margin_loss_backward(
    input: Tensor, labels: Tensor, p: int, margin: float, weights: Tensor | None, mean: bool
) -> Tensor:
    """Return the gradient of ``multi_margin_loss``."""
    one, reduction = input.new_ones(()), 1 if mean else 2
    return aten.multi_margin_loss_backward.default(
        one, input, labels, p, margin, weights, reduction
    )


def multi_label_margin_loss(input: Tensor, labels: Tensor, mean: bool) -> tuple[Tensor, Tensor]:
    """Return a hinge for every pair of a right and a wrong class, and which are right, as ones."""
    return aten.multilabel_margin_loss_forward.default(input, labels, 1 if mean else 2)


def multi_label_margin_loss_backward(
    input: Tensor, labels: Tensor, is_target: Tensor, mean: bool
) -> Tensor:
    """Return the gradient of ``multi_label_margin_loss``, which gave ``is_target``."""
    one, reduction = input.new_ones(()), 1 if mean else 2
    return aten.multilabel_margin_loss_backward.default(one, input, labels, reduction, is_target)
