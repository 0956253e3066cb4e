from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from compat import nn


def test_temporal_convolution_multiplies_runs_of_frames() -> None:
    module = nn.TemporalConvolution(3, 4, 2, 2)
    x = torch.randn(2, 7, 3)
    output = module.forward(x)
    assert output.shape == (2, 3, 4)
    for i in range(3):
        run = x[:, 2 * i : 2 * i + 2].flatten(1)
        torch.testing.assert_close(output[:, i], F.linear(run, module.weight, module.bias))
    torch.testing.assert_close(module.forward(x[0]), output[0])


def test_row_convolution_keeps_features_apart() -> None:
    module = nn.TemporalRowConvolution(3, 2)
    x = torch.randn(2, 5, 3)
    wanted = F.conv1d(x.transpose(1, 2), module.weight, module.bias, groups=3)
    torch.testing.assert_close(module.forward(x), wanted.transpose(1, 2))
    module.featFirst = True
    torch.testing.assert_close(module.forward(x.transpose(1, 2)), wanted)


def test_prints() -> None:
    assert repr(nn.TemporalConvolution(3, 4, 2)) == "nn.TemporalConvolution"
    assert repr(nn.TemporalRowConvolution(3, 2)) == "nn.TemporalRowConvolution(3, 2)"
    module = nn.TemporalRowConvolution(3, 2, 2).noBias()
    assert repr(module) == "nn.TemporalRowConvolution(3, 2, 2) without bias"


def test_errors() -> None:
    with pytest.raises(ValueError, match="input has 2 features; 3 are accepted"):
        nn.TemporalConvolution(3, 4, 2).forward(torch.zeros(5, 2))
    with pytest.raises(ValueError, match="input has 5 features; 3 are accepted"):
        nn.TemporalRowConvolution(3, 2, 1, True).forward(torch.zeros(5, 3))
    with pytest.raises(ValueError, match="kW is 0"):
        nn.TemporalConvolution(3, 4, 0)
