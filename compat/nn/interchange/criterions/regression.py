"""Regression criterions: the target is a value for each number of the input."""

from __future__ import annotations

from torch import Tensor

from compat.nn.criterions import regression as torch7
from compat.nn.functional import criterions_regression as f
from compat.nn.interchange.criterions.base import Loss
from compat.nn.interchange.to_torch import converts_simply


class AbsCriterion(Loss):
    """PyTorch: ``torch.nn.L1Loss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.abs_loss(input, target.reshape(input.shape), self.mean)


class MSECriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss``; with ``weights``, factors of the target."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        target = target.reshape(input.shape)
        if self.weights is not None:
            target = target * self.weights
        return f.mse_loss(input, target, self.mean)


class SpatialAutoCropMSECriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss`` with the middle of larger targets."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        for dim in (-2, -1):
            excess = target.size(dim) - input.size(dim)
            target = target.narrow(dim, excess // 2, input.size(dim))
        return f.mse_loss(input, target, self.mean)


class SmoothL1Criterion(Loss):
    """PyTorch: ``torch.nn.SmoothL1Loss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.smooth_l1_loss(input, target.reshape(input.shape), self.mean)


class DistKLDivCriterion(Loss):
    """PyTorch: ``torch.nn.KLDivLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.kl_div_loss(input, target.reshape(input.shape), self.mean)


converts_simply(torch7.AbsCriterion, lambda c: AbsCriterion(c.sizeAverage))
converts_simply(torch7.MSECriterion, lambda c: MSECriterion(c.sizeAverage))
converts_simply(torch7.WeightedMSECriterion, lambda c: MSECriterion(c.sizeAverage, c.weight))
converts_simply(
    torch7.SpatialAutoCropMSECriterion, lambda c: SpatialAutoCropMSECriterion(c.sizeAverage)
)
converts_simply(torch7.SmoothL1Criterion, lambda c: SmoothL1Criterion(c.sizeAverage))
converts_simply(torch7.DistKLDivCriterion, lambda c: DistKLDivCriterion(c.sizeAverage))
