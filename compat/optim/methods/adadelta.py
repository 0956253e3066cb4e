"""Adadelta."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import buffer, pieces


def adadelta(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of Adadelta (Zeiler 2012, arXiv 1212.5701), Torch7's ``optim.adadelta``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``rho`` (0.9), ``eps`` (1e-6), ``weightDecay`` (0; added into the gradient that
            ``opfunc`` returned).
        state: ``evalCounter``, ``paramVariance``, ``paramStd``, ``delta``, ``accDelta``; default:
            ``config``.

    Returns:
        ``x`` and a list with the loss before the step.
    """
    config, state = tables(config, state)
    rho = option(config, "rho", 0.9)
    eps = option(config, "eps", 1e-6)
    wd = option(config, "weightDecay", 0)

    fx, dfdx = evaluate(opfunc, x)
    vectors = [buffer(state, k, x) for k in ("paramVariance", "paramStd", "delta", "accDelta")]
    for xs, g, variance, std, delta, acc in pieces(x, dfdx, *vectors):
        if wd != 0:
            g.add_(xs, alpha=wd)
        variance.mul_(rho).addcmul_(g, g, value=1 - rho)
        torch.add(variance, eps, out=std).sqrt_()
        torch.add(acc, eps, out=delta).sqrt_().div_(std).mul_(g)
        xs.sub_(delta)
        acc.mul_(rho).addcmul_(delta, delta, value=1 - rho)
    state["evalCounter"] = option(state, "evalCounter", 0) + 1
    return x, [fx]
