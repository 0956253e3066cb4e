"""Tensors as pictures, read back by another decoder."""

from __future__ import annotations

import base64
import io

import pytest
import torch
from torch import Tensor

from compat import nn
from compat.viewer import pictures

Image = pytest.importorskip("PIL.Image")


def decoded(told: dict) -> Tensor:
    """The pixels of a sheet, (height, width, 4)."""
    head, _, body = told["address"].partition(",")
    assert head == "data:image/png;base64"
    image = Image.open(io.BytesIO(base64.b64decode(body)))
    assert image.mode == "RGBA" and image.size == (told["width"], told["height"])
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return pixels.view(told["height"], told["width"], 4).long()


def test_bytes_are_what_they_are() -> None:
    image = torch.arange(256, dtype=torch.uint8).view(1, 1, 16, 16)
    pixels = decoded(pictures.sheet(image))
    assert torch.equal(pixels[..., 0], image[0, 0].long()) and (pixels[..., 3] == 255).all()


def test_colours_are_red_green_and_blue() -> None:
    image = torch.zeros(1, 3, 8, 8)
    image[0, 0] = 1
    assert decoded(pictures.sheet(image))[0, 0].tolist() == [255, 0, 0, 255]


def test_other_numbers_are_scaled_over_all_pictures() -> None:
    images = torch.tensor([-2.0, 0, 2]).view(3, 1, 1, 1).expand(3, 1, 4, 4)
    told = pictures.sheet(images)
    pixels = decoded(told)
    assert sorted(set(pixels[pixels[..., 3] == 255][:, 0].tolist())) == [0, 128, 255]
    assert (pixels[..., 3] == 0).any() and told["tile"] == 4


def test_large_pictures_are_thinned_and_many_are_not_shown() -> None:
    told = pictures.sheet(torch.rand(1000, 3, 500, 300))
    assert max(told["width"], told["height"]) < 2000 and decoded(told).numel()
    alone = pictures.sheet(torch.rand(1, 3, 2000, 1000))
    assert alone["height"] <= 512


def test_numbers_that_are_none_are_black() -> None:
    image = torch.full((1, 1, 8, 8), float("nan"))
    image[0, 0, 0, 0] = 1
    assert decoded(pictures.sheet(image))[1, 1].tolist() == [0, 0, 0, 255]


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (nn.SpatialConvolution(3, 8, 5, 5), (8, 3, 5, 5)),
        (nn.SpatialConvolutionMM(3, 8, 5, 5), (8, 3, 5, 5)),
        (nn.SpatialConvolution(1, 100, 5, 5), (64, 1, 5, 5)),
        (nn.SpatialConvolution(4, 8, 5, 5), (32, 1, 5, 5)),
        (nn.SpatialConvolution(32, 8, 5, 5), None),
        (nn.SpatialConvolution(3, 8, 1, 1), None),
        (nn.Linear(75, 8), None),
    ],
)
def test_filters_of_first_convolutions_are_pictures(layer: nn.Module, shape: tuple | None) -> None:
    found = pictures.of_module(layer, "weight", layer.weight)
    assert (None if found is None else tuple(found.shape)) == shape
    assert pictures.of_module(layer, "bias", layer.bias) is None


@pytest.mark.parametrize(
    ("shape", "dtype", "pictured"),
    [
        ((10, 3, 32, 32), torch.float32, (10, 3, 32, 32)),
        ((10, 32, 32, 3), torch.float32, (10, 3, 32, 32)),
        ((3, 64, 48), torch.float32, (1, 3, 64, 48)),
        ((60, 28, 28), torch.uint8, (60, 1, 28, 28)),
        ((28, 28), torch.uint8, (1, 1, 28, 28)),
        ((28, 28), torch.float32, None),
        ((10, 5, 32, 32), torch.float32, None),
        ((5, 4, 4), torch.float32, None),
        ((10, 200, 8), torch.float32, None),
        ((0, 3, 32, 32), torch.float32, None),
        ((100,), torch.uint8, None),
    ],
)
def test_images_of_data_are_pictures(shape: tuple, dtype: torch.dtype, pictured: tuple) -> None:
    found = pictures.of_data(torch.zeros(shape, dtype=dtype))
    assert (None if found is None else tuple(found.shape)) == pictured


def test_elements_that_repeat_take_no_memory() -> None:
    layer = nn.SpatialConvolution(3, 8, 5, 5)
    for shape in ((1 << 20, 1 << 20), (1 << 10, 4, 1 << 20, 1 << 20), (4, 3, 1 << 20, 1 << 20)):
        huge = torch.ones(1).expand(shape)
        assert pictures.of_module(layer, "weight", huge) is None
        found = pictures.of_data(huge)
        assert found is None or decoded(pictures.sheet(found)).numel() < 1 << 20
