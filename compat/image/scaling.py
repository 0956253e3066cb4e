"""``image.scale``: resize images."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_choice
from compat.image.arguments import check_destination, check_image, narrowed, single, wide

_SIZES = '"WxH", "MAX", "^MIN", "*SC" or "*SCn/SCd"'


def scale(*args: Any) -> Tensor:
    """Resize an image (Torch7: ``image.scale``).

    ::

        scale(src, width, height, [mode])
        scale(src, size, [mode])
        scale(dst, src, [mode])     # to the size of dst

    Args:
        src: an image, H×W or K×H×W.
        size: a number or string for the longer side; or ``"WxH"``; ``"^MIN"`` for the shorter side;
            ``"*SC"`` or ``"*SCn/SCd"`` for a factor. Sides are rounded down.
        mode: ``"bilinear"``, the default: the mean of the pixels that become one, and linear
            interpolation where one becomes several; ``"bicubic"``; or ``"simple"``, the nearest
            pixel.

    Returns:
        A new image of the type of ``src``, or ``dst``. The numbers are Torch7's, which scales rows
        first, then columns, rounds bytes in between, and computes mostly in single precision.

    Raises:
        ValueError: the size or mode is none of these.
    """
    args, mode = _mode(args)
    if len(args) == 2 and isinstance(args[1], Tensor):
        dst, src = args
        check_image(check_destination(dst, check_image(src)), "dst", (src.dim(),))
        if dst.shape[:-2] != src.shape[:-2]:
            raise ValueError(f"dst has {dst.shape[0]} planes; {src.shape[0]}, as src, is accepted")
        return dst.copy_(_MODES[mode](src, *dst.shape[-2:]))
    if len(args) not in (2, 3):
        raise TypeError(
            f"{len(args)} arguments are given; src, width, height, or src, size, or dst, src, and "
            "then a mode, is accepted"
        )
    src = check_image(args[0])
    width, height = args[1:] if len(args) == 3 else _size(args[1], *src.shape[-2:])
    return _MODES[mode](src, int(max(height, 1)), int(max(width, 1)))


def _mode(args: tuple[Any, ...]) -> tuple[tuple[Any, ...], str]:
    mode = "bilinear"
    if len(args) > 2 and isinstance(args[-1], str):
        *rest, mode = args
        args = tuple(rest)
    check_choice(mode, "mode", _MODES)
    return args, mode


def _size(size: Any, height: int, width: int) -> tuple[float, float]:
    """Return the width and height that a size means for an image."""
    text = str(size)
    side: float
    if both := re.search(r"(\d+)x(\d+)", text):
        return int(both[1]), int(both[2])
    if shorter := re.search(r"\^(\d+)", text):
        side, of = int(shorter[1]), min(width, height)
    elif parts := re.search(r"\*(\d+)/(\d+)", text):
        side, of = int(parts[1]), int(parts[2])
    else:
        try:
            side = float(text.partition("*")[2] or text)
        except ValueError:
            raise ValueError(f"size is {size!r}; {_SIZES} is accepted") from None
        of = 1 if "*" in text else max(width, height)
    return width * side / of, height * side / of


def _bilinear(src: Tensor, height: int, width: int) -> Tensor:
    return _both_ways(_linear_column, src, height, width)


def _bicubic(src: Tensor, height: int, width: int) -> Tensor:
    return _both_ways(_cubic_column, src, height, width)


def _simple(src: Tensor, height: int, width: int) -> Tensor:
    def nearest(side: int, new: int) -> Tensor:
        old = src.shape[side]
        place = torch.arange(new, dtype=torch.float32) * (torch.tensor(old).float() / new)
        return place.long().clamp(max=old - 1).to(src.device)

    return single(src.index_select(-2, nearest(-2, height)).index_select(-1, nearest(-1, width)))


_MODES = {"bilinear": _bilinear, "bicubic": _bicubic, "simple": _simple}


def _both_ways(column: Any, src: Tensor, height: int, width: int) -> Tensor:
    """Scale along rows, then columns; transposed, so that whole lines are copied both times."""
    rows = column(src.transpose(-1, -2).contiguous(), width)
    return column(rows.transpose(-1, -2).contiguous(), height).contiguous()


def _steps(old: int, new: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return, for all new pixels of a column but the last, the old one before and the distance."""
    ratio = torch.tensor(old - 1).float() / max(new - 1, 1)
    place = torch.arange(new - 1, dtype=torch.float32) * ratio
    whole = place.long()
    return whole.to(device), (place - whole)[:, None].to(device)


def _linear_column(src: Tensor, new: int) -> Tensor:
    old = src.shape[-2]
    if new == old:
        return src
    return _means(src, new) if new < old else _lines(src, new)


def _lines(src: Tensor, new: int) -> Tensor:
    last = src[..., -1:, :]
    if src.shape[-2] == 1:
        return last.expand(*src.shape[:-2], new, -1)
    whole, part = _steps(src.shape[-2], new, src.device)
    image = src.to(wide(src.dtype))
    values = image.index_select(-2, whole).mul_(1 - part)
    values.add_(image.index_select(-2, whole + 1).mul_(part))
    return torch.cat([narrowed(values, src.dtype), last], -2)


def _means(src: Tensor, new: int) -> Tensor:
    """Return for each new pixel the mean of the old ones in its place, in single precision."""
    old = src.shape[-2]
    ratio = torch.tensor(old).float() / new
    place = torch.arange(new + 1, dtype=torch.float32) * ratio
    whole = place.long()
    part = place - whole
    first, last = whole[:-1], whole[1:]
    image = src.to(wide(src.dtype))

    def pixels(index: Tensor) -> Tensor:
        return image.index_select(-2, index.clamp(max=old - 1).to(src.device))

    weight = 1 - part[:-1]
    total = pixels(first).mul_(weight[:, None].to(src.device)).float()
    count = weight
    for step in range(1, int((last - first).max()) + 1):
        index = first + step
        inner, end = index < last, (index == last) & (index < old)
        weight = torch.where(inner, 1.0, torch.where(end, part[1:], 0.0))
        total.add_(pixels(index).mul_(weight[:, None].to(src.device)))
        count = count + weight
    return narrowed(total / count[:, None].to(src.device), src.dtype)


def _cubic_column(src: Tensor, new: int) -> Tensor:
    old = src.shape[-2]
    if new == old:
        return src
    last = src[..., -1:, :]
    if old == 1:
        return last.expand(*src.shape[:-2], new, -1)
    whole, part = _steps(old, new, src.device)
    image = src.to(wide(src.dtype))
    # Beyond the ends the line goes on as it came.
    before = 2 * image[..., :1, :] - image[..., 1:2, :]
    after = 2 * image[..., -1:, :] - image[..., -2:-1, :]
    image = torch.cat([before, image, after], -2)
    four = [image.index_select(-2, whole + i) for i in range(4)]
    values = cubic(four, part.to(image.dtype))
    return torch.cat([narrowed(values, src.dtype), last], -2)


def cubic(points: Sequence[Tensor], x: Tensor) -> Tensor:
    """Interpolate by Catmull and Rom's cubic between the second and third of four points.

    ``x`` is the distance from the second point, 0 ≤ x ≤ 1.
    """
    p0, p1, p2, p3 = points
    slope = p2 - p0
    square = 2 * p0 - 5 * p1 + 4 * p2 - p3
    cube = 3 * (p1 - p2) + p3 - p0
    inner = slope + x * (square + x * cube)
    return (p1.double() + 0.5 * x.double() * inner.double()).to(x.dtype)
