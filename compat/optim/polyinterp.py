"""The minimum of an interpolating polynomial."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from compat.optim.ieee import divide, sqrt

Points = torch.Tensor | Sequence[Sequence[float]]

# Coefficients below this are rounding noise.
NEGLIGIBLE = 1e-12


def polyinterp(
    points: Points, xminBound: float | None = None, xmaxBound: float | None = None
) -> float | tuple[float, float]:
    """
    The position of the minimum of the polynomial through points with given slopes, Torch7's
    `optim.polyinterp`.

    Args:
        points: n rows (x, f, slope).
        xminBound, xmaxBound: where to look; from the smallest x to the largest if not given.

    Returns:
        For two points without bounds the position, from the cubic's closed form; otherwise the
        position and the polynomial's value there.

    Differs from Torch7: constant points and points that are not finite do not fail with bounds;
    the position then is the lower bound or the middle.
    """
    rows = torch.as_tensor(points, dtype=torch.float64, device="cpu")
    if rows.dim() != 2 or rows.shape[1] != 3:
        raise ValueError(f"points must be rows (x, f, slope), not of shape {tuple(rows.shape)}")
    if len(rows) == 2 and xminBound is None and xmaxBound is None:
        return _cubic_minimum(*sorted(rows.tolist(), key=lambda row: row[0]))
    positions = rows[:, 0].tolist()
    lower = min(positions) if xminBound is None else xminBound
    upper = max(positions) if xmaxBound is None else xmaxBound
    best, smallest = (lower + upper) / 2, math.inf
    polynomial = _interpolate(rows)
    for x in [lower, upper, *positions, *_critical_points(polynomial)]:
        if lower <= x <= upper:
            value = sum(c * x**power for power, c in enumerate(reversed(polynomial)))
            if value < smallest:
                best, smallest = x, value
    return best, smallest


def _cubic_minimum(low: list[float], high: list[float]) -> float:
    (x1, f1, g1), (x2, f2, g2) = low, high
    d1 = g1 + g2 - 3 * divide(f1 - f2, x1 - x2)
    d2 = sqrt(d1 * d1 - g1 * g2)
    if math.isnan(d2):
        return (x1 + x2) / 2
    x = x2 - (x2 - x1) * divide(g2 + d2 - d1, g2 - g1 + 2 * d2)
    return min(max(x1, x), x2)


def _interpolate(rows: torch.Tensor) -> list[float]:
    """The coefficients, highest power first, that fit values and slopes best."""
    order = 2 * len(rows) - 1
    powers = torch.arange(order, -1, -1, dtype=torch.float64)
    x = rows[:, :1]
    values = x**powers
    slopes = powers * x ** (powers - 1).clamp(min=0)
    system = torch.cat([values, slopes])
    target = torch.cat([rows[:, 1], rows[:, 2]])
    if not (system.isfinite().all() and target.isfinite().all()):
        return [math.nan] * (order + 1)
    fit = torch.linalg.lstsq(system, target.unsqueeze(1)).solution.squeeze(1)
    return [0.0 if abs(c) <= NEGLIGIBLE else c for c in fit.tolist()]


def _critical_points(polynomial: list[float]) -> list[float]:
    """The real roots of the derivative."""
    order = len(polynomial) - 1
    derivative = [c * (order - i) for i, c in enumerate(polynomial[:-1])]
    if not all(map(math.isfinite, derivative)):
        return []
    derivative = [0.0 if abs(c) < NEGLIGIBLE else c for c in derivative]
    while derivative and derivative[0] == 0:
        derivative.pop(0)
    if not derivative:
        return []
    zeros = 0
    while derivative[-1] == 0:
        derivative.pop()
        zeros += 1
    degree = len(derivative) - 1
    roots = [0.0] * zeros
    if degree > 0:
        companion = torch.zeros(degree, degree, dtype=torch.float64)
        companion[0] = -torch.tensor(derivative[1:], dtype=torch.float64) / derivative[0]
        companion.diagonal(-1).fill_(1)
        eigenvalues = torch.linalg.eigvals(companion).tolist()
        roots = [e.real for e in eigenvalues if e.imag == 0] + roots
    return roots
