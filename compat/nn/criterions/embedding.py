"""Embedding criterions: the target says whether two inputs are alike."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import number, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Criterion
from compat.nn.criterions.regression import Averaged
from compat.nn.functional import criterions_embedding as f
from compat.nn.layers.distance import drawn_signs, pair


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

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        target = signs(target, input, input.shape)
        self.output = f.hinge_embedding_loss(input, target, self.margin, self.sizeAverage).item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        target = signs(target, input, input.shape)
        slopes = f.hinge_embedding_loss_backward(input, target, self.margin, self.sizeAverage)
        return self.set_gradInput(slopes)


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

    def updateOutput(self, input: Any, target: Any = None) -> float:
        first, second = pair(input)
        target = signs(target, first, ())
        self.output = f.l1_hinge_embedding_loss(first, second, target, self.margin).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        first, second = pair(input)
        drawn, target = drawn_signs(first - second), signs(target, first, ())
        slopes = f.l1_hinge_embedding_loss_backward(drawn, first, second, target, self.margin)
        return self.set_gradInput(slopes)


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

    def updateOutput(self, input: Any, target: Any = None) -> float:
        self.output = f.cosine_embedding_loss(*self._arguments(input, target)).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        slopes = f.cosine_embedding_loss_backward(*self._arguments(input, target))
        return self.set_gradInput(slopes)

    def _arguments(self, input: Any, target: Any) -> tuple[Tensor, Tensor, Tensor, float, float]:
        first, second = pair(input)
        check_dims(first, 1, 2, name="input[1]")
        target = signs(target, first, (*first.shape[:-1], 1))
        return first, second, target, self.margin, 1 / target.numel() if self.sizeAverage else 1


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

    def updateOutput(self, input: Any, target: Any = None) -> float:
        self.output = f.distance_ratio_loss(*pair(input), self._share(input)).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        return self.set_gradInput(f.distance_ratio_loss_backward(*pair(input), self._share(input)))

    def _share(self, input: Any) -> float:
        return 1 / input[0].size(0) if self.sizeAverage else 1


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

    def updateOutput(self, input: Any, target: Any = None) -> float:
        self.output = f.margin_ranking_loss(*self._arguments(input, target)).item()
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        return self.set_gradInput(f.margin_ranking_loss_backward(*self._arguments(input, target)))

    def _arguments(
        self, input: Any, target: Any
    ) -> tuple[Tensor, Tensor, Tensor, float, float, bool]:
        first, second = pair(input)
        several = isinstance(target, Tensor) and target.dim() > 0
        share = 1 / target.size(0) if several and self.sizeAverage else 1
        # As in Torch7 NaN counts where the target is a number.
        return first, second, signs(target, first, first.shape), self.margin, share, not several
