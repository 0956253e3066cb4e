"""Stochastic gradient descent."""

from __future__ import annotations

import torch
from torch.optim.sgd import sgd as torch_sgd

from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, learning_rate, option, tables
from compat.optim.support.vectors import buffer, changed, factors, has_fused_sgd, pieces


def sgd(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """Take one step of stochastic gradient descent (Torch7: ``optim.sgd``).

    Weight decay and Nesterov momentum are added into the gradient that ``opfunc`` returned, and the
    first momentum buffer is the undamped gradient.

    Args:
        opfunc: ``opfunc(x)`` returns the loss and its gradient, a tensor of as many elements as
            ``x``.
        x: the parameters, updated in place.
        config: ``learningRate`` (1e-3), ``learningRateDecay`` (0), ``weightDecay`` (0),
            ``momentum`` (0), ``dampening`` (the momentum), ``nesterov`` (False), and the vectors
            ``learningRates`` and ``weightDecays`` with one factor per element. ``weightDecay``
            overrides ``weightDecays``. Not in Torch7: ``keepGradient`` (False) leaves the gradient
            as ``opfunc`` returned it, which saves a write.
        state: ``evalCounter``, ``dfdx``, ``decayParameters``, ``deltaParameters``; default:
            ``config``.

    Returns:
        ``x`` and a list with the loss before the step.

    Raises:
        ValueError: ``nesterov`` without momentum or with dampening.

    Examples:
        >>> x = torch.tensor([1.0])
        >>> x, losses = sgd(lambda x: (x.item() ** 2, 2 * x), x, {"learningRate": 0.25})
        >>> x.tolist(), losses
        ([0.5], [1.0])
    """
    config, state = tables(config, state)
    wd = option(config, "weightDecay", 0)
    mom = option(config, "momentum", 0)
    damp = option(config, "dampening", mom)
    nesterov = option(config, "nesterov", False)
    if nesterov and (mom <= 0 or damp != 0):
        raise ValueError(
            f"momentum is {mom} and dampening is {damp} (by default the momentum); with nesterov, "
            "momentum > 0 and dampening = 0 are accepted"
        )
    lrs = factors(config, "learningRates", x)
    wds = factors(config, "weightDecays", x) if wd == 0 else None
    evals = option(state, "evalCounter", 0)
    lr = learning_rate(config, 1e-3, evals)

    fx, dfdx = evaluate(opfunc, x)
    state["evalCounter"] = evals + 1
    first = mom != 0 and state.get("dfdx") is None
    velocity = buffer(state, "dfdx", x, fill=None) if mom != 0 else None
    changes_gradient = bool(wd != 0 or wds is not None or nesterov)
    keep = changes_gradient and option(config, "keepGradient", False)

    if lrs is None and wds is None and not first and has_fused_sgd(x):
        written = changes_gradient and not keep
        _fused_step(x, dfdx, velocity, lr, wd, mom, damp, nesterov, written)
        return x, [fx]

    vectors = {"x": x, "g": dfdx}
    if velocity is not None:
        vectors["velocity"] = velocity
    if wds is not None:
        vectors |= {"wds": wds, "decay": buffer(state, "decayParameters", x, fill=None)}
    if lrs is not None:
        vectors |= {"lrs": lrs, "delta": buffer(state, "deltaParameters", x, fill=None)}
    for piece in pieces(*vectors.values()):
        v = dict(zip(vectors, piece, strict=True))
        g = v["g"].clone() if keep else v["g"]
        if wd != 0:
            g.add_(v["x"], alpha=wd)
        elif wds is not None:
            g.add_(v["decay"].copy_(v["wds"]).mul_(v["x"]))
        if mom != 0:
            if first:
                v["velocity"].copy_(g)
            elif damp == 0:
                torch.add(g, v["velocity"], alpha=mom, out=v["velocity"])
            else:
                v["velocity"].mul_(mom).add_(g, alpha=1 - damp)
            g = g.add_(v["velocity"], alpha=mom) if nesterov else v["velocity"]
        if lrs is not None:
            g = v["delta"].copy_(v["lrs"]).mul_(g)
        v["x"].add_(g, alpha=-lr)
    return x, [fx]


def _fused_step(
    x: torch.Tensor,
    g: torch.Tensor,
    velocity: torch.Tensor | None,
    lr: float,
    decay: float,
    momentum: float,
    dampening: float,
    nesterov: bool,
    write_gradient: bool,
) -> None:
    """Take a step with PyTorch's fused kernel, which does not write the gradient itself."""
    vectors = [v.detach().view(-1) for v in (x, g, velocity) if v is not None]
    for xs, gs, *buffers in pieces(*vectors) if write_gradient else [vectors]:
        if write_gradient and decay != 0:
            gs.add_(xs, alpha=decay)
        torch_sgd(
            [xs],
            [gs],
            [buffers[0] if buffers else None],
            fused=True,
            weight_decay=0 if write_gradient else decay,
            momentum=momentum,
            lr=lr,
            dampening=dampening,
            nesterov=nesterov,
            maximize=False,
        )
        if write_gradient and nesterov:
            gs.add_(buffers[0], alpha=momentum)
    changed(x)
