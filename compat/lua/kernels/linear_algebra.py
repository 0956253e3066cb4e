"""Products of matrices, convolutions and LAPACK's decompositions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def mv(a: Tensor, x: Tensor) -> Tensor:
    return torch.mv(a, x)


def mm(a: Tensor, b: Tensor) -> Tensor:
    return torch.mm(a, b)


def bmm(a: Tensor, b: Tensor) -> Tensor:
    return torch.bmm(a, b)


def _summed(operator: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def kernel(beta: float, t: Tensor, alpha: float, a: Tensor, b: Tensor) -> Tensor:
        return operator(t, a, b, beta=beta, alpha=alpha)

    return kernel


_CORRELATIONS: dict[int, Callable[..., Tensor]] = {2: F.conv2d, 3: F.conv3d}
_FULL_CONVOLUTIONS: dict[int, Callable[..., Tensor]] = {
    2: F.conv_transpose2d,
    3: F.conv_transpose3d,
}


def _correlation_of_integers(x: Tensor, w: Tensor, full: bool, groups: int) -> Tensor:
    """PyTorch correlates floating point numbers only; these wrap as C's do."""
    nd = w.dim() - 2
    if full:
        x = F.pad(x, [size - 1 for size in w.shape[:1:-1] for _ in range(2)])
    windows = x[0].long()
    for d, size in enumerate(w.shape[2:], 1):
        windows = windows.unfold(d, size, 1)
    # Planes, places, places in the kernel.
    places = windows.shape[1 : nd + 1]
    windows = windows.reshape(x.shape[1], places.numel(), -1)
    weight = w.long().flatten(2)
    if groups == 1:
        result = weight.flatten(1) @ windows.transpose(1, 2).flatten(0, 1)
    else:
        result = (windows * weight).sum(2)
    return result.reshape(1, w.shape[0], *places)


def _convolve(name: str, nd: int, flip: bool, kind: str) -> Callable[[Tensor, Tensor, str], Tensor]:
    last = tuple(range(-nd, 0))
    full_name = f"conv{nd}D" + {"": "mul", "c": "cmul", "mv": "mv"}[kind]

    def kernel(a: Tensor, k: Tensor, mode: str) -> Tensor:
        groups = a.shape[0] if kind == "c" else 1
        if kind == "":
            x, w = a[None, None], k[None, None]
        elif kind == "c":
            if a.shape[0] != k.shape[0]:
                raise ArgumentError(2, "invalid number of input/kernel planes")
            x, w = a[None], k[:, None]
        else:
            if a.shape[0] != k.shape[1]:
                raise ArgumentError(2, "invalid number of input planes")
            x, w = a[None], k
        if mode == "V" and any(a.shape[d] < k.shape[d] for d in last):
            raise ArgumentError(2, f"{full_name} : Input image is smaller than kernel")
        full = mode == "F"
        # A convolution is a correlation with the kernel turned round.
        if not a.is_floating_point():
            w = w.flip(last) if flip else w
            result = _correlation_of_integers(x, w, full, groups)[0].to(a.dtype)
        elif full:
            w = w if flip else w.flip(last)
            w = w.transpose(0, 1) if groups == 1 else w
            result = _FULL_CONVOLUTIONS[nd](x, w, groups=groups)[0]
        else:
            w = w.flip(last) if flip else w
            result = _CORRELATIONS[nd](x, w, groups=groups)[0]
        return result[0] if kind == "" else result

    return kernel


KERNELS: dict[str, Callable[..., Any]] = {
    f"{name}{nd}{kind}": _convolve(name, nd, name == "conv", kind)
    for name in ("conv", "xcorr")
    for nd in (2, 3)
    for kind in ("", "c", "mv")
}
KERNELS |= {
    name: _summed(getattr(torch, name)) for name in ("addmv", "addmm", "addr", "addbmm", "baddbmm")
}
KERNELS["ger"] = torch.outer


# LAPACK ------------------------------------------------------------------------------------------
# Sizes fit. What LAPACK writes by columns, the caller lays out so.


def _refuse(info: int, text: str) -> None:
    if info > 0:
        raise RuntimeError(f"Lapack Error {text.format(info)}")


def _check_diagonal(a: Tensor, text: str) -> None:
    zeros = (torch.diagonal(a) == 0).nonzero()
    _refuse(int(zeros[0]) + 1 if len(zeros) else 0, text)


def _matrix(b: Tensor) -> Tensor:
    return b[:, None] if b.dim() == 1 else b


def by_columns(a: Tensor) -> Tensor:
    """Return a matrix in column-major memory."""
    return a.T.contiguous()


