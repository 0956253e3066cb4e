from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from compat import nn, t7


def test_spatial_full_convolution_is_pytorchs() -> None:
    module = nn.SpatialFullConvolution(2, 3, 3, 2, 2, 3, 1, 0, 1, 2)
    x = torch.randn(2, 2, 4, 5)
    wanted = F.conv_transpose2d(x, module.weight, module.bias, (3, 2), (0, 1), (2, 1))
    torch.testing.assert_close(module.forward(x), wanted)


def test_the_padding_of_the_height_is_0_by_default() -> None:
    assert nn.SpatialFullConvolution(1, 1, 3, 3, 1, 1, 1).padH == 0


@given(
    size=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    step=st.tuples(st.integers(1, 3), st.integers(1, 3)),
)
def test_the_output_reverses_the_size_of_a_convolution(
    size: tuple[int, int], kernel: tuple[int, int], step: tuple[int, int]
) -> None:
    target = torch.zeros(1, 1, size[0] + kernel[0], size[1] + kernel[1])
    small = nn.SpatialConvolution(1, 1, kernel[1], kernel[0], step[1], step[0]).forward(target)
    module = nn.SpatialFullConvolution(1, 1, kernel[1], kernel[0], step[1], step[0])
    assert module.forward([small, target]).shape == target.shape
    gradInput = module.backward([small, target], torch.ones_like(target))
    assert gradInput[0].shape == small.shape
    assert not gradInput[1].any()


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (
            nn.SpatialFullConvolution(1, 2, 3, 3, 2, 2, 1, 1, 1, 1),
            "nn.SpatialFullConvolution(1 -> 2, 3x3, 2,2, 1,1, 1,1)",
        ),
        (
            nn.SpatialFullConvolution(1, 2, 3, 3).noBias(),
            "nn.SpatialFullConvolution(1 -> 2, 3x3) without bias",
        ),
        (
            nn.VolumetricFullConvolution(1, 2, 3, 4, 5, 2, 2, 2, 0, 0, 0, 1, 0, 0),
            "nn.VolumetricFullConvolution(1 -> 2, 3x4x5, 2,2,2, 1,0,0)",
        ),
    ],
)
def test_prints(module: Any, text: str) -> None:
    assert repr(module) == text


def test_old_files_of_volumetric_full_convolution_are_transposed() -> None:
    module = nn.VolumetricFullConvolution(2, 3, 2, 2, 2, 1, 1, 1, 1)
    fields = module.t7_fields()
    for axis in "TWH":
        fields["p" + axis] = fields.pop("pad" + axis)
        del fields["adj" + axis]
    for name in ("weight", "gradWeight"):
        fields[name] = fields[name].transpose(0, 1).contiguous()
    old = t7.loads(t7.dumps(t7.TorchObject("nn.VolumetricFullConvolution", 1, fields)))
    x = torch.randn(2, 3, 3, 3)
    assert torch.equal(old.forward(x), module.forward(x))


def test_works_after_clear_state_and_writes_what_lua_needs() -> None:
    module = nn.VolumetricFullConvolution(1, 1, 2, 2, 2)
    x = torch.randn(1, 2, 2, 2)
    wanted = module.forward(x).clone()
    assert torch.equal(module.clearState().forward(x), wanted)
    fields = module.t7_fields()
    assert {"ones", "finput", "fgradInput"} <= fields.keys()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: nn.SpatialFullConvolution(1, 1, 3, 3, 2, 2, 0, 0, 2),
            ValueError,
            "adjW is 2; a number below dW, 2, is accepted",
        ),
        (
            lambda: nn.SpatialFullConvolution(1, 1, 3, 3).forward([torch.zeros(1, 2, 2)]),
            ValueError,
            "input is a table of 1",
        ),
        (
            lambda: nn.SpatialFullConvolution(2, 1, 3, 3).forward(torch.zeros(1, 2, 2)),
            ValueError,
            "input has 1 planes; 2 are accepted",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
