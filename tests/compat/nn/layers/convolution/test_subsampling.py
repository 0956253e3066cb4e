from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from compat import nn


def test_spatial_subsampling_scales_sums() -> None:
    module = nn.SpatialSubSampling(2, 3, 2, 2, 1)
    x = torch.randn(2, 2, 5, 7)
    sums = F.avg_pool2d(x, (2, 3), (1, 2)) * 6
    wanted = sums * module.weight.view(-1, 1, 1) + module.bias.view(-1, 1, 1)
    torch.testing.assert_close(module.forward(x), wanted)
    assert module.weight.abs().max() <= 1 / math.sqrt(6)


def test_temporal_subsampling_scales_sums_and_takes_batches() -> None:
    module = nn.TemporalSubSampling(3, 2, 2)
    x = torch.randn(2, 7, 3)
    sums = x.unfold(1, 2, 2).sum(-1)
    wanted = sums * module.weight + module.bias
    torch.testing.assert_close(module.forward(x), wanted)
    torch.testing.assert_close(module.forward(x[0]), wanted[0])


def test_errors() -> None:
    with pytest.raises(ValueError, match="input has 3 planes; 2 are accepted"):
        nn.SpatialSubSampling(2, 2, 2).forward(torch.zeros(3, 4, 4))
    with pytest.raises(ValueError, match="input has 3 features; 2 are accepted"):
        nn.TemporalSubSampling(2, 2).forward(torch.zeros(4, 3))