def gesv(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    lu, pivots, info = torch.linalg.lu_factor_ex(a)
    _refuse(int(info), "in gesv : U({0},{0}) is zero, singular U.")
    return torch.linalg.lu_solve(lu, pivots, _matrix(b)), lu


def gels(b: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
    """Solve the least-squares problem; return the solution and a factor of ``a``.

    The solution has as many rows as the longer dimension of ``a``.
    """
    m, n = a.shape
    factors = (torch.geqrf(a) if m >= n else torch.geqrf(a.T))[0]
    _check_diagonal(
        factors, "in gels : The {0}-th diagonal element of the triangular factor of A is zero"
    )
    b = _matrix(b)
    rows = torch.zeros(max(m, n), b.shape[1], dtype=a.dtype)
    rows[:n] = torch.linalg.lstsq(a, b, driver="gels").solution
    return rows, factors if m >= n else factors.T


def trtrs(b: Tensor, a: Tensor, uplo: str, trans: str, diag: str) -> tuple[Tensor, Tensor]:
    triangle, upper = (a.T, uplo == "L") if trans == "T" else (a, uplo == "U")
    if diag == "N":
        _check_diagonal(a, "in trtrs : A({0},{0}) is zero, singular A")
    x = torch.linalg.solve_triangular(triangle, _matrix(b), upper=upper, unitriangular=diag == "U")
    return x, a


def symeig(a: Tensor, job: str, uplo: str) -> tuple[Tensor, Tensor]:
    values, vectors = torch.linalg.eigh(a, UPLO=uplo)
    return values, vectors


def eig(a: Tensor, job: str) -> tuple[Tensor, Tensor]:
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
    u, s, vh = torch.linalg.svd(a, full_matrices=job == "A")
    return u, s, vh.mH.contiguous()


def inverse(a: Tensor) -> Tensor:
    result, info = torch.linalg.inv_ex(a)
    _refuse(int(info), "getrf : U({0},{0}) is 0, U is singular")
    return result


def _symmetric(a: Tensor, uplo: str) -> Tensor:
    if uplo == "U":
        return torch.triu(a) + torch.triu(a, 1).T
    return torch.tril(a) + torch.tril(a, -1).T


def potrf(a: Tensor, uplo: str) -> Tensor:
    result, info = torch.linalg.cholesky_ex(_symmetric(a, uplo), upper=uplo == "U")
    _refuse(int(info), "in potrf : the leading minor of order {0} is not positive definite")
    return result


def potrs(b: Tensor, a: Tensor, uplo: str) -> Tensor:
    return torch.cholesky_solve(_matrix(b), a, upper=uplo == "U")


def potri(a: Tensor, uplo: str) -> Tensor:
    _check_diagonal(a, "potri : A({0},{0}) is 0, A cannot be factorized")
    return torch.cholesky_inverse(a, upper=uplo == "U")


def pstrf(a: Tensor, uplo: str, tolerance: float) -> tuple[Tensor, Tensor]:
    """Compute Cholesky's decomposition with pivots."""
    n = a.shape[0]
    s = _symmetric(a, uplo)
    pivots = torch.arange(1, n + 1, dtype=torch.int32)
    factor = torch.zeros_like(s)
    limit = (
        tolerance if tolerance >= 0 else n * torch.finfo(a.dtype).eps * float(s.diagonal().max())
    )
    for k in range(n):
        rest = s.diagonal()[k:] - (factor[k:, :k] ** 2).sum(1)
        q = k + int(rest.argmax())
        if float(rest.max()) <= limit and k > 0:
            raise RuntimeError(
                "Lapack Error pstrf : matrix is rank deficient or not positive semidefinite"
            )
        if q != k:
            order = torch.arange(n)
            order[k], order[q] = q, k
            s, factor, pivots = s[order][:, order], factor[order], pivots[order]
        factor[k, k] = (s[k, k] - (factor[k, :k] ** 2).sum()).sqrt()
        factor[k + 1 :, k] = (s[k + 1 :, k] - factor[k + 1 :, :k] @ factor[k, :k]) / factor[k, k]
    return (factor.T if uplo == "U" else factor), pivots


def qr(a: Tensor) -> tuple[Tensor, Tensor]:
    return tuple(torch.linalg.qr(a))


def geqrf(a: Tensor) -> tuple[Tensor, Tensor]:
    factors, tau = torch.geqrf(a)
    return factors, tau


def orgqr(a: Tensor, tau: Tensor) -> Tensor:
    """Return as many columns of Q as there are reflectors; the others are unchanged."""
    n = len(tau)
    return torch.cat([torch.orgqr(a[:, :n], tau), a[:, n:]], 1)


def ormqr(a: Tensor, tau: Tensor, c: Tensor, side: str, trans: str) -> Tensor:
    # LAPACK reads the reflectors by columns, however the tensor is laid out.
    rows = c.shape[0 if side == "L" else 1]
    reflectors = a.as_strided((rows, len(tau)), (1, rows))
    return torch.ormqr(reflectors, tau, c, left=side == "L", transpose=trans == "T")
