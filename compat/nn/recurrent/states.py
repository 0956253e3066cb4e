"""Recurrent modules whose step takes the output or state of the step before."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor

from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Scalar
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.results import added, copied
from compat.tensor_tables import map_tensors


class State(NamedTuple):
    """The names of the fields of a state that goes from step to step.

    ``values`` and ``gradients`` are tables by step; ``first`` is what the first step gets instead
    of zeros, ``last`` the gradient that the last step gets.
    """

    values: str
    gradients: str
    first: str
    last: str


OUTPUT = State("outputs", "gradOutputs", "userPrevOutput", "userNextGradOutput")
CELL = State("cells", "gradCells", "userPrevCell", "userNextGradCell")


class Stateful(AbstractRecurrent, abstract=True):
    """The base of modules with a ``recurrentModule`` of ``[input, state, ...]``.

    The ``recurrentModule`` returns the next states, of which the first is the output. A class
    defines ``first(input)``.

    Fields: ``userPrevOutput``, what the first step gets instead of zeros; ``userNextGradOutput``,
    the gradient of the last output from a step after it, None for none; ``zeroTensor``, what the
    first step got.
    """

    states: ClassVar[tuple[State, ...]] = (OUTPUT,)
    userPrevOutput: Any = None
    userNextGradOutput: Any = None
    zeroTensor: Any = None

    def first(self, input: Any) -> Any:
        """Return the zeros of a state before the first step."""
        raise NotImplementedError

    def packed(self, states: list[Any]) -> Any:
        """Return states as Lua has them."""
        return states[0]

    def unpacked(self, states: Any) -> list[Any]:
        """Return states that Lua has, as a list."""
        return [states]

    def updateOutput(self, input: Any) -> Any:
        states = self.unpacked(self.getHiddenState(self.step - 1, input))
        results = self.run_step([input, *states])
        if len(states) == 1:
            results = [results]
        for state, result in zip(self.states, results, strict=True):
            getattr(self, state.values)[self.step] = result
        return self.finish_step(results[0])

    def _updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        assert self.updateGradInputStep is not None
        step = self.updateGradInputStep - 1
        self.computed_by(step)
        gradients = self.unpacked(self.getGradHiddenState(step))
        known = gradients[0]
        gradients[0] = copied(gradOutput) if known is None else added(known, gradOutput)
        self._gradOutputs[step] = gradients[0]
        found = self.back_step(step, "updateGradInput", input, gradients)
        self.setGradHiddenState(step - 1, self.packed(found[1 : 1 + len(gradients)]))
        return found[0]

    def _accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar) -> None:
        assert self.accGradParametersStep is not None
        step = self.accGradParametersStep - 1
        gradients = self.unpacked(self.getGradHiddenState(step))
        gradients[0] = self._gradOutputs[step]
        self.back_step(step, "accGradParameters", input, gradients, scale)

    def back_step(
        self, step: int, method: str, input: Any, gradients: list[Any], *scale: Scalar
    ) -> Any:
        """Call a method of backward of the module of a step."""
        states = self.unpacked(self.getHiddenState(step - 1))
        given = gradients[0] if len(gradients) == 1 else gradients
        module = self.computed_by(step)
        return self.call_step(module, method, [input, *states], given, *scale)

    # States and their gradients, by step.

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return the state after a step: the output, for an ``LSTM`` a list of output and cell.

        Args:
            step: the number of the step; 0 for the initial state; by default the latest step. The
                result is None for an unknown state.
            input: the input of the first step, which gives the size of the initial zeros.
        """
        step = self.step - 1 if step is None else step
        found = [getattr(self, state.values).get(step) for state in self.states]
        if step == 0:
            given = [getattr(self, state.first) for state in self.states]
            found = [known if own is None else own for own, known in zip(given, found, strict=True)]
            if input is not None:
                self.zeroTensor = self.first(input)
            found = [self.zeroTensor if known is None else known for known in found]
        return self._packed_known(found)

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Make ``hiddenState``, as ``getHiddenState`` tells it, what a step left."""
        step = self.step - 1 if step is None else step
        for state, value in zip(self.states, self.unpacked(hiddenState), strict=True):
            getattr(self, state.values)[step] = value

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """Return the gradient of ``getHiddenState(step)`` from the step after; zeros for the
        latest.

        There after backward, until it forgets. By default that of the step where backward goes on.
        """
        step = self._backward_step() if step is None else step
        found = [getattr(self, state.gradients).get(step) for state in self.states]
        if step == self.step - 1:
            given = [getattr(self, state.last) for state in self.states]
            found = [known if own is None else own for own, known in zip(given, found, strict=True)]
            for i, state in enumerate(self.states):
                if found[i] is None:
                    value = getattr(self, state.values).get(step)
                    found[i] = map_tensors(torch.zeros_like, value)
        return self._packed_known(found)

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradient of the state of a step, from the step after it."""
        step = self._backward_step() if step is None else step
        for state, value in zip(self.states, self.unpacked(gradHiddenState), strict=True):
            getattr(self, state.gradients)[step] = value

    def _backward_step(self) -> int:
        """Return the step that backward goes through next."""
        return (self.updateGradInputStep or self.step) - 1

    def _packed_known(self, states: list[Any]) -> Any:
        return None if all(state is None for state in states) else self.packed(states)


class WithCell(Stateful, abstract=True):
    """The base of modules whose states are an output and a cell, of which Lua has a list.

    Fields: ``cells`` and ``gradCells``, by step; ``userPrevCell`` and ``userNextGradCell``, as
    ``userPrevOutput`` and ``userNextGradOutput``.
    """

    states = (OUTPUT, CELL)
    step_tables = (*Stateful.step_tables, "cells", "gradCells")
    state_fields = ("outputs", "cells")
    userPrevCell: Tensor | None = None
    userNextGradCell: Tensor | None = None
    cells: dict[int, Tensor]
    gradCells: dict[int, Tensor]

    @property
    def cell(self) -> Tensor | None:
        """The latest cell."""
        return self.cells.get(self.step - 1)

    def packed(self, states: list[Any]) -> Any:
        return states

    def unpacked(self, states: Any) -> list[Any]:
        return [None, None] if states is None else list(states)

    def convert(self, conversion: Conversion, name: str) -> None:
        # As in Torch7, where no others do it.
        self.forget()
        self._clear_tables()
        super().convert(conversion, name)
