"""Resample images: rotated, in polar coordinates, warped."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_choice, check_tensor
from compat.image.arguments import (
    check_destination,
    check_image,
    narrowed,
    single,
    wide,
    with_destination,
)
from compat.image.scaling import cubic

# The reach of Lanczos' kernel, in pixels.
_REACH = 3


@with_destination()
def rotate(src: Tensor, theta: float, mode: str = "simple") -> Tensor:
    """Rotate an image clockwise around its middle (Torch7: ``image.rotate``).

    Pixels from outside the image are 0. As in Torch7, this computes in single precision.

    Args:
        src: an image, H×W or K×H×W; a destination may come before it.
        theta: the angle, in radians.
        mode: ``"simple"``, the nearest pixel, or ``"bilinear"``.
    """
    check_choice(mode, "mode", ("simple", "bilinear"))
    height, width = check_image(src).shape[-2:]
    angle = float(torch.tensor(theta, dtype=torch.float32))
    x0, y0 = (width - 1) / 2, (height - 1) / 2
    x = torch.arange(width, dtype=torch.float32) - x0
    y = (torch.arange(height, dtype=torch.float32) - y0)[:, None]
    if mode == "simple":
        cos, sin = torch.tensor([math.cos(angle), math.sin(angle)], dtype=torch.float32)
        return _pixels(src, _rounded(cos * x - sin * y + x0), _rounded(cos * y + sin * x + y0))
    cos, sin = math.cos(angle), math.sin(angle)
    x, y = x.double(), y.double()
    exact = wide(src.dtype)
    across, inside_x = _neighbours((cos * x - sin * y).to(exact) + x0, width)
    down, inside_y = _neighbours((cos * y + sin * x).to(exact) + y0, height)
    return _between(src, across, down, inside_x & inside_y)


def _rounded(values: Tensor) -> Tensor:
    """Round to the nearest whole number, halves away from 0."""
    values = values.double()
    return (values.abs() + 0.5).floor().mul(values.sign()).long()


_Between = tuple[Tensor, Tensor, Tensor]


def _neighbours(place: Tensor, size: int) -> tuple[_Between, Tensor]:
    """Return the two pixels around each place, for ``_between``, and whether it is in the image.

    Up to half a pixel outside the image, both are the pixel of the edge.
    """
    first = place.floor().long()
    second, weight = first + 1, place - first
    at_start, at_end = (first == -1) & (weight > 0.5), (second == size) & (weight < 0.5)
    inside = ((first >= 0) | at_start) & ((second < size) | at_end)
    pair = torch.where(at_start, second, first), torch.where(at_end, first, second)
    return (*pair, weight), inside


def _flat(src: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Return the pixels at ``y`` and ``x``, which may lie outside, where any pixel stands
    for them.
    """
    height, width = src.shape[-2:]
    index = y.clamp(0, height - 1) * width + x.clamp(0, width - 1)
    planes = src.reshape(*src.shape[:-2], height * width)
    return planes.index_select(-1, index.flatten().to(src.device)).unflatten(-1, index.shape)


