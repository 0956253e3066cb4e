"""What package rnn adds to every module: memories and their gradients, throughout a net."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.nn.core.module import Module
from compat.nn.core.tape import current_tape
from compat.nn.recurrent.memory import AbstractRecurrent, recurrents_in


def max_bptt_step(module: Module, rho: int) -> None:
    """Set the ``rho`` of the recurrent modules in ``module`` (rnn: ``Module:maxBPTTstep``)."""
    if hasattr(module, "maxBPTTstep"):
        module.maxBPTTstep(rho)
        return
    for child in module.children():
        max_bptt_step(child, rho)


def unroll(module: Module) -> None:
    """Have the recurrent modules in ``module`` be part of the graph that is being recorded."""
    for inner in recurrents_in(module):
        inner.unrolled_in = current_tape()


def get_hidden_state(module: Module, step: int | None = None, input: Any = None) -> Any:
    """The states of the recurrent modules in ``module`` (rnn: ``Module:getHiddenState``).

    A list with an entry for each of its modules; None where there is none. ``step`` and ``input``
    are as in ``AbstractRecurrent.getHiddenState``.
    """
    return _each(module, lambda inner: inner.getHiddenState(step, input))


def set_hidden_state(module: Module, step: int | None, hiddenState: Any) -> None:
    """Set the states that ``get_hidden_state`` tells (rnn: ``Module:setHiddenState``)."""
    _set(module, hiddenState, lambda inner, state: inner.setHiddenState(step, state))


def get_grad_hidden_state(module: Module, step: int | None = None) -> Any:
    """The gradients of ``get_hidden_state`` (rnn: ``Module:getGradHiddenState``)."""
    return _each(module, lambda inner: inner.getGradHiddenState(step))


def set_grad_hidden_state(module: Module, step: int | None, gradHiddenState: Any) -> None:
    """Set the gradients of ``get_hidden_state`` (rnn: ``Module:setGradHiddenState``)."""
    _set(module, gradHiddenState, lambda inner, grad: inner.setGradHiddenState(step, grad))


def _each(module: Module, of: Callable[[AbstractRecurrent], Any]) -> Any:
    if isinstance(module, AbstractRecurrent):
        return of(module)
    return [_each(child, of) for child in module.children()] or None


def _set(module: Module, states: Any, set_one: Callable[[AbstractRecurrent, Any], None]) -> None:
    if isinstance(module, AbstractRecurrent):
        set_one(module, states)
        return
    for child, state in zip(module.children(), states or [], strict=False):
        if state is not None:
            _set(child, state, set_one)
