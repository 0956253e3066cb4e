from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from compat import nn
from compat.nn.functional.pooling import agrees, spans

SIZES = st.integers(1, 40)


@given(extent=SIZES, parts=SIZES)
def test_windows_cover_the_input_and_are_at_most_one_larger(extent: int, parts: int) -> None:
    covered = set()
    for i, (start, end) in enumerate(spans(extent, parts)):
        first, last = i * extent // parts, math.ceil((i + 1) * extent / parts)
        assert first - 1 <= start <= first and last <= end <= min(last + 1, extent)
        covered |= set(range(start, end))
    assert covered == set(range(extent))


def test_maxima_over_windows_that_differ_from_pytorchs() -> None:
    assert not agrees(21, 7) and not agrees(13, 13)
    x = torch.randn(2, 21, 13, dtype=torch.float64)
    output = nn.SpatialAdaptiveMaxPooling(13, 7).forward(x)
    for i, (top, bottom) in enumerate(spans(21, 7)):
        for j, (left, right) in enumerate(spans(13, 13)):
            wanted = x[:, top:bottom, left:right].amax((1, 2))
            assert torch.equal(output[:, i, j], wanted)


def test_pytorchs_functions_where_the_windows_agree() -> None:
    x = torch.randn(2, 3, 8, 12)
    maximum = nn.SpatialAdaptiveMaxPooling(5, 4).forward(x)
    assert torch.equal(maximum, F.adaptive_max_pool2d(x, (4, 5)))
    average = nn.SpatialAdaptiveAveragePooling(5, 4).forward(x)
    assert torch.equal(average, F.adaptive_avg_pool2d(x, (4, 5)))


def test_the_first_of_equal_maxima_gets_the_gradient() -> None:
    module = nn.SpatialAdaptiveMaxPooling(7, 7)
    x = torch.ones(1, 21, 21)
    module.forward(x)
    gradInput = module.backward(x, torch.ones(1, 7, 7))
    starts = [start for start, _ in spans(21, 7)]
    assert gradInput.nonzero()[:, 1:].tolist() == [[i, j] for i in starts for j in starts]


def test_errors() -> None:
    with pytest.raises(ValueError, match="W is 0; a whole number from 1"):
        nn.SpatialAdaptiveMaxPooling(0, 2)
    with pytest.raises(ValueError, match="input has 2 dimensions; 3"):
        nn.SpatialAdaptiveAveragePooling(2, 2).forward(torch.zeros(4, 4))
