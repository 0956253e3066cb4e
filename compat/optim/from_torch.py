"""PyTorch's optimizers, called as Torch7's."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from compat.checks import listed
from compat.optim.support.opfunc import OpFunc, evaluate
from compat.optim.support.options import Table, option, tables
from compat.optim.support.vectors import changed, flat

# Torch7's names of options that PyTorch has too.
NAMES = {
    "learningRate": "lr",
    "weightDecay": "weight_decay",
    "epsilon": "eps",
}
OWN_KEYS = {"learningRateDecay", "evalCounter", "torch"}

Optimizer = Callable[..., tuple[torch.Tensor, list]]


def from_torch(optimizer: type[torch.optim.Optimizer], **defaults: Any) -> Optimizer:
    """Return an optimizer of PyTorch as one of Torch7's.

    ::

        adamw = optim.from_torch(torch.optim.AdamW, weight_decay=0.05)
        x, fs = adamw(opfunc, x, config, state)

    The result is called as ``optim.sgd`` is. ``config`` may change from step to step; it has
    PyTorch's option names or Torch7's (``learningRate``, ``weightDecay``, ``epsilon``), and
    ``learningRateDecay`` works as in ``optim.sgd``. ``state`` gets ``evalCounter`` and ``torch``,
    the optimizer's state of the parameters, which can be saved in a ``.t7`` file and continued from
    there. The returned list has the loss of every evaluation (more than one for
    ``torch.optim.LBFGS``).

    Args:
        optimizer: the class, made anew over ``x`` at every step.
        defaults: its options, by either name, where ``config`` does not give them.

    Raises:
        TypeError: an option is none of the optimizer's.
    """
    accepted = set(inspect.signature(optimizer).parameters) - {"params"}

    def options_of(config: Table) -> dict[str, Any]:
        options = {}
        for key, value in config.items():
            name = NAMES.get(key, key)
            if name in accepted:
                options[name] = value
            elif key not in OWN_KEYS:
                raise TypeError(
                    f"config has the option {key!r}; for {optimizer.__name__}, "
                    f"{listed(sorted(accepted), 'and')} are accepted"
                )
        return options

    defaults = options_of(defaults)

    def step(
        opfunc: OpFunc, x: torch.Tensor, config: Table | None = None, state: Table | None = None
    ) -> tuple[torch.Tensor, list]:
        config, state = tables(config, state)
        options = {**defaults, **options_of(config)}
        evals = option(state, "evalCounter", 0)
        decay = option(config, "learningRateDecay", 0)
        if decay != 0:
            lr = options.get("lr", inspect.signature(optimizer).parameters["lr"].default)
            options["lr"] = lr / (1 + evals * decay)
        flat(x)
        parameter = x.detach().requires_grad_()
        made = optimizer([parameter], **options)
        if state.get("torch"):
            made.state[parameter] = _restored(state["torch"], x)
        losses = []

        def closure() -> Any:
            fx, dfdx = evaluate(opfunc, x)
            parameter.grad = dfdx.view_as(x)
            losses.append(fx)
            return fx

        made.step(closure)
        changed(x)
        state["torch"] = {k: v for k, v in made.state[parameter].items() if not _has_gaps(v)}
        state["evalCounter"] = evals + 1
        return x, losses

    step.__name__ = step.__qualname__ = optimizer.__name__.lower()
    return step


def _restored(saved: Table, x: torch.Tensor) -> dict[str, Any]:
    """Return the state of a parameter, as it may come from a file: there a number has one
    dimension.
    """
    return {key: _on_device(value, x) for key, value in saved.items()}


def _has_gaps(value: Any) -> bool:
    """Return whether it is room for later, such as the ``al`` of LBFGS, which no file can hold."""
    return isinstance(value, list) and any(v is None for v in value)


def _on_device(value: Any, x: torch.Tensor) -> Any:
    if isinstance(value, list):
        return [_on_device(v, x) for v in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.shape == x.shape:
        return value.to(x)
    return value.view(()) if value.shape == (1,) else value
