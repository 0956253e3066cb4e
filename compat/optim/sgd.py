"""Stochastic gradient descent."""

from __future__ import annotations

import torch
from torch.optim.sgd import sgd as torch_sgd

from compat.optim.vectors import (
    OpFunc,
    Table,
    buffer,
    changed,
    evaluate,
    has_fused_sgd,
    option,
    pieces,
    tables,
)


def sgd(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """
    One step of stochastic gradient descent, Torch7's `optim.sgd`.

    Weight decay and Nesterov momentum are added into the gradient that `opfunc` returned, and the
    first momentum buffer is the undamped gradient.

    Args:
        opfunc: `opfunc(x)` gives the loss and its gradient, a tensor of as many elements as `x`.
        x: the parameters, updated in place.
        config: `learningRate` (1e-3), `learningRateDecay` (0), `weightDecay` (0), `momentum` (0),
            `dampening` (the momentum), `nesterov` (False), and the vectors `learningRates` and
            `weightDecays` with one factor per element.  `weightDecay` hides `weightDecays`.
            Not in Torch7: `keepGradient` (False) leaves the gradient as `opfunc` returned it, which
            saves writing it.
        state: `evalCounter`, `dfdx`, `decayParameters`, `deltaParameters`; `config` if not given.

    Returns:
        `x` and a list with the loss before the step.

    Raises:
        ValueError: `nesterov` without momentum or with dampening.
    """
    config, state = tables(config, state)
    lr = option(config, "learningRate", 1e-3)
    wd = option(config, "weightDecay", 0)
    mom = option(config, "momentum", 0)
    damp = option(config, "dampening", mom)
    nesterov = option(config, "nesterov", False)
    lrs = config.get("learningRates")
    wds = config.get("weightDecays") if wd == 0 else None
    if nesterov and (mom <= 0 or damp != 0):
        raise ValueError(
            "nesterov needs momentum > 0 and dampening = 0, "
            f"not momentum = {mom} and dampening = {damp} (which defaults to the momentum)"
        )
    evals = option(state, "evalCounter", 0)
    clr = lr / (1 + evals * option(config, "learningRateDecay", 0))

    fx, dfdx = evaluate(opfunc, x)
    state["evalCounter"] = evals + 1
    first = mom != 0 and state.get("dfdx") is None
    changes_gradient = bool(wd != 0 or wds is not None or nesterov)
    keep = changes_gradient and option(config, "keepGradient", False)

    vectors = {"x": x, "g": dfdx}
    if mom != 0:
        vectors["velocity"] = buffer(state, "dfdx", x, fill=None)
    if wds is not None:
        vectors["wds"] = _factors("weightDecays", wds, x)
        vectors["decay"] = buffer(state, "decayParameters", x, fill=None)
    if lrs is not None:
        vectors["lrs"] = _factors("learningRates", lrs, x)
        vectors["delta"] = buffer(state, "deltaParameters", x, fill=None)

    plain = lrs is None and wds is None and not first and (keep or not changes_gradient)
    if plain and has_fused_sgd(x):
        velocity = vectors["velocity"].view(-1) if mom != 0 else None
        torch_sgd(
            [x.detach().view(-1)],
            [dfdx],
            [velocity],
            fused=True,
            weight_decay=wd,
            momentum=mom,
            lr=clr,
            dampening=damp,
            nesterov=nesterov,
            maximize=False,
        )
        changed(x)
        return x, [fx]

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
            else:
                _average(v["velocity"], g, mom, damp)
            g = g.add_(v["velocity"], alpha=mom) if nesterov else v["velocity"]
        if lrs is not None:
            g = v["delta"].copy_(v["lrs"]).mul_(g)
        v["x"].add_(g, alpha=-clr)
    return x, [fx]


def _average(velocity: torch.Tensor, g: torch.Tensor, momentum: float, dampening: float) -> None:
    """`velocity = momentum * velocity + (1 - dampening) * g`, in one pass where there is one."""
    if dampening == 0:
        torch.add(g, velocity, alpha=momentum, out=velocity)
    else:
        velocity.mul_(momentum).add_(g, alpha=1 - dampening)


def _factors(name: str, factors: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if factors.numel() != x.numel():
        raise ValueError(
            f"config[{name!r}] must have one factor for each of the {x.numel()} elements of x, "
            f"not {factors.numel()}"
        )
    return factors.to(x.device).contiguous()
