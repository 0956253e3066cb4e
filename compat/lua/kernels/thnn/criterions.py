"""Losses: results of one element; class labels count from 1."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.thnn.checks import check_size, shown

aten = torch.ops.aten
# How PyTorch's losses call what becomes of the losses of the elements.
_NONE, _MEAN, _SUM = 0, 1, 2


def _loss(losses: Tensor, sizeAverage: bool) -> Tensor:
    return (losses.mean() if sizeAverage else losses.sum()).view(1)


def _share(input: Tensor, sizeAverage: bool) -> float:
    """What the slope of each element counts."""
    return 1 / input.numel() if sizeAverage else 1.0


def _reduction(sizeAverage: bool) -> int:
    return _MEAN if sizeAverage else _SUM


def AbsCriterion_updateOutput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    return _loss((input - target).abs_(), sizeAverage)


def AbsCriterion_updateGradInput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    share = _share(input, sizeAverage)
    return torch.where(input >= target, share, -share).to(input.dtype)


# What is added to probabilities in their logarithms.
_EPSILON = 1e-12


def BCECriterion_updateOutput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool
) -> Tensor:
    losses = -((input + _EPSILON).log() * target + (1 - input + _EPSILON).log() * (1 - target))
    if weights is not None:
        losses *= weights.expand_as(losses)
    return _loss(losses, sizeAverage)


def BCECriterion_updateGradInput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool
) -> Tensor:
    slopes = (input - target) / ((1 - input + _EPSILON) * (input + _EPSILON))
    if weights is not None:
        slopes *= weights.expand_as(slopes)
    return slopes.mul_(_share(input, sizeAverage))


# The label that callers from before there was one leave out.
_IGNORED = -100


def _check_classes(input: Tensor, target: Tensor, weights: Tensor | None) -> None:
    if target.dim() > 1:
        raise RuntimeError("multi-target not supported")
    if input.dim() not in (1, 2):
        raise RuntimeError("input tensor should be 1D or 2D")
    if weights is not None and weights.numel() != input.size(-1):
        raise RuntimeError(
            f"weight tensor should be defined either for all {input.size(-1)} classes or no "
            f"classes but got weight tensor of shape: {shown(weights)}"
        )
    if input.dim() == 2:
        check_size(target, "target", 1, 0, input.size(0))


def _nll(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, ignored: int
) -> tuple[Tensor, Tensor]:
    forward = aten.nll_loss2d_forward if input.dim() == 4 else aten.nll_loss_forward
    loss, total = forward(input, target - 1, weights, _SUM, ignored)
    if sizeAverage:
        loss = torch.where(total == 0, loss, loss / total)
    return loss.view(1), total.view(1)


def _nll_slopes(
    input: Tensor,
    target: Tensor,
    gradInput: Tensor,
    weights: Tensor | None,
    total: Tensor,
    sizeAverage: bool,
    ignored: int,
) -> None:
    if not bool(total > 0):
        return
    backward = aten.nll_loss2d_backward if input.dim() == 4 else aten.nll_loss_backward
    gradInput.copy_(
        backward(
            input.new_ones(()),
            input.contiguous(),
            target - 1,
            weights,
            _reduction(sizeAverage),
            ignored,
            total.view(()),
        )
    )


def ClassNLLCriterion_updateOutput(
    input: Tensor,
    target: Tensor,
    weights: Tensor | None,
    sizeAverage: bool,
    ignore_index: int = _IGNORED,
) -> tuple[Tensor, Tensor]:
    _check_classes(input, target, weights)
    return _nll(input, _label(input, target), weights, sizeAverage, ignore_index - 1)


def ClassNLLCriterion_updateGradInput(
    input: Tensor,
    target: Tensor,
    gradInput: Tensor,
    weights: Tensor | None,
    total_weight: Tensor,
    sizeAverage: bool,
    ignore_index: int = _IGNORED,
) -> None:
    _check_classes(input, target, weights)
    target = _label(input, target)
    _nll_slopes(input, target, gradInput, weights, total_weight, sizeAverage, ignore_index - 1)


def _label(input: Tensor, target: Tensor) -> Tensor:
    """The target as PyTorch wants it: one sample's has no dimension."""
    return target.flatten()[0] if input.dim() == 1 else target


def _check_planes(input: Tensor, target: Tensor, weights: Tensor | None) -> None:
    if target.dim() != 3:
        raise ArgumentError(
            3,
            "only batches of spatial targets supported (3D tensors) but got targets of "
            f"dimension: {target.dim()}",
        )
    if input.dim() != 4:
        raise ArgumentError(
            2,
            "only batches of spatial inputs supported (4D tensors), but got input of "
            f"dimension: {input.dim()}",
        )
    if weights is not None and weights.numel() != input.size(1):
        raise RuntimeError("weight tensor should be defined either for all or no classes")
    if target.shape != (input.size(0), *input.shape[2:]):
        sizes = "x".join(map(str, input.shape)), "x".join(map(str, target.shape))
        raise RuntimeError("size mismatch (got input: {}, target: {})".format(*sizes))