def _pixels(src: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return the pixels at whole places, 0 outside the image."""
    height, width = src.shape[-2:]
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    return torch.where(inside.to(src.device), single(_flat(src, y, x)), 0)


def _between(src: Tensor, across: _Between, down: _Between, inside: Tensor) -> Tensor:
    """Interpolate between four pixels, in doubles where Torch7 does, then in floats.

    ``across`` and ``down`` are the numbers of two columns or rows, and the weight of the second.
    """
    left, right, wi = across
    top, bottom, wj = down
    wi, wj = wi.to(src.device), wj.to(src.device)
    di, dj = wi.double(), wj.double()
    image = src.to(wide(src.dtype))
    values = (
        (1 - di) * (1 - dj) * _flat(image, top, left)
        + di * (1 - dj) * _flat(image, top, right)
        + (1 - di) * dj * _flat(image, bottom, left)
        + wi * wj * _flat(image, bottom, right)
    )
    return narrowed(torch.where(inside.to(src.device), values, 0).float(), src.dtype)


def polar(*args: Any) -> Tensor:
    """Return an image in polar coordinates around its middle (Torch7: ``image.polar``).

    Rows are angles, columns distances. (In Torch7 both names must be given: its defaults are
    exchanged and fail.)

    ::

        polar([dst], src, [interpolation], [mode])

    Args:
        dst: receives the result; default: a square image of the longer side of ``src``.
        src: an image, H×W or K×H×W.
        interpolation: ``"simple"``, the default, or ``"bilinear"``.
        mode: ``"valid"``, the default: distances up to the nearer edge; ``"full"``: up to the
            corners, with 0 for pixels outside the image.
    """
    return _polar(args, logarithmic=False)


def logpolar(*args: Any) -> Tensor:
    """Do ``polar`` with the logarithm of the distance (Torch7: ``image.logpolar``)."""
    return _polar(args, logarithmic=True)


def _polar(args: tuple[Any, ...], logarithmic: bool) -> Tensor:
    names = [arg for arg in args if isinstance(arg, str)]
    images = [arg for arg in args if not isinstance(arg, str)]
    interpolation, mode = (*names, *("simple", "valid")[len(names) :])
    check_choice(interpolation, "interpolation", ("simple", "bilinear"))
    check_choice(mode, "mode", ("valid", "full"))
    src = check_image(images[-1] if images else None)
    height, width = src.shape[-2:]
    rows, columns = 2 * [max(height, width)]
    if len(images) > 1:
        rows, columns = check_image(check_destination(images[0], src), "dst").shape[-2:]
    y0, x0 = height / 2, width / 2
    reach = math.hypot(width, height) / 2 if mode == "full" else (x0 if width < height else y0)
    angle = (2 * math.pi * torch.arange(rows).double() / rows).float().double()[:, None]
    step = torch.arange(columns, dtype=torch.float32)
    if logarithmic:
        factor = torch.tensor(math.log(reach) / columns, dtype=torch.float32)
        distance = (step * factor).double().exp().float()
    else:
        distance = step * torch.tensor(reach, dtype=torch.float32) / columns
    y, x = distance.double() * angle.cos() + y0, -distance.double() * angle.sin() + x0
    if interpolation == "bilinear":
        exact = torch.float32 if logarithmic else wide(src.dtype)
        y, x = y.to(exact), x.to(exact)
    i, j = x.floor().long(), y.floor().long()
    result = _pixels(src, i, j)
    if interpolation == "bilinear":
        four = (i >= 0) & (i + 1 < width) & (j >= 0) & (j + 1 < height)
        inner = _between(src, (i, i + 1, x - i), (j, j + 1, y - j), four)
        result = torch.where(four.to(src.device), inner, result)
    return images[0].copy_(result) if len(images) > 1 else result


@with_destination(2)
def warp(
    src: Tensor,
    field: Tensor,
    mode: str = "bilinear",
    offset_mode: bool = True,
    clamp_mode: str = "clamp",
    pad_value: float | None = None,
) -> Tensor:
    """Return an image whose pixels come from given places (Torch7: ``image.warp``).

    Args:
        src: an image, H×W or K×H×W; a destination may come before it.
        field: the places, 2×h×w, y before x, of a floating-point type or that of ``src``.
        mode: ``"simple"``, ``"bilinear"``, ``"bicubic"`` or ``"lanczos"``.
        offset_mode: whether the field has distances from each pixel instead of places.
        clamp_mode: the value of places outside the image: ``"clamp"``, that of the nearest place
            inside, or ``"pad"``, ``pad_value``.
        pad_value: 0 by default; only for ``"pad"``.

    Returns:
        An image, h×w or K×h×w.
    """
    check_choice(mode, "mode", _WARPS)
    check_choice(clamp_mode, "clamp_mode", ("clamp", "pad"))
    if pad_value is not None and clamp_mode != "pad":
        raise ValueError('clamp_mode is "clamp"; with a pad_value, "pad" is accepted')
    height, width = check_image(src).shape[-2:]
    check_tensor(field, "field")
    if field.dim() != 3 or field.shape[0] != 2:
        raise ValueError(f"field has shape {tuple(field.shape)}; 2 × height × width is accepted")
    y, x = field.to(src.device).float()
    if offset_mode:
        y = y + torch.arange(y.shape[0], device=y.device)[:, None]
        x = x + torch.arange(x.shape[1], device=x.device)
    outside = (y < 0) | (y > height - 1) | (x < 0) | (x > width - 1)
    y, x = y.clamp(0, height - 1), x.clamp(0, width - 1)
    pad = torch.tensor(pad_value or 0).to(src.dtype)
    result = _WARPS[mode](src, y, x, pad)
    return torch.where(outside, pad.to(src.device), result) if clamp_mode == "pad" else result


def _simple(src: Tensor, y: Tensor, x: Tensor, pad: Tensor) -> Tensor:
    return _flat(src, (y.double() + 0.5).floor().long(), (x.double() + 0.5).floor().long())


def _bilinear(src: Tensor, y: Tensor, x: Tensor, pad: Tensor) -> Tensor:
    image = src.to(wide(src.dtype))
    i, j = x.floor().long(), y.floor().long()
    left, right, top, bottom = (i + 1) - x, x - i, (j + 1) - y, y - j
    values = (
        _flat(image, j, i) * (left * top)
        + _flat(image, j, i + 1) * (right * top)
        + _flat(image, j + 1, i) * (left * bottom)
        + _flat(image, j + 1, i + 1) * (right * bottom)
    )
    return narrowed(values, src.dtype)


def _bicubic(src: Tensor, y: Tensor, x: Tensor, pad: Tensor) -> Tensor:
    """Interpolate over 16 pixels; those outside the image are ``pad``, also for clamped places."""
    height, width = src.shape[-2:]
    image = src.to(wide(src.dtype))
    i, j = x.floor().long(), y.floor().long()
    dx, dy = (x - i).to(image.dtype), (y - j).to(image.dtype)

    def pixel(y: Tensor, x: Tensor) -> Tensor:
        inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
        return torch.where(inside, _flat(image, y, x), pad.to(image))

    rows = [cubic([pixel(j + v, i + u) for u in range(-1, 3)], dx) for v in range(-1, 3)]
    return narrowed(cubic(rows, dy), src.dtype)


def _lanczos(src: Tensor, y: Tensor, x: Tensor, pad: Tensor) -> Tensor:
    image = src.to(wide(src.dtype))
    i, j = x.floor().long(), y.floor().long()
    steps = range(1 - _REACH, _REACH + 1)
    across, down = ([_kernel(p - (k + n)) for n in steps] for p, k in ((x, i), (y, j)))
    total = torch.zeros_like(x)
    values = torch.zeros_like(_flat(image, j, i))
    for u, of_x in zip(steps, across, strict=True):
        for v, of_y in zip(steps, down, strict=True):
            total = total + of_x * of_y
            values = values + _flat(image, j + v, i + u) * (of_x * of_y)
    return narrowed(values / total, src.dtype)


def _kernel(distance: Tensor) -> Tensor:
    """Return Lanczos' kernel, in single precision."""
    d = distance.abs()
    pi = torch.tensor(math.pi, dtype=torch.float32)
    value = _REACH * (pi * d).double().sin() * (pi * d / _REACH).double().sin()
    value = (value / (torch.tensor(math.pi**2, dtype=torch.float32) * d * d)).float()
    return torch.where(d < 1e-6, 1.0, torch.where(d > _REACH, 0.0, value))


_WARPS = {"simple": _simple, "bilinear": _bilinear, "bicubic": _bicubic, "lanczos": _lanczos}


@with_destination(2)
def affinetransform(
    src: Tensor,
    matrix: Tensor,
    mode: str = "bilinear",
    translation: Any = (0, 0),
    clamp_mode: str = "clamp",
    pad_value: float | None = None,
) -> Tensor:
    """Map an image by an affine map around its middle (Torch7: ``image.affinetransform``).

    Args:
        src: an image, H×W or K×H×W; a destination may come before it.
        matrix: 2×2, from places of the result, y before x, to places of ``src``.
        translation: the distance by which the result is moved before, y before x.
        mode, clamp_mode, pad_value: as for ``warp``.
    """
    height, width = check_image(src).shape[-2:]
    check_tensor(matrix, "matrix")
    if matrix.shape != (2, 2):
        raise ValueError(f"matrix has shape {tuple(matrix.shape)}; 2 × 2 is accepted")
    y = -torch.linspace(-1, 1, height, dtype=torch.float64) * ((height - 1) / 2)
    x = -torch.linspace(-1, 1, width, dtype=torch.float64) * ((width - 1) / 2)
    grid = torch.stack(torch.meshgrid(y, x, indexing="ij"))
    moved = torch.as_tensor(translation, dtype=torch.float64).view(2, 1, 1)
    field = grid - torch.tensordot(matrix.detach().cpu().double(), grid, 1) - moved
    return warp(src, field, mode, True, clamp_mode, pad_value)
