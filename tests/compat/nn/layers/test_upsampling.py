from __future__ import annotations

from typing import Any

import pytest
import torch
from support.ids import stable
from torch.nn import functional as F

from compat import nn, t7

PLANES = torch.randn(2, 3, 4, 5)
VOLUMES = torch.randn(2, 3, 2, 4, 5)


@pytest.mark.parametrize(
    ("module", "x", "size", "mode"),
    [
        (nn.SpatialUpSamplingNearest(1), PLANES, (4, 5), "nearest"),
        (nn.SpatialUpSamplingNearest(3), PLANES, (12, 15), "nearest"),
        (nn.SpatialUpSamplingBilinear(2), PLANES, (8, 10), "bilinear"),
        (nn.SpatialUpSamplingBilinear({"oheight": 7, "owidth": 6}), PLANES, (7, 6), "bilinear"),
        (nn.UpSampling(2), VOLUMES, (4, 8, 10), "nearest"),
        (nn.UpSampling(2, "nearest"), PLANES, (8, 10), "nearest"),
        (nn.UpSampling(2, "linear"), PLANES, (8, 10), "bilinear"),
        (
            nn.UpSampling({"odepth": 3, "oheight": 5, "owidth": 6}, "trilinear"),
            VOLUMES,
            (3, 5, 6),
            "trilinear",
        ),
    ],
    ids=stable,
)
def test_upsampling_is_pytorchs(module: Any, x: Any, size: Any, mode: str) -> None:
    corners = {} if mode == "nearest" else {"align_corners": True}
    wanted = F.interpolate(x, size=size, mode=mode, **corners)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(t7.loads(t7.dumps(module)).forward(x), wanted)


def test_single_samples() -> None:
    for module in (nn.SpatialUpSamplingNearest(2), nn.SpatialUpSamplingBilinear(2)):
        assert torch.equal(module.forward(PLANES[0]), module.forward(PLANES)[0])


def test_files_hold_the_storages_that_lua_needs() -> None:
    fields = nn.SpatialUpSamplingNearest(2).t7_fields()
    assert list(fields["inputSize"]) == list(fields["outputSize"]) == [0, 0, 0, 0]
    assert "mode" not in fields
    assert list(nn.UpSampling(2).t7_fields()["outputSize"]) == [0] * 5


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.SpatialUpSamplingNearest(2), "nn.SpatialUpSamplingNearest"),
        (nn.SpatialUpSamplingBilinear(2), "nn.SpatialUpSamplingBilinear(2)"),
        (
            nn.SpatialUpSamplingBilinear({"oheight": 7, "owidth": 6}),
            "nn.SpatialUpSamplingBilinear(7, 6)",
        ),
        (nn.UpSampling(2), "nn.UpSampling(2x, nearest)"),
        (nn.UpSampling({"oheight": 5, "owidth": 6}, "linear"), "nn.UpSampling(5x6, linear)"),
    ],
)
def test_prints(module: Any, text: str) -> None:
    assert repr(module) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.SpatialUpSamplingNearest(0), ValueError, "scale_factor is 0"),
        (lambda: nn.SpatialUpSamplingNearest(1.5), TypeError, "scale_factor is 1.5"),
        (lambda: nn.UpSampling({"owidth": 2}, "linear"), ValueError, "params has no oheight"),
        (lambda: nn.UpSampling({"owidth": 2}), ValueError, "nearest neighbours, a scale factor is"),
        (
            lambda: nn.UpSampling({"oheight": 5, "owidth": 6}, "linear").forward(VOLUMES),
            ValueError,
            "input is a volume; without odepth, a plane",
        ),
        (lambda: nn.UpSampling(2).forward(PLANES[0]), ValueError, "input has 3 dimensions; 4"),
        (
            lambda: nn.SpatialUpSamplingNearest(2).forward(PLANES[0, 0]),
            ValueError,
            "input has 2 dimensions; 3",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_doubles_on_the_cpu_have_weights_of_single_precision() -> None:
    # Recorded from Lua Torch7.
    x = torch.tensor([[[[0.3, 1.7, -2.9], [0.1, 5.3, 2.2]]]], dtype=torch.float64)
    module = nn.SpatialUpSamplingBilinear(2)
    output = module.forward(x)
    first = [0.3, 0.86000000834465018, 1.4200000166893003]
    assert output[0, 0, 0, :3].tolist() == first
    gradient = torch.arange(1, 25, dtype=torch.float64).div(7).view(1, 1, 4, 6)
    assert module.backward(x, gradient).flatten().tolist() == pytest.approx(
        [
            *(2.8571427345275886, 5.1428568686757803, 4.8571429090840432),
            *(8.0000000034059795, 11.9999998484339, 10.000000493015566),
        ],
        rel=1e-14,
    )
    volume = VOLUMES.double()
    exact = F.interpolate(volume, size=(4, 7, 5), mode="trilinear", align_corners=True)
    sizes = {"odepth": 4, "oheight": 7, "owidth": 5}
    torch.testing.assert_close(
        nn.UpSampling(sizes, "linear").forward(volume), exact, rtol=0, atol=1e-6
    )


@pytest.mark.parametrize(
    ("module", "x", "size", "mode"),
    [
        (nn.SpatialUpSamplingNearest(2), PLANES, (8, 10), "nearest"),
        (nn.UpSampling(2), VOLUMES, (4, 8, 10), "nearest"),
        (nn.UpSampling(2, "linear"), PLANES, (8, 10), "bilinear"),
        (nn.SpatialUpSamplingBilinear({"oheight": 3, "owidth": 1}), PLANES, (3, 1), "bilinear"),
        (nn.UpSampling(2, "linear"), VOLUMES, (4, 8, 10), "trilinear"),
        (nn.UpSampling(1, "linear"), VOLUMES, (2, 4, 5), "trilinear"),
    ],
    ids=stable,
)
def test_gradients(module: Any, x: Any, size: Any, mode: str) -> None:
    corners = {} if mode == "nearest" else {"align_corners": True}
    leaf = x.clone().requires_grad_()
    output = F.interpolate(leaf, size=size, mode=mode, **corners)
    gradOutput = torch.randn_like(output)
    output.backward(gradOutput)
    strided = x.transpose(1, -1).contiguous().transpose(1, -1)
    assert module.forward(strided).is_contiguous()
    torch.testing.assert_close(module.backward(strided, gradOutput), leaf.grad)
    gradInput = module.clone().double().updateGradInput(x.double(), gradOutput.double())
    torch.testing.assert_close(gradInput, leaf.grad.double(), rtol=0, atol=1e-5)
    for i in range(x.dim()):
        wrong = [n + (i == j) for j, n in enumerate(output.shape)]
        with pytest.raises(RuntimeError, match="gradOutput has size"):
            module.updateGradInput(x, torch.zeros(wrong))
