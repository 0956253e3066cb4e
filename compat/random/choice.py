"""Permutations and draws from discrete distributions. Indices count from 1, as in Torch7."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from compat.checks import check_floating, whole
from compat.random.generator import Generator, c_integer, pick
from compat.tensor_types import parse_type

if TYPE_CHECKING:
    from numpy.typing import NDArray


def randperm(
    n: float, dtype: torch.dtype | str = torch.int64, *, generator: Generator | None = None
) -> torch.Tensor:
    """Return a random permutation of ``1..n`` (``n`` at least 1) as a ``(n,)`` tensor.

    ``dtype`` may be a tensor type's name ("torch.IntTensor"). Differs from Torch7: the default is
    int64, which can be an index, instead of the default tensor type.

    Args:
        n: how many numbers.
        dtype: the type of the result.
        generator: where to draw from; default: the shared one.

    Examples:
        >>> from compat import random
        >>> sorted(random.randperm(4).tolist())
        [1, 2, 3, 4]
    """
    count = whole(c_integer(n, "n"), "n", 1)
    kind, _ = parse_type(dtype, "dtype")
    chosen = pick(generator)
    with chosen.lock:
        words = chosen.words(count - 1)
    values = list(range(1, count + 1))
    for i, word in enumerate(words.tolist()):
        other = i + word % (count - i)
        values[i], values[other] = values[other], values[i]
    return torch.from_numpy(np.array(values)).to(kind)


def multinomial(
    p: torch.Tensor, n: float, replacement: bool = False, *, generator: Generator | None = None
) -> torch.Tensor:
    """Draw ``n`` categories for each row of the weights ``p``.

    Weights ``(K,)`` or ``(rows, K)`` give ``(n,)`` or ``(rows, n)`` categories from 1, int64, on
    the device of ``p``. The weights need not add to 1, but must have a positive sum. Without
    replacement ``n`` must not exceed ``K``; if there are fewer non-zero weights than draws, indices
    are repeated, as in Torch7.

    Args:
        p: the weights, not negative, ``(K,)`` or ``(rows, K)``.
        n: how many draws for each row.
        replacement: whether a category may be drawn again.
        generator: where to draw from; default: the shared one.

    Raises:
        ValueError: a row of weights has no positive sum, or ``n`` is too large.
    """
    check_weights(p)
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
    """Draw once per row and remove the drawn weight from ``cumulative``."""
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
    """Return per row the first index whose entry is at least ``u``.

    This repeats Torch7's bisection step by step: ``searchsorted`` may differ where rows do not
    increase or contain nan.
    """
    left = np.zeros(u.shape, np.int64)
    right = np.full(u.shape, cumulative.shape[1], np.int64)
    while (open_ := left < right).any():
        middle = left + (right - left) // 2
        too_small = np.take_along_axis(cumulative, middle, 1) < u
        left = np.where(open_ & too_small, middle + 1, left)
        right = np.where(open_ & ~too_small, middle, right)
    return left


def check_weights(p: torch.Tensor) -> None:
    """Raise ValueError unless ``p`` is a vector or matrix of weights."""
    check_floating(p, "p")
    if p.dim() not in (1, 2) or p.numel() == 0:
        raise ValueError(
            f"p has size {tuple(p.shape)}; a vector or matrix with elements is accepted"
        )
