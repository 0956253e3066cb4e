"""Tensors made of numbers or of other tensors. Indices count from 1."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.memory import address
from compat.lua.kernels.reductions import dimension


def fresh(tensor: Tensor) -> tuple[Any, ...]:
    """A result as the Lua side takes it: contiguous, its address, elements, dimensions, sizes."""
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
    n = math.floor((last - first) / step) + 1
    wide = torch.float64 if like.is_floating_point() else torch.int64
    numbers = torch.arange(n, dtype=wide)
    if like.is_floating_point():
        return (numbers * step + first).to(like)
    return (numbers * int(step) + int(first)).to(like)


def linspace(like: Tensor, first: float, last: float, n: int) -> Tensor:
    if not (n > 1 or (n == 1 and first == last)):
        raise ArgumentError(3, "invalid number of points")
    if n == 1:
        return torch.full((1,), first, dtype=like.dtype, device=like.device)
    return (torch.arange(n, dtype=torch.float64) * ((last - first) / (n - 1)) + first).to(like)


def logspace(like: Tensor, first: float, last: float, n: int) -> Tensor:
    exponents = linspace(torch.empty(0, dtype=torch.float64), first, last, n)
    return torch.pow(10.0, exponents).to(like)


def eye(like: Tensor, n: int, m: int) -> Tensor:
    if n <= 0:
        raise ArgumentError(1, "invalid argument")
    return torch.eye(n, m if m > 0 else n, dtype=like.dtype, device=like.device)


def diag(a: Tensor, k: int) -> Tensor:
    if a.dim() not in (1, 2) or a.numel() == 0:
        raise ArgumentError(1, "matrix or a vector expected")
    return torch.diag(a, k)


def _triangle(a: Tensor) -> Tensor:
    if a.dim() != 2:
        raise ArgumentError(1, "expected a matrix")
    return a


def tril(a: Tensor, k: int) -> Tensor:
    return torch.tril(_triangle(a), k)


def triu(a: Tensor, k: int) -> Tensor:
    return torch.triu(_triangle(a), k)


def cross(a: Tensor, b: Tensor, d: int) -> Tensor:
    if a.dim() != b.dim():
        raise RuntimeError(f"inconsistent tensor dimension {a.dim()}D, {b.dim()}D")
    if a.shape != b.shape:
        sizes = [" x ".join(map(str, t.shape)) for t in (a, b)]
        raise RuntimeError(f"inconsistent tensor sizes [{sizes[0]}], [{sizes[1]}]")
    if d < 1:
        threes = [i for i, size in enumerate(a.shape) if size == 3]
        if not threes:
            raise ArgumentError(1, "no dimension of size 3 in a")
        d = threes[0] + 1
    place = dimension(a, d, 3)
    if a.shape[place] != 3:
        raise ArgumentError(3, f"dimension {d} does not have size 3")
    return torch.linalg.cross(a, b, dim=place)


def match(a: Tensor, b: Tensor, gain: float) -> Tensor:
    n, m = a.shape[0], b.shape[0]
    x, y = a.reshape(n, -1), b.reshape(m, -1)
    if x.shape[1] != y.shape[1]:
        raise ArgumentError(2, "m1 and m2 must have the same inner vector dim")
    return ((x[:, None] - y[None]) ** 2).sum(2) * gain


def cat(d: int, *tensors: Tensor) -> Tensor:
    """Along dimension ``d``; -1 is the last. Tensors without dimensions are left out."""
    some = [t for t in tensors if t.numel()]
    if not some:
        return tensors[0]
    most = max(t.dim() for t in some)
    place = most - 1 if d == -1 else d - 1
    if place < 0:
        raise ArgumentError(4, f"invalid dimension {d}")
    most = max(most, place + 1)
    shaped = [t.reshape(*t.shape, *[1] * (most - t.dim())) for t in some]
    try:
        return torch.cat(shaped, place)
    except RuntimeError:
        raise RuntimeError("inconsistent tensor sizes") from None
