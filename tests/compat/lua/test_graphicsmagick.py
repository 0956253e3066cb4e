"""Package graphicsmagick: pictures in and out of tensors, in other sizes, sharper and smoother."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import torch

from compat import lua

pytestmark = pytest.mark.needs("PIL")


@pytest.fixture
def gm(runtime: lua.Runtime) -> lua.Runtime:
    runtime.execute("gm = require 'graphicsmagick'")
    return runtime


def _picture(*size: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(*size, generator=generator, dtype=torch.float32)


@pytest.mark.parametrize(
    ("letters", "order", "size"),
    [("RGB", "DHW", (3, 5, 4)), ("BGRA", "HWD", (5, 4, 4)), ("I", "DHW", (1, 5, 4))],
)
def test_tensors_go_in_and_out(
    gm: lua.Runtime, letters: str, order: str, size: tuple[int, ...]
) -> None:
    x = _picture(*size)
    code = "local x, l, o = ... return gm.Image(x, l, o):toTensor('double', l, o)"
    result = gm.execute(code, x, letters, order)
    torch.testing.assert_close(result, x.double(), atol=1e-5, rtol=0)
    width, height = gm.execute(
        "local x, l, o = ... return gm.Image(x, l, o):size()", x, letters, order
    )
    assert (width, height) == (4, 5)


def test_files_are_those_that_pillow_reads(gm: lua.Runtime, tmp_path: Path) -> None:
    from PIL import Image

    x = _picture(3, 6, 7)
    gm.execute("local x, name = ... gm.save(name, x)", x, str(tmp_path / "x.png"))
    with Image.open(tmp_path / "x.png") as image:
        assert (image.mode, image.size) == ("RGB", (7, 6))
    back = gm.execute("return gm.load(..., 'byte')", str(tmp_path / "x.png"))
    assert torch.equal(back, x.mul(255).round().byte())
    blob = gm.execute(
        "return gm.Image((...), 'I', 'DHW'):type('Grayscale'):format('PNG'):toString()", x[:1]
    )
    with Image.open(io.BytesIO(blob.encode("latin-1"))) as image:
        assert image.mode == "L"
    sizes = gm.execute(
        """local im = gm.Image((...), 'RGB', 'DHW'):format('jpeg')
        local rough, fine = im:toString(10), im:toString(95)
        local blob, n = im:toBlob(95)
        return {#rough, #fine, n, (gm.Image():fromBlob(blob, n):size())}""",
        x,
    )
    assert sizes[0] < sizes[1] == sizes[2]
    assert sizes[3] == 7
    with pytest.raises(lua.LuaError, match="cannot be read"):
        gm.execute("gm.Image(...)", str(tmp_path / "none.png"))


@pytest.mark.parametrize(
    ("name", "pillow"),
    [("Box", "BOX"), ("Triangle", "BILINEAR"), ("Catrom", "BICUBIC"), ("Lanczos", "LANCZOS")],
)
@pytest.mark.parametrize("size", [(6, 4), (26, 16)])
def test_filters_are_those_of_pillow(
    gm: lua.Runtime, name: str, pillow: str, size: tuple[int, int]
) -> None:
    from PIL import Image

    x = _picture(12, 14)
    result = gm.execute(
        """local x, w, h, filter = ...
        return gm.Image(x, 'I', 'DHW'):size(w, h, filter):toTensor('float', 'I', 'DHW')""",
        x[None],
        *size,
        name,
    )
    wanted = Image.fromarray(x.numpy()).resize(size, getattr(Image.Resampling, pillow))
    expected = torch.from_numpy(np.array(wanted))[None].clamp(0, 1)
    torch.testing.assert_close(result, expected, atol=2e-4, rtol=0)


def test_a_side_alone_keeps_the_proportions(gm: lua.Runtime) -> None:
    sizes = gm.execute(
        """local x, sizes = ..., {}
        for _, side in ipairs{{8}, {nil, 8}} do
           local w, h = gm.Image(x, 'RGB', 'DHW'):size(side[1], side[2]):size()
           sizes[#sizes + 1] = w .. 'x' .. h
        end
        return sizes""",
        _picture(3, 16, 32),
    )
    assert sizes == ["8x4", "16x8"]


def test_changes(gm: lua.Runtime) -> None:
    x = _picture(3, 6, 8)

    def changed(call: str) -> torch.Tensor:
        return gm.execute(f"return gm.Image((...), 'RGB', 'DHW'):{call}:toTensor()", x)

    def close(found: torch.Tensor, expected: torch.Tensor) -> None:
        torch.testing.assert_close(found, expected, atol=4e-5, rtol=0)

    close(changed("flip()"), x.flip(1))
    close(changed("flop()"), x.flip(2))
    close(changed("rotate(90)"), x.rot90(-1, (1, 2)))
    close(changed("crop(4, 3, 2, 1)"), x[:, 1:4, 2:6])
    close(changed("negate()"), 1 - x)
    close(changed("gammaCorrection(2)"), x.sqrt())
    smooth = changed("blur(0, 1)")
    assert smooth.std() < x.std()
    close(changed("unsharpMask(0, 1, 0.5, 0)"), (x + 0.5 * (x - smooth)).clamp(0, 1))
    assert changed("sharpen(0, 1)").std() > x.std()
    with pytest.raises(lua.LuaError, match="angle is 30"):
        changed("rotate(30)")
    with pytest.raises(lua.LuaError, match="filter is 'Bezier'"):
        changed("size(4, 4, 'Bezier')")


@pytest.mark.parametrize(
    ("planes", "kind"),
    [
        (_picture(3, 4, 4), "TrueColor"),
        (_picture(1, 4, 4), "Grayscale"),
        (torch.ones(1, 4, 4), "Bilevel"),
    ],
)
def test_the_type_is_found_from_the_pixels(
    gm: lua.Runtime, planes: torch.Tensor, kind: str
) -> None:
    letters = "RGB" if len(planes) == 3 else "I"
    assert (
        gm.execute("return gm.Image((...), select(2, ...), 'DHW'):type()", planes, letters) == kind
    )
