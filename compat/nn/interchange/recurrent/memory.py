"""Modules with a memory, in ``torch.nn``.

Modules keep ``memory`` from one call to the next, until ``forget(net)``. The memory is no part of
``state_dict`` and of copies.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor, nn


class Flow:
    """The loop over the steps of recurrent modules, which a recording overrides."""

    def begun(
        self, memory: Any, first: Callable[[], Any], later: Callable[[Any], Any] = lambda m: m
    ) -> Any:
        """Return ``first()`` without a memory, and ``later(memory)`` with one."""
        return first() if memory is None else later(memory)

    def over(
        self, within: nn.Module, step: Callable[[Any, Any], Any], steps: Any, state: Any = None
    ) -> tuple[Any, Any]:
        """Return what ``step(entry, state)``, an output and the next state, gives for all entries.

        Args:
            within: the module whose parts ``step`` calls, which may have memories.
            step: the function.
            steps: a list; a tensor, along its first dimension; or how often.
            state: what the first step gets.

        The outputs are a tensor where ``steps`` is one.
        """
        outputs = []
        for entry in range(steps) if isinstance(steps, int) else steps:
            output, state = step(entry, state)
            outputs.append(output)
        return (torch.stack(outputs) if isinstance(steps, Tensor) else outputs), state

    def part(self, steps: Any, first: int | None, last: int | None) -> Any:
        """Return a range of the entries; negative numbers count from the end."""
        return steps[first:last]

    def native(self, cls: Any, module: nn.Module, input: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Return what ``module`` computes as a recurrent layer ``cls`` of ``torch.nn``."""
        found: tuple[Tensor, Any] = cls.forward(module, input, memory)
        return found

    def cell(self, cell: nn.LSTMCell, input: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Return the output of a cell, and its next memory."""
        memory = cell(input, memory)
        return memory[0], memory


_PLAIN = Flow()
FLOW: ContextVar[Flow] = ContextVar("FLOW", default=_PLAIN)


def flow() -> Flow:
    """Return the current loop over steps."""
    return FLOW.get()


def forget(net: nn.Module) -> None:
    """Clear the memory of every module in ``net``."""
    for module in net.modules():
        if isinstance(module, Remembering):
            module.memory = None


def mapped(function: Callable[[Tensor], Tensor], value: Any) -> Any:
    """Return a tensor, or nested lists of them, with ``function`` of each."""
    if isinstance(value, Tensor):
        return function(value)
    return [mapped(function, entry) for entry in value]


def first_of(value: Any) -> Tensor:
    """Return the first tensor in nested lists."""
    while not isinstance(value, Tensor):
        value = value[0]
    return value


class Remembering(nn.Module):
    """A module with a memory: tensors, or lists of them, or None when it starts anew."""

    memory: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "memory": None}

    def release(self) -> None:
        """Keep the memory as values: backward ends at them."""
        if isinstance(self.memory, (Tensor, list, tuple)):
            self.memory = mapped(Tensor.detach, self.memory)


class OverSequences(nn.Module):
    """A module over sequences that starts anew with each, or goes on with the memory.

    ``remember`` tells when it goes on: in ``train`` mode, in ``eval`` mode, in ``both`` or in
    ``neither``; a change of the mode is a new start then. ``always`` it goes on come what may.
    """

    remember: str = "neither"

    def begin(self) -> None:
        """Forget or keep the memory before a sequence; detach it from earlier graphs."""
        now = ("always", "both", "train" if self.training else "eval")
        if self.remember not in now:
            forget(self)
        for module in self.modules():
            if isinstance(module, Remembering):
                module.release()

    def train(self, mode: bool = True) -> Any:
        if mode != self.training and self.remember != "always":
            forget(self)
        return super().train(mode)


def start(state: Any) -> Any:
    """Return a copy of a state that was set by hand: a tensor, a list of them, or None."""
    return None if state is None else mapped(lambda tensor: tensor.detach().clone(), state)
