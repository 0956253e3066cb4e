"""A line search for the Wolfe conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from compat.optim.methods.polyinterp import polyinterp
from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, table
from compat.optim.support.vectors import flat


@dataclass
class Trial:
    """A point on the line: distance, loss, gradient and slope."""

    t: float
    f: float
    g: torch.Tensor
    slope: float

    def row(self) -> list[float]:
        return [self.t, self.f, self.slope]


def lswolfe(
    opfunc: OpFunc,
    x: torch.Tensor,
    t: float,
    d: torch.Tensor,
    f: Any,
    g: torch.Tensor,
    gtd: float,
    options: Table | None = None,
) -> tuple[float, torch.Tensor, torch.Tensor, float, int]:
    """Search along a line for the Wolfe conditions, Torch7's ``optim.lswolfe``.

    A ``lineSearch`` for ``optim.lbfgs``, after Schmidt's minFunc.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the start, moved in place to the point found.
        t: the first step length.
        d: the direction, of the shape of ``x``.
        f: the loss at ``x``.
        g: the gradient at ``x``.
        gtd: the slope at ``x``, the product of ``g`` and ``d``.
        options: ``c1`` (1e-4), sufficient decrease; ``c2`` (0.9), curvature; ``tolX`` (1e-9), the
            smallest progress; ``maxIter`` (20), the largest number of trials; ``verbose`` (False).

    Returns:
        The loss and the gradient at the point found, ``x``, the step length, and the number of
        evaluations.
    """
    options = table("options", options)
    c1, c2 = option(options, "c1", 1e-4), option(options, "c2", 0.9)
    tol_x, max_iter = option(options, "tolX", 1e-9), option(options, "maxIter", 20)
    vector, direction = flat(x), d.detach().reshape(-1)
    start = vector.clone()
    evals = 0

    def trial(t: float) -> Trial:
        nonlocal evals
        vector.copy_(start).add_(direction, alpha=t)
        fx, dfdx = evaluate(opfunc, x)
        evals += 1
        return Trial(t, float(fx), dfdx.clone(), float(dfdx.dot(direction)))

    origin = Trial(0, float(f), g.detach().reshape(-1).clone(), float(gtd))
    previous, now = origin, trial(t)
    bracket: list[Trial] = []
    iterations = 0
    done = False
    while iterations < max_iter:
        if now.f > origin.f + c1 * now.t * origin.slope or (iterations > 1 and now.f >= previous.f):
            bracket = [previous, now]
            break
        if abs(now.slope) <= -c2 * origin.slope:
            bracket = [now]
            done = True
            break
        if now.slope >= 0:
            bracket = [previous, now]
            break
        found = polyinterp(
            [previous.row(), now.row()], now.t + 0.01 * (now.t - previous.t), now.t * 10
        )
        assert isinstance(found, tuple)
        previous, now = now, trial(found[0])
        iterations += 1
    if iterations == max_iter:
        bracket = [origin, now]

    stalled = False
    while not done and iterations < max_iter:
        low, high = _ordered(bracket)
        t, stalled = _inside(bracket, stalled)
        now = trial(t)
        iterations += 1
        if now.f > origin.f + c1 * t * origin.slope or now.f >= bracket[low].f:
            bracket[high] = now
        else:
            if abs(now.slope) <= -c2 * origin.slope:
                done = True
            elif now.slope * (bracket[high].t - bracket[low].t) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = now
        if not done and abs((bracket[0].t - bracket[1].t) * now.slope) < tol_x:
            break

    if iterations == max_iter and option(options, "verbose", False):
        print("<optim.lswolfe> reached max number of iterations")
    best = bracket[_ordered(bracket)[0]]
    vector.copy_(start).add_(direction, alpha=best.t)
    return best.f, best.g.view_as(x), x, best.t, evals


def _ordered(bracket: list[Trial]) -> tuple[int, int]:
    """Return the positions in the bracket of the smaller and of the larger loss."""
    low = 1 if len(bracket) == 2 and bracket[1].f < bracket[0].f else 0
    return low, 1 - low


def _inside(bracket: list[Trial], stalled: bool) -> tuple[float, bool]:
    """Return a step length inside the bracket, and whether it makes too little progress."""
    t = polyinterp([trial.row() for trial in bracket])
    assert isinstance(t, float)
    left, right = sorted(trial.t for trial in bracket)
    width = right - left
    if width == 0 or not min(right - t, t - left) / width < 0.1:
        return t, False
    if not stalled and left < t < right:
        return t, True
    return (right - 0.1 * width if abs(t - right) < abs(t - left) else left + 0.1 * width), False
