"""Tensors made of numbers or of other tensors. Indices count from 1."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.memory import address


def fresh(tensor: Tensor) -> tuple[Any, ...]:
    """Return a result for the Lua side: contiguous, its address, elements, dimensions, sizes."""
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    if tensor.dim() == 0:
        tensor = tensor.reshape(1)
    if tensor.numel() == 0:
        return tensor, 0, 0, 0
    return (tensor, address(tensor), tensor.numel(), tensor.dim(), *tensor.shape)


def reshape(a: Tensor, *sizes: int) -> Tensor:
    if math.prod(sizes) != a.numel():
        raise ArgumentError(2, "size does not match")
    result = torch.empty(sizes, dtype=a.dtype, device=a.device)
    result.view(-1).copy_(a.reshape(-1))
    return result


def range_(like: Tensor, first: float, last: float, step: float) -> Tensor:
    if step == 0:
        raise ArgumentError(3, "step must be a non-null number")
    if not ((step > 0 and last >= first) or (step < 0 and last <= first)):
        raise ArgumentError(2, "upper bound and larger bound incoherent with step sign")
    wide = torch.float64 if like.is_floating_point() else torch.int64
    # A number that is no size gives a tensor without dimensions.
    n = (last - first) / step
    numbers = torch.arange(math.floor(n) + 1 if math.isfinite(n) else 0, dtype=wide)
    return (numbers * step + first).to(like)


def linspace(like: Tensor, first: float, last: float, n: int) -> Tensor:
    if not (n > 1 or (n == 1 and first == last)):
        raise ArgumentError(3, "invalid number of points")
    if n == 1:
        return torch.full((1,), first, dtype=like.dtype, device=like.device)
    bounds = torch.tensor([first, last], dtype=like.dtype, device=like.device)
    numbers = torch.arange(n, dtype=like.dtype, device=like.device)
    return numbers * (bounds[1] - bounds[0]) / (n - 1) + bounds[0]


def logspace(like: Tensor, first: float, last: float, n: int) -> Tensor:
    return torch.pow(10.0, linspace(like, first, last, n))


def eye(like: Tensor, n: int, m: int) -> Tensor:
    if n <= 0:
        raise ArgumentError(1, "invalid argument")
    return torch.eye(n, m if m > 0 else n, dtype=like.dtype, device=like.device)


def diag(a: Tensor, k: int) -> Tensor:
    if a.dim() not in (1, 2) or a.numel() == 0:
        raise ArgumentError(1, "matrix or a vector expected")
    result = torch.diag(a, k)
    if result.numel() == 0:
        raise ArgumentError(2, "dimension 1 out of range of 0D tensor")
    return result


def _triangle(a: Tensor) -> Tensor:
    if a.dim() != 2:
        raise ArgumentError(1, "expected a matrix")
    return a


def tril(a: Tensor, k: int) -> Tensor:
    return torch.tril(_triangle(a), k)


def triu(a: Tensor, k: int) -> Tensor:
    return torch.triu(_triangle(a), k)


def cross(a: Tensor, b: Tensor, d: int) -> Tensor:
    return torch.linalg.cross(a, b, dim=d - 1)


def match(a: Tensor, b: Tensor, gain: float) -> Tensor:
    """Return squared distances of the rows of two matrices."""
    x, y = a.reshape(a.shape[0], -1), b.reshape(b.shape[0], -1)
    return (((x[:, None] - y[None]) ** 2).sum(2) * gain).to(a.dtype)


def cat(d: int, *tensors: Tensor) -> Tensor:
    """Join tensors along dimension ``d``; sizes that a tensor lacks are 1."""
    most = max(d, *(t.dim() for t in tensors))
    shaped = [t.reshape(*t.shape, *[1] * (most - t.dim())) for t in tensors]
    try:
        return torch.cat(shaped, d - 1)
    except RuntimeError:
        raise RuntimeError("inconsistent tensor sizes") from None
