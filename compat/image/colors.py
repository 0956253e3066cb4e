"""Convert colours: RGB, YUV, HSV, HSL, Lab and grey."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.checks import check_floating
from compat.image.arguments import check_image, narrowed, wide, with_destination

# Of CIE's Lab: where the cube root begins, the slope below, and D65's white.
_EPSILON, _SLOPE = 216 / 24389, 24389 / 27
_WHITE = (0.950456, 1.0, 1.088754)
_TO_XYZ = (
    (0.412453, 0.357580, 0.180423),
    (0.212671, 0.715160, 0.072169),
    (0.019334, 0.119193, 0.950227),
)
_FROM_XYZ = (
    (3.2404542, -1.5371385, -0.4985314),
    (-0.9692660, 1.8760108, 0.0415560),
    (0.0556434, -0.2040259, 1.0572252),
)
_TO_YUV = ((0.299, 0.587, 0.114), (-0.14713, -0.28886, 0.436), (0.615, -0.51499, -0.10001))
_FROM_YUV = ((1, 0, 1.13983), (1, -0.39465, -0.58060), (1, 2.03211, 0))

_Rows = tuple[tuple[float, float, float], ...]


def _planes(input: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the three planes as Torch7 computes with them: those of byte images from 0 to 1."""
    _check(input)
    scaled = input.to(wide(input.dtype))
    r, g, b = scaled / 255 if input.dtype == torch.uint8 else scaled
    return r, g, b


def _check(input: Tensor, floating: bool = False) -> None:
    check_image(input, "input", (3,))
    if floating:
        check_floating(input, "input")
    if input.shape[0] != 3:
        raise ValueError(f"input has {input.shape[0]} planes; 3 are accepted")


def _image(planes: list[Tensor], like: Tensor) -> Tensor:
    values = torch.stack(planes)
    return narrowed(values * 255 if like.dtype == torch.uint8 else values, like.dtype)


def _mixed(rows: _Rows, planes: tuple[Tensor, ...]) -> list[Tensor]:
    first, second, third = planes
    return [a * first + b * second + c * third for a, b, c in rows]


@with_destination()
def rgb2yuv(input: Tensor) -> Tensor:
    """Convert RGB to YUV (Torch7: ``image.rgb2yuv``).

    Args:
        input: an image, 3×H×W, of a floating-point type; a destination may come before it. (Torch7
            accepts bytes, too, and makes them 0.)
    """
    _check(input, floating=True)
    return torch.stack(_mixed(_TO_YUV, input.unbind()))


@with_destination()
def yuv2rgb(input: Tensor) -> Tensor:
    """Convert YUV to RGB (Torch7: ``image.yuv2rgb``); see ``rgb2yuv``."""
    _check(input, floating=True)
    return torch.stack(_mixed(_FROM_YUV, input.unbind()))


@with_destination()
def rgb2y(input: Tensor) -> Tensor:
    """Convert RGB to grey, the Y of YUV (Torch7: ``image.rgb2y``).

    Args:
        input: an image, 3×H×W; a destination may come before it.

    Returns:
        An image of one plane, 1×H×W.
    """
    _check(input)
    (grey,) = _mixed(_TO_YUV[:1], input.double().unbind())
    return narrowed(grey.to(wide(input.dtype)), input.dtype)[None]


