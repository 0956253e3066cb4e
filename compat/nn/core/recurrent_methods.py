"""The methods that Torch7's package rnn adds to every module, for nets with a memory.

A module without memory passes each call on to its children. Modules with a memory, and those that
process sequences, define their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from compat.nn.core.module import Module

R = TypeVar("R", bound="RecurrentMethods")


class RecurrentMethods:
    """rnn's methods of modules.

    Steps are counted from 1; step 0 is the state before the first step. The state of a module with
    children is the list of their states, with None for those without a memory.
    """

    def forget(self: R) -> R:
        """Reset all memories: the next call is the first step."""
        for child in _children(self):
            child.forget()
        return self

    def remember(self: R, when: str | None = "both") -> R:
        """Call ``Sequencer.remember`` of all sequence modules.

        Args:
            when: ``"train"``, ``"eval"``, ``"both"`` or ``"neither"``: the mode in which memories
                are kept from one sequence to the next.
        """
        for child in _children(self):
            child.remember(when)
        return self

    def stepClone(self: R, shareParams: bool = True, shareGradParams: bool = True) -> R:
        """Return a ``sharedClone`` for another step; modules with a memory are not copied."""
        return cast("Any", self).sharedClone(shareParams, shareGradParams, True)

    def shared_by_steps(self) -> list[Any]:
        """Return the inner modules that are the same in all step clones (``dpnn_stepclone``)."""
        if getattr(self, "dpnn_stepclone", False):
            return [self]
        return [module for child in _children(self) for module in child.shared_by_steps()]

    def backwardOnline(self) -> None:
        """Do nothing: Torch7 always behaves as this method once made it."""

    def setOutputStep(self, step: int) -> None:
        """Set ``output`` and ``gradInput`` of modules with a memory to those of a step."""
        for child in _children(self):
            child.setOutputStep(step)

    def maxBPTTstep(self, rho: int) -> None:
        """Limit backward to ``rho`` steps."""
        for child in _children(self):
            child.maxBPTTstep(rho)

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return the states after a step.

        Args:
            step: the step, counted from 1; default: the latest.
            input: an input; its size tells the size of the first state.
        """
        return _known([child.getHiddenState(step, input) for child in _children(self)])

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Set the states after a step, in the form of ``getHiddenState``."""
        for child, state in zip(_children(self), hiddenState or (), strict=False):
            if state is not None:
                child.setHiddenState(step, state)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """Return the gradients of the states after a step, from the steps after it."""
        return _known([child.getGradHiddenState(step) for child in _children(self)])

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradients of the states after a step, in the form of ``getGradHiddenState``."""
        for child, gradient in zip(_children(self), gradHiddenState or (), strict=False):
            if gradient is not None:
                child.setGradHiddenState(step, gradient)


def _known(states: list[Any]) -> list[Any] | None:
    """Return the states of children up to the last that has one; None without children."""
    count = len(states)
    while states and states[-1] is None:
        states.pop()
    return states if count else None


def _children(module: Any) -> list[Module]:
    return cast("Module", module).children()
