"""Adam."""

from __future__ import annotations

import math

import torch
from torch.optim.adam import adam as torch_adam

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, learning_rate, option, tables
from compat.optim.support.recomputed import Recomputed
from compat.optim.support.vectors import buffer, changed, held_epsilon


def adam(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of Adam (Kingma and Ba 2014, arXiv 1412.6980), Torch7's ``optim.adam``.

    As in Torch7, epsilon is added before the bias correction, and weight decay is added into the
    gradient that ``opfunc`` returned.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``beta1`` (0.9), ``beta2``
            (0.999), ``epsilon`` (1e-8), ``weightDecay`` (0).
        state: ``t``, ``m``, ``v``, ``denom``; default: ``config``.

    Returns:
        ``x`` and a list with the loss before the step.

    Examples:
        >>> x, config = torch.tensor([1.0]), {"learningRate": 0.5}
        >>> for _ in range(3):
        ...     x, losses = adam(lambda x: ((x**2).item(), 2 * x), x, config)
        >>> config["t"], losses[0] < 1
        (3, True)
    """
    config, state = tables(config, state)
    beta1 = option(config, "beta1", 0.9)
    beta2 = option(config, "beta2", 0.999)
    wd = option(config, "weightDecay", 0)
    steps = option(state, "t", 0)
    lr = learning_rate(config, 1e-3, steps)

    fx, dfdx = evaluate(opfunc, x)
    epsilon = held_epsilon(option(config, "epsilon", 1e-8), x)
    m, v = buffer(state, "m", x), buffer(state, "v", x)
    vector = x.detach().view(-1)
    if wd != 0:
        dfdx.add_(vector, alpha=wd)
    torch_adam(
        [vector],
        [dfdx],
        [m.view(-1)],
        [v.view(-1)],
        [],
        [torch.full((), float(steps), device=x.device)],
        fused=True,
        amsgrad=False,
        beta1=beta1,
        beta2=beta2,
        lr=lr,
        weight_decay=0.0,
        # PyTorch adds its epsilon after the bias correction.
        eps=epsilon / math.sqrt(1 - beta2 ** (steps + 1)),
        maximize=False,
    )
    changed(x)
    state["t"] = steps + 1
    state["denom"] = Recomputed.of(v, lambda v: v.sqrt().add_(epsilon))
    return x, [fx]