def _hue(planes: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the hue from 0 to 1, the largest and the smallest plane, and where these are equal."""
    r, g, b = planes
    most, least = torch.maximum(torch.maximum(r, g), b), torch.minimum(torch.minimum(r, g), b)
    d = most - least
    of_red = (g - b) / d + torch.where(g < b, 6, 0)
    hue = torch.where(most == r, of_red, torch.where(most == g, (b - r) / d + 2, (r - g) / d + 4))
    grey = most == least
    return torch.where(grey, 0, hue / 6), most, least, grey


@with_destination()
def rgb2hsl(input: Tensor) -> Tensor:
    """Convert RGB to hue, saturation and lightness, from 0 to 1 (Torch7: ``image.rgb2hsl``).

    Args:
        input: an image, 3×H×W, from 0 to 1, or 255 for bytes; a destination may come before it.
    """
    h, most, least, grey = _hue(_planes(input))
    d = most - least
    lightness = (most + least) / 2
    s = torch.where(lightness > 0.5, d / (2 - most - least), d / (most + least))
    return _image([h, torch.where(grey, 0, s), torch.where(grey, most, lightness)], input)


@with_destination()
def rgb2hsv(input: Tensor) -> Tensor:
    """Convert RGB to hue, saturation and value (Torch7: ``image.rgb2hsv``); see ``rgb2hsl``.

    Args:
        input: an image, 3×H×W, with values from 0 to 1.
    """
    h, most, least, grey = _hue(_planes(input))
    return _image([h, torch.where(grey, 0, (most - least) / most), most], input)


@with_destination()
def hsl2rgb(input: Tensor) -> Tensor:
    """Convert hue, saturation and lightness to RGB (Torch7: ``image.hsl2rgb``); see ``rgb2hsl``."""
    h, s, lightness = _planes(input)
    q = torch.where(lightness < 0.5, lightness * (1 + s), lightness + s - lightness * s)
    p = 2 * lightness - q
    third = 1 / 3
    colors = [_of_hue(p, q, (h.double() + turn).to(h.dtype)) for turn in (third, 0, -third)]
    return _image([torch.where(s == 0, lightness, color) for color in colors], input)


def _of_hue(p: Tensor, q: Tensor, t: Tensor) -> Tensor:
    t = torch.where(t < 0, t + 1, t)
    t = torch.where(t > 1, t - 1, t)
    rise, exact = (q - p).double(), t.double()
    up = p + rise * 6 * exact
    down = p + rise * (2 / 3 - exact) * 6
    value = torch.where(exact < 1 / 6, up, torch.where(exact < 1 / 2, q.double(), down))
    return torch.where(exact < 2 / 3, value, p.double()).to(p.dtype)


@with_destination()
def hsv2rgb(input: Tensor) -> Tensor:
    """Convert hue, saturation and value to RGB (Torch7: ``image.hsv2rgb``); see ``rgb2hsl``."""
    h, s, v = _planes(input)
    sector = (h.double() * 6).floor()
    f = (h * 6 - sector).to(h.dtype)
    p, q, t = v * (1 - s), v * (1 - f * s), v * (1 - (1 - f) * s)
    of = sector.fmod(6).long()

    def choice(*values: Tensor) -> Tensor:
        # A negative hue is none of the six sectors.
        all = torch.stack([*values, torch.zeros_like(v)])
        return all.gather(0, torch.where(of < 0, 6, of)[None])[0]

    return _image(
        [choice(v, q, p, p, t, v), choice(t, v, v, q, p, p), choice(p, p, t, v, v, q)], input
    )


@with_destination()
def rgb2lab(input: Tensor) -> Tensor:
    """Convert sRGB to CIE's Lab (Torch7: ``image.rgb2lab``).

    Args:
        input: an image, 3×H×W, of a floating-point type, from 0 to 1; a destination may come before
            it.

    Returns:
        An image of the lightness from 0 to 100 and the two axes of colour.
    """
    _check(input, floating=True)
    x = input.double()
    linear = torch.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4).to(input.dtype)
    scaled = [
        plane / white
        for plane, white in zip(_mixed(_TO_XYZ, linear.double().unbind()), _WHITE, strict=True)
    ]
    x, y, z = (torch.where(v > _EPSILON, v ** (1 / 3), (_SLOPE * v + 16) / 116) for v in scaled)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)]).to(input.dtype)


@with_destination()
def lab2rgb(input: Tensor) -> Tensor:
    """Convert CIE's Lab to sRGB (Torch7: ``image.lab2rgb``); see ``rgb2lab``.

    Args:
        input: an image of Lab, 3×H×W.
    """
    _check(input, floating=True)
    lightness, a, b = input.unbind()
    fy, to_x, to_z = (part.double() for part in ((lightness + 16) / 116, a / 500, b / 200))
    fx, fz = fy + to_x, fy - to_z
    x, z = (torch.where(f**3 <= _EPSILON, (116 * f - 16) / _SLOPE, f**3) for f in (fx, fz))
    y = torch.where(lightness > _SLOPE * _EPSILON, fy**3, lightness.double() / _SLOPE)
    planes = tuple(v * white for v, white in zip((x, y, z), _WHITE, strict=True))
    v = torch.stack(_mixed(_FROM_XYZ, planes)).to(input.dtype).double()
    root = v.clamp(min=0) ** (1 / 2.4)
    return torch.where(v <= 0.0031308, 12.92 * v, 1.055 * root - 0.055).to(input.dtype)


@with_destination()
def rgb2nrgb(input: Tensor) -> Tensor:
    """Divide RGB by the sum of the three planes (Torch7: ``image.rgb2nrgb``); see ``rgb2yuv``.

    Args:
        input: an image, 3×H×W.
    """
    _check(input, floating=True)
    return input / (input.sum(0) + 1e-6)
