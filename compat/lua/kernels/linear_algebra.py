"""Products of matrices, convolutions and LAPACK's decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def _sizes(a: Tensor) -> str:
    return " x ".join(map(str, a.shape))


def mv(a: Tensor, x: Tensor) -> Tensor:
    if a.shape[1] != x.shape[0]:
        raise RuntimeError(f"size mismatch, [{_sizes(a)}], [{_sizes(x)}]")
    return torch.mv(a, x)


def mm(a: Tensor, b: Tensor) -> Tensor:
    if a.shape[1] != b.shape[0]:
        raise RuntimeError(f"size mismatch, m1: [{_sizes(a)}], m2: [{_sizes(b)}]")
    return torch.mm(a, b)


def _check_batches(a: Tensor, b: Tensor) -> None:
    if a.shape[0] != b.shape[0]:
        raise ArgumentError(2, f"equal number of batches expected, got {a.shape[0]}, {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise ArgumentError(
            2,
            f"wrong matrix size, batch1: {a.shape[1]}x{a.shape[2]}, "
            f"batch2: {b.shape[1]}x{b.shape[2]}",
        )


def bmm(a: Tensor, b: Tensor) -> Tensor:
    _check_batches(a, b)
    return torch.bmm(a, b)


def ger(a: Tensor, b: Tensor) -> Tensor:
    return torch.outer(a, b)


def addmv(beta: float, t: Tensor, alpha: float, a: Tensor, x: Tensor) -> Tensor:
    if a.shape[1] != x.shape[0]:
        raise RuntimeError(f"size mismatch, [{_sizes(a)}], [{_sizes(x)}]")
    if t.shape[0] != a.shape[0]:
        raise RuntimeError(f"size mismatch, t: [{_sizes(t)}], mat: [{_sizes(a)}]")
    return torch.addmv(t, a, x, beta=beta, alpha=alpha)


def addmm(beta: float, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> Tensor:
    if a.shape[1] != b.shape[0] or t.shape != (a.shape[0], b.shape[1]):
        raise RuntimeError(
            f"size mismatch, t: [{_sizes(t)}], m1: [{_sizes(a)}], m2: [{_sizes(b)}]"
            if a.shape[1] == b.shape[0]
            else f"size mismatch, m1: [{_sizes(a)}], m2: [{_sizes(b)}]"
        )
    return torch.addmm(t, a, b, beta=beta, alpha=alpha)


def addr(beta: float, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> Tensor:
    if t.shape != (a.shape[0], b.shape[0]):
        raise RuntimeError(
            f"size mismatch, t: [{_sizes(t)}], vec1: [{_sizes(a)}], vec2: [{_sizes(b)}]"
        )
    return torch.addr(t, a, b, beta=beta, alpha=alpha)


def addbmm(beta: float, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> Tensor:
    _check_batches(a, b)
    if t.shape != (a.shape[1], b.shape[2]):
        raise ArgumentError(1, "output tensor of incorrect size")
    return torch.addbmm(t, a, b, beta=beta, alpha=alpha)


def baddbmm(beta: float, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> Tensor:
    _check_batches(a, b)
    if t.shape != (a.shape[0], a.shape[1], b.shape[2]):
        raise ArgumentError(1, "output tensor of incorrect size")
    return torch.baddbmm(t, a, b, beta=beta, alpha=alpha)


def _convolve(name: str, nd: int, flip: bool, kind: str) -> Callable[[Tensor, Tensor, str], Tensor]:
    operator = {2: F.conv2d, 3: F.conv3d}[nd]
    last = tuple(range(-nd, 0))
    planes = {2: "conv2D", 3: "conv3D"}[nd] + {"": "mul", "c": "cmul", "mv": "mv"}[kind]
    argument = 2

    def kernel(a: Tensor, k: Tensor, mode: str) -> Tensor:
        dtype = a.dtype
        # PyTorch convolves floating point numbers only.
        if not dtype.is_floating_point:
            a, k = a.double(), k.double()
        if mode == "V" and any(a.shape[d] < k.shape[d] for d in last):
            raise ArgumentError(argument, f"{planes} : Input image is smaller than kernel")
        full = mode == "F"
        if kind == "":
            x, w, groups = a[None, None], k[None, None], 1
        elif kind == "c":
            if a.shape[0] != k.shape[0]:
                raise ArgumentError(2, "invalid number of input planes and/or kernels")
            x, w, groups = a[None], k[:, None], a.shape[0]
        else:
            if a.shape[0] != k.shape[1]:
                raise ArgumentError(2, "invalid number of input planes")
            x, w, groups = a[None], k, 1
        # PyTorch correlates: a convolution is one with the kernel turned round.
        if flip:
            w = w.flip(last)
        padding = tuple(k.shape[d] - 1 for d in last) if full else 0
        result = operator(x, w, padding=padding, groups=groups)[0]
        return (result[0] if kind == "" else result).to(dtype)

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    f"{name}{nd}{kind}": _convolve(name, nd, name == "conv", kind)
    for name in ("conv", "xcorr")
    for nd in (2, 3)
    for kind in ("", "c", "mv")
}


# LAPACK ------------------------------------------------------------------------------------------


def _matrix(b: Tensor) -> Tensor:
    return b[:, None] if b.dim() == 1 else b


def _check_square(a: Tensor, argument: int = 1) -> None:
    if a.dim() != 2:
        raise ArgumentError(argument, "A should be 2 dimensional")
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(argument, "A should be square")


def gesv(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    if a.dim() != 2:
        raise ArgumentError(2, f"A should have 2 dimensions, but has {a.dim()}")
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(2, f"A should be square, but is {a.shape[0]}x{a.shape[1]}")
    if a.shape[0] != b.shape[0]:
        raise ArgumentError(
            2, f"A,B size incompatible - A has {a.shape[0]} rows, B has {b.shape[0]}"
        )
    lu, pivots, info = torch.linalg.lu_factor_ex(a)
    if int(info) > 0:
        raise RuntimeError(
            f"Lapack Error in gesv : U({int(info)},{int(info)}) is zero, singular U."
        )
    x = torch.linalg.lu_solve(lu, pivots, _matrix(b))
    return x.reshape(b.shape) if b.dim() == 1 else x, lu


def gels(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    m, n = a.shape
    result = torch.linalg.lstsq(a, _matrix(b), driver="gels").solution
    factors, _ = torch.geqrf(a) if m >= n else torch.geqrf(a.T)
    return result, factors if m >= n else factors.T


def trtrs(b: Tensor, a: Tensor, uplo: str, trans: str, diag: str) -> tuple[Tensor, Tensor]:
    if a.dim() != 2:
        raise ArgumentError(2, f"A should have 2 dimensions, but has {a.dim()}")
    if a.shape[0] != a.shape[1]:
        raise ArgumentError(2, f"A should be square, but is {a.shape[0]}x{a.shape[1]}")
    triangle, upper = (a.T, uplo == "L") if trans == "T" else (a, uplo == "U")
    diagonal = torch.diagonal(a)
    if diag == "N" and bool((diagonal == 0).any()):
        i = int((diagonal == 0).nonzero()[0]) + 1
        raise RuntimeError(f"Lapack Error trtrs : A({i},{i}) is zero, singular A")
    x = torch.linalg.solve_triangular(triangle, _matrix(b), upper=upper, unitriangular=diag == "U")
    return x.reshape(b.shape) if b.dim() == 1 else x, a.clone()


def symeig(a: Tensor, job: str, uplo: str) -> tuple[Tensor, Tensor]:
    _check_square(a)
    values, vectors = torch.linalg.eigh(a, UPLO=uplo)
    return values, vectors


def eig(a: Tensor, job: str) -> tuple[Tensor, Tensor]:
    _check_square(a)
    if job == "N":
        return torch.view_as_real(torch.linalg.eigvals(a)).contiguous(), a.new_empty(0)
    values, vectors = torch.linalg.eig(a)
    # LAPACK keeps the real and imaginary part of a pair of vectors in neighbouring columns.
    real = torch.zeros_like(a)
    j = 0
    while j < a.shape[0]:
        real[:, j] = vectors[:, j].real
        if values[j].imag != 0 and j + 1 < a.shape[0]:
            real[:, j + 1] = vectors[:, j].imag
            j += 1
        j += 1
    return torch.view_as_real(values).contiguous(), real


def svd(a: Tensor, job: str) -> tuple[Tensor, Tensor, Tensor]:
    if a.dim() != 2:
        raise ArgumentError(1, "A should be 2 dimensional")
    u, s, vh = torch.linalg.svd(a, full_matrices=job == "A")
    return u, s, vh.mH.contiguous()


def inverse(a: Tensor) -> Tensor:
    _check_square(a)
    result, info = torch.linalg.inv_ex(a)
    if int(info) > 0:
        raise RuntimeError(f"Lapack Error getrf : U({int(info)},{int(info)}) is 0, U is singular")
    return result


def potrf(a: Tensor, uplo: str) -> Tensor:
    _check_square(a)
    symmetric = (
        torch.triu(a) + torch.triu(a, 1).T if uplo == "U" else torch.tril(a) + torch.tril(a, -1).T
    )
    result, info = torch.linalg.cholesky_ex(symmetric, upper=uplo == "U")
    if int(info) > 0:
        raise RuntimeError(
            f"Lapack Error in potrf : the leading minor of order {int(info)} "
            "is not positive definite"
        )
    return result


def potrs(b: Tensor, a: Tensor, uplo: str) -> Tensor:
    return torch.cholesky_solve(_matrix(b), a, upper=uplo == "U").reshape(b.shape)


def potri(a: Tensor, uplo: str) -> Tensor:
    _check_square(a)
    result = torch.cholesky_inverse(a, upper=uplo == "U")
    # LAPACK writes one triangle, and Torch7 mirrors it.
    return result


def pstrf(a: Tensor, uplo: str, tolerance: float) -> tuple[Tensor, Tensor]:
    """Cholesky's decomposition with pivots."""
    _check_square(a)
    n = a.shape[0]
    s = (
        torch.triu(a) + torch.triu(a, 1).T if uplo == "U" else torch.tril(a) + torch.tril(a, -1).T
    ).clone()
    pivots = torch.arange(1, n + 1, dtype=torch.int32)
    factor = torch.zeros_like(s)
    limit = (
        tolerance if tolerance >= 0 else n * torch.finfo(a.dtype).eps * float(s.diagonal().max())
    )
    for k in range(n):
        rest = s.diagonal()[k:] - (factor[k:, :k] ** 2).sum(1)
        q = k + int(rest.argmax())
        if float(rest.max()) <= limit and k > 0:
            break
        if q != k:
            order = torch.arange(n)
            order[k], order[q] = q, k
            s, factor, pivots = s[order][:, order], factor[order], pivots[order]
        factor[k, k] = (s[k, k] - (factor[k, :k] ** 2).sum()).sqrt()
        factor[k + 1 :, k] = (s[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / factor[k, k]
    return (factor.T.contiguous() if uplo == "U" else factor), pivots


def qr(a: Tensor) -> tuple[Tensor, Tensor]:
    return tuple(torch.linalg.qr(a))


def geqrf(a: Tensor) -> tuple[Tensor, Tensor]:
    factors, tau = torch.geqrf(a)
    return factors, tau


def orgqr(a: Tensor, tau: Tensor) -> Tensor:
    return torch.orgqr(a, tau)


def ormqr(a: Tensor, tau: Tensor, c: Tensor, side: str, trans: str) -> Tensor:
    return torch.ormqr(a, tau, c, left=side == "L", transpose=trans == "T")
