"""Averaged stochastic gradient descent."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import buffer, pieces

DEFAULTS = {"eta0": 1e-4, "lambda": 1e-4, "alpha": 0.75, "t0": 1e6}


def asgd(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list, torch.Tensor]:
    """Take one step of averaged SGD (Bottou's sgd-2.0), Torch7's ``optim.asgd``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``eta0`` (1e-4), ``lambda`` (1e-4), ``alpha`` (0.75), ``t0`` (1e6). As in Torch7,
            the defaults are written into the table.
        state: ``eta_t``, ``mu_t``, ``t``, ``ax``, ``tmp``; default: ``config``.

    Returns:
        ``x``, a list with the loss before the step, and ``ax``, the average of ``x`` from step
        ``t0`` on.
    """
    config, state = tables(config, state)
    for key, default in DEFAULTS.items():
        config[key] = option(config, key, default)
    eta0, decay, alpha, t0 = (config[key] for key in DEFAULTS)
    eta, mu, t = option(state, "eta_t", eta0), option(state, "mu_t", 1), option(state, "t", 0)

    fx, dfdx = evaluate(opfunc, x)
    average = buffer(state, "ax", x)
    for xs, g, ax, tmp in pieces(x, dfdx, average, buffer(state, "tmp", x)):
        xs.mul_(1 - decay * eta).add_(g, alpha=-eta)
        if mu == 1:
            ax.copy_(xs)
        else:
            ax.add_(torch.sub(xs, ax, out=tmp).mul_(mu))
    state["t"] = t + 1
    state["eta_t"] = eta0 / (1 + decay * eta0 * (t + 1)) ** alpha
    state["mu_t"] = 1 / max(1, t + 1 - t0)
    return x, [fx], average
