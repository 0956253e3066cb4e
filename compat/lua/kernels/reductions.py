"""Tensors to numbers or smaller tensors. Dimensions and indices count from 1."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def dimension(a: Tensor, d: int, argument: int = 2, text: str = "dimension {} out of range") -> int:
    """Return a dimension counted as PyTorch counts it."""
    if a.numel() == 0 or not 1 <= d <= a.dim():
        raise ArgumentError(argument, text.format(d))
    return d - 1


# Torch7 adds floats up in double precision; a comparison with PyTorch's own sums does so along no
# dimension. (Drafts sum all of a FloatTensor's elements up as Torch7 does.)
in_double = True
_INVALID = "invalid dimension {}"


def _wide(a: Tensor) -> torch.dtype:
    """Return the type in which Torch7 sums."""
    return torch.float64 if a.is_floating_point() else torch.int64


def _along(a: Tensor) -> torch.dtype:
    """Return the type in which sums along a dimension are made."""
    return _wide(a) if in_double or not a.is_floating_point() else a.dtype


def sumall(a: Tensor) -> Any:
    return torch.sum(a, dtype=_wide(a)).item()


def sum(a: Tensor, d: int) -> Tensor:
    return torch.sum(a, dimension(a, d), keepdim=True, dtype=_along(a)).to(a.dtype)


def prodall(a: Tensor) -> Any:
    return torch.prod(a, dtype=_wide(a)).item()


def prod(a: Tensor, d: int) -> Tensor:
    return torch.prod(a, dimension(a, d), keepdim=True, dtype=_along(a)).to(a.dtype)


def _some(a: Tensor, text: str = "tensor must have one dimension") -> Tensor:
    if a.numel() == 0:
        raise ArgumentError(1, text)
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
    return sumall(_some(a, "empty Tensor")) / a.numel()


def mean(a: Tensor, d: int) -> Tensor:
    d = dimension(a, d, 2, _INVALID)
    return torch.mean(a, d, keepdim=True, dtype=_along(a)).to(a.dtype)


def varall(a: Tensor, biased: bool) -> float:
    b = _some(a, "empty Tensor").double()
    squares = ((b - b.mean()) ** 2).sum().item()
    n = a.numel() - (0 if biased else 1)
    return squares / n if n else (math.nan if squares == 0 else math.inf)


def stdall(a: Tensor, biased: bool) -> float:
    return math.sqrt(varall(a, biased))


def _variance(a: Tensor, d: int, biased: bool) -> Tensor:
    """Compute the variance from the sums of numbers and squares, with Torch7's cancellation."""
    d = dimension(a, d, 3, _INVALID)
    n = a.shape[d]
    rest = torch.tensor(n if biased else n - 1, dtype=torch.float64)
    mean, squares = (
        torch.cumsum(b, d, dtype=torch.float64).narrow(d, n - 1, 1) for b in (a, a * a)
    )
    mean = mean / n
    variance = squares / rest - n / rest * mean * mean
    return torch.where(variance < 0, 0, variance)


def var(a: Tensor, d: int, biased: bool) -> Tensor:
    if not in_double:
        return torch.var(a, dimension(a, d, 3, _INVALID), unbiased=not biased, keepdim=True)
    return _variance(a, d, biased).to(a.dtype)


def std(a: Tensor, d: int, biased: bool) -> Tensor:
    if not in_double:
        return torch.std(a, dimension(a, d, 3, _INVALID), unbiased=not biased, keepdim=True)
    return _variance(a, d, biased).sqrt().to(a.dtype)


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
    if not in_double:
        return torch.norm(a, p, d, keepdim=True)
    b = a.double()
    if p == 0:
        return (b != 0).sum(d, keepdim=True).to(a.dtype)
    if p == 2:
        return (b * b).sum(d, keepdim=True).sqrt().to(a.dtype)
    return b.abs().pow(p).sum(d, keepdim=True).pow(1 / p).to(a.dtype)


def dist(a: Tensor, b: Tensor, p: float) -> float:
    if not in_double:
        return torch.dist(a, b, p).item()
    parts = (a.flatten() - b.flatten()).abs().pow(p)
    return parts.double().sum().to(a.dtype).pow(1 / p if p else math.inf).item()  # in its own type


def _section(a: Tensor) -> int:
    """Return how many elements Torch7 treats as one row with equal steps."""
    n = a.shape[-1]
    for d in range(a.dim() - 2, -1, -1):
        if a.stride(d) != a.stride(d + 1) * a.shape[d + 1]:
            break
        n *= a.shape[d]
    return n


