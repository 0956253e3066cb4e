"""RMSprop."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.recomputed import Recomputed, working_room
from compat.optim.support.vectors import buffer, held_epsilon, pieces


def rmsprop(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of RMSprop (Tieleman and Hinton 2012), Torch7's ``optim.rmsprop``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (1e-2), ``alpha`` (0.99), ``epsilon`` (1e-8), ``initialMean`` (0),
            ``weightDecay`` (0; added into the gradient that ``opfunc`` returned).
        state: ``m``, ``tmp``; default: ``config``.

    Returns:
        ``x`` and a list with the loss before the step.
    """
    config, state = tables(config, state)
    lr = option(config, "learningRate", 1e-2)
    alpha = option(config, "alpha", 0.99)
    wd = option(config, "weightDecay", 0)

    fx, dfdx = evaluate(opfunc, x)
    epsilon = held_epsilon(option(config, "epsilon", 1e-8), x)
    mean = buffer(state, "m", x, fill=option(config, "initialMean", 0))
    room = working_room(state, "tmp", x)
    for xs, g, m in pieces(x, dfdx, mean):
        if wd != 0:
            g.add_(xs, alpha=wd)
        m.mul_(alpha).addcmul_(g, g, value=1 - alpha)
        rms = torch.sqrt(m, out=room[: m.numel()]).add_(epsilon)
        xs.addcdiv_(g, rms, value=-lr)
    state["tmp"] = Recomputed.of(mean, lambda m: m.sqrt().add_(epsilon), room)
    return x, [fx]
