"""Regression criterions: the target is a value for each number of the input."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from compat.checks import check_tensor, flag
from compat.nn.checks.tensors import TENSOR
from compat.nn.criterions.base import Stated
from compat.nn.functional import criterions_regression as f


def matching(input: Any, target: Any) -> Tensor:
    """Return ``target`` in the shape of ``input``; refuse another number of elements or type."""
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


class Averaged(Stated, abstract=True):
    """The base of criterions that take a mean if ``sizeAverage`` is set, else a sum."""

    takes = TENSOR

    newer_fields: ClassVar[tuple[str, ...]] = ("sizeAverage",)
    sizeAverage: bool = True

    def __init__(self, sizeAverage: bool = True) -> None:
        super().__init__()
        self.sizeAverage = flag(sizeAverage, "sizeAverage")


class Matched(Averaged, abstract=True):
    """The base of averaged losses whose input and target have the same number of elements."""

    def _target_for(self, input: Tensor, target: Any) -> Tensor:
        """Return the target in the shape of the input."""
        return matching(input, target)

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        return input, self._target_for(input, target), self.sizeAverage


class AbsCriterion(Matched):
    """The mean absolute difference, with slope 1 at 0 (Torch7: ``nn.AbsCriterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.L1Loss``.
    """

    _loss = staticmethod(f.abs_loss)
    _slopes = staticmethod(f.abs_loss_backward)


class MSECriterion(Matched):
    """The mean of the squared differences (Torch7: ``nn.MSECriterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.MSELoss``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.MSECriterion().forward(torch.tensor([1.0, 3.0]), torch.zeros(2))
        5.0
    """

    _loss = staticmethod(f.mse_loss)
    _slopes = staticmethod(f.mse_loss_backward)


class WeightedMSECriterion(MSECriterion):
    """The squared differences from the weighted target (Torch7: ``nn.WeightedMSECriterion``).

    Args:
        w: factors of the target, of the size of a sample or of the whole target. They do not apply
            to the input.
    """

    def __init__(self, w: Tensor) -> None:
        super().__init__()
        self.weight = check_tensor(w, "w").clone()

    def _target_for(self, input: Tensor, target: Any) -> Tensor:
        if self.weight.shape not in (input.shape, input.shape[1:]):
            raise ValueError(
                f"input has size {tuple(input.shape)}; that of the weights, "
                f"{tuple(self.weight.shape)}, or a batch of it is accepted"
            )
        return matching(input, target) * self.weight


class SpatialAutoCropMSECriterion(MSECriterion):
    """``MSECriterion`` of images with the middle of larger ones.

    Torch7: ``nn.SpatialAutoCropMSECriterion``.

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input ``C x H x W`` or ``N x C x H x W``; the target's height and width may be larger.

    Differs from Torch7: backward also works where the target is larger.
    """

    def _target_for(self, input: Tensor, target: Any) -> Tensor:
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
        return matching(input, target)


class SmoothL1Criterion(Matched):
    """Squared differences below 1, absolute ones above (Torch7: ``nn.SmoothL1Criterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.

    PyTorch: ``torch.nn.SmoothL1Loss``.
    """

    _loss = staticmethod(f.smooth_l1_loss)
    _slopes = staticmethod(f.smooth_l1_loss_backward)


class DistKLDivCriterion(Matched):
    """The Kullback-Leibler divergence (Torch7: ``nn.DistKLDivCriterion``).

    Shapes: input, log probabilities, and target, probabilities, have the same number of elements.
    With the field ``sizeAverage`` the sum is divided by it. Targets of 0 and less do not count.

    PyTorch: ``torch.nn.KLDivLoss``.
    """

    _loss = staticmethod(f.kl_div_loss)
    _slopes = staticmethod(f.kl_div_loss_backward)

    def __init__(self) -> None:
        super().__init__()
