"""The methods that Torch7's package rnn gives to every module: they reach what has a memory.

A module without one hands each call on to its children. What has a memory, and what goes through
sequences, defines its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from compat.nn.core.module import Module

R = TypeVar("R", bound="RecurrentMethods")


class RecurrentMethods:
    """rnn's methods of modules.

    States are counted by steps from 1; 0 is what the first step begins with. Where a module has
    children, its state is the list of theirs, with None for those without a memory.
    """

    def forget(self: R) -> R:
        """Have all memories start anew: the next call is the first."""
        for child in _children(self):
            child.forget()
        return self

    def remember(self: R, when: str | None = "both") -> R:
        """``Sequencer.remember`` of all modules of sequences."""
        for child in _children(self):
            child.remember(when)
        return self

    def stepClone(self: R, shareParams: bool = True, shareGradParams: bool = True) -> R:
        """Return a ``sharedClone`` for another step: modules with a memory are the same in both."""
        return cast("Any", self).sharedClone(shareParams, shareGradParams, True)

    def shared_by_steps(self) -> list[Any]:
        """Return the modules in it that all its clones for steps have in common:
        ``dpnn_stepclone``.
        """
        if getattr(self, "dpnn_stepclone", False):
            return [self]
        return [module for child in _children(self) for module in child.shared_by_steps()]

    def backwardOnline(self) -> None:
        """Does nothing: what it switched on has long been so in Torch7."""

    def setOutputStep(self, step: int) -> None:
        """Have ``output`` and ``gradInput`` of modules with a memory be those of a step."""
        for child in _children(self):
            child.setOutputStep(step)

    def maxBPTTstep(self, rho: int) -> None:
        """Set through how many steps backward goes."""
        for child in _children(self):
            child.maxBPTTstep(rho)

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return the states after a step, by default the latest; ``input`` tells the size of the
        first.
        """
        return [child.getHiddenState(step, input) for child in _children(self)] or None

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Set the states after a step, in the form of ``getHiddenState``."""
        for child, state in zip(_children(self), hiddenState or (), strict=False):
            if state is not None:
                child.setHiddenState(step, state)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """Return the gradients of the states after a step, from the steps after it."""
        return [child.getGradHiddenState(step) for child in _children(self)] or None

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradients of the states after a step, in the form of ``getGradHiddenState``."""
        for child, gradient in zip(_children(self), gradHiddenState or (), strict=False):
            if gradient is not None:
                child.setGradHiddenState(step, gradient)


def _children(module: Any) -> list[Module]:
    return cast("Module", module).children()
