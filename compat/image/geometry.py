"""Crop, mirror and move images."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_choice, check_tensor, whole
from compat.image.arguments import check_destination, check_image, single, with_destination
from compat.image.scaling import scale

_CORNERS = ("c", "tl", "tr", "bl", "br")


def crop(*args: Any) -> Tensor:
    """Return a part of an image (Torch7: ``image.crop``).

    ::

        crop([dst], src, x1, y1, x2, y2)  # pixels from (x1, y1) up to, without, (x2, y2), from 0
        crop([dst], src, format, width, height)
        crop(dst, src, x1, y1)  # of dst's size

    Args:
        dst: receives the part, scaled to its size.
        src: an image, H×W or K×H×W.
        format: the place of the part: ``"c"``, the centre, or a corner, ``"tl"`` (top left),
            ``"tr"``, ``"bl"`` or ``"br"``.

    Returns:
        A new image, or ``dst``. Elements of double images are rounded to single precision, as in
        Torch7.

    Raises:
        ValueError: the part reaches outside the image.
    """
    dst, src, rest = _destination(args)
    height, width = check_image(src).shape[-2:]
    if rest and isinstance(rest[0], str):
        if len(rest) != 3:
            raise _wrong_count(args)
        format, w, h = rest[0], math.floor(rest[1]), math.floor(rest[2])
        check_choice(format, "format", _CORNERS)
        x1 = {"c": (width - w) // 2, "l": 0, "r": width - w}[format[-1]]
        y1 = {"c": (height - h) // 2, "t": 0, "b": height - h}[format[0]]
        x2, y2 = x1 + w, y1 + h
    else:
        places = [int(place) for place in rest]
        if len(places) == 2 and dst is not None:
            places += [places[0] + dst.shape[-1], places[1] + dst.shape[-2]]
        if len(places) != 4:
            raise _wrong_count(args)
        x1, y1, x2, y2 = places
    if not (0 <= x1 <= x2 <= width and 0 <= y1 <= y2 <= height):
        raise ValueError(
            f"the part is ({x1}, {y1}) to ({x2}, {y2}); one inside the image of width {width} and "
            f"height {height} is accepted"
        )
    part = single(src[..., y1:y2, x1:x2]).clone(memory_format=torch.contiguous_format)
    return part if dst is None else scale(dst, part)


def _destination(args: tuple[Any, ...]) -> tuple[Tensor | None, Tensor, tuple[Any, ...]]:
    if len(args) > 1 and isinstance(args[1], Tensor):
        return check_destination(args[0], args[1]), args[1], args[2:]
    if not args:
        raise TypeError("src is missing; an image is accepted")
    return None, args[0], args[1:]


def _wrong_count(args: tuple[Any, ...]) -> TypeError:
    return TypeError(
        f"{len(args)} arguments are given; [dst], src, x1, y1, x2, y2, or [dst], src, format, "
        "width, height is accepted"
    )


@with_destination()
def translate(src: Tensor, x: float, y: float) -> Tensor:
    """Move an image to the right and down; new pixels are 0 (Torch7: ``image.translate``).

    Args:
        src: an image, H×W or K×H×W; a destination may come before it.
        x, y: the distance in pixels; fractions are cut.
    """
    height, width = check_image(src).shape[-2:]
    moved = torch.zeros_like(src, memory_format=torch.contiguous_format)
    x, y = int(x), int(y)
    if abs(x) < width and abs(y) < height:
        to = (..., slice(max(y, 0), height + min(y, 0)), slice(max(x, 0), width + min(x, 0)))
        of = (..., slice(max(-y, 0), height - max(y, 0)), slice(max(-x, 0), width - max(x, 0)))
        moved[to] = src[of]
    return moved


@with_destination()
def hflip(src: Tensor) -> Tensor:
    """Mirror an image, left to right (Torch7: ``image.hflip``).

    Args:
        src: an image, H×W or K×H×W; a destination, which may be ``src``, may come before it.
    """
    return check_image(src).flip(-1)


@with_destination()
def vflip(src: Tensor) -> Tensor:
    """Mirror an image, top to bottom (Torch7: ``image.vflip``); see ``hflip``.

    Args:
        src: an image, H×W or K×H×W.
    """
    return check_image(src).flip(-2)


@with_destination()
def flip(src: Tensor, flip_dim: int) -> Tensor:
    """Mirror a tensor of up to 5 dimensions along one of them (Torch7: ``image.flip``).

    Args:
        src: the tensor; a destination may come before it.
        flip_dim: the dimension, counted from 1.
    """
    check_tensor(src, "src")
    return src.flip(whole(flip_dim, "flip_dim", 1, src.dim()) - 1)
