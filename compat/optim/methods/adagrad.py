"""Adagrad."""

from __future__ import annotations

import torch
from torch.optim.adagrad import adagrad as torch_adagrad

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, learning_rate, option, tables
from compat.optim.support.recomputed import Recomputed, working_room
from compat.optim.support.vectors import buffer, changed, held_epsilon, pieces

EPSILON = 1e-10


def adagrad(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of Adagrad (Duchi, Hazan and Singer 2011), Torch7's ``optim.adagrad``.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0; added into
            the gradient that ``opfunc`` returned).
        state: ``evalCounter``, ``paramVariance``, ``paramStd``; default: ``config``.

    Returns:
        ``x`` and a list with the loss before the step.
    """
    config, state = tables(config, state)
    wd = option(config, "weightDecay", 0)
    evals = option(state, "evalCounter", 0)
    lr = learning_rate(config, 1e-3, evals)

    fx, dfdx = evaluate(opfunc, x)
    epsilon = held_epsilon(EPSILON, x)
    variance = buffer(state, "paramVariance", x)
    vector = x.detach().view(-1)
    if wd != 0:
        dfdx.add_(vector, alpha=wd)
    room = None
    if x.device.type == "cpu":
        torch_adagrad(
            [vector],
            [dfdx],
            [variance.view(-1)],
            [torch.zeros(())],
            fused=True,
            foreach=False,
            lr=lr,
            lr_decay=0.0,
            weight_decay=0.0,
            eps=epsilon,
            maximize=False,
        )
        changed(x)
    else:
        room = working_room(state, "paramStd", x)
        for xs, g, v in pieces(x, dfdx, variance):
            std = torch.sqrt(v.addcmul_(g, g), out=room[: v.numel()]).add_(epsilon)
            xs.addcdiv_(g, std, value=-lr)
    state["evalCounter"] = evals + 1
    state["paramStd"] = Recomputed.of(variance, lambda v: v.sqrt().add_(epsilon), room)
    return x, [fx]
