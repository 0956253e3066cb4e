"""Image files, as compat.image reads and writes them through Pillow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from torch import Tensor

from compat import image

pillow = pytest.importorskip("PIL.Image")


def picture(*size: int) -> Tensor:
    return torch.randint(
        0, 256, size, dtype=torch.uint8, generator=torch.Generator().manual_seed(1)
    )


@pytest.mark.parametrize(
    "suffix, planes", [("png", 1), ("png", 3), ("png", 4), ("PNG", 3), ("ppm", 3), ("pgm", 1)]
)
def test_lossless_files_come_back(tmp_path: Path, suffix: str, planes: int) -> None:
    file, x = tmp_path / f"x.{suffix}", picture(planes, 5, 7)
    image.save(file, x)
    assert image.load(file, None, "byte").equal(x)
    torch.testing.assert_close(image.load(file), x / 255)
    assert image.load(file, None, "double").dtype == torch.float64
    size = image.getSize(str(file))
    assert size.tolist() == [planes, 5, 7] and size.dtype == torch.int64


def test_floats_are_cut_and_rounded_down(tmp_path: Path) -> None:
    x = torch.tensor([[-1.0, 0.0, 0.5, 0.999, 1.0, 2.0]])
    image.save(tmp_path / "x.png", x)
    loaded = image.load(tmp_path / "x.png", None, "byte")
    assert loaded.flatten().tolist() == [0, 0, 127, 254, 255, 255]


def test_jpeg_is_what_libjpeg_makes_of_quality_75(tmp_path: Path) -> None:
    x = image.scale(picture(3, 4, 4), 24, 16)
    image.save(tmp_path / "x.jpg", x)
    data = image.compressJPG(x)
    assert data.dtype == torch.uint8 and bytes(data.tolist()) == (tmp_path / "x.jpg").read_bytes()
    assert image.decompress(data, 3, "byte").equal(image.load(tmp_path / "x.jpg", 3, "byte"))
    assert image.decompressJPG(data, None, "byte").float().sub(x).abs().mean() < 8
    assert len(image.compressJPG(x, 10)) < len(data)


def test_png_bytes_come_back() -> None:
    x = picture(3, 5, 7)
    assert image.decompress(image.compressPNG(x), None, "byte").equal(x)
    assert image.decompressPNG(image.compressPNG(x[:1]), 3, "byte").equal(x[:1].repeat(3, 1, 1))


def test_depths(tmp_path: Path) -> None:
    """A coloured image made grey loses a dimension, as in Torch7; a grey one keeps its."""
    rgb, rgba, grey = picture(3, 4, 5), picture(4, 4, 5), picture(1, 4, 5)
    for name, x in (("rgb", rgb), ("rgba", rgba), ("grey", grey)):
        image.save(tmp_path / f"{name}.png", x)
    assert image.load(tmp_path / "rgb.png", 1, "byte").equal(image.rgb2y(rgb)[0])
    assert image.load(tmp_path / "rgba.png", 3, "byte").equal(rgba[:3])
    assert image.load(tmp_path / "grey.png", 1, "byte").equal(grey)
    assert image.load(tmp_path / "grey.png", 3, "byte").equal(grey.repeat(3, 1, 1))


def test_palettes_two_colors_and_sixteen_bits(tmp_path: Path) -> None:
    pixels = picture(6, 6, 3).numpy()
    palette = pillow.fromarray(pixels).quantize(9)
    palette.save(tmp_path / "palette.png")
    expected = torch.from_numpy(numpy.array(palette.convert("RGB"))).permute(2, 0, 1)
    assert image.load(tmp_path / "palette.png", None, "byte").equal(expected)
    assert image.getSize(tmp_path / "palette.png").tolist() == [3, 6, 6]

    pillow.fromarray(pixels[..., 0]).convert("1").save(tmp_path / "two.png")
    assert set(image.load(tmp_path / "two.png", None, "byte").flatten().tolist()) <= {0, 255}

    deep = numpy.array([[0, 255, 256, 65535]], dtype=numpy.uint16)
    pillow.fromarray(deep).save(tmp_path / "deep.png")
    assert image.load(tmp_path / "deep.png", None, "byte").flatten().tolist() == [0, 0, 1, 255]
    loaded = image.load(tmp_path / "deep.png", None, "double").flatten()
    torch.testing.assert_close(loaded, torch.tensor(deep[0] / 65535))


def test_four_colors_of_print_are_the_numbers_of_the_file(tmp_path: Path) -> None:
    """As libjpeg gives them: Adobe's files hold them inverted."""
    pillow.new("CMYK", (8, 8), (200, 100, 50, 0)).save(tmp_path / "x.jpg", quality=100)
    loaded = image.load(tmp_path / "x.jpg", None, "byte")
    assert (loaded[:, 4, 4].int() - torch.tensor([55, 155, 205, 255])).abs().max() <= 2


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda d: image.load(d / "none.png"), FileNotFoundError, "none.png"),
        (lambda d: image.load(d / "text.png"), ValueError, "JPEG or PNG or PPM is accepted"),
        (lambda d: image.load(d / "x.png", 3, "half"), ValueError, "tensortype is 'half'"),
        (lambda d: image.loadJPG(d / "x.png"), ValueError, "JPEG is accepted"),
        (lambda d: image.save(d / "x.gif", picture(2, 2)), ValueError, "ends in .jpg, .jpeg"),
        (lambda d: image.save(d / "x.jpg", picture(4, 2, 2)), ValueError, "tensor has 4 planes"),
        (lambda d: image.savePPM(d / "x", picture(1, 2, 2)), ValueError, "tensor has 1 planes"),
        (lambda d: image.decompress(torch.rand(9)), TypeError, "tensor is torch.float32; bytes"),
        (lambda d: image.decompress(picture(9)), ValueError, "tensor is no image"),
        (lambda d: image.compressJPG(picture(2, 2), 101), ValueError, "quality is 101"),
    ],
)
def test_what_cannot_be_read_or_written(
    tmp_path: Path, call: Any, error: type[Exception], message: str
) -> None:
    (tmp_path / "text.png").write_text("no picture")
    image.save(tmp_path / "x.png", picture(2, 2))
    with pytest.raises(error, match=message):
        call(tmp_path)
    assert not (tmp_path / "x.jpg").exists()


def test_without_pillow_files_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"dptable\[image\]"):
        image.load("x.png")
    assert image.hflip(torch.ones(2, 2)).equal(torch.ones(2, 2))


def test_suffixes() -> None:
    assert image.is_supported("JPEG") and not image.is_supported("gif")


def test_another_depth_than_1_and_3_changes_nothing(tmp_path: Path) -> None:
    image.save(tmp_path / "x.png", picture(2, 2))
    assert image.load(tmp_path / "x.png", 4).equal(image.load(tmp_path / "x.png"))