def SpatialClassNLLCriterion_updateOutput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool
) -> tuple[Tensor, Tensor]:
    _check_planes(input, target, weights)
    return _nll(input, target, weights, sizeAverage, _IGNORED - 1)


def SpatialClassNLLCriterion_updateGradInput(
    input: Tensor,
    target: Tensor,
    gradInput: Tensor,
    weights: Tensor | None,
    total_weight: Tensor,
    sizeAverage: bool,
) -> None:
    _check_planes(input, target, weights)
    _nll_slopes(input, target, gradInput, weights, total_weight, sizeAverage, _IGNORED - 1)


def DistKLDivCriterion_updateOutput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    losses = torch.where(target > 0, target * (target.log() - input), 0)
    return _loss(losses, sizeAverage)


def DistKLDivCriterion_updateGradInput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    return target.clamp(min=0).mul_(-_share(input, sizeAverage))


def L1Cost_updateOutput(input: Tensor) -> Tensor:
    return input.abs().sum().view(1)


def L1Cost_updateGradInput(input: Tensor, gradInput: Tensor) -> None:
    torch.sign(input, out=gradInput)


def MarginCriterion_updateOutput(
    input: Tensor, target: Tensor, sizeAverage: bool, margin: float
) -> Tensor:
    return _loss((margin - input * target).clamp_(min=0), sizeAverage)


def MarginCriterion_updateGradInput(
    input: Tensor, target: Tensor, sizeAverage: bool, margin: float
) -> Tensor:
    slopes = torch.where(input * target < margin, target, 0)
    return slopes.mul_(-_share(input, sizeAverage))


def MSECriterion_updateOutput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    return aten.mse_loss(input, target, _reduction(sizeAverage)).view(1)


def MSECriterion_updateGradInput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    one = input.new_ones(())
    return aten.mse_loss_backward(one, input, target, _reduction(sizeAverage))


def _check_labels(input: Tensor, target: Tensor) -> None:
    if input.dim() not in (1, 2):
        raise ArgumentError(2, "vector or matrix expected")
    if target.shape != input.shape:
        raise ArgumentError(3, "inconsistent target size")
    if not bool(((target >= 0) & (target <= input.size(-1))).all()):
        raise ArgumentError(3, "target out of range")


def MultiLabelMarginCriterion_updateOutput(
    input: Tensor, target: Tensor, sizeAverage: bool
) -> tuple[Tensor, Tensor]:
    _check_labels(input, target)
    reduction = _reduction(sizeAverage)
    loss, is_target = aten.multilabel_margin_loss_forward(input, target - 1, reduction)
    return loss.view(1), is_target


def MultiLabelMarginCriterion_updateGradInput(
    input: Tensor, target: Tensor, isTarget: Tensor, sizeAverage: bool
) -> Tensor:
    _check_labels(input, target)
    return aten.multilabel_margin_loss_backward(
        input.new_ones(()), input, target - 1, _reduction(sizeAverage), isTarget
    )


def _check_label(input: Tensor, target: Tensor) -> None:
    if input.dim() not in (1, 2):
        raise ArgumentError(2, "vector or matrix expected")
    if target.shape != (1 if input.dim() == 1 else input.size(0),):
        raise ArgumentError(3, "inconsistent target size")
    if not bool(((target >= 1) & (target <= input.size(-1))).all()):
        raise ArgumentError(3, "target out of range")


def MultiMarginCriterion_updateOutput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, p: int, margin: float
) -> Tensor:
    _check_label(input, target)
    return aten.multi_margin_loss(
        input, target - 1, p, margin, weights, _reduction(sizeAverage)
    ).view(1)


def MultiMarginCriterion_updateGradInput(
    input: Tensor, target: Tensor, weights: Tensor | None, sizeAverage: bool, p: int, margin: float
) -> Tensor:
    _check_label(input, target)
    return aten.multi_margin_loss_backward(
        input.new_ones(()), input, target - 1, p, margin, weights, _reduction(sizeAverage)
    )


def SmoothL1Criterion_updateOutput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    return aten.smooth_l1_loss(input, target, _reduction(sizeAverage)).view(1)


def SmoothL1Criterion_updateGradInput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    one = input.new_ones(())
    return aten.smooth_l1_loss_backward(one, input, target, _reduction(sizeAverage), 1.0)


def SoftMarginCriterion_updateOutput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    return aten.soft_margin_loss(input, target, _reduction(sizeAverage)).view(1)


def SoftMarginCriterion_updateGradInput(input: Tensor, target: Tensor, sizeAverage: bool) -> Tensor:
    one = input.new_ones(())
    return aten.soft_margin_loss_backward(one, input, target, _reduction(sizeAverage))
