"""Permutations and draws from discrete distributions. Indices count from 1, as in Torch7."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from compat.checks import check_floating, whole
from compat.random.fill import fill
from compat.random.generator import Generator, c_integer, pick
from compat.tensor_types import parse_type


def randperm(
    n: float, dtype: torch.dtype | str = torch.int64, *, generator: Generator | None = None
) -> torch.Tensor:
    """A random permutation of ``1..n`` (``n`` at least 1) as a ``(n,)`` tensor.

    ``dtype`` may be a tensor type's name ("torch.IntTensor"). Differs from Torch7: the default is
    int64, which can index, instead of the default tensor type.
    """
    count = whole(c_integer(n, "n"), "n", 1)
    kind, _ = parse_type(dtype, "dtype")
    chosen = pick(generator)
    with chosen.lock:
        words = chosen.words(count - 1)
    values = list(range(1, count + 1))
    for i, step in enumerate((words % np.arange(count, 1, -1)).tolist()):
        values[i], values[i + step] = values[i + step], values[i]
    return torch.tensor(values, dtype=torch.int64, device="cpu").to(kind)


def multinomial(
    p: torch.Tensor, n: float, replacement: bool = False, *, generator: Generator | None = None
) -> torch.Tensor:
    """``n`` draws for each row of ``p``: weights ``(K,)`` or ``(rows, K)`` give ``(n,)`` or
    ``(rows, n)``.

    The weights need not add to 1, but must have a positive sum. The result is int64, on the
    device of ``p``. Without replacement ``n`` must not exceed ``K``; asking for more draws than
    there are non-zero weights is no error, and repeats indices, as in Torch7.
    """
    _check_weights(p)
    rows = np.atleast_2d(p.detach().cpu().double().numpy())
    count, categories = whole(c_integer(n, "n"), "n", 1), rows.shape[1]
    if not replacement and count > categories:
        raise ValueError(f"n is {count}; at most {categories} is accepted without replacement")
    cumulative = np.cumsum(rows, axis=1)
    totals = cumulative[:, -1:].copy()
    if not (totals > 0).all():
        wrong = totals[~(totals > 0)][0]
        raise ValueError(f"p has a row with the sum {wrong}; positive sums are accepted")
    cumulative /= totals
    chosen = pick(generator)
    with chosen.lock:
        u = chosen.uniforms(len(rows) * count).reshape(len(rows), count)
    if replacement:
        cumulative[:, -1] = 1
        drawn = _bisect(cumulative, u)
    else:
        drawn = np.hstack([_take(cumulative, u[:, j : j + 1]) for j in range(count)])
    return torch.from_numpy(drawn + 1).reshape(*p.shape[:-1], count).to(p.device)


def _take(cumulative: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """One draw per row, whose mass is then removed from ``cumulative``."""
    cumulative[:, -1] = 1
    drawn = _bisect(cumulative, u)
    below = np.where(drawn > 0, np.take_along_axis(cumulative, np.maximum(drawn - 1, 0), 1), 0.0)
    mass = np.take_along_axis(cumulative, drawn, 1) - below
    # Past the last non-zero weight this divides by zero; the nan and inf steer the draws as in
    # Torch7.
    with np.errstate(divide="ignore", invalid="ignore"):
        np.subtract(cumulative, mass, out=cumulative, where=np.arange(cumulative.shape[1]) >= drawn)
        cumulative /= 1.0 - mass
    return drawn


def _bisect(cumulative: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Per row, the first index whose entry is at least ``u``.

    Torch7's bisection step by step: ``searchsorted`` may differ where rows do not increase or
    hold nan.
    """
    left = np.zeros(u.shape, np.int64)
    right = np.full(u.shape, cumulative.shape[1], np.int64)
    while (open_ := left < right).any():
        middle = left + (right - left) // 2
        too_small = np.take_along_axis(cumulative, middle, 1) < u
        left = np.where(open_ & too_small, middle + 1, left)
        right = np.where(open_ & ~too_small, middle, right)
    return left


def multinomialAliasSetup(p: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The alias tables ``(J, q)`` of the probabilities ``p`` of shape ``(K,)``, which should add
    to 1.

    ``J`` is int64 and counts from 1; ``q`` has the type of ``p``. Source: Walker's alias method.
    """
    _check_weights(p)
    if p.dim() != 1:
        raise ValueError(f"p has {p.dim()} dimensions; 1 is accepted")
    hold: Callable[[float], float] = (
        float if p.dtype == torch.float64 else lambda value: float(np.float32(value))
    )
    size = p.numel()
    q = [hold(size * value) for value in p.tolist()]
    J = [0] * size
    small = [i for i in range(size) if q[i] < 1]
    large = [i for i in range(size) if not q[i] < 1]
    while small and large:
        low, high = small[-1], large[-1]
        J[low] = high
        q[high] = hold(q[high] - (1.0 - q[low]))
        if q[high] < 1:
            small[-1] = large.pop()
        else:
            small.pop()
    if not min(q) > 0:
        raise ValueError(
            f"p gives the alias table the entry {min(q)}; one that gives positive ones is accepted"
        )
    if (highest := max(q)) > 1:
        q = [hold(value / highest) for value in q]
    q = [1.0 if alias <= 0 else value for alias, value in zip(J, q, strict=True)]
    return torch.tensor(J, device=p.device) + 1, torch.tensor(q, dtype=p.dtype, device=p.device)


def multinomialAlias(
    out: torch.Tensor,
    state: tuple[torch.Tensor, torch.Tensor],
    *,
    generator: Generator | None = None,
) -> torch.Tensor:
    """Fill the int64 tensor ``out`` with draws from ``state``, a result of
    ``multinomialAliasSetup``.

    An alias gives ``J - 1``, the category before the one it stands for: a slip of Torch7 that is
    kept because seeded runs show it. Where the distribution must be right, use
    ``multinomial``. Differs from Torch7: ``J`` is left as it is, so that further calls draw
    the same way; and float32 probabilities work, too.
    """
    if out.dtype != torch.int64:
        raise TypeError(f"out is {out.dtype}; an int64 tensor (LongTensor) is accepted")
    J, q = (part.detach().cpu().numpy() for part in state)
    if J.shape != q.shape or J.ndim != 1:
        raise ValueError(
            f"state has J of size {J.shape} and q of size {q.shape}; vectors of one length are "
            "accepted"
        )
    chosen = pick(generator)

    def draw(n: int) -> NDArray[np.int64]:
        u = chosen.uniforms(2 * n).reshape(n, 2)
        k = (u[:, 0] * len(J)).astype(np.int64)
        return np.where(u[:, 1] <= q[k], k + 1, J[k] - 1)

    with chosen.lock:
        fill(out, draw)
    return out


def _check_weights(p: torch.Tensor) -> None:
    check_floating(p, "p")
    if p.dim() not in (1, 2) or p.numel() == 0:
        raise ValueError(
            f"p has size {tuple(p.shape)}; a vector or matrix with elements is accepted"
        )
