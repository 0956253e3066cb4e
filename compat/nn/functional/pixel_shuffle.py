"""Planes as pixels."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def pixel_shuffle(input: Tensor, factor: int) -> Tensor:
    return F.pixel_shuffle(input, factor)


def pixel_shuffle_backward(input: Tensor, gradOutput: Tensor, factor: int) -> Tensor:
    return F.pixel_unshuffle(gradOutput, factor).reshape(input.shape)
