"""The entropy of a batch of probabilities."""

from __future__ import annotations

import torch
from torch import Tensor


def categorical_entropy(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return the entropy of the mean of the rows, a number, and its gradient for each column.

    ``eps`` keeps the logarithm finite.
    """
    total = input.sum()
    p = input.sum(0) / total
    logs = torch.log(p + eps)
    return -(p * logs).sum(), (logs + p / (p + eps)).div_(-total)
