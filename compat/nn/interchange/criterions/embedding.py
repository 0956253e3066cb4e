"""Converters of criterions that compare pairs of tensors by a distance, to and from torch.nn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.criterions import embedding as torch7
from compat.nn.functional import criterions_embedding as f
from compat.nn.interchange.criterions.base import Loss, MarginLoss, signs_of
from compat.nn.interchange.to_torch import converts_simply


class HingeEmbeddingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.HingeEmbeddingLoss``."""

    def forward(self, input: Tensor, target: Any) -> Tensor:
        signs = signs_of(target, input.shape, input)
        return f.hinge_embedding_loss(input, signs, self.margin, self.mean)


class L1HingeEmbeddingCriterion(MarginLoss):
    """``HingeEmbeddingCriterion`` of the L1 distance of two tensors."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        first, second = input
        sign = signs_of(target, torch.Size(()), first)
        return f.l1_hinge_embedding_loss(first, second, sign, self.margin)


class CosineEmbeddingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.CosineEmbeddingLoss``."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        first, second = input
        signs = signs_of(target, first[..., :1].shape, first)
        share = 1 / signs.numel() if self.mean else 1
        return f.cosine_embedding_loss(first, second, signs, self.margin, share)


class DistanceRatioCriterion(Loss):
    """The mean of ``-log(exp(-x) / (exp(-x) + exp(-y)))``."""

    def forward(self, input: list[Tensor], target: Any = None) -> Tensor:
        first, second = input
        return f.distance_ratio_loss(first, second, 1 / first.size(0) if self.mean else 1)


class MarginRankingCriterion(MarginLoss):
    """PyTorch: ``torch.nn.MarginRankingLoss``; the sum over the first size of the target."""

    def forward(self, input: list[Tensor], target: Any) -> Tensor:
        first, second = input
        several = isinstance(target, Tensor) and target.dim() > 0
        share = 1 / target.size(0) if several and self.mean else 1
        signs = signs_of(target, first.shape, first)
        return f.margin_ranking_loss(first, second, signs, self.margin, share, True)


converts_simply(
    torch7.HingeEmbeddingCriterion, lambda c: HingeEmbeddingCriterion(c.margin, c.sizeAverage)
)
converts_simply(torch7.L1HingeEmbeddingCriterion, lambda c: L1HingeEmbeddingCriterion(c.margin))
converts_simply(
    torch7.CosineEmbeddingCriterion, lambda c: CosineEmbeddingCriterion(c.margin, c.sizeAverage)
)
converts_simply(torch7.DistanceRatioCriterion, lambda c: DistanceRatioCriterion(c.sizeAverage))
converts_simply(
    torch7.MarginRankingCriterion, lambda c: MarginRankingCriterion(c.margin, c.sizeAverage)
)
