"""Losses of distances and of pairs of tensors, and their gradients.

``target``, of the input's type, is 1 for what is alike and -1 for what is not.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def hinge_embedding_loss(input: Tensor, target: Tensor, margin: float, mean: bool) -> Tensor:
    """Return the distances of what is alike, and what others lack to ``margin``, where NaN lacks
    none.
    """
    lacking = margin - input
    losses = torch.where(target == -1, 0, input)
    losses += torch.where((target == 1) | ~(lacking > 0), 0, lacking)
    return losses.mean() if mean else losses.sum()


def hinge_embedding_loss_backward(
    input: Tensor, target: Tensor, margin: float, mean: bool
) -> Tensor:
    """Return the gradient of ``hinge_embedding_loss``, -1 at the margin."""
    slopes = target.masked_fill((target == -1) & (input > margin), 0)
    return slopes.div_(max(input.numel(), 1)) if mean else slopes


def cosine_terms(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return terms of vectors in the last dimension, each with size 1 there: the products of
    pairs, the inverse squared norms, to which 1e-12 is added, and the inverse products of norms.
    """
    product = (first * second).sum(-1, keepdim=True)
    inverse = (first * first).sum(-1, keepdim=True).add_(1e-12).reciprocal_()
    other_inverse = (second * second).sum(-1, keepdim=True).add_(1e-12).reciprocal_()
    return product, inverse, other_inverse, (inverse * other_inverse).sqrt_()


def cosine_embedding_losses(
    product: Tensor, scale: Tensor, target: Tensor, margin: float
) -> Tensor:
    """1 less the cosine of what is alike, and what it exceeds ``margin`` by of what is not."""
    cosine = product * scale
    above = cosine - margin
    losses = torch.where(target == -1, torch.where(above > 0, above, 0), cosine)
    return torch.where(target == 1, 1 - cosine, losses)


def cosine_embedding_loss(
    first: Tensor, second: Tensor, target: Tensor, margin: float, share: float
) -> Tensor:
    """``share`` times the sum over pairs of vectors; ``target`` has size 1 where they are."""
    product, _, _, scale = cosine_terms(first, second)
    return cosine_embedding_losses(product, scale, target, margin).sum().mul_(share)


def cosine_embedding_loss_backward(
    first: Tensor, second: Tensor, target: Tensor, margin: float, share: float
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``cosine_embedding_loss``, 0 where there is no loss."""
    product, inverse, other_inverse, scale = cosine_terms(first, second)
    none = cosine_embedding_losses(product, scale, target, margin) <= 0
    slope = torch.where(target == 1, -share, share).to(first.dtype)
    # In Torch7's order, which shows where the terms all but cancel.
    slopes = torch.addcmul(second, product * inverse, first, value=-1)
    others = torch.addcmul(first, product * other_inverse, second, value=-1)
    return (
        slopes.mul_(scale).masked_fill_(none, 0).mul_(slope),
        others.mul_(scale).masked_fill_(none, 0).mul_(slope),
    )


def distance_ratio_loss(first: Tensor, second: Tensor, share: float) -> Tensor:
    """Return ``share`` times the sum of ``-log(exp(-x) / (exp(-x) + exp(-y)))``."""
    return F.softplus(first - second).sum().mul_(share)


def distance_ratio_loss_backward(
    first: Tensor, second: Tensor, share: float
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``distance_ratio_loss``."""
    slopes = (first - second).sigmoid_().mul_(share)
    return slopes, -slopes


def margin_ranking_losses(
    first: Tensor, second: Tensor, target: Tensor, margin: float, nan: bool
) -> tuple[Tensor, Tensor]:
    """``margin - target * (x - y)``, and where none counts: below 0, and, without ``nan``, NaN."""
    losses = margin - target * (first - second)
    return losses, losses < 0 if nan else ~(losses >= 0)


def margin_ranking_loss(
    first: Tensor, second: Tensor, target: Tensor, margin: float, share: float, nan: bool
) -> Tensor:
    """Return ``share`` times the sum of what counts of ``margin_ranking_losses``."""
    losses, none = margin_ranking_losses(first, second, target, margin, nan)
    return losses.masked_fill_(none, 0).sum().mul_(share)


def margin_ranking_loss_backward(
    first: Tensor, second: Tensor, target: Tensor, margin: float, share: float, nan: bool
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``margin_ranking_loss``."""
    _, none = margin_ranking_losses(first, second, target, margin, nan)
    slopes = (target * share).masked_fill_(none, 0)
    return -slopes, slopes


def l1_hinge_embedding_loss(first: Tensor, second: Tensor, target: Tensor, margin: float) -> Tensor:
    """Return the L1 distance, or, where the one number ``target`` is -1, what it lacks to
    ``margin``.
    """
    distance = (first - second).abs_().sum()
    lacking = torch.where(distance > margin, 0, margin - distance)
    return torch.where(target == -1, lacking, distance)


def l1_hinge_embedding_loss_backward(
    signs: Tensor, first: Tensor, second: Tensor, target: Tensor, margin: float
) -> tuple[Tensor, Tensor]:
    """Return the gradients of ``l1_hinge_embedding_loss``; ``signs`` are those of the
    difference.
    """
    unlike = target == -1
    slope = 1 - 2 * unlike.to(signs.dtype)
    slope.masked_fill_(unlike & ((first - second).abs_().sum() > margin), 0)
    slopes = signs * slope
    return slopes, -slopes
