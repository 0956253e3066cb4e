from __future__ import annotations

from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn


@pytest.mark.parametrize(
    ("cls", "mode"),
    [
        (nn.SpatialZeroPadding, "constant"),
        (nn.SpatialReflectionPadding, "reflect"),
        (nn.SpatialReplicationPadding, "replicate"),
    ],
)
def test_spatial_padding_is_pytorchs(cls: Any, mode: str) -> None:
    module = cls(1, 2, 3, 0)
    x = torch.randn(2, 3, 4, 5)
    wanted = F.pad(x, (1, 2, 3, 0), mode)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(module.forward(x[0]), wanted[0])
    assert torch.equal(cls(1).forward(x), F.pad(x, (1, 1, 1, 1), mode))


def test_volumetric_padding_is_pytorchs() -> None:
    module = nn.VolumetricReplicationPadding(1, 2, 3, 0, 1, 1)
    x = torch.randn(2, 3, 4, 5, 6)
    assert torch.equal(module.forward(x), F.pad(x, (1, 2, 3, 0, 1, 1), "replicate"))


def test_negative_padding_cuts_off() -> None:
    x = torch.randn(1, 4, 5)
    assert torch.equal(nn.SpatialZeroPadding(-1, -2, -1, 0).forward(x), x[:, 1:, 1:3])


def test_prints() -> None:
    assert repr(nn.SpatialZeroPadding(1, 2, 3, 4)) == "nn.SpatialZeroPadding(l=1, r=2, t=3, b=4)"
    assert repr(nn.SpatialReflectionPadding(1)) == "nn.SpatialReflectionPadding(l=1, r=1, t=1, b=1)"
    assert repr(nn.VolumetricReplicationPadding(1, 2)) == (
        "nn.VolumetricReplicationPadding(left=1, right=2, top=1, bottom=1, front=1, back=1)"
    )


def test_errors() -> None:
    with pytest.raises(TypeError, match="pad_r is 'x'; a whole number is accepted"):
        nn.SpatialZeroPadding(1, "x")
    with pytest.raises(ValueError, match="input has 2 dimensions; 3 or 4 are"):
        nn.SpatialZeroPadding(1).forward(torch.zeros(2, 2))


@pytest.mark.parametrize("cls", [nn.SpatialZeroPadding, nn.SpatialReplicationPadding])
@pytest.mark.parametrize("pads", [(-1, -1, 0, 0), (-2, 1, 0, 0), (1, -3, 0, 0), (0, 0, -2, 5)])
def test_something_of_the_input_must_be_left(cls: Any, pads: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"input has 2 where .* at least [34] is accepted"):
        cls(*pads).forward(torch.zeros(1, 2, 2))


@pytest.mark.parametrize(
    ("module", "mode", "pads"),
    [
        (nn.SpatialZeroPadding(1, -2, -1, 3), "constant", (1, -2, -1, 3)),
        (nn.SpatialReflectionPadding(1, 2, 3, 0), "reflect", (1, 2, 3, 0)),
        (nn.SpatialReplicationPadding(1, -1, 3, 0), "replicate", (1, -1, 3, 0)),
        (nn.VolumetricReplicationPadding(1, 2, 3, 0, 1, 1), "replicate", (1, 2, 3, 0, 1, 1)),
    ],
    ids=lambda value: getattr(value, "typename", None),
)
def test_gradients(module: Any, mode: str, pads: tuple[int, ...]) -> None:
    x = torch.randn(2, 3, 4, 5) if len(pads) == 4 else torch.randn(2, 3, 4, 4, 5)
    leaf = x.clone().requires_grad_()
    padded = F.pad(leaf, pads, mode)
    gradOutput = torch.randn_like(padded)
    padded.backward(gradOutput)
    strided = x.transpose(1, 3).contiguous().transpose(1, 3)
    assert module.forward(strided).is_contiguous()
    torch.testing.assert_close(module.backward(strided, gradOutput), leaf.grad)
    for i in range(x.dim()):
        wrong = [n + (i == j) for j, n in enumerate(padded.shape)]
        with pytest.raises(RuntimeError, match="gradOutput has size"):
            module.updateGradInput(x, torch.zeros(wrong))
