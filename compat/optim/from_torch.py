"""Use PyTorch's optimizers with Torch7's calling convention."""

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
    """Make an optimizer function like ``optim.sgd`` from a class of ``torch.optim``.

    ::

        adamw = optim.from_torch(torch.optim.AdamW, weight_decay=0.05)
        x, fs = adamw(opfunc, x, config, state)

    ``config`` may change from step to step; it takes PyTorch's option names or Torch7's
    (``learningRate``, ``weightDecay``, ``epsilon``), and ``learningRateDecay`` works as in
    ``optim.sgd``. ``state`` gets ``evalCounter`` and ``torch``, the optimizer's state of the
    parameters. A ``.t7`` file can hold it, and training can continue from there. The returned list
    has the loss of every evaluation (more than one for ``torch.optim.LBFGS``).

    Args:
        optimizer: the class; a new object over ``x`` is made at every step.
        defaults: its options, by either name, for those that ``config`` does not give.

    Raises:
        TypeError: the optimizer does not have an option.
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
    """Return the state of a parameter from a file, where a number has one dimension."""
    return {key: _on_device(value, x) for key, value in saved.items()}


def _has_gaps(value: Any) -> bool:
    """Return whether a list holds None, such as the ``al`` of LBFGS, which no file can hold."""
    return isinstance(value, list) and any(v is None for v in value)


def _on_device(value: Any, x: torch.Tensor) -> Any:
    if isinstance(value, list):
        return [_on_device(v, x) for v in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.shape == x.shape:
        return value.to(x)
    return value.view(()) if value.shape == (1,) else value
