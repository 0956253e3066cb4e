"""Dropout and its relatives: what they draw, in which mode, and what they scale."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from compat import nn, random, t7

PLANES = [(nn.SpatialDropout, 2), (nn.VolumetricDropout, 3)]


@given(st.floats(0.05, 0.95), st.integers(0, 1000))
def test_dropout_draws_torch7s_numbers(p: float, seed: int) -> None:
    module = nn.Dropout(p)
    x = torch.randn(4, 5)
    random.manualSeed(seed)
    output = module.forward(x)
    random.manualSeed(seed)
    mask = random.bernoulli_(torch.empty(4, 5), 1 - p).div_(1 - p)
    assert torch.equal(module.noise, mask)
    assert torch.equal(output, x * mask)
    gradOutput = torch.randn(4, 5)
    assert torch.equal(module.backward(x, gradOutput), gradOutput * mask)


def test_dropout_keeps_the_mean() -> None:
    random.manualSeed(1)
    x = torch.ones(100, 100)
    assert nn.Dropout(0.3).forward(x).mean().item() == pytest.approx(1, abs=0.03)
    old = nn.Dropout(0.3, True)
    assert old.forward(x).mean().item() == pytest.approx(0.7, abs=0.03)
    assert old.evaluate().forward(x).mean().item() == pytest.approx(0.7)


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("v1", [False, True])
def test_dropout_in_place_is_the_same(v1: bool, inplace: bool) -> None:
    x = torch.randn(3, 4)
    for mode in ("training", "evaluate"):
        random.manualSeed(5)
        wanted = getattr(nn.Dropout(0.4, v1), mode)().forward(x)
        random.manualSeed(5)
        given = x.clone()
        output = getattr(nn.Dropout(0.4, v1, inplace), mode)().forward(given)
        assert torch.equal(output, wanted)
        if inplace:
            assert torch.equal(given, wanted)


@pytest.mark.parametrize("module", [nn.Dropout(0.5), nn.Dropout(0), nn.WhiteNoise()], ids=repr)
def test_nothing_happens_in_evaluation(module: nn.Module) -> None:
    x = torch.randn(3, 4)
    assert torch.equal(module.evaluate().forward(x), x)


@pytest.mark.parametrize(
    ("module", "shape"),
    [
        (nn.Dropout(0.5, stochasticInference=True), (50,)),
        (nn.SpatialDropout(0.5, True), (50, 2, 2)),
        (nn.VolumetricDropout(0.5, True), (50, 2, 2, 2)),
    ],
    ids=repr,
)
def test_stochastic_inference_drops_in_evaluation(module: nn.Module, shape: Any) -> None:
    assert (module.evaluate().forward(torch.ones(shape)) == 0).any()


@pytest.mark.parametrize(("cls", "places"), PLANES)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_whole_planes_are_dropped(cls: Any, places: int, batch: tuple[int, ...]) -> None:
    random.manualSeed(2)
    module = cls(0.4)
    x = torch.rand(*batch, 20, *[3] * places) + 1
    output = module.forward(x)
    assert module.noise.shape == (*batch, 20, *[1] * places)
    assert set(module.noise.unique().tolist()) == {0, 1}
    assert torch.equal(output, x * module.noise)
    gradOutput = torch.ones_like(x)
    assert torch.equal(module.backward(x, gradOutput), module.noise.expand_as(x))


@pytest.mark.parametrize(("cls", "places"), PLANES)
def test_plane_dropouts_scale_in_evaluation(cls: Any, places: int) -> None:
    module = cls(0.4).evaluate()
    x = torch.rand(2, *[3] * places)
    torch.testing.assert_close(module.forward(x), x * 0.6)
    torch.testing.assert_close(module.backward(x, x), x * 0.6)


def test_white_noise_adds_normal_numbers() -> None:
    module, x = nn.WhiteNoise(2, 0.5), torch.randn(4, 5)
    random.manualSeed(7)
    output = module.forward(x)
    random.manualSeed(7)
    noise = random.normal_(torch.empty(4, 5), 2, 0.5)
    assert torch.equal(module.noise, noise)
    assert torch.equal(output, x + noise)
    assert torch.equal(module.backward(x, x), x)
    assert torch.equal(module.evaluate().forward(x), x + 2)
    assert torch.equal(module.backward(x, x), x)


def test_backward_reads_the_mode_and_the_noise_of_then() -> None:
    module, x = nn.Dropout(0.5), torch.ones(4)
    module.forward(x)
    module.noise.copy_(torch.arange(4.0))
    assert module.backward(x, x).tolist() == [0, 1, 2, 3]
    assert module.evaluate().backward(x, x).tolist() == [1] * 4


def test_lazy_dropout_draws_anew_after_backward() -> None:
    module, x = nn.Dropout(0.5, lazy=True), torch.ones(50)
    first = module.forward(x).clone()
    assert torch.equal(module.forward(x), first)
    assert torch.equal(module.backward(x, x), first)
    assert not torch.equal(module.forward(x), first)


def test_clear_state_drops_the_noise() -> None:
    for module in (nn.Dropout(), nn.RReLU(), nn.WhiteNoise()):
        module.forward(-torch.ones(2, 3))
        assert module.noise.shape == (2, 3)
        assert module.clearState() is module
        assert module.noise.numel() == 0


def test_each_forward_draws_anew_and_keeps_the_graph_of_its_own() -> None:
    net = nn.ConcatTable().add(nn.Dropout(0.5)).add(nn.Dropout(0.5))
    x = torch.ones(10, 10)
    one, other = net.forward(x)
    assert not torch.equal(one, other)
    grad = net.backward(x, [torch.ones(10, 10), torch.ones(10, 10)])
    assert torch.equal(grad, one + other)


def test_files_of_the_first_version_scale_in_evaluation() -> None:
    fields = {"p": 0.25, "noise": torch.empty(0), "train": False}
    module = t7.loads(t7.dumps(t7.TorchObject("nn.Dropout", 1, fields)))
    assert module.forward(torch.ones(4)).tolist() == [0.75] * 4


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (nn.Dropout(), "nn.Dropout(0.500000)"),
        (nn.SpatialDropout(0.25), "nn.SpatialDropout(0.250000)"),
        (nn.VolumetricDropout(0.1), "nn.VolumetricDropout(0.100000)"),
        (nn.WhiteNoise(), "nn.WhiteNoise mean: 0.000000, std: 0.100000"),
    ],
)
def test_prints(module: nn.Module, text: str) -> None:
    assert repr(module) == text


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Dropout(1), ValueError, "p is 1; 0 <= p < 1"),
        (lambda: nn.Dropout().setp(-0.1), ValueError, "p is -0.1"),
        (lambda: nn.Dropout("0.5"), TypeError, "p is '0.5'; a number"),
        (lambda: nn.Dropout(0.5, 1), TypeError, "v1 is 1; True or False"),
        (
            lambda: nn.SpatialDropout().forward(torch.ones(2, 3)),
            ValueError,
            r"nn.SpatialDropout\(0.500000\): input has 2 dimensions; 3 or 4",
        ),
    ],
)
def test_errors(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.cuda
@pytest.mark.parametrize(
    "module", [nn.Dropout(), nn.SpatialDropout(), nn.RReLU(), nn.WhiteNoise(0, 1)], ids=repr
)
def test_on_a_gpu_pytorchs_generator_is_used(module: Any) -> None:
    module = module.clone().cuda()
    x = -torch.ones(2, 8, 4, 4, device="cuda")
    state = random.getRNGState()
    torch.manual_seed(3)
    first = module.forward(x).clone()
    torch.manual_seed(3)
    assert torch.equal(module.forward(x), first)
    assert module.noise.is_cuda
    assert torch.equal(random.getRNGState(), state)
