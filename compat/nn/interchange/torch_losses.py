"""Torch7's criterions as ``torch.nn`` modules that are called with input and target.

They carry Torch7's names. Labels count from 1, as in Torch7; a target has as many elements as is
needed, in any shape. At kinks the slope is PyTorch's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.recurrent.masking import zero_rows
from compat.tensor_tables import map_tensors, tensors


def labels_of(target: Any, shape: torch.Size, input: Tensor) -> Tensor:
    """PyTorch's numbers of the classes in ``target``, a number or a tensor, in this shape."""
    return torch.as_tensor(target, device=input.device).long().reshape(shape) - 1


class Loss(nn.Module):
    """The base: a mean, or with ``mean`` False a sum.

    Args:
        mean: whether the losses are averaged.
        weights: a factor for each class or number of a sample.
    """

    weights: Tensor | None

    def __init__(self, mean: bool = True, weights: Tensor | None = None) -> None:
        super().__init__()
        self.mean = mean
        self.register_buffer("weights", None if weights is None else weights.detach().clone())

    @property
    def reduction(self) -> str:
        """What PyTorch calls it."""
        return "mean" if self.mean else "sum"

    def reduced(self, losses: Tensor) -> Tensor:
        """The mean of the losses, or their sum."""
        return losses.mean() if self.mean else losses.sum()

    def extra_repr(self) -> str:
        return f"mean={self.mean}"


class AbsCriterion(Loss):
    """PyTorch: ``torch.nn.L1Loss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target.reshape(input.shape), reduction=self.reduction)


class MSECriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss``; with ``weights``, factors of the target."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        target = target.reshape(input.shape)
        if self.weights is not None:
            target = target * self.weights
        return F.mse_loss(input, target, reduction=self.reduction)


class SpatialAutoCropMSECriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss`` with the middle of larger targets."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        for dim in (-2, -1):
            excess = target.size(dim) - input.size(dim)
            target = target.narrow(dim, excess // 2, input.size(dim))
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Criterion(Loss):
    """PyTorch: ``torch.nn.SmoothL1Loss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target.reshape(input.shape), reduction=self.reduction)


class DistKLDivCriterion(Loss):
    """PyTorch: ``torch.nn.KLDivLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        target = target.reshape(input.shape)
        counted = target > 0
        losses = F.kl_div(input.where(counted, 0), target.where(counted, 0), reduction="none")
        return self.reduced(losses)


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
        """One for each label."""
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
        on, off = (input + 1e-12).log(), (1 - input + 1e-12).log()
        losses = -torch.lerp(off, on, target.reshape(input.shape))
        return self.reduced(losses if self.weights is None else losses * self.weights)


class MultiLabelSoftMarginCriterion(Loss):
    """PyTorch: ``torch.nn.BCEWithLogitsLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target.reshape(input.shape), self.weights, reduction=self.reduction
        )


class ClassSimplexCriterion(Loss):
    """PyTorch: ``torch.nn.MSELoss`` with the corner of a simplex, a row of ``weights``."""

    weights: Tensor

    def forward(self, input: Tensor, target: Any) -> Tensor:
        corners = self.weights[labels_of(target, input.shape[:-1], input)]
        return F.mse_loss(input, corners, reduction=self.reduction)


class SoftMarginCriterion(Loss):
    """PyTorch: ``torch.nn.SoftMarginLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target.reshape(input.shape), reduction=self.reduction)


class MultiLabelMarginCriterion(Loss):
    """PyTorch: ``torch.nn.MultiLabelMarginLoss``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        labels = labels_of(target, input.shape, input)
        return F.multilabel_margin_loss(input, labels, reduction=self.reduction)


class MarginLoss(Loss):
    """The base of losses with a margin."""

    def __init__(
        self, margin: float, mean: bool = True, weights: Tensor | None = None, p: int = 1
    ) -> None:
        super().__init__(mean, weights)
        self.margin = float(margin)
        self.p = p


class MarginCriterion(MarginLoss):
    """The mean of ``max(0, margin - target * input)``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return self.reduced(F.relu(self.margin - input * target.reshape(input.shape)))


class MultiMarginCriterion(MarginLoss):
    """PyTorch: ``torch.nn.MultiMarginLoss``."""

    def forward(self, input: Tensor, target: Any) -> Tensor:
        labels = labels_of(target, input.shape[:-1], input)
        return F.multi_margin_loss(
            input, labels, self.p, self.margin, self.weights, reduction=self.reduction
        )


def _signs(target: Any, shape: torch.Size, input: Tensor) -> Tensor:
    return torch.as_tensor(target).to(input).reshape(shape)


class HingeEmbeddingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.HingeEmbeddingLoss``."""

    def forward(self, input: Tensor, target: Any) -> Tensor:
        alike = _signs(target, input.shape, input) == 1
        return self.reduced(torch.where(alike, input, F.relu(self.margin - input)))


