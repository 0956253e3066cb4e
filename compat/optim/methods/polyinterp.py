"""The minimum of an interpolating polynomial."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from compat.optim.support.lua_arithmetic import divide, sqrt

Points = torch.Tensor | Sequence[Sequence[float]]

# Coefficients below this are rounding noise.
NEGLIGIBLE = 1e-12


def polyinterp(
    points: Points, xminBound: float | None = None, xmaxBound: float | None = None
) -> float | tuple[float, float]:
    """Find the minimum of the polynomial through points with given slopes (``optim.polyinterp``).

    Args:
        points: n rows (x, f, slope).
        xminBound: the lower end of the search; default: the smallest x.
        xmaxBound: the upper end of the search; default: the largest x.

    Returns:
        For two points without bounds the position, from the cubic's closed form; otherwise the
        position and the polynomial's value there.

    Differs from Torch7: with bounds, constant points and points that are not finite are no error;
    the position is then the lower bound or the middle.
    """
    rows = torch.as_tensor(points, dtype=torch.float64, device="cpu")
    if rows.dim() != 2 or rows.shape[1] != 3:
        raise ValueError(f"points has size {tuple(rows.shape)}; rows (x, f, slope) are accepted")
    if len(rows) == 2 and xminBound is None and xmaxBound is None:
        return _cubic_minimum(*sorted(rows.tolist(), key=lambda row: row[0]))
    positions = rows[:, 0].tolist()
    lower = min(positions) if xminBound is None else xminBound
    upper = max(positions) if xmaxBound is None else xmaxBound
    best, smallest = (lower + upper) / 2, math.inf
    polynomial = _interpolate(rows.tolist())
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


def _interpolate(rows: list[list[float]]) -> list[float]:
    """Return the coefficients of the polynomial with these values and slopes.

    The highest power comes first. By Hermite's divided differences, in plain arithmetic, so that
    every run gives the same bits.
    """
    nodes = [x for x, _, _ in rows for _ in range(2)]
    differences = [f for _, f, _ in rows for _ in range(2)]
    newton = [differences[0]]
    for order in range(1, len(nodes)):
        differences = [
            rows[i // 2][2]
            if order == 1 and i % 2 == 0
            else divide(differences[i + 1] - differences[i], nodes[i + order] - nodes[i])
            for i in range(len(nodes) - order)
        ]
        newton.append(differences[0])
    polynomial: list[float] = []
    for coefficient, node in zip(reversed(newton), reversed(nodes), strict=True):
        # Horner's scheme: polynomial * (x - node) + coefficient.
        shifted = [0.0, *(-node * c for c in polynomial)]
        polynomial = [a + b for a, b in zip([*polynomial, 0.0], shifted, strict=True)]
        polynomial[-1] += coefficient
    return [0.0 if abs(c) <= NEGLIGIBLE else c for c in polynomial]


def _critical_points(polynomial: list[float]) -> list[float]:
    """Return the real roots of the derivative."""
    order = len(polynomial) - 1
    derivative = [c * (order - i) for i, c in enumerate(polynomial[:-1])]
    if not all(map(math.isfinite, derivative)):
        return []
    derivative = [0.0 if abs(c) < NEGLIGIBLE else c for c in derivative]
    while derivative and derivative[0] == 0:
        derivative.pop(0)
    if len(derivative) == 3:
        return _quadratic_roots(*derivative)
    roots = np.roots(derivative)
    return roots[roots.imag == 0].real.tolist()


def _quadratic_roots(a: float, b: float, c: float) -> list[float]:
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    q = -(b + math.copysign(math.sqrt(discriminant), b)) / 2
    return [q / a, c / q] if q != 0 else [0.0]
