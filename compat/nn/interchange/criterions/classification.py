"""Classification criterions: the target tells classes."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.nn.criterions import classification as torch7
from compat.nn.functional import criterions_classification as f
from compat.nn.functional.criterions_regression import mse_loss
from compat.nn.interchange.criterions.base import Loss, MarginLoss, labels_of
from compat.nn.interchange.to_torch import converts_simply


class ClassNLLCriterion(Loss):
    """PyTorch: ``torch.nn.NLLLoss``. It is 0 where nothing counts.

    Args:
        mean, weights: as in ``Loss``.
        ignored: the label, from 1, of what does not count.
    """

    def __init__(
        self, mean: bool = True, weights: Tensor | None = None, ignored: int = -100
    ) -> None:
        super().__init__(mean, weights)
        self.ignored = ignored

    def forward(self, input: Tensor, target: Any) -> Tensor:
        axis = 0 if input.dim() == 1 else 1
        shape = input.shape[:axis] + input.shape[axis + 1 :]
        labels = labels_of(target, shape, input)
        losses = self.losses(input, labels, axis)
        if not self.mean:
            return losses.sum()
        counted = labels != self.ignored - 1
        share = counted.to(input)
        if self.weights is not None:
            share = share * self.weights[labels.masked_fill(~counted, 0)]
        whole = share.sum()
        return losses.sum() / whole.masked_fill(whole == 0, 1.0)

    def losses(self, input: Tensor, labels: Tensor, axis: int) -> Tensor:
        """Return one for each label."""
        return F.nll_loss(
            input, labels, self.weights, ignore_index=self.ignored - 1, reduction="none"
        )


class PlaneCrossEntropyCriterion(ClassNLLCriterion):
    """PyTorch: ``torch.nn.CrossEntropyLoss``, also at every pixel."""

    def losses(self, input: Tensor, labels: Tensor, axis: int) -> Tensor:
        return super().losses(torch.log_softmax(input, axis), labels, axis)


class CrossEntropyCriterion(PlaneCrossEntropyCriterion):
    """PyTorch: ``torch.nn.CrossEntropyLoss``; further dimensions of size 1 are dropped."""

    def forward(self, input: Tensor, target: Any) -> Tensor:
        return super().forward(input.squeeze() if input.dim() > 2 else input, target)


class BCECriterion(Loss):
    """PyTorch: ``torch.nn.BCELoss``; 1e-12 is added inside the logarithms."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.bce_loss(input, target.reshape(input.shape), self.weights, self.mean)


class MultiLabelSoftMarginCriterion(Loss):
    """PyTorch: ``torch.nn.BCEWithLogitsLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        reduction = "mean" if self.mean else "sum"
        return F.binary_cross_entropy_with_logits(
            input, target.reshape(input.shape), self.weights, reduction=reduction
        )


class ClassSimplexCriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss`` with the corner of a simplex, a row of ``weights``."""

    weights: Tensor

    def forward(self, input: Tensor, target: Any) -> Tensor:
        corners = self.weights[labels_of(target, input.shape[:-1], input)]
        return mse_loss(input, corners, self.mean)


class SoftMarginCriterion(Loss):
    """PyTorch: ``torch.nn.SoftMarginLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.soft_margin_loss(input, target.reshape(input.shape), self.mean)


class MultiLabelMarginCriterion(Loss):
    """PyTorch: ``torch.nn.MultiLabelMarginLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.multi_label_margin_loss(input, labels_of(target, input.shape, input), self.mean)[0]


class MarginCriterion(MarginLoss):
    """The mean of ``max(0, margin - target * input)``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return f.margin_loss(input, target.reshape(input.shape), self.margin, self.mean)


class MultiMarginCriterion(MarginLoss):
    """PyTorch: ``torch.nn.MultiMarginLoss``."""

    def forward(self, input: Tensor, target: Any) -> Tensor:
        labels = labels_of(target, input.shape[:-1], input)
        return f.multi_margin_loss(input, labels, self.p, self.margin, self.weights, self.mean)


def _nll(criterion: Any) -> ClassNLLCriterion:
    return ClassNLLCriterion(criterion.sizeAverage, criterion.weights, criterion.ignoreIndex)


converts_simply(torch7.ClassNLLCriterion, _nll)
converts_simply(torch7.SpatialClassNLLCriterion, _nll)
converts_simply(
    torch7.CrossEntropyCriterion,
    lambda c: CrossEntropyCriterion(c.sizeAverage, c.nll.weights, c.nll.ignoreIndex),
)
converts_simply(torch7.BCECriterion, lambda c: BCECriterion(c.sizeAverage, c.weights))
converts_simply(
    torch7.MultiLabelSoftMarginCriterion,
    lambda c: MultiLabelSoftMarginCriterion(c.sizeAverage, c.weights),
)
converts_simply(
    torch7.ClassSimplexCriterion, lambda c: ClassSimplexCriterion(c.sizeAverage, c.simplex)
)
converts_simply(torch7.MarginCriterion, lambda c: MarginCriterion(c.margin, c.sizeAverage))
converts_simply(torch7.SoftMarginCriterion, lambda c: SoftMarginCriterion(c.sizeAverage))
converts_simply(
    torch7.MultiMarginCriterion,
    lambda c: MultiMarginCriterion(c.margin, c.sizeAverage, c.weights, c.p),
)
converts_simply(
    torch7.MultiLabelMarginCriterion, lambda c: MultiLabelMarginCriterion(c.sizeAverage)
)