class L1HingeEmbeddingCriterion(MarginLoss):
    """``HingeEmbeddingCriterion`` of the L1 distance of two tensors."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        distance = (input[0] - input[1]).abs().sum()
        alike = _signs(target, torch.Size(()), distance) == 1
        return torch.where(alike, distance, F.relu(self.margin - distance))


class CosineEmbeddingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.CosineEmbeddingLoss``."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        first, second = input
        squares = first.square().sum(-1) + 1e-12, second.square().sum(-1) + 1e-12
        cosines = (first * second).sum(-1) * (squares[0] * squares[1]).rsqrt()
        target = _signs(target, first.shape[:-1], first)
        unlike = torch.where(target == -1, F.relu(cosines - self.margin), 0)
        return self.reduced(torch.where(target == 1, 1 - cosines, unlike))


class DistanceRatioCriterion(Loss):
    """The mean of ``-log(exp(-x) / (exp(-x) + exp(-y)))``."""

    def forward(self, input: list[Tensor], target: Any = None) -> Tensor:
        loss = F.softplus(input[0] - input[1]).sum()
        return loss / input[0].size(0) if self.mean else loss


class MarginRankingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.MarginRankingLoss``; the sum over the first size of the target."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        first, second = input
        count = target.size(0) if isinstance(target, Tensor) and target.dim() else 1
        signs = _signs(target, first.shape, first)
        loss = F.margin_ranking_loss(first, second, signs, self.margin, reduction="sum")
        return loss / count if self.mean else loss


class L1Cost(nn.Module):
    """The sum of the absolute values; there is no target."""

    def forward(self, input: Tensor, target: Any = None) -> Tensor:
        return input.abs().sum()


class WeightedSum(nn.ModuleList):
    """A weighted sum of losses.

    Args:
        losses, weights: as many.
        split: whether loss i gets entry i of the input, instead of all.
        split_target: the same of the target.
    """

    def __init__(
        self, losses: list[nn.Module], weights: list[float], split: bool, split_target: bool
    ) -> None:
        super().__init__(losses)
        self.weights = weights
        self.split = split
        self.split_target = split_target

    def forward(self, input: Any, target: Any = None) -> Tensor:
        losses = []
        for i, (loss, weight) in enumerate(zip(self, self.weights, strict=True)):
            own = target[i] if self.split_target else target
            losses.append(weight * loss(input[i] if self.split else input, own))
        return sum(losses[1:], losses[0])


class OverSteps(nn.Module):
    """The sum of a loss over the entries of a list, each with its target or all with one."""

    def __init__(self, loss: nn.Module, repeat_target: bool, mean: bool = False) -> None:
        super().__init__()
        self.loss = loss
        self.repeat_target = repeat_target
        self.mean = mean

    def forward(self, input: Any, target: Any) -> Tensor:
        targets = [target] * len(input) if self.repeat_target else target
        losses = [self.loss(entry, t) for entry, t in zip(input, targets, strict=True)]
        total = torch.stack(losses).sum()
        return total / len(losses) if self.mean else total


class MaskZeroCriterion(nn.Module):
    """A loss of the samples, of ``dims`` dimensions, that are not all zero."""

    def __init__(self, loss: nn.Module, dims: int) -> None:
        super().__init__()
        self.loss = loss
        self.dims = dims

    def forward(self, input: Any, target: Any) -> Tensor:
        entries = tensors(input)
        kept = ~zero_rows(entries[0], self.dims)
        if not kept.any():
            return torch.stack([entry.sum() * 0 for entry in entries]).sum()
        loss: Tensor = self.loss(*map_tensors(lambda entry: entry[kept], [input, target]))
        return loss


class ModuleCriterion(nn.Module):
    """A loss of what modules make of input and target."""

    def __init__(self, loss: nn.Module, of_input: nn.Module, of_target: nn.Module) -> None:
        super().__init__()
        self.loss, self.of_input, self.of_target = loss, of_input, of_target

    def forward(self, input: Any, target: Any) -> Tensor:
        return self.loss(self.of_input(input), self.of_target(target))


class OfPair(nn.Module):
    """A loss as a module of a list of input and target.

    Args:
        loss: the loss.
        size: of the output.
    """

    def __init__(self, loss: nn.Module, size: list[int]) -> None:
        super().__init__()
        self.loss = loss
        self.size = size

    def forward(self, input: list[Any]) -> Tensor:
        return self.loss(input[0], input[1]).reshape(self.size)