def dot(a: Tensor, b: Tensor) -> Any:
    if a.dtype == torch.float64:
        return torch.dot(a.flatten(), b.flatten()).item()
    products = a.flatten().to(_wide(a)) * b.flatten().to(_wide(a))
    # Each row is added up in the tensors' own type.
    row = builtins.min(_section(a), _section(b))
    return products.reshape(-1, row).sum(1).to(a.dtype).to(_wide(a)).sum().item()


def equal(a: Tensor, b: Tensor) -> bool:
    return torch.equal(a, b) if a.numel() or b.numel() else True


def trace(a: Tensor) -> Any:
    if a.dim() != 2:
        raise ArgumentError(1, "expected a matrix")
    return torch.trace(a.to(_wide(a))).item()


def logicalall(a: Tensor) -> bool:
    return bool((_some(a, "empty Tensor") != 0).all())


def logicalany(a: Tensor) -> bool:
    return bool((_some(a, "empty Tensor") != 0).any())


def _running(operator: Callable[..., Tensor]) -> Callable[[Tensor, int], Tensor]:
    def kernel(a: Tensor, d: int) -> Tensor:
        return operator(a, dimension(a, d), dtype=_wide(a)).to(a.dtype)

    return kernel


cumsum = _running(torch.cumsum)
cumprod = _running(torch.cumprod)


# The following see to numbers that Lua does not reach; see core/operations/sorting.lua.


def sort(a: Tensor, d: int, descending: bool) -> tuple[Tensor, Tensor]:
    values, indices = torch.sort(a, dim=d - 1, descending=descending, stable=True)
    return values, indices + 1


def topk(a: Tensor, k: int, d: int, largest: bool, ordered: bool) -> tuple[Tensor, Tensor]:
    values, indices = torch.topk(a, k, d - 1, largest=largest, sorted=True)
    return values, indices + 1


def kthvalue(a: Tensor, k: int, d: int) -> tuple[Tensor, Tensor]:
    values, indices = torch.kthvalue(a, k, d - 1, keepdim=True)
    return values, indices + 1


def median(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    return kthvalue(a, (a.shape[d - 1] + 1) // 2, d)


def mode(a: Tensor, d: int) -> tuple[Tensor, Tensor]:
    values, _ = torch.mode(a, d - 1, keepdim=True)
    shape = [1] * a.dim()
    shape[d - 1] = -1
    places = torch.arange(1, a.shape[d - 1] + 1, device=a.device).reshape(shape)
    # The last place of several.
    return values, torch.where(a == values, places, 0).amax(d - 1, keepdim=True)


def _bounds(a: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """Return the numbers between which a histogram counts: all, if no bounds are given."""
    bounds = torch.tensor([low, high], dtype=a.dtype, device=a.device)
    if low == high:
        bounds = torch.stack([_some(a).min(), a.max()])
    if bounds[0] == bounds[1]:
        bounds = bounds + torch.tensor([-1, 1], dtype=a.dtype, device=a.device)
    return bounds[0], bounds[1]


def _counts(a: Tensor, bins: int, low: Tensor, high: Tensor) -> Tensor:
    inside = a[(a >= low) & (a <= high)]
    places = ((inside - low) / (high - low) * bins).long().clamp(0, bins - 1)
    return torch.bincount(places, minlength=bins).to(a.dtype)


def histc(a: Tensor, bins: int, low: float, high: float) -> Tensor:
    return _counts(a, bins, *_bounds(a, low, high))


def bhistc(a: Tensor, bins: int, low: float, high: float) -> Tensor:
    if a.dim() > 2:
        raise ArgumentError(2, f"invalid dimension {a.dim()}, the input must be a 2d tensor")
    if a.dim() < 2:
        raise ArgumentError(2, "invalid dimension 2")
    bounds = _bounds(a, low, high)
    return torch.stack([_counts(row, bins, *bounds) for row in a])


def renorm(a: Tensor, p: float, d: int, most: float) -> Tensor:
    d = dimension(a, d, 3, _INVALID)
    if not p > 0:
        raise ArgumentError(2, "non-positive-norm not supported")
    if a.dim() <= 1:
        raise ArgumentError(1, f"need at least 2 dimensions, got {a.dim()} dimensions")
    b = a.transpose(0, d)
    rows = b.reshape(b.shape[0], -1)
    norms = rows.abs().pow(p).double().sum(1).pow(1 / p).to(a.dtype).double()
    scale = torch.where(norms > most, most / (norms + 1e-7), 1.0).to(a.dtype)
    return (rows * scale[:, None]).reshape(b.shape).transpose(0, d)
