from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from compat import nn, t7


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


@pytest.mark.filterwarnings("error")
def test_files_of_2011_have_a_weight_for_each_place_of_a_window() -> None:
    fields = {
        "weight": torch.arange(12.0).view(3, 2, 2),
        "bias": torch.ones(3),
        "gradWeight": torch.full((3,), 2.0),
        "gradBias": torch.zeros(3),
        **{"nInputPlane": 3, "kW": 2, "kH": 2, "dW": 2, "dH": 2},
    }
    module = t7.loads(t7.dumps(t7.TorchObject("nn.SpatialSubSampling", 1, fields)))
    x = torch.randn(3, 4, 4)
    sums = F.avg_pool2d(x, 2) * 4
    # Torch7 reads the first numbers in memory.
    torch.testing.assert_close(module.forward(x), sums * torch.arange(3.0).view(3, 1, 1) + 1)
    module.backward(x, torch.ones(3, 2, 2))
    torch.testing.assert_close(module.gradWeight, 2 + sums.sum((1, 2)))


def test_errors() -> None:
    with pytest.raises(ValueError, match="input has 3 planes; 2 are accepted"):
        nn.SpatialSubSampling(2, 2, 2).forward(torch.zeros(3, 4, 4))
    with pytest.raises(ValueError, match="input has 3 features; 2 are accepted"):
        nn.TemporalSubSampling(2, 2).forward(torch.zeros(4, 3))
