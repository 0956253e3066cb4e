from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, random


def windows(extent: int, size: int, parts: int, sample: float) -> list[slice]:
    """Where the windows of one axis lie, by the formula of the paper."""
    step = (extent - size) / (parts - 1)
    starts = [int((i + sample) * step) - int(sample * step) for i in range(parts - 1)]
    return [slice(start, start + size) for start in [*starts, extent - size]]


def test_spatial_windows_follow_the_samples() -> None:
    module = nn.SpatialFractionalMaxPooling(3, 2, 4, 3).double()
    x = torch.randn(2, 2, 9, 11, dtype=torch.float64)
    output = module.forward(x)
    samples = module.randomSamples
    assert samples.shape == (2, 2, 2)
    for n in range(2):
        for c in range(2):
            columns = windows(11, 3, 4, samples[n, c, 0].item())
            rows = windows(9, 2, 3, samples[n, c, 1].item())
            wanted = [[x[n, c, i, j].max() for j in columns] for i in rows]
            assert output[n, c].tolist() == wanted


def test_volumes_have_time_last() -> None:
    module = nn.VolumetricFractionalMaxPooling(2, 3, 4, 3, 4, 2).double()
    x = torch.randn(1, 10, 9, 8, dtype=torch.float64)
    output = module.forward(x)
    t, w, h = module.randomSamples[0, 0].tolist()
    wanted = [
        [[x[0, i, j, k].max() for k in windows(8, 2, 3, t)] for j in windows(9, 3, 4, w)]
        for i in windows(10, 4, 2, h)
    ]
    assert output[0].tolist() == wanted


def test_samples_are_torch7s_numbers_and_new_in_every_forward() -> None:
    module = nn.SpatialFractionalMaxPooling(2, 2, 0.5, 0.5)
    x = torch.randn(1, 3, 8, 8)
    random.manualSeed(5)
    module.forward(x)
    first = module.randomSamples.clone()
    random.manualSeed(5)
    assert torch.equal(first, random.uniform_(torch.empty(1, 3, 2), 0, 1))
    module.forward(x)
    assert not torch.equal(module.randomSamples, first)


def test_fixed_regions_stay() -> None:
    module = nn.SpatialFractionalMaxPooling(2, 2, 3, 3)
    assert module.fixPoolingRegions() is module
    x = torch.randn(2, 1, 8, 8)
    module.forward(x)
    first = module.randomSamples
    module.forward(x)
    assert module.randomSamples is first
    module.forward(x[:1])
    assert module.randomSamples.shape == (1, 1, 2)
    module.fixPoolingRegions(False).forward(x[:1])
    assert module.clearState().randomSamples is None


def test_prints() -> None:
    assert repr(nn.SpatialFractionalMaxPooling(2, 3, 4, 5)) == (
        "nn.SpatialFractionalMaxPooling(4x5, 2,3)"
    )
    module = nn.VolumetricFractionalMaxPooling(2, 3, 4, 5, 6, 7)
    assert repr(module) == "nn.VolumetricFractionalMaxPooling(5x6x7, 2,3,4)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.SpatialFractionalMaxPooling(1, 2, 3, 3), "poolSizeW is 1; a whole number"),
        (lambda: nn.SpatialFractionalMaxPooling(2, 2, 0.5, 3), r"output's size is \(0.5, 3\)"),
        (
            lambda: nn.SpatialFractionalMaxPooling(2, 2, 0.1, 0.5).forward(torch.zeros(1, 8, 8)),
            "input is 8x8; one large enough for the ratios 0.5 and 0.1",
        ),
        (
            lambda: nn.SpatialFractionalMaxPooling(2, 2, 2, 2).forward(torch.zeros(8, 8)),
            "input has 2 dimensions; 3 or 4 are",
        ),
    ],
)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.cuda
def test_on_a_gpu_pytorchs_generator_is_used() -> None:
    module = nn.SpatialFractionalMaxPooling(2, 2, 3, 3).cuda()
    before = random.getRNGState()
    module.forward(torch.randn(1, 1, 8, 8, device="cuda"))
    assert torch.equal(random.getRNGState(), before)
    assert module.randomSamples.is_cuda
