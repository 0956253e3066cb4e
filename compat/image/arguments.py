"""Check the arguments of Torch7's image functions: images, and an optional destination."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from compat.checks import check_tensor, listed

_TYPES = (torch.uint8, torch.float32, torch.float64)


def check_image(value: Any, name: str = "src", dims: tuple[int, ...] = (2, 3)) -> Tensor:
    """Raise an error unless ``value`` is a byte, float or double tensor of one of ``dims``."""
    check_tensor(value, name)
    if value.dtype not in _TYPES:
        raise TypeError(
            f"{name} is {value.dtype}; an image of torch.uint8, torch.float32 or torch.float64 is "
            "accepted"
        )
    if value.dim() not in dims:
        raise ValueError(
            f"{name} has shape {tuple(value.shape)}; an image of {listed(dims)} dimensions is "
            "accepted"
        )
    return value


def check_destination(dst: Any, src: Tensor) -> Tensor:
    """Raise an error for a destination of another type than the image's."""
    check_tensor(dst, "dst")
    if dst.dtype != src.dtype:
        raise TypeError(f"dst is {dst.dtype}; {src.dtype}, as src is, is accepted")
    return dst


def with_destination(count: int = 1) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """Decorate a function of ``count`` tensors: a tensor before them receives the result."""

    def decorate(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
        @wraps(function)
        def call(*args: Any, **options: Any) -> Tensor:
            if len(args) <= count or not all(isinstance(a, Tensor) for a in args[: count + 1]):
                return function(*args, **options)
            dst = args[0]
            result = check_result(dst, function(*args[1:], **options))
            return dst.resize_(result.shape).copy_(result)

        return call

    return decorate


def check_result(dst: Tensor, result: Tensor) -> Tensor:
    """Return ``result``; raise an error if ``dst`` has another type."""
    check_destination(dst, result)
    return result


def wide(dtype: torch.dtype) -> torch.dtype:
    """Return the type in which images of ``dtype`` are computed: float for bytes, as in Torch7."""
    return torch.float32 if dtype == torch.uint8 else dtype


def narrowed(values: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert computed ``values`` to elements of an image: bytes are rounded and cut to 0…255."""
    if dtype == torch.uint8:
        values = (values + 0.5).clamp(0, 255)
    return values.to(dtype)


def single(image: Tensor) -> Tensor:
    """Round the elements to single precision, as Torch7's copies do, also those of doubles."""
    return image.float().to(image.dtype)
