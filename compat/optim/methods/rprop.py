"""Resilient backpropagation."""

from __future__ import annotations

import torch

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import buffer, pieces

MASKS = ("psign", "nsign", "zsign", "dminmax")


def rprop(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take ``niter`` steps of resilient backpropagation, Torch7's ``optim.rprop``.

    After Riedmiller and Braun 1993. Where the gradient changed its sign, it is set to zero in the
    tensor that ``opfunc`` returned.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``stepsize`` (0.1; the first size of every step), ``etaplus`` (1.2), ``etaminus``
            (0.5), ``stepsizemax`` (50), ``stepsizemin`` (1e-6), ``niter`` (1).
        state: ``delta``, ``stepsize``, ``sign``, and the byte tensors ``psign``, ``nsign``,
            ``zsign``, ``dminmax``; default: ``config``, whose ``stepsize`` then becomes the
            tensor of sizes.

    Returns:
        ``x`` and a list of the losses before each step.
    """
    config, state = tables(config, state)
    stepsize = option(config, "stepsize", 0.1)
    etaplus = option(config, "etaplus", 1.2)
    etaminus = option(config, "etaminus", 0.5)
    stepsizemax = option(config, "stepsizemax", 50.0)
    stepsizemin = option(config, "stepsizemin", 1e-6)

    losses = []
    for _ in range(option(config, "niter", 1)):
        fx, dfdx = evaluate(opfunc, x)
        if state.get("delta") is None:
            state["stepsize"] = None
        vectors = [
            buffer(state, "delta", x),
            buffer(state, "stepsize", x, fill=stepsize),
            buffer(state, "sign", x),
        ]
        masks = [buffer(state, key, x, dtype=torch.uint8) for key in MASKS]
        for piece in pieces(x, dfdx, *vectors, *masks):
            xs, g, delta, sizes, sign, *byte_masks = piece
            positive, negative, zero, outside = (mask.view(torch.bool) for mask in byte_masks)
            torch.mul(g, delta, out=sign).sign_()
            torch.gt(sign, 0, out=positive)
            torch.lt(sign, 0, out=negative)
            torch.eq(sign, 0, out=zero)
            sign.masked_fill_(positive, etaplus)
            sign.masked_fill_(negative, etaminus)
            sign.masked_fill_(zero, 1)
            sizes.mul_(sign).clamp_(max=stepsizemax)
            torch.lt(sizes, stepsizemin, out=outside)
            sizes.clamp_(min=stepsizemin)
            g.masked_fill_(negative, 0)
            torch.sign(g, out=sign)
            xs.addcmul_(sign, sizes, value=-1)
            delta.copy_(g)
        losses.append(fx)
    return x, losses
