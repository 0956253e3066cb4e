from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch.nn import functional as F

from compat import nn, t7


@pytest.mark.parametrize("ceil", [False, True])
def test_spatial_max_pooling_is_pytorchs(ceil: bool) -> None:
    module = nn.SpatialDilatedMaxPooling(3, 2, 2, 1, 1, 0, 2, 1)
    if ceil:
        assert module.ceil() is module
    x = torch.randn(2, 2, 6, 8)
    wanted, places = F.max_pool2d(
        x, (2, 3), (1, 2), (0, 1), (1, 2), ceil_mode=ceil, return_indices=True
    )
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(module.indices, places + 1)
    assert torch.equal(module.forward(x[0]), wanted[0])


def test_volumetric_pooling_is_pytorchs() -> None:
    x = torch.randn(2, 2, 4, 5, 6)
    kernel, step = (2, 2, 3), (1, 3, 2)
    module = nn.VolumetricMaxPooling(2, 3, 2, 1, 2, 3)
    assert torch.equal(module.forward(x), F.max_pool3d(x, kernel, step))
    average = nn.VolumetricAveragePooling(2, 3, 2, 1, 2, 3)
    assert torch.equal(average.forward(x), F.avg_pool3d(x, kernel, step))


@pytest.mark.parametrize(
    "module",
    [
        nn.SpatialMaxPooling(1, 1, 2, 2),
        nn.SpatialAveragePooling(1, 1, 2, 2),
        nn.VolumetricMaxPooling(1, 1, 1, 2, 2, 2),
        nn.VolumetricAveragePooling(1, 1, 1, 2, 2, 2),
    ],
    ids=repr,
)
def test_windows_beyond_the_edge_are_left_out(module: Any) -> None:
    x = torch.randn(1, *[4] * len(module.axes))
    every_other = (slice(None), *[slice(None, None, 2)] * len(module.axes))
    assert torch.equal(module.ceil().forward(x), x[every_other])


def test_default_steps() -> None:
    assert (nn.SpatialMaxPooling(3, 2).dW, nn.SpatialMaxPooling(3, 2).dH) == (3, 2)
    assert (nn.SpatialAveragePooling(3, 2).dW, nn.SpatialAveragePooling(3, 2).dH) == (1, 1)
    assert nn.VolumetricAveragePooling(2, 3, 4).dT == 2


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("ceil", [False, True])
def test_average_pooling_is_pytorchs(include: bool, ceil: bool) -> None:
    module = nn.SpatialAveragePooling(3, 2, 2, 2, 1, 1)
    module.setCountIncludePad() if include else module.setCountExcludePad()
    module.ceil() if ceil else module.floor()
    x = torch.randn(2, 2, 6, 7)
    wanted = F.avg_pool2d(x, (2, 3), 2, 1, ceil, include)
    assert torch.equal(module.forward(x), wanted)


def test_old_average_poolings_sum() -> None:
    fields = {"kW": 3, "kH": 2, "dW": 1, "dH": 1, "gradInput": torch.zeros(0)}
    module = t7.loads(t7.dumps(t7.TorchObject("nn.SpatialAveragePooling", 1, fields)))
    x = torch.ones(1, 4, 4)
    assert torch.equal(module.forward(x), torch.full((1, 3, 2), 6.0))
    assert torch.equal(module.backward(x, torch.ones(1, 3, 2))[0, 0], torch.tensor([1.0, 2, 2, 1]))


def test_old_max_poolings_hold_float_indices_and_a_closure() -> None:
    fields = {
        "kW": 2,
        "kH": 2,
        "dW": 2,
        "dH": 2,
        "indices": torch.tensor([[[1.0]]]),
        "updateOutput": t7.LuaFunction(b"", []),
    }
    module = t7.loads(t7.dumps(t7.TorchObject("nn.SpatialMaxPooling", 1, fields)))
    assert module.indices.dtype == torch.long
    assert module.forward(torch.arange(4.0).view(1, 2, 2)).item() == 3
    assert module.indices.item() == 4


def test_the_size_of_the_input_is_kept_for_unpooling() -> None:
    module = nn.VolumetricMaxPooling(2, 2, 2)
    module.forward(torch.zeros(1, 4, 5, 6))
    again = t7.loads(t7.dumps(module))
    assert (again.itime, again.iheight, again.iwidth) == (4, 5, 6)
    assert torch.equal(again.indices, module.indices)
    assert module.empty() is module
    assert module.indices.numel() == 0 and module.iheight is None


