"""The networks of `dptable train`."""

from __future__ import annotations

import math

import pytest
import torch

from compat import nn, random
from dptable.models import MODELS, imagenet_resnet, lenet, mlp, resnet


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("size", [(1, 8, 8), (3, 32, 32), (2, 9, 14)])
def test_scores_every_image_for_every_class(build, size):
    model = build(7, *size).float()
    output = model.forward(torch.randn(3, *size))
    assert output.shape == (3, 7)
    assert output.isfinite().all()


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_same_seed_same_weights(build):
    random.manualSeed(5)
    first, _ = build(4, 1, 8, 8).getParameters()
    random.manualSeed(5)
    second, _ = build(4, 1, 8, 8).getParameters()
    assert torch.equal(first, second)


@pytest.mark.parametrize("build", MODELS.values(), ids=MODELS)
def test_images_get_no_gradient(build):
    model = build(4, 1, 8, 8).float()
    images = torch.randn(2, 1, 8, 8)
    model.forward(images)
    model.backward(images, torch.randn(2, 4))
    first = next(module for module in model.modules if module.parameters()[0])
    assert first.gradInput is None


def parameter_count(model: nn.Module) -> int:
    return sum(p.numel() for p in model.parameters()[0])


@pytest.mark.parametrize("depth", [8, 20, 32])
def test_residual_net_has_the_parameters_of_the_paper(depth):
    n = (depth - 2) // 6
    widths = [16, 32, 64]
    convolutions = 3 * 16 + 16 * 16 + 16 * 32 + 32 * 64
    convolutions += sum((2 * n - 1) * w * w for w in widths)
    normalizations = 2 * 16 + sum(2 * n * 2 * w for w in widths)
    expected = 9 * convolutions + normalizations + 64 * 10 + 10
    assert parameter_count(resnet(10, 3, 32, 32, depth)) == expected


def test_residual_net_20_has_269722_parameters():
    assert parameter_count(resnet(10, 3, 32, 32, 20)) == 269_722


def test_shortcuts():
    plain = parameter_count(resnet(10, 3, 32, 32, 8, "A"))
    bridged = plain + 16 * 32 + 32 * 64 + 2 * (32 + 64)
    assert parameter_count(resnet(10, 3, 32, 32, 8, "B")) == bridged
    assert parameter_count(resnet(10, 3, 32, 32, 8, "C")) == bridged + 16 * 16 + 2 * 16


def test_convolutions_of_the_residual_net_start_with_he_weights():
    convolutions, _ = resnet(10, 3, 32, 32, 20).findModules("nn.SpatialConvolution")
    for convolution in convolutions:
        expected = math.sqrt(2 / (9 * convolution.nOutputPlane))
        assert float(convolution.weight.std()) == pytest.approx(expected, rel=0.15)
        assert convolution.bias is None


def test_mlp_has_the_hidden_sizes_asked_for():
    layers, _ = mlp(4, 2, 3, 5, [11, 13]).findModules("nn.Linear")
    assert [tuple(layer.weight.shape) for layer in layers] == [(11, 30), (13, 11), (4, 13)]


@pytest.mark.parametrize("depth", [2, 9, 21])
def test_residual_net_of_another_depth_is_refused(depth):
    with pytest.raises(ValueError, match=rf"depth is {depth}; 6n\+2"):
        resnet(10, 3, 32, 32, depth)


def test_unknown_shortcut_is_refused():
    with pytest.raises(ValueError, match="shortcut_type is 'D'; 'A', 'B' or 'C'"):
        resnet(10, 3, 32, 32, 8, "D")


def test_images_too_small_for_lenet_are_refused():
    with pytest.raises(ValueError, match="images are 3x8; for lenet, 4x4"):
        lenet(10, 1, 3, 8)


PREACTIVATED = {18: 11_687_720, 50: 25_549_352}


@pytest.mark.parametrize(("depth", "expected"), [(18, 11_689_512), (50, 25_557_032)])
def test_imagenet_nets_have_the_parameters_of_the_paper(depth: int, expected: int) -> None:
    assert parameter_count(imagenet_resnet(1000, 3, 224, 224, depth)) == expected
    pre = imagenet_resnet(1000, 3, 224, 224, depth, preactivation=True)
    # Each stage's first shortcut has no normalisation; the last layer's input has one.
    assert parameter_count(pre) == PREACTIVATED[depth]


def test_nets_with_activation_first_compute() -> None:
    nets = [
        (resnet(7, 3, 16, 16, 8, preactivation=True), 16),
        (imagenet_resnet(7, 3, 32, 32, 18, "C", preactivation=True), 32),
    ]
    for net, size in nets:
        input = torch.randn(2, 3, size, size)
        assert net.forward(input).shape == (2, 7)
        assert net.backward(input, torch.ones(2, 7)) is None


def test_imagenet_depths_are_named() -> None:
    with pytest.raises(ValueError, match="depth is 20; 18, 34, 50, 101, 152 or 200 is accepted"):
        imagenet_resnet(10, 3, 64, 64, 20)
