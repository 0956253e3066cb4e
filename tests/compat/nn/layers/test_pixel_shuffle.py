"""Planes as pixels."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from compat import nn


def numbers(*shape: int) -> torch.Tensor:
    return torch.arange(1.0, math.prod(shape) + 1).view(shape)


def test_pixel_shuffle_moves_planes_into_pixels() -> None:
    x = numbers(2, 8, 3, 5)
    output = nn.PixelShuffle(2).forward(x)
    assert output.shape == (2, 2, 6, 10)
    assert output[1, 1, 5, 8] == x[1, 4 + 2, 2, 4]
    assert torch.equal(nn.PixelShuffle(2).forward(x[0]), output[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.PixelShuffle(2).forward(torch.ones(3, 2, 2)), ValueError, "multiple of 4"),
        (lambda: nn.PixelShuffle(2).forward(torch.ones(3, 2)), ValueError, "3 or 4 are accepted"),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