def test_temporal_max_pooling() -> None:
    module = nn.TemporalMaxPooling(3, 2)
    x = torch.randn(2, 8, 3)
    wanted = x.unfold(1, 3, 2).amax(-1)
    assert torch.equal(module.forward(x), wanted)
    assert torch.equal(x.gather(1, module.indices - 1), wanted)
    assert torch.equal(module.forward(x[1]), wanted[1])


def test_indices_may_be_in_a_file() -> None:
    module = nn.TemporalDynamicKMaxPooling(2)
    fields = module.t7_fields() | {"indices": torch.ones(2, 3, dtype=torch.long)}
    module.t7_restore(fields, 1)
    assert torch.equal(module.indices, torch.ones(2, 3, dtype=torch.long))
    assert module.forward(torch.randn(4, 3)).shape == (2, 3)


def test_dynamic_k_max_pooling_keeps_the_order_in_time() -> None:
    module = nn.TemporalDynamicKMaxPooling(2, 0.5)
    x = torch.tensor([[3.0], [1.0], [2.0], [5.0], [4.0], [0.0]])
    assert module.forward(x).flatten().tolist() == [3, 5, 4]
    assert module.indices.flatten().tolist() == [1, 4, 5]
    assert module.backward(x, torch.ones(3, 1)).flatten().tolist() == [1, 0, 0, 1, 1, 0]
    module.clearState()
    assert module.indices.numel() == 0


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.SpatialMaxPooling(3, 2), "nn.SpatialMaxPooling(3x2, 3,2)"),
        (nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1), "nn.SpatialMaxPooling(3x3, 2,2, 1,1)"),
        (nn.SpatialAveragePooling(3, 2), "nn.SpatialAveragePooling(3x2, 1,1)"),
        (
            nn.SpatialDilatedMaxPooling(3, 3, 1, 1, 0, 0, 2, 2),
            "nn.SpatialDilatedMaxPooling(3x3, 1,1, 2,2)",
        ),
        (nn.VolumetricMaxPooling(2, 3, 4), "nn.VolumetricMaxPooling(2x3x4, 2,3,4)"),
        (
            nn.VolumetricDilatedMaxPooling(2, 3, 4, 1, 1, 1, 1, 1, 1, 2, 2, 2),
            "nn.VolumetricDilatedMaxPooling(2x3x4, 1,1,1, 1,1,1, 2,2,2)",
        ),
        (nn.TemporalMaxPooling(2), "nn.TemporalMaxPooling"),
    ],
)
def test_prints(module: Any, text: str) -> None:
    assert repr(module) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.SpatialMaxPooling(0, 2), ValueError, "kW is 0; a whole number from 1"),
        (
            lambda: nn.SpatialMaxPooling(2, 2).forward(torch.zeros(4, 4)),
            ValueError,
            "input has 2 dimensions; 3 .planes x height x width. or 4",
        ),
        (
            lambda: nn.TemporalDynamicKMaxPooling(3).forward(torch.zeros(2, 2)),
            ValueError,
            "input has 2 frames; at least 3 are accepted",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


POOLINGS = [
    (nn.SpatialDilatedMaxPooling(3, 2, 2, 1, 1, 0, 2, 1), (2, 3, 7, 8)),
    (nn.SpatialMaxPooling(2, 2), (3, 17, 40, 44)),
    (nn.SpatialAveragePooling(3, 2, 2, 2, 1, 1).ceil().setCountExcludePad(), (2, 3, 7, 8)),
    (nn.VolumetricMaxPooling(2, 2, 2, 1, 1, 1, 1, 1, 1), (2, 2, 3, 4, 5)),
    (nn.VolumetricAveragePooling(2, 2, 2), (2, 2, 4, 4, 5)),
    (nn.TemporalMaxPooling(3, 2), (2, 8, 3)),
    (nn.TemporalDynamicKMaxPooling(2), (2, 5, 3)),
    (nn.SpatialAdaptiveMaxPooling(13, 7), (2, 2, 21, 13)),
    (nn.SpatialAdaptiveAveragePooling(4, 3), (2, 2, 5, 6)),
    (nn.SpatialFractionalMaxPooling(2, 2, 3, 3), (2, 2, 8, 9)),
    (nn.FeatureLPPooling(3, 2, 3, True), (2, 8, 3, 2)),
]
IDS = [type(module).__name__ for module, _ in POOLINGS]


@pytest.mark.parametrize(("module", "shape"), POOLINGS, ids=IDS)
def test_gradients_are_the_slopes(module: Any, shape: tuple[int, ...]) -> None:
    module, step = module.clone().double(), 1e-7
    # Values far enough apart that a step leaves the maxima where they are.
    x = (torch.randperm(math.prod(shape)) + 1).div(math.prod(shape)).double().view(shape)
    if hasattr(module, "newRandomPool"):
        module.forward(x)
        module.fixPoolingRegions()
    direction, gradOutput = torch.randn_like(x), torch.randn_like(module.forward(x))
    for input in (x, x.transpose(-1, -2).contiguous().transpose(-1, -2)):
        module.forward(input)
        gradInput = module.backward(input, gradOutput).clone()
        assert gradInput.is_contiguous() and module.output.is_contiguous()
        above, below = (module.forward(x + i * step * direction).clone() for i in (1, -1))
        slope = ((above - below) * gradOutput).sum() / (2 * step)
        torch.testing.assert_close((gradInput * direction).sum(), slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("module", "shape"), POOLINGS, ids=IDS)
def test_a_gradient_of_another_size_is_refused(module: Any, shape: tuple[int, ...]) -> None:
    module, x = module.clone(), torch.rand(shape)
    size = module.forward(x).shape
    before = module.gradInput
    for i in range(len(size)):
        for change in (-1, 1):
            wrong = [n + change * (i == j) for j, n in enumerate(size)]
            with pytest.raises((RuntimeError, ValueError)):
                module.updateGradInput(x, torch.zeros(wrong))
    with pytest.raises((RuntimeError, ValueError)):
        module.updateGradInput(x, torch.zeros(size[1:]))
    assert module.gradInput is before
    module.gradInput = None
    assert module.updateGradInput(x, torch.zeros(size)) is None


def test_indices_may_be_changed_between_the_passes() -> None:
    module, x = nn.SpatialMaxPooling(2, 2), torch.arange(16.0).view(1, 4, 4)
    module.forward(x)
    assert module.indices.tolist() == [[[6, 8], [14, 16]]]
    module.indices.fill_(3)
    gradInput = module.updateGradInput(x, torch.ones(1, 2, 2))
    assert gradInput.flatten().nonzero().item() == 2 and gradInput.sum() == 4
    for wrong in (0, 17):
        module.indices.fill_(wrong)
        with pytest.raises(RuntimeError, match="found an invalid max index"):
            module.updateGradInput(x, torch.ones(1, 2, 2))
    module.forward(x)
    assert module.indices.max() == 16


def test_indices_of_a_larger_input_do_not_reach_beyond_a_smaller_one() -> None:
    module = nn.SpatialMaxPooling(2, 2)
    module.forward(torch.arange(25.0).view(1, 5, 5))
    with pytest.raises(RuntimeError, match="found an invalid max index"):
        module.updateGradInput(torch.zeros(1, 4, 4), torch.ones(1, 2, 2))
    with pytest.raises(RuntimeError, match="needs a forward pass first"):
        module.clearState().updateGradInput(torch.zeros(1, 4, 4), torch.ones(1, 2, 2))


def test_many_planes_pool_as_few() -> None:
    x = torch.randn(2, 20, 48, 50)
    x[0, 3, 5, 6], x[1, 2] = torch.nan, -torch.inf
    module = nn.SpatialMaxPooling(3, 3, 2, 2, 1, 1)
    output, indices = module.forward(x).clone(), module.indices
    for i in range(20):
        plane = x[:, i : i + 1]
        assert torch.equal(module.forward(plane).nan_to_num(), output[:, i : i + 1].nan_to_num())
        assert torch.equal(module.indices, indices[:, i : i + 1])


def test_sizes_that_are_computed_are_whole_as_in_lua() -> None:
    module = nn.SpatialMaxPooling(3, 3, 1, 1)
    module.padW = (module.kW - 1) / 2
    module.padH = (module.kH - 1) / 2
    assert str(module) == "nn.SpatialMaxPooling(3x3, 1,1, 1,1)"
    assert module.forward(torch.ones(1, 4, 4)).shape == (1, 4, 4)
