from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn, t7


def test_spatial_convolution_is_pytorchs() -> None:
    module = nn.SpatialConvolution(2, 3, 3, 2, 2, 1, 1, 0)
    x = torch.randn(2, 2, 6, 7)
    wanted = F.conv2d(x, module.weight, module.bias, stride=(1, 2), padding=(0, 1))
    torch.testing.assert_close(module.forward(x), wanted)
    torch.testing.assert_close(module.forward(x[0]), wanted[0])


def test_volumetric_convolution_is_pytorchs() -> None:
    module = nn.VolumetricDilatedConvolution(2, 3, 2, 3, 1, 1, 2, 1, 1, 0, 2, 2, 1, 3)
    x = torch.randn(2, 2, 5, 6, 7)
    wanted = F.conv3d(x, module.weight, module.bias, (1, 1, 2), (1, 2, 0), (2, 3, 1))
    torch.testing.assert_close(module.forward(x), wanted)


@pytest.mark.parametrize(
    ("module", "fan_in"),
    [
        (nn.SpatialConvolution(3, 8, 5, 2), 3 * 5 * 2),
        (nn.SpatialConvolutionMM(3, 8, 5, 2), 3 * 5 * 2),
        (nn.VolumetricConvolution(2, 8, 3, 5, 2), 2 * 3 * 5 * 2),
    ],
)
def test_initial_parameters_are_bounded_by_the_fan_in(module: Any, fan_in: int) -> None:
    bound = 1 / math.sqrt(fan_in)
    for parameter in (module.weight, module.bias):
        assert parameter.abs().max() <= bound
    assert module.weight.abs().max() > 0.9 * bound
    assert module.reset(0.1) is module
    assert module.weight.abs().max() <= 0.1 * math.sqrt(3)
    assert module.weight.abs().max() > 0.1


def test_padding_of_the_height_is_that_of_the_width_by_default() -> None:
    assert nn.SpatialConvolution(1, 1, 3, 3, 1, 1, 2).padH == 2
    module = nn.VolumetricConvolution(1, 1, 3, 3, 3, 1, 1, 1, 2)
    assert (module.padT, module.padW, module.padH) == (2, 2, 2)


def test_the_matrix_of_convolution_mm_is_the_kernels() -> None:
    module = nn.SpatialConvolutionMM(2, 3, 3, 3)
    x = torch.randn(1, 2, 5, 5)
    other = nn.SpatialConvolution(2, 3, 3, 3)
    other.weight.copy_(module.weight.view_as(other.weight))
    other.bias.copy_(module.bias)
    assert torch.equal(module.forward(x), other.forward(x))


def test_depthwise_convolution_keeps_planes_apart() -> None:
    module = nn.SpatialDepthWiseConvolution(2, 3, 2, 3)
    x = torch.randn(1, 2, 5, 4)
    output = module.forward(x)
    assert output.shape == (1, 6, 3, 3)
    x[:, 1] = 0
    assert torch.equal(module.forward(x)[:, :3], output[:, :3])
    assert not torch.equal(module.forward(x)[:, 3:], output[:, 3:])


def test_no_bias() -> None:
    module = nn.SpatialConvolution(2, 3, 3, 3)
    assert module.noBias() is module
    assert module.bias is None and module.gradBias is None
    assert len(module.parameters()[0]) == 1


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.SpatialConvolution(3, 16, 5, 5), "nn.SpatialConvolution(3 -> 16, 5x5)"),
        (
            nn.SpatialConvolution(3, 16, 5, 4, 1, 1, 2, 2),
            "nn.SpatialConvolution(3 -> 16, 5x4, 1,1, 2,2)",
        ),
        (
            nn.SpatialConvolution(3, 16, 5, 4, 2, 3).noBias(),
            "nn.SpatialConvolution(3 -> 16, 5x4, 2,3) without bias",
        ),
        (
            nn.SpatialDilatedConvolution(1, 2, 3, 3, 1, 1, 0, 0, 2, 4),
            "nn.SpatialDilatedConvolution(1 -> 2, 3x3, 2,4)",
        ),
        (
            nn.VolumetricConvolution(1, 2, 3, 4, 5, 1, 1, 1, 1),
            "nn.VolumetricConvolution(1 -> 2, 3x4x5, 1,1,1, 1,1,1)",
        ),
        (
            nn.SpatialDepthWiseConvolution(4, 2, 3, 3).noBias(),
            "nn.SpatialDepthWiseConvolution(4 -> 2, 3x3) without bias",
        ),
    ],
)
def test_prints(module: Any, text: str) -> None:
    assert repr(module) == text


