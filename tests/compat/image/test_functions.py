"""compat.image against what Lua Torch7's package image computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from support.golden_data import load_cases

from compat import image

CASES = load_cases("image", "functions")
# Sums whose order is not Torch7's.
ROUNDED = {
    *("convolve", "gaussianpyramid", "rgb2yuv", "yuv2rgb", "rgb2lab", "lab2rgb", "rgb2nrgb"),
    *("gaussian", "gaussian1D", "laplacian", "colormap", "lcn", "affinetransform"),
}


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def called(case: dict[str, Any], *before: Any) -> Any:
    function = getattr(image, case["name"])
    args = case["args"]
    if len(args) == 1 and isinstance(args[0], dict):
        return function(*before, **args[0])
    return function(*before, *args)


@pytest.mark.parametrize("name", sorted({case["name"] for case in CASES}))
def test_results_are_torch7s(name: str) -> None:
    for case in CASES:
        if case["name"] == name:
            found, expected = called(case), case["result"]
            pairs = zip(found, expected, strict=True) if name == "gaussianpyramid" else None
            for a, b in pairs or [(found, expected)]:
                if name in ROUNDED:
                    torch.testing.assert_close(a, b)
                else:
                    torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize(
    "name", ["hflip", "rotate", "translate", "warp", "rgb2y", "rgb2hsv", "rgb2lab", "flip"]
)
def test_a_destination_gets_the_result_and_is_returned(name: str) -> None:
    case = next(c for c in CASES if c["name"] == name and c["args"][0].dtype == torch.float32)
    dst = torch.empty(0, dtype=torch.float32)
    assert called(case, dst) is dst
    torch.testing.assert_close(dst, case["result"])


def test_an_image_can_be_its_own_destination() -> None:
    x = torch.rand(3, 4, 5)
    flipped = x.flip(-1)
    assert image.hflip(x, x) is x
    assert x.equal(flipped)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: image.scale(x, "big"), "size is 'big'; "),
        (lambda x: image.scale(x, 3, 3, "cubic"), "mode is 'cubic'; 'bilinear', 'bicubic' or "),
        (lambda x: image.scale(x.long(), 3), "src is torch.int64; an image of torch.uint8, "),
        (lambda x: image.scale(x[None], 3), r"src has shape \(1, 3, 4, 5\); an image of 2 or 3 "),
        (lambda x: image.scale(x.double(), x), "dst is torch.float64; torch.float32, as src is"),
        (lambda x: image.crop(x, 2, 2, 6, 4), r"\(2, 2\) to \(6, 4\); one inside the image of"),
        (lambda x: image.crop(x, "x", 2, 2), "format is 'x'; 'c', 'tl', 'tr', 'bl' or 'br'"),
        (lambda x: image.crop(x, 2), "2 arguments are given; "),
        (lambda x: image.flip(x, 0), "flip_dim is 0; a whole number from 1 to 3"),
        (lambda x: image.rotate(x, 1, "cubic"), "mode is 'cubic'"),
        (lambda x: image.warp(x, x), r"field has shape \(3, 4, 5\); 2 × height × width"),
        (lambda x: image.warp(x, x[:2], "simple", True, "clamp", 1), '"pad" is accepted'),
        (lambda x: image.rgb2yuv(x.byte()), "input is torch.uint8; a floating point tensor"),
        (lambda x: image.rgb2y(x[:2]), "input has 2 planes; 3 are accepted"),
        (lambda x: image.convolve(x, x.double()), "kernel is torch.float64; torch.float32"),
        (lambda x: image.convolve(x[:, :2], x), r"one that is not larger than the image"),
        (lambda x: image.drawRect(x[:1], 1, 1, 2, 2), "src has 1 planes"),
        (lambda x: image.toDisplayTensor("x"), "input is a str; a tensor or a list of images"),
    ],
)
def test_what_is_not_accepted_is_said(call: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        call(torch.rand(3, 4, 5, dtype=torch.float32))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "simple"])
def test_scaling_keeps_a_plain_image_plain(mode: str) -> None:
    for size in ((1, 1), (1, 7), (9, 4)):
        plain = torch.full((2, *size), 0.25)
        assert image.scale(plain, 5, 3, mode).eq(0.25).all()


def test_colors_there_and_back() -> None:
    x = torch.rand(3, 6, 6)
    for name in ("hsv", "hsl", "lab", "yuv"):
        there, back = getattr(image, f"rgb2{name}"), getattr(image, f"{name}2rgb")
        torch.testing.assert_close(back(there(x)), x, rtol=1e-4, atol=1e-4)


def test_drawing_in_place_and_without_corners() -> None:
    x = torch.zeros(3, 5, 5)
    assert image.drawRect(x, 1, 1) is not x
    assert image.drawRect(x, 2, 2, 4, 4, {"inplace": True}) is x
    assert x[0].gt(0).any() and not x[1].any()


@pytest.mark.parametrize(
    "name, instead", [("lena", "image.load"), ("display", "image.save"), ("getJPGsize", "getSize")]
)
def test_what_is_left_out_says_what_to_do(name: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=rf"image.{name} does not exist here: .*{instead}"):
        getattr(image, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        image.nothing  # noqa: B018
