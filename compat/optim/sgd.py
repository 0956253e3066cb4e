"""Stochastic gradient descent."""

from __future__ import annotations

import torch

from compat.optim.flat import OpFunc, Table, buffer, pieces, tables


def sgd(
    opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
) -> tuple[torch.Tensor, list]:
    """
    One step of stochastic gradient descent, Torch7's `optim.sgd`.

    Args:
        opfunc: `opfunc(x)` gives the loss and its gradient, a tensor of as many elements as `x`.
        x: the parameters, updated in place.
        config: `learningRate` (1e-3), `learningRateDecay` (0), `weightDecay` (0), `momentum` (0),
            `dampening` (the momentum), `nesterov` (False), and the vectors `learningRates` and
            `weightDecays` with one factor per element.  `weightDecay` hides `weightDecays`.
        state: `evalCounter`, `dfdx`, `decayParameters`, `deltaParameters`; `config` if not given.

    Weight decay and Nesterov momentum are added into the gradient that `opfunc` returned, and the
    first momentum buffer is the undamped gradient.

    Returns:
        `x` and a list of the loss before the step.

    Raises:
        ValueError: `nesterov` without momentum or with dampening.
    """
    config, state = tables(config, state)
    lr = config.get("learningRate", 1e-3)
    wd = config.get("weightDecay", 0)
    mom = config.get("momentum", 0)
    damp = config.get("dampening", mom)
    nesterov = config.get("nesterov", False)
    lrs = config.get("learningRates")
    wds = config.get("weightDecays") if wd == 0 else None
    if nesterov and (mom <= 0 or damp != 0):
        raise ValueError(
            "nesterov needs momentum > 0 and dampening = 0, "
            f"not momentum = {mom} and dampening = {damp} (which defaults to the momentum)"
        )
    evals = state.setdefault("evalCounter", 0)
    clr = lr / (1 + evals * config.get("learningRateDecay", 0))

    fx, dfdx = opfunc(x)
    with torch.no_grad():
        first = mom != 0 and state.get("dfdx") is None
        vectors = {"x": x, "g": dfdx}
        if mom != 0:
            vectors["velocity"] = buffer(state, "dfdx", x, fill=None)
        if wds is not None:
            vectors["wds"] = wds
            vectors["decay"] = buffer(state, "decayParameters", x, fill=None)
        if lrs is not None:
            vectors["lrs"] = lrs
            vectors["delta"] = buffer(state, "deltaParameters", x, fill=None)

        for piece in pieces(*vectors.values()):
            v = dict(zip(vectors, piece, strict=True))
            g = v["g"]
            if wd != 0:
                g.add_(v["x"], alpha=wd)
            elif wds is not None:
                g.add_(v["decay"].copy_(v["wds"]).mul_(v["x"]))
            if mom != 0:
                if first:
                    v["velocity"].copy_(g)
                else:
                    v["velocity"].mul_(mom).add_(g, alpha=1 - damp)
                g = g.add_(v["velocity"], alpha=mom) if nesterov else v["velocity"]
            if lrs is not None:
                g = v["delta"].copy_(v["lrs"]).mul_(g)
            v["x"].add_(g, alpha=-clr)
    state["evalCounter"] = evals + 1
    return x, [fx]
