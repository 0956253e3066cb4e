"""Nesterov's accelerated gradient."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, learning_rate, option, tables
from compat.optim.support.vectors import buffer, factors, flat, pieces


def nag(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of Nesterov's accelerated gradient (Sutskever et al. 2013), ``optim.nag``.

    ``x`` is moved along the momentum before ``opfunc`` is called. Weight decay is added into the
    gradient that ``opfunc`` returned.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0),
            ``momentum`` (0.9), the vector ``learningRates``. ``dampening`` is ignored, as in
            Torch7.
        state: ``evalCounter``, ``dfdx``, ``deltaParameters``; default: ``config``.

    Returns:
        ``x`` and a list with the loss at the point that the momentum led to.

    Raises:
        ValueError: the momentum is not positive.
    """
    config, state = tables(config, state)
    wd = option(config, "weightDecay", 0)
    mom = option(config, "momentum", 0.9)
    lrs = factors(config, "learningRates", x)
    if mom <= 0:
        raise ValueError(
            f"momentum is {mom}; for Nesterov's accelerated gradient, a positive number is accepted"
        )
    evals = option(state, "evalCounter", 0)
    lr = learning_rate(config, 1e-3, evals)

    first = state.get("dfdx") is None
    momentum = None if first else buffer(state, "dfdx", x).view(-1)
    if momentum is not None:
        flat(x).add_(momentum, alpha=mom)
    try:
        fx, dfdx = evaluate(opfunc, x)
    except BaseException:
        if momentum is not None:
            flat(x).sub_(momentum, alpha=mom)
        raise
    vectors = [buffer(state, "dfdx", x)]
    if lrs is not None:
        vectors += [lrs.to(x.dtype), buffer(state, "deltaParameters", x, fill=None)]
    for xs, g, velocity, *scaling in pieces(x, dfdx, *vectors):
        if wd != 0:
            g.add_(xs, alpha=wd)
        if not first:
            velocity.mul_(mom)
        if scaling:
            rates, delta = scaling
            g = torch.mul(rates, g, out=delta)
        xs.add_(g, alpha=-lr)
        velocity.add_(g, alpha=-lr)
    state["evalCounter"] = evals + 1
    return x, [fx]
