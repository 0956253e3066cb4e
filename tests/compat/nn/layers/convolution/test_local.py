from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from compat import nn


def test_every_place_has_its_own_kernel() -> None:
    module = nn.SpatialConvolutionLocal(2, 3, 6, 5, 3, 2, 2, 1, 1, 0)
    x = torch.randn(2, 2, 5, 6)
    output = module.forward(x)
    assert output.shape == (2, 3, module.oH, module.oW) == (2, 3, 4, 3)
    padded = F.pad(x, (1, 1))
    for i in range(module.oH):
        for j in range(module.oW):
            window = padded[:, :, i : i + 2, 2 * j : 2 * j + 3]
            wanted = torch.einsum("ncij,ocij->no", window, module.weight[i, j])
            torch.testing.assert_close(output[:, :, i, j], wanted + module.bias[:, i, j])
    torch.testing.assert_close(module.forward(x[1]), output[1])


def test_equal_kernels_make_a_convolution() -> None:
    module = nn.SpatialConvolutionLocal(2, 3, 5, 5, 3, 3)
    plain = nn.SpatialConvolution(2, 3, 3, 3)
    module.weight.copy_(plain.weight.expand_as(module.weight))
    module.bias.copy_(plain.bias.view(3, 1, 1).expand_as(module.bias))
    x = torch.randn(2, 5, 5)
    torch.testing.assert_close(module.forward(x), plain.forward(x))


def test_prints() -> None:
    module = nn.SpatialConvolutionLocal(2, 3, 6, 5, 3, 2, 2, 1)
    assert repr(module) == "nn.SpatialConvolutionLocal(2 -> 3, 6x5, 3x2, 2,1)"


def test_errors() -> None:
    with pytest.raises(ValueError, match="a window that fits into the input, 2 x 5"):
        nn.SpatialConvolutionLocal(1, 1, 2, 5, 3, 3)
    with pytest.raises(ValueError, match=r"input is 5 x 5 \(height x width\); 5 x 6 is accepted"):
        nn.SpatialConvolutionLocal(1, 1, 6, 5, 3, 3).forward(torch.zeros(1, 5, 5))
