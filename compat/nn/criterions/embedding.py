"""Embedding criterions: the target says whether two inputs are alike."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.checks import number, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.regression import Averaged
from compat.nn.layers.distance import cosine, norm, pair
from compat.nn.layers.elementwise import overwrite_nan


def signs(target: Any, input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The target, 1 for alike and -1 for not, in ``shape`` and in the type of ``input``."""
    if isinstance(target, (int, float)) and not isinstance(target, bool):
        target = torch.tensor(float(target))
    if not isinstance(target, Tensor):
        raise wrong_type(target, "target", "1, -1 or a tensor")
    if target.numel() != math.prod(shape):
        raise ValueError(
            f"target has size {tuple(target.shape)}; one of size {tuple(shape)} is accepted"
        )
    return target.to(input).reshape(shape)


class HingeEmbeddingCriterion(Averaged):
    """Small distances for the alike, large ones for the others.

    Torch7: ``nn.HingeEmbeddingCriterion``. The loss is the mean of ``x`` where the target is 1 and
    of ``max(0, margin - x)`` where it is -1.

    Args:
        margin: how large the distance of the others should be.

    Shapes: input, of distances, and target have the same size; the target may be a number where
    there is one distance.

    PyTorch: ``torch.nn.HingeEmbeddingLoss``.
    """

    @nil_is_default
    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def compute(self, input: Tensor, target: Any) -> Tensor:
        alike = signs(target, input, input.shape) == 1
        # Torch7 counts NaN as no loss, but lets the gradient pass.
        beyond = torch.where(input > self.margin, 0, self.margin - input)
        return self._reduced(torch.where(alike, input, overwrite_nan(beyond, 0)))


class L1HingeEmbeddingCriterion(Criterion):
    """``HingeEmbeddingCriterion`` of the L1 distance of two vectors.

    Torch7: ``nn.L1HingeEmbeddingCriterion``. Where the two are equal the slope is 1 or -1, drawn
    from Torch7's generator.

    Args:
        margin: how large the distance of those not alike should be.

    Shapes: input, a table of two tensors of the same size; the target is 1 or -1.
    """

    takes = TABLE
    _entries = 2

    @nil_is_default
    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def compute(self, input: Any, target: Any) -> Tensor:
        first, second = pair(input)
        distance = norm((first - second).reshape(-1), 1, 0)
        alike = signs(target, first, ()) == 1
        # A distance of NaN lets the gradient pass, as in Torch7.
        beyond = torch.where(distance > self.margin, 0, self.margin - distance)
        return torch.where(alike, distance, beyond)


class CosineEmbeddingCriterion(Averaged):
    """A cosine of 1 for the alike, a small one for the others.

    Torch7: ``nn.CosineEmbeddingCriterion``. The loss is the mean of ``1 - cos`` where the target is
    1 and of ``max(0, cos - margin)`` where it is -1.

    Args:
        margin: how large the cosine of the others may be, from -1 to 1.

    Shapes: input, a table of two tensors ``D`` or ``N x D``; the target is 1 or -1, or ``N`` of
    them.

    PyTorch: ``torch.nn.CosineEmbeddingLoss``.
    """

    takes = TABLE
    _entries = 2
    scratch_fields = ("buffer", "w", "w1", "w22", "w32", "_outputs", "_idx", "_y")
    # Lua adds up the losses where the file does not tell.
    sizeAverage = False

    @nil_is_default
    def __init__(self, margin: float = 0) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def compute(self, input: Any, target: Any) -> Tensor:
        first, second = pair(input)
        check_dims(first, 1, 2, name="input[1]")
        similarity = cosine(first, second)
        target = signs(target, first, first.shape[:-1])
        alike, unlike = target == 1, target == -1
        undefined = unlike & similarity.isnan()
        if bool(undefined.any()):
            # Torch7 counts NaN as no loss. The gradient through the cosine would be 0 times NaN.
            unlike = unlike & ~undefined
            rows = undefined.unsqueeze(-1)
            similarity = cosine(*(torch.where(rows, 0, entry) for entry in (first, second)))
        losses = torch.where(unlike, F.relu(similarity - self.margin), 0)
        return self._reduced(torch.where(alike, 1 - similarity, losses))


class DistanceRatioCriterion(Averaged):
    """The probability that the first distance is the smaller one, as a loss.

    Torch7: ``nn.DistanceRatioCriterion``. The loss is the mean of
    ``-log(exp(-x) / (exp(-x) + exp(-y)))``.

    Args:
        sizeAverage: divide by the number of distances.

    Shapes: input, a table of two tensors of the same size; there is no target.

    Differs from Torch7: the field ``output`` is set, and large distances do not overflow.
    """

    takes = TABLE

    def compute(self, input: Any, target: Any) -> Tensor:
        first, second = pair(input)
        loss = F.softplus(first - second).sum()
        return loss / first.size(0) if self.sizeAverage else loss


class MarginRankingCriterion(Averaged):
    """The first input should be larger where the target is 1, the second where it is -1.

    Torch7: ``nn.MarginRankingCriterion``. The loss is the sum of
    ``max(0, margin - target * (x - y))``, divided by the first size of the target.

    Args:
        margin: by how much.

    Shapes: input, a table of two tensors of the same size; the target has that size, or is a
    number where the tensors have one element.

    PyTorch: ``torch.nn.MarginRankingLoss``.
    """

    takes = TABLE
    _entries = 2
    scratch_fields = ("_output", "dist", "mask")

    @nil_is_default
    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def compute(self, input: Any, target: Any) -> Tensor:
        first, second = pair(input)
        several = isinstance(target, Tensor) and target.dim()
        count = target.size(0) if several else 1
        target = signs(target, first, first.shape)
        losses = self.margin - target * (first - second)
        losses = torch.where(losses >= 0 if several else ~(losses < 0), losses, 0)
        loss = losses.sum()
        return loss / count if self.sizeAverage else loss
