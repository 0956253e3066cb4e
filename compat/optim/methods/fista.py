"""Iterative shrinkage-thresholding."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from compat.optim.support.opfunc import first_value
from compat.optim.support.options import Table, option, table
from compat.optim.support.vectors import buffer, flat


def FistaLS(
    f: Callable[..., Any],
    g: Callable[[torch.Tensor], Any],
    pl: Callable[[torch.Tensor, float], Any],
    xinit: torch.Tensor,
    params: Table | None = None,
) -> tuple[torch.Tensor, list[dict[str, Any]]]:
    """Minimise the sum of a smooth function and a simple one by (F)ISTA with backtracking.

    Torch7's ``optim.FistaLS``, after Beck and Teboulle (2009). The search starts at zero. As in
    Torch7, it is plain ISTA unless ``doFistaUpdate`` is given.

    Args:
        f: ``f(y)`` returns the value, ``f(y, "dx")`` the value and the gradient.
        g: ``g(y)`` returns the value.
        pl: ``pl(y, L)`` sets ``y`` in place to the minimum of g(z) + L/2 |z - y|^2.
        xinit: gives the size, and receives the solution.
        params: ``L`` (0.1), the first 1/step size; ``Lstep`` (1.5), its factor in the line search;
            ``maxiter`` (50); ``maxline`` (20); ``errthres`` (1e-4), the change of the sum to stop
            at; ``doFistaUpdate`` (False); ``verbose`` (False; True keeps every ``xk`` and ``y`` in
            the history). ``L`` and the buffers ``xkm``, ``y``, ``ply`` are written back.

    Returns:
        The solution and a list with a dict for every iteration: ``nline``, ``L``, ``F`` (the sum),
        ``Fply``, ``Gply``, ``Q``.

    Raises:
        ValueError: ``maxiter`` is less than 1.
    """
    params = table("params", params)
    smallest = option(params, "L", 0.1)
    factor = option(params, "Lstep", 1.5)
    max_iter = option(params, "maxiter", 50)
    max_line = option(params, "maxline", 20)
    tolerance = option(params, "errthres", 1e-4)
    accelerate = option(params, "doFistaUpdate", False)
    verbose = option(params, "verbose", False)
    if max_iter < 1:
        raise ValueError(f"params['maxiter'] is {max_iter}; a number from 1 on is accepted")
    flat(xinit)

    xk = xinit.detach()
    xkm, ply, y = (buffer(params, key, xinit).zero_() for key in ("xkm", "ply", "y"))
    history: list[dict[str, Any]] = []
    tk = 1.0
    while True:
        fy, gfy = f(y, "dx")[:2]
        fy = float(fy)
        lines = 0
        while True:
            ply.copy_(y).sub_(gfy, alpha=1 / smallest)
            pl(ply, smallest)
            xk.copy_(ply)
            fply = float(first_value(f(ply)))
            ply.sub_(y)
            linear = float(gfy.reshape(-1).dot(ply.view(-1)))
            quadratic = smallest / 2 * float(ply.view(-1).dot(ply.view(-1)))
            bound = fy + linear + quadratic
            if verbose:
                print(
                    f"nline={lines} L={smallest:g} fply={fply:g} Q={bound:g} fy={fy:g} "
                    f"Q2={linear:g} Q3={quadratic:g}"
                )
            lines += 1
            if fply <= bound:
                break
            if lines > max_line:
                xk.copy_(xkm)
                break
            smallest *= factor
        if accelerate:
            following = (1 + math.sqrt(1 + 4 * tk * tk)) / 2
            xkm.sub_(xk)
            torch.add(xk, xkm, alpha=(1 - tk) / following, out=y)
            xkm.copy_(xk)
            tk = following
        else:
            y.copy_(xk)
        fply, gply = float(first_value(f(y))), float(first_value(g(y)))
        entry: dict[str, Any] = {
            "nline": lines,
            "L": smallest,
            "F": fply + gply,
            "Fply": fply,
            "Gply": gply,
            "Q": bound,
        }
        if verbose:
            before = history[-1]["F"] if history else math.inf
            print(f"iter={len(history)} eold={before:g} enew={entry['F']:g}")
            entry |= {"xk": xk.clone(), "y": y.clone()}
        history.append(entry)
        params["L"] = smallest
        has_converged = len(history) > 1 and abs(entry["F"] - history[-2]["F"]) <= tolerance
        if has_converged or len(history) >= max_iter:
            xk.copy_(y)
            return y, history
