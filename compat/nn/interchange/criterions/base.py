"""The base of criterions in ``torch.nn``, which are called with input and target.

They carry Torch7's names. Labels count from 1, as in Torch7; a target has as many elements as is
needed, in any shape. Gradients are autograd's, and so PyTorch's at kinks.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


def labels_of(target: Any, shape: torch.Size, input: Tensor) -> Tensor:
    """Return PyTorch's numbers of the classes in ``target`` in this shape."""
    return torch.as_tensor(target, device=input.device).long().reshape(shape) - 1


def signs_of(target: Any, shape: torch.Size, input: Tensor) -> Tensor:
    """Return the numbers 1 and -1 in ``target`` in this shape."""
    return torch.as_tensor(target).to(input).reshape(shape)


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

    def extra_repr(self) -> str:
        return f"mean={self.mean}"


class MarginLoss(Loss):
    """The base of losses with a margin."""

    def __init__(
        self, margin: float, mean: bool = True, weights: Tensor | None = None, p: int = 1
    ) -> None:
        super().__init__(mean, weights)
        self.margin = float(margin)
        self.p = p
