"""GraphicsMagick's filters: how much a pixel counts at some distance, and sizes made with them."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

Filter = Callable[[Tensor], Tensor]


def _sinc(x: Tensor) -> Tensor:
    return torch.sinc(x)


def _windowed(window: Filter) -> Filter:
    return lambda x: window(x) * _sinc(x)


def _cubic(b: float, c: float) -> Filter:
    """Return Mitchell and Netravali's cubics."""

    def weigh(x: Tensor) -> Tensor:
        x = x.abs()
        near = ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + 6 - 2 * b) / 6
        far = (
            (-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + 8 * b + 24 * c
        ) / 6
        return torch.where(x < 1, near, torch.where(x < 2, far, 0.0))

    return weigh


def _quadratic(x: Tensor) -> Tensor:
    x = x.abs()
    return torch.where(x < 0.5, 0.75 - x * x, torch.where(x < 1.5, 0.5 * (x - 1.5) ** 2, 0.0))


# Each with the distance up to which it counts.
FILTERS: dict[str, tuple[Filter, float]] = {
    "Point": (lambda x: torch.ones_like(x), 0.0),
    "Box": (lambda x: ((x >= -0.5) & (x < 0.5)).to(x.dtype), 0.5),
    "Triangle": (lambda x: (1 - x.abs()).clamp(min=0), 1.0),
    "Hermite": (lambda x: torch.where(x.abs() < 1, (2 * x.abs() - 3) * x * x + 1, 0.0), 1.0),
    "Hanning": (lambda x: 0.5 + 0.5 * torch.cos(math.pi * x), 1.0),
    "Hamming": (lambda x: 0.54 + 0.46 * torch.cos(math.pi * x), 1.0),
    "Blackman": (
        lambda x: 0.42 + 0.5 * torch.cos(math.pi * x) + 0.08 * torch.cos(2 * math.pi * x),
        1.0,
    ),
    "Gaussian": (lambda x: torch.exp(-2 * x * x) * math.sqrt(2 / math.pi), 1.25),
    "Quadratic": (_quadratic, 1.5),
    "Cubic": (_cubic(1, 0), 2.0),
    "Catrom": (_cubic(0, 0.5), 2.0),
    "Mitchell": (_cubic(1 / 3, 1 / 3), 2.0),
    "Lanczos": (_windowed(lambda x: _sinc(x / 3)), 3.0),
    "Sinc": (_sinc, 4.0),
}


def _matrix(size: int, wanted: int, name: str, blur: float) -> Tensor:
    """Return the weight of each old pixel in each new one."""
    weigh, support = FILTERS[name]
    factor = wanted / size
    scale = blur * max(1 / factor, 1.0)
    reach = max(scale * support, 0.5)
    if reach <= 0.5:
        scale, reach = 1.0, 0.5 + 1e-12
    centres = (torch.arange(wanted, dtype=torch.float64) + 0.5) / factor
    first = (centres - reach + 0.5).clamp(min=0).floor()
    last = (centres + reach + 0.5).clamp(max=size).floor()
    places = torch.arange(size, dtype=torch.float64)
    inside = (places >= first[:, None]) & (places < last[:, None])
    weights = torch.where(inside, weigh((places - centres[:, None] + 0.5) / scale), 0.0)
    return weights / weights.sum(1, keepdim=True)


def resize(planes: Tensor, width: int, height: int, name: str, blur: float = 1.0) -> Tensor:
    """Return planes ``C x H x W`` in another size."""
    rows = _matrix(planes.size(1), height, name, blur)
    columns = _matrix(planes.size(2), width, name, blur)
    return (rows @ planes.double() @ columns.t()).to(planes.dtype)
