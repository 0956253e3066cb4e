"""Layers that prepare, vary and crop images; tests/golden/dpnn has what they compute in Torch7."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from compat import nn, random


def test_resampling_is_bilinear_and_goes_back_without_going_forward() -> None:
    images = torch.randn(2, 3, 5, 6)
    module = nn.SpatialReSampling({"oheight": 9, "owidth": 4})
    other = nn.SpatialUpSamplingBilinear({"oheight": 9, "owidth": 4})
    assert torch.equal(module.forward(images), other.forward(images))
    assert torch.equal(module.forward(images[0]), other.forward(images[0]))
    gradOutput = torch.randn(2, 3, 9, 4)
    other.forward(images)
    gradInput = nn.SpatialReSampling({"rheight": 1, "rwidth": 1}).updateGradInput(
        images, gradOutput
    )
    assert torch.equal(gradInput, other.backward(images, gradOutput))
    ratio = nn.SpatialReSampling({"rheight": 2, "rwidth": 0.5})
    assert ratio.forward(images).shape == (2, 3, 10, 3)
    net = nn.Sequential(nn.SpatialConvolution(3, 1, 1, 1), module)
    assert net.backward(images, torch.ones_like(net.forward(images))).shape == images.shape
    torch.testing.assert_close(net.to_torch()(images), net.output)
    with pytest.raises(ValueError, match="params has no owidth and no rwidth"):
        nn.SpatialReSampling({"oheight": 9})


def test_modes_without_noise() -> None:
    images = torch.randn(2, 3, 5, 6)
    for module in (
        nn.SimpleColorTransform(3, torch.ones(3)),
        nn.PCAColorTransform(3, torch.eye(3), torch.ones(3)),
        nn.SpatialRegionDropout(),
        nn.TotalDropout(),
    ):
        module.evaluate()
        assert torch.equal(module.forward(images), images)
        assert torch.equal(module.backward(images, images), images)


def test_each_image_gets_a_colour_of_its_own() -> None:
    random.manualSeed(1)
    module = nn.SimpleColorTransform(2, torch.tensor([1.0, 3.0]))
    added = module.forward(torch.zeros(200, 2, 2, 2))
    assert torch.equal(added, module.noise.view(200, 2, 1, 1).expand(200, 2, 2, 2))
    bounds = module.noise.abs().max(0)[0]
    assert (bounds > torch.tensor([0.9, 2.7])).all() and (bounds < torch.tensor([1.0, 3.0])).all()


def test_all_sides_lose_their_edge() -> None:
    module, input = nn.SpatialRegionDropout(0.25), torch.ones(1, 4, 8)
    seen = {}
    for seed in range(40):
        random.manualSeed(seed)
        output = module.forward(input)
        assert output.sum() == pytest.approx(32)
        seen[module.regionType] = (output[0] == 0).nonzero().tolist()
    assert seen[1] == [[0, x] for x in range(8)] and seen[2] == [[3, x] for x in range(8)]
    assert seen[3] == [[y, x] for y in range(4) for x in (0, 1)]
    assert seen[4] == [[y, x] for y in range(4) for x in (6, 7)]


def test_crops_are_where_they_say() -> None:
    images = torch.arange(2 * 1 * 7 * 9.0).view(2, 1, 7, 9)
    module = nn.SpatialUniformCrop(3, 4)
    output = module.forward(images)
    for image, crop, (row, column) in zip(images, output, module.coord.tolist(), strict=True):
        assert torch.equal(crop, image[:, row - 1 : row + 2, column - 1 : column + 3])
    module.evaluate()
    whole = nn.SpatialUniformCrop(7, 9).evaluate()
    assert torch.equal(whole.forward(images), images)
    with pytest.raises(ValueError, match="input has planes of 7 x 9; such that have 8 x 8"):
        nn.SpatialUniformCrop(8).evaluate().forward(images)
    with pytest.raises(TypeError, match="scale is a list; a table of two numbers"):
        nn.SpatialUniformCrop(3, 3, [1])


def test_a_glimpse_at_the_middle_is_what_lies_there() -> None:
    images = torch.randn(2, 3, 8, 8)
    middle = torch.zeros(2, 2)
    output = nn.SpatialGlimpse(4, 2).forward([images, middle])
    assert output.shape == (2, 6, 4, 4)
    torch.testing.assert_close(output[:, :3], images[:, :, 2:6, 2:6])
    padded = torch.nn.functional.pad(images, (3, 3, 3, 3))[:, :, 3:11, 3:11]
    torch.testing.assert_close(output[:, 3:], torch.nn.functional.avg_pool2d(padded, 2))
    single = nn.SpatialGlimpse(4, 2).forward([images[0], middle[0]])
    torch.testing.assert_close(single, output[0])


def test_a_glimpse_takes_another_module() -> None:
    module = nn.SpatialGlimpse(4, 2)
    module.module = nn.SpatialReSampling({"oheight": 4, "owidth": 4})
    images, places = torch.randn(1, 2, 8, 8), torch.zeros(1, 2)
    output = module.forward([images, places])
    gradInput, gradPlaces = module.backward([images, places], output)
    assert gradInput.any() and not gradPlaces.any()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.SpatialFeatNormalization(torch.ones(2, 2)), "mean has size"),
        (lambda: nn.SpatialFeatNormalization(torch.ones(2), torch.ones(3)), "std has size"),
        (lambda: nn.SimpleColorTransform(3, torch.ones(2)), "range has 2 elements"),
        (lambda: nn.PCAColorTransform(3, torch.eye(2), torch.ones(3)), "eigenVectors has size"),
        (lambda: nn.SpatialGlimpse([1, 2, 3]), "size is"),
        (lambda: nn.SpatialRegionDropout(1), "p is 1; 0 <= p < 1 is accepted"),
        (lambda: nn.TotalDropout(-1), "p is -1; 0 <= p < 1 is accepted"),
        (lambda: nn.FireModule(2, 2, 2, 2, "Linears"), "activation is 'Linears'"),
        (
            lambda: nn.SpatialFeatNormalization(torch.ones(2)).forward(torch.ones(3, 4, 4)),
            "input has 3 planes; 2 are accepted",
        ),
        (
            lambda: nn.SpatialGlimpse(2).forward([torch.ones(1, 1, 4, 4), torch.ones(2)]),
            r"input\[2\] has size",
        ),
    ],
)
def test_wrong_arguments(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("scale", [None, [1.2, 1.6]])
def test_gradients_of_a_crop_go_where_it_was_taken(scale: Any) -> None:
    random.manualSeed(3)
    images = torch.zeros(2, 1, 9, 9)
    module = nn.SpatialUniformCrop(3, 4, scale)
    module.forward(images)
    module.evaluate()
    gradInput = module.backward(images, torch.ones(2, 1, 3, 4))
    for gradient in gradInput[:, 0]:
        assert gradient.sum() == pytest.approx(12)
        assert 12 <= gradient.count_nonzero() <= 5 * 7
    module.forward(images)
    middle = module.backward(images, torch.ones(2, 1, 3, 4))
    assert middle[0, 0].nonzero()[0].tolist() == [2, 2]
    with pytest.raises(ValueError, match="gradOutput has size"):
        module.updateGradInput(images, torch.ones(2, 1, 4, 3))
    with pytest.raises(RuntimeError, match="with as many images"):
        module.updateGradInput(images[:1], torch.ones(1, 1, 3, 4))
