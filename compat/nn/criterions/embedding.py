"""Embedding criterions: the target says whether two inputs are alike."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import number, wrong_type
from compat.nn.checks.tensors import TABLE, check_dims
from compat.nn.criterions.base import Stated
from compat.nn.criterions.regression import Averaged
from compat.nn.functional import criterions_embedding as f
from compat.nn.layers.distance import drawn_signs, pair


def signs(target: Any, input: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return the target, 1 for alike and -1 for not, in ``shape`` and in the type of ``input``."""
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
    """A hinge loss of distances: small for alike inputs, large for others.

    Torch7: ``nn.HingeEmbeddingCriterion``. The loss is the mean of ``x`` where the target is 1 and
    of ``max(0, margin - x)`` where it is -1.

    Args:
        margin: the smallest wanted distance of inputs that are not alike.

    Shapes: input, of distances, and target have the same size; the target may be a number where
    there is one distance.

    PyTorch: ``torch.nn.HingeEmbeddingLoss``.
    """

    _loss = staticmethod(f.hinge_embedding_loss)
    _slopes = staticmethod(f.hinge_embedding_loss_backward)

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        return input, signs(target, input, input.shape), self.margin, self.sizeAverage


class L1HingeEmbeddingCriterion(Stated):
    """``HingeEmbeddingCriterion`` of the L1 distance of two vectors.

    Torch7: ``nn.L1HingeEmbeddingCriterion``. Where the two are equal the slope is 1 or -1, drawn
    from Torch7's generator.

    Args:
        margin: the smallest wanted distance of inputs that are not alike.

    Shapes: input, a table of two tensors of the same size; the target is 1 or -1.
    """

    takes = TABLE
    _entries = 2
    _loss = staticmethod(f.l1_hinge_embedding_loss)

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        first, second = pair(input)
        return first, second, signs(target, first, ()), self.margin

    @staticmethod
    def _slopes(first: Tensor, second: Tensor, *more: Any) -> tuple[Tensor, Tensor]:
        drawn = drawn_signs(first - second)
        return f.l1_hinge_embedding_loss_backward(drawn, first, second, *more)


class CosineEmbeddingCriterion(Averaged):
    """A loss of the cosine: 1 for alike inputs, small for others.

    Torch7: ``nn.CosineEmbeddingCriterion``. The loss is the mean of ``1 - cos`` where the target is
    1 and of ``max(0, cos - margin)`` where it is -1.

    Args:
        margin: the largest wanted cosine of inputs that are not alike, from -1 to 1.

    Shapes: input, a table of two tensors ``D`` or ``N x D``; the target is 1 or -1, or ``N`` of
    them.

    PyTorch: ``torch.nn.CosineEmbeddingLoss``.
    """

    takes = TABLE
    _entries = 2
    scratch_fields = ("buffer", "w", "w1", "w22", "w32", "_outputs", "_idx", "_y")
    _loss = staticmethod(f.cosine_embedding_loss)
    _slopes = staticmethod(f.cosine_embedding_loss_backward)
    # Lua adds up the losses where the file does not tell.
    sizeAverage = False

    def __init__(self, margin: float = 0) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        first, second = pair(input)
        check_dims(first, 1, 2, name="input[1]")
        target = signs(target, first, (*first.shape[:-1], 1))
        return first, second, target, self.margin, 1 / target.numel() if self.sizeAverage else 1


class DistanceRatioCriterion(Averaged):
    """The negative log probability that the first of two distances is smaller.

    Torch7: ``nn.DistanceRatioCriterion``. The loss is the mean of
    ``-log(exp(-x) / (exp(-x) + exp(-y)))``.

    Args:
        sizeAverage: divide by the number of distances.

    Shapes: input, a table of two tensors of the same size; there is no target.

    Differs from Torch7: the field ``output`` is set, and large distances do not overflow.
    """

    takes = TABLE
    _loss = staticmethod(f.distance_ratio_loss)
    _slopes = staticmethod(f.distance_ratio_loss_backward)

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        return *pair(input), 1 / input[0].size(0) if self.sizeAverage else 1


class MarginRankingCriterion(Averaged):
    """A hinge loss that ranks the first input above the second where the target is 1.

    Torch7: ``nn.MarginRankingCriterion``. The loss is the sum of
    ``max(0, margin - target * (x - y))``, divided by the first size of the target.

    Args:
        margin: the smallest wanted difference.

    Shapes: input, a table of two tensors of the same size; the target has that size, or is a
    number where the tensors have one element.

    PyTorch: ``torch.nn.MarginRankingLoss``.
    """

    takes = TABLE
    _entries = 2
    scratch_fields = ("_output", "dist", "mask")
    _loss = staticmethod(f.margin_ranking_loss)
    _slopes = staticmethod(f.margin_ranking_loss_backward)

    def __init__(self, margin: float = 1) -> None:
        super().__init__()
        self.margin = number(margin, "margin")

    def _arguments(self, input: Any, target: Any) -> tuple[Any, ...]:
        first, second = pair(input)
        several = isinstance(target, Tensor) and target.dim() > 0
        share = 1 / target.size(0) if several and self.sizeAverage else 1
        # As in Torch7 NaN counts where the target is a number.
        return first, second, signs(target, first, first.shape), self.margin, share, not several
