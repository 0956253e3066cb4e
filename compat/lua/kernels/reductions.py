"""Tensors to numbers or smaller tensors. Dimensions and indices count from 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def dimension(a: Tensor, d: int, argument: int = 2, text: str = "dimension {} out of range") -> int:
    """A dimension as PyTorch counts it."""
    if a.numel() == 0 or not 1 <= d <= a.dim():
        raise ArgumentError(argument, text.format(d))
    return d - 1


# Torch7 adds floats up in double precision; a comparison with PyTorch's own sums does not.
sums_in_double = True
_INVALID = "invalid dimension {}"


def _wide(a: Tensor) -> torch.dtype:
    """The type that Torch7 adds up in."""
    return torch.float64 if a.is_floating_point() else torch.int64


def sumall(a: Tensor) -> Any:
    return torch.sum(a, dtype=_wide(a)).item()


def sum(a: Tensor, d: int) -> Tensor:
    d = dimension(a, d)
    if a.dtype == torch.float64 or (a.is_floating_point() and not sums_in_double):
        return torch.sum(a, d, keepdim=True)
    return torch.sum(a, d, keepdim=True, dtype=_wide(a)).to(a.dtype)


def prodall(a: Tensor) -> Any:
    return torch.prod(a, dtype=_wide(a)).item()


def prod(a: Tensor, d: int) -> Tensor:
    return torch.prod(a, dimension(a, d), keepdim=True, dtype=_wide(a)).to(a.dtype)


def _some(a: Tensor) -> Tensor:
    if a.numel() == 0:
        raise ArgumentError(1, "tensor must have one dimension")
    return a


def minall(a: Tensor) -> Any:
    return _some(a).min().item()


def maxall(a: Tensor) -> Any:
    return _some(a).max().item()


def min(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.min(a, dimension(a, d), keepdim=True)
    return values, indices + 1


def max(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.max(a, dimension(a, d), keepdim=True)
    return values, indices + 1


def meanall(a: Tensor) -> float:
    if a.numel() == 0:
        raise ArgumentError(1, "empty Tensor")
    return sumall(a) / a.numel()


def mean(a: Tensor, d: int) -> Tensor:
    d = dimension(a, d, 2, _INVALID)
    return torch.mean(a, d, keepdim=True, dtype=torch.float64).to(a.dtype)


def varall(a: Tensor, biased: bool) -> float:
    if a.numel() == 0:
        raise ArgumentError(1, "empty Tensor")
    b = a.double()
    squares = ((b - b.mean()) ** 2).sum().item()
    n = a.numel() - (0 if biased else 1)
    return squares / n if n else (math.nan if squares == 0 else math.inf)


def stdall(a: Tensor, biased: bool) -> float:
    return math.sqrt(varall(a, biased))


def var(a: Tensor, d: int, biased: bool) -> Tensor:
    d = dimension(a, d, 3, _INVALID)
    return torch.var(a.double(), d, correction=0 if biased else 1, keepdim=True).to(a.dtype)


def std(a: Tensor, d: int, biased: bool) -> Tensor:
    d = dimension(a, d, 3, _INVALID)
    return torch.std(a.double(), d, correction=0 if biased else 1, keepdim=True).to(a.dtype)


def normall(a: Tensor, p: float) -> float:
    b = a.double()
    if p == 0:
        return float((b != 0).sum().item())
    if p == 1:
        return b.abs().sum().item()
    if p == 2:
        return math.sqrt((b * b).sum().item())
    return b.abs().pow(p).sum().pow(1 / p).item()


def norm(a: Tensor, p: float, d: int) -> Tensor:
    d = dimension(a, d, 3, _INVALID)
    b = a.double()
    if p == 0:
        return (b != 0).sum(d, keepdim=True).to(a.dtype)
    if p == 2:
        return (b * b).sum(d, keepdim=True).sqrt().to(a.dtype)
    return b.abs().pow(p).sum(d, keepdim=True).pow(1 / p).to(a.dtype)


def dist(a: Tensor, b: Tensor, p: float) -> float:
    return normall(a.double().flatten() - b.double().flatten(), p)


def dot(a: Tensor, b: Tensor) -> Any:
    if a.numel() != b.numel():
        raise RuntimeError("inconsistent tensor size, expected tensors of the same size")
    a, b = a.flatten(), b.flatten()
    if a.dtype == torch.float64:
        return torch.dot(a, b).item()
    return (a.to(_wide(a)) * b.to(_wide(b))).sum().item()


def equal(a: Tensor, b: Tensor) -> bool:
    return torch.equal(a, b) if a.numel() or b.numel() else True


def trace(a: Tensor) -> Any:
    if a.dim() != 2:
        raise ArgumentError(1, "expected a matrix")
    return torch.trace(a.to(_wide(a))).item()


def logicalall(a: Tensor) -> bool:
    return bool((a != 0).all())


def logicalany(a: Tensor) -> bool:
    return bool((a != 0).any())


def _running(operator: Callable[..., Tensor]) -> Callable[[Tensor, int], Tensor]:
    def kernel(a: Tensor, d: int) -> Tensor:
        return operator(a, dimension(a, d), dtype=_wide(a)).to(a.dtype)

    return kernel


cumsum = _running(torch.cumsum)
cumprod = _running(torch.cumprod)


def sort(a: Tensor, d: int, descending: bool) -> tuple[Tensor, Tensor]:
    values, indices = torch.sort(
        a, dim=dimension(a, d, 2, _INVALID), descending=descending, stable=True
    )
    return values, indices + 1


def topk(a: Tensor, k: int, d: int, largest: bool, ordered: bool) -> tuple[Tensor, Tensor]:
    d = dimension(a, d, 3)
    if not 0 < k <= a.shape[d]:
        raise ArgumentError(2, "k not in range for dimension")
    values, indices = torch.topk(a, k, d, largest=largest, sorted=True)
    return values, indices + 1


def kthvalue(a: Tensor, k: int, d: int) -> tuple[Tensor, Tensor]:
    d = dimension(a, d, 3)
    if not 0 < k <= a.shape[d]:
        raise ArgumentError(2, "selected index out of range")
    values, indices = torch.kthvalue(a, k, d, keepdim=True)
    return values, indices + 1


def median(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    d = dimension(a, d, 3)
    return kthvalue(a, (a.shape[d] - 1) // 2 + 1, d + 1)


def mode(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    d = dimension(a, d, 3)
    values, _ = torch.mode(a, d, keepdim=True)
    shape = [1] * a.dim()
    shape[d] = -1
    places = torch.arange(1, a.shape[d] + 1, device=a.device).reshape(shape)
    # The last place of several.
    return values, torch.where(a == values, places, 0).amax(d, keepdim=True)


def histc(a: Tensor, bins: int, low: float, high: float) -> Tensor:
    b = a.flatten()
    if low == high:
        low, high = b.min().item(), b.max().item()
    if low == high:
        low, high = low - 1, high + 1
    inside = b[(b >= low) & (b <= high)].double()
    places = ((inside - low) / (high - low) * bins).long().clamp(max=bins - 1)
    return torch.bincount(places, minlength=bins).to(a.dtype)


def bhistc(a: Tensor, bins: int, low: float, high: float) -> Tensor:
    if a.dim() > 2:
        raise ArgumentError(2, "invalid dimension")
    rows = a.reshape(1, -1) if a.dim() == 1 else a
    if low == high:
        low, high = a.min().item(), a.max().item()
    if low == high:
        low, high = low - 1, high + 1
    return torch.stack([histc(row, bins, low, high) for row in rows])


def renorm(a: Tensor, p: float, d: int, most: float) -> Tensor:
    d = dimension(a, d, 3)
    if a.dim() <= 1:
        raise ArgumentError(1, "need at least 2 dimensions")
    b = a.transpose(0, d)
    rows = b.reshape(b.shape[0], -1).double()
    norms = rows.norm(p, dim=1)
    scale = torch.where(norms > most, most / (norms + 1e-7), torch.ones_like(norms))
    return (rows * scale[:, None]).reshape(b.shape).transpose(0, d).to(a.dtype)
