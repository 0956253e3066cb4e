"""Regression criterions: the target is a value for each number of the input."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import check_tensor, flag
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TENSOR
from compat.nn.criterions.base import Criterion


def matching(input: Any, target: Any) -> Tensor:
    """``target`` in the shape of ``input``. Raises for another number of elements or type."""
    check_tensor(input)
    check_tensor(target, "target")
    if input.dtype != target.dtype or input.device != target.device:
        raise TypeError(
            f"target is {target.dtype} on {target.device}, input is {input.dtype} on "
            f"{input.device}; one type on one device is accepted"
        )
    if target.shape == input.shape:
        return target
    if target.numel() != input.numel():
        raise ValueError(
            f"target has size {tuple(target.shape)}, input has size {tuple(input.shape)}; "
            "as many elements are accepted"
        )
    return target.reshape(input.shape)


class Averaged(Criterion, abstract=True):
    """Criterions that take the mean of something where ``sizeAverage`` is set, else the sum."""

    takes = TENSOR

    newer_fields: ClassVar[tuple[str, ...]] = ("sizeAverage",)
    sizeAverage: bool = True

    @nil_is_default
    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = flag(sizeAverage, "sizeAverage")

    @property
    def _reduction(self) -> str:
        return "mean" if self.sizeAverage else "sum"

    def _reduced(self, losses: Tensor) -> Tensor:
        return losses.mean() if self.sizeAverage else losses.sum()


class AbsCriterion(Averaged):
    """The mean absolute difference, with slope 1 at 0 (Torch7: ``nn.AbsCriterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.L1Loss``.
    """

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        return _L1.apply(input, matching(input, target), self._reduction)


class _L1(torch.autograd.Function):
    """The absolute difference, with slope 1 at 0."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, target: Tensor, reduction: str) -> Tensor:
        ctx.save_for_backward(input, target)
        ctx.count = input.numel() if reduction == "mean" else 1
        return F.l1_loss(input, target, reduction=reduction)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor | None, None]:
        input, target = ctx.saved_tensors
        slope = gradient / ctx.count
        # One or zero, made to one or minus one: several times as fast as torch.where.
        slopes = torch.ge(input, target, out=torch.empty_like(input)).mul_(2 * slope).sub_(slope)
        return slopes, -slopes if ctx.needs_input_grad[1] else None, None


class MSECriterion(Averaged):
    """The mean of the squared differences (Torch7: ``nn.MSECriterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.MSELoss``.
    """

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, matching(input, target), reduction=self._reduction)


class WeightedMSECriterion(MSECriterion):
    """The squared differences from the weighted target (Torch7: ``nn.WeightedMSECriterion``).

    Args:
        w: factors of the target, of the size of a sample or of the whole target. They do not apply
            to the input.
    """

    def __init__(self, w: Tensor) -> None:
        super().__init__()
        self.weight = check_tensor(w, "w").clone()

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        if self.weight.shape not in (input.shape, input.shape[1:]):
            raise ValueError(
                f"input has size {tuple(input.shape)}; that of the weights, "
                f"{tuple(self.weight.shape)}, or a batch of it is accepted"
            )
        return super().compute(input, matching(input, target) * self.weight)


class SpatialAutoCropMSECriterion(MSECriterion):
    """``MSECriterion`` of images with the middle of larger ones.

    Torch7: ``nn.SpatialAutoCropMSECriterion``.

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input ``C x H x W`` or ``N x C x H x W``; the target's height and width may be larger.

    Differs from Torch7: backward also works where the target is larger.
    """

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        check_tensor(target, "target")
        if input.dim() not in (3, 4) or input.dim() != target.dim():
            raise ValueError(
                f"input has {input.dim()} dimensions, target has {target.dim()}; 3 or 4, the same "
                "for both, are accepted"
            )
        for dim in (-2, -1):
            excess = target.size(dim) - input.size(dim)
            if excess < 0:
                raise ValueError(
                    f"target has size {tuple(target.shape)}; at least that of input, "
                    f"{tuple(input.shape)}, is accepted"
                )
            target = target.narrow(dim, excess // 2, input.size(dim))
        return super().compute(input, target)


class SmoothL1Criterion(Averaged):
    """Squared differences below 1, absolute ones above (Torch7: ``nn.SmoothL1Criterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.SmoothL1Loss``.
    """

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, matching(input, target), reduction=self._reduction)


class DistKLDivCriterion(Averaged):
    """The Kullback-Leibler divergence (Torch7: ``nn.DistKLDivCriterion``).

    Shapes: input, log probabilities, and target, probabilities, have the same number of elements.
    With the field ``sizeAverage`` the sum is divided by it. Targets of 0 and less do not count.

    PyTorch: ``torch.nn.KLDivLoss``.
    """

    def __init__(self) -> None:
        super().__init__()

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        target = matching(input, target)
        loss = F.kl_div(input, target, reduction="sum")
        if not bool(loss.isfinite()):
            # PyTorch multiplies a target of 0 with an input of -inf.
            counted = target > 0
            loss = F.kl_div(input.where(counted, 0), target.where(counted, 0), reduction="sum")
        return loss / input.numel() if self.sizeAverage else loss
