"""Nonlinear conjugate gradients."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from compat.optim.support.lua_arithmetic import divide, sqrt
from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import buffer, flat, same_class


def cg(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list[float], int]:
    """Minimise by conjugate gradients, Torch7's ``optim.cg``.

    After Polak and Ribière, and Rasmussen's minimize.m. As in Torch7, the search ends with the
    first line search that fails, and the last one may take more evaluations than ``maxEval`` if
    that is not a whole number.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the start, updated in place.
        config: ``maxEval``, the largest number of evaluations (1.25 * maxIter); ``maxIter``, the
            largest number in one line search (20); ``rho`` (0.01) and ``sig`` (0.5) of the
            Wolfe-Powell conditions; ``int`` (0.1) and ``ext`` (3), which limit inter- and
            extrapolation; ``ratio``, the largest ratio of slopes (100).
        state: the buffers ``df0``, ``df1``, ``df2``, ``df3``, ``x0``, ``s``; default: ``config``.

    Returns:
        ``x``, the list of losses at the start and after every line search, and the number of
        evaluations.
    """
    config, state = tables(config, state)
    max_iter = option(config, "maxIter", 20)
    max_eval = option(config, "maxEval", max_iter * 1.25)
    ratio = option(config, "ratio", 100)
    evals = 0
    vector = flat(x)
    df0, df1, df2, _, x0, s = (
        buffer(state, key, x).view(-1) for key in ("df0", "df1", "df2", "df3", "x0", "s")
    )

    def evaluated(gradient: torch.Tensor) -> float:
        nonlocal evals
        fx, dfdx = evaluate(opfunc, x)
        evals += 1
        gradient.copy_(dfdx)
        return float(fx)

    def moved(step: float) -> tuple[float, float]:
        """Return loss and slope after a step along ``s``."""
        vector.add_(s, alpha=step)
        return evaluated(df2), float(df2.dot(s))

    f = evaluated(df1)
    losses = [f]
    torch.neg(df1, out=s)
    slope = -float(s.dot(s))
    length = 1 / (1 - slope)
    while evals < abs(max_eval):
        x0.copy_(vector)
        df0.copy_(df1)
        found = _line_search(moved, f, slope, length, min(max_iter, max_eval - evals - 1), config)
        if found is None:
            vector.copy_(x0)
            df1.copy_(df0)
            break
        f, length = found
        losses.append(f)
        s.mul_(divide(float(df2.dot(df2)) - float(df2.dot(df1)), float(df1.dot(df1)))).sub_(df2)
        df1, df2 = df2, df1
        new_slope = float(df1.dot(s))
        if new_slope > 0:
            torch.neg(df1, out=s)
            new_slope = -float(s.dot(s))
        length *= min(ratio, divide(slope, new_slope - 1e-320))
        slope = new_slope
    for key, vector in (("df1", df1), ("df2", df2)):
        state[key] = same_class(vector.view_as(x), state["df0"])
    return x, losses, evals


def _line_search(
    moved: Callable[[float], tuple[float, float]],
    f1: float,
    d1: float,
    z1: float,
    left: float,
    config: Table,
) -> tuple[float, float] | None:
    """Search along a line from a point of loss ``f1`` and slope ``d1``, first at distance ``z1``.

    ``moved(step)`` returns loss and slope after a further step; it is called at most ``left``
    times.

    Returns:
        The loss and the distance where the Wolfe-Powell conditions hold, or None.
    """
    rho, sig = option(config, "rho", 0.01), option(config, "sig", 0.5)
    inner, outer = option(config, "int", 0.1), option(config, "ext", 3.0)
    f2, d2 = moved(z1)
    f3, d3, z3 = f1, d1, -z1
    limit: float | None = None

    def cubic() -> tuple[float, float, float]:
        """Return the cubic through points 2 and 3: two coefficients and the root of the
        discriminant.
        """
        a = divide(6 * (f2 - f3), z3) + 3 * (d2 + d3)
        b = 3 * (f3 - f2) - z3 * (d3 + 2 * d2)
        return a, b, sqrt(b * b - a * d2 * z3 * z3)

    while True:
        while (f2 > f1 + z1 * rho * d1 or d2 > -sig * d1) and left > 0:
            limit = z1
            if f2 > f1:
                z2 = z3 - divide(0.5 * d3 * z3 * z3, d3 * z3 + f2 - f3)
            else:
                a, b, root = cubic()
                z2 = divide(root - b, a)
            if not math.isfinite(z2):
                z2 = z3 / 2
            z2 = max(min(z2, inner * z3), (1 - inner) * z3)
            z1 += z2
            f2, d2 = moved(z2)
            left -= 1
            z3 -= z2
        if f2 > f1 + z1 * rho * d1 or d2 > -sig * d1:
            return None
        if d2 > sig * d1:
            return f2, z1
        # Counted from a fractional maxEval, `left` jumps over 0, in Torch7 too: only nan must not
        # go on for ever.
        if left == 0 or math.isnan(f2) or math.isnan(d2):
            return None
        a, b, root = cubic()
        z2 = divide(-d2 * z3 * z3, b + root)
        if not math.isfinite(z2) or z2 < 0:
            z2 = z1 * (outer - 1) if limit is None else (limit - z1) / 2
        elif limit is not None and z2 + z1 > limit:
            z2 = (limit - z1) / 2
        elif limit is None and z2 + z1 > z1 * outer:
            z2 = z1 * (outer - 1)
        elif z2 < -z3 * inner:
            z2 = -z3 * inner
        elif limit is not None and z2 < (limit - z1) * (1 - inner):
            z2 = (limit - z1) * (1 - inner)
        f3, d3, z3 = f2, d2, -z2
        z1 += z2
        f2, d2 = moved(z2)
        left -= 1
