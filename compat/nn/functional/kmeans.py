"""Clustering: ``nn.Kmeans``."""

from __future__ import annotations

import torch
from torch import Tensor


def nearest(input: Tensor, centers: Tensor) -> tuple[Tensor, Tensor]:
    """Return, for each row, the squared distance of the nearest center, and its number."""
    squares, numbers = (input.unsqueeze(1) - centers).square().sum(2).min(1)
    return squares, numbers


def offsets_from_means(
    input: Tensor,
    centers: Tensor,
    numbers: Tensor,
    counts: Tensor,
) -> Tensor:
    """Return how far each center is from the mean of its rows, ``counts`` of them."""
    sums = torch.zeros_like(centers).index_add_(0, numbers, centers[numbers] - input)
    return sums / (counts.unsqueeze(1) + 1e-7)