def old_file(typename: str, **fields: Any) -> Any:
    return t7.loads(t7.dumps(t7.TorchObject(typename, 1, fields)))


@pytest.mark.parametrize("name", ["nn.SpatialConvolution", "nn.SpatialConvolutionMM"])
def test_old_files_have_a_matrix_and_one_padding(name: str) -> None:
    weight, bias = torch.randn(3, 18), torch.randn(3)
    module = old_file(
        name,
        nInputPlane=2,
        nOutputPlane=3,
        kW=3,
        kH=3,
        dW=1,
        dH=1,
        padding=1,
        weight=weight,
        bias=bias,
        gradWeight=torch.ones(3, 18),
        gradBias=torch.zeros(3),
        finput=torch.randn(4),
        fgradInput=torch.randn(4),
    )
    x = torch.randn(1, 2, 4, 4)
    wanted = F.conv2d(x, weight.view(3, 2, 3, 3), bias, padding=1)
    torch.testing.assert_close(module.forward(x), wanted)
    assert module.gradWeight.shape == module.weight.shape
    assert module.gradWeight.sum() == 54
    assert not {"finput", "fgradInput", "padding"} & set(vars(module))


def test_old_files_without_padding() -> None:
    module = old_file(
        "nn.SpatialConvolution",
        nInputPlane=1,
        nOutputPlane=1,
        kW=1,
        kH=1,
        dW=1,
        dH=1,
        weight=torch.ones(1, 1, 1, 1),
        bias=torch.zeros(1),
    )
    x = torch.randn(1, 2, 2)
    assert torch.equal(module.forward(x), x)
    assert repr(module) == "nn.SpatialConvolution(1 -> 1, 1x1)"


def test_files_of_the_second_version_of_depthwise_convolution() -> None:
    module = old_file(
        "nn.SpatialDepthWiseConvolution",
        nInputPlane=2,
        depthwiseMultiplier=3,
        nOutputPlane=6,
        kW=1,
        kH=1,
        dW=1,
        dH=1,
        weight=torch.ones(3, 2),
        bias=torch.zeros(3, 2),
    )
    assert module.nOutputPlane == 3
    assert module.forward(torch.ones(2, 2, 2)).shape == (6, 2, 2)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.SpatialConvolution(0, 1, 1, 1), ValueError, "nInputPlane is 0; a whole number"),
        (lambda: nn.SpatialConvolution(1, 1, 1.5, 1), TypeError, "kW is 1.5; a whole number"),
        (lambda: nn.SpatialConvolution(1, 1, 1, 1, 0), ValueError, "dW is 0"),
        (
            lambda: nn.SpatialConvolution(2, 1, 3, 3).forward(torch.zeros(3, 5, 5)),
            ValueError,
            r"SpatialConvolution\(2 -> 1, 3x3\): input has 3 planes; 2 are accepted",
        ),
        (
            lambda: nn.SpatialConvolution(2, 1, 3, 3).forward(torch.zeros(5, 5)),
            ValueError,
            "input has 2 dimensions; 3 .planes x height x width. or 4",
        ),
        (
            lambda: nn.SpatialConvolution(2, 1, 3, 3).forward(torch.zeros(2, 5, 5).double()),
            TypeError,
            "input is torch.float64, the module is torch.float32",
        ),
        (
            lambda: nn.SpatialConvolution(2, 1, 3, 3).forward([torch.zeros(2, 5, 5)]),
            TypeError,
            "input is a list; a tensor is accepted",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
