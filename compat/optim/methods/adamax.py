"""AdaMax."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import buffer, held_epsilon, pieces


def adamax(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of AdaMax (Kingma and Ba 2014, arXiv 1412.6980), Torch7's ``optim.adamax``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (2e-3), ``beta1`` (0.9), ``beta2`` (0.999), ``epsilon`` (1e-38),
            ``weightDecay`` (0; added into the gradient that ``opfunc`` returned).
        state: ``t``, ``m``, ``u`` (of shape 1 × that of ``x``), ``max`` (2 × that of ``x``);
            default: ``config``.

    Returns:
        ``x`` and a list with the loss before the step.
    """
    config, state = tables(config, state)
    lr = option(config, "learningRate", 2e-3)
    beta1 = option(config, "beta1", 0.9)
    beta2 = option(config, "beta2", 0.999)
    wd = option(config, "weightDecay", 0)

    fx, dfdx = evaluate(opfunc, x)
    epsilon = held_epsilon(option(config, "epsilon", 1e-38), x)
    t = option(state, "t", 0) + 1
    step = lr / (1 - beta1**t)
    mean, norm = buffer(state, "m", x), buffer(state, "u", x, shape=(1, *x.shape))
    both = buffer(state, "max", x, shape=(2, *x.shape))
    for xs, g, m, u, decayed, now in pieces(x, dfdx, mean, norm, both[0], both[1]):
        if wd != 0:
            g.add_(xs, alpha=wd)
        m.mul_(beta1).add_(g, alpha=1 - beta1)
        torch.mul(u, beta2, out=decayed)
        torch.abs(g, out=now).add_(epsilon)
        torch.maximum(decayed, now, out=u)
        xs.addcdiv_(m, u, value=-step)
    state["t"] = t
    return x, [fx]
