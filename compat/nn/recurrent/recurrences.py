"""Makes any module recurrent: nn.Recursor, nn.Recurrence and nn.Recurrent."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.branches import ParallelTable
from compat.nn.containers.container import indented
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.core.recurrent_methods import RecurrentMethods
from compat.nn.core.tree import Inner
from compat.nn.layers.activation import Sigmoid
from compat.nn.layers.pointwise import Add
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.states import Stateful


class Recursor(AbstractRecurrent):
    """A recurrent module made of any module (Torch7: ``nn.Recursor`` of the package rnn).

    The recurrent modules in it keep their memories, and backward goes through its calls.

    Args:
        module: the module.
        rho: as in ``AbstractRecurrent``.
    """

    module = Inner(0)
    state_fields = ()

    def __init__(self, module: Module | torch.nn.Module, rho: int = 9999999) -> None:
        super().__init__(rho)
        self.set_recurrent_module(as_module(module))

    def updateOutput(self, input: Any) -> Any:
        return self.finish_step(self.run_step(input))

    def _updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self._back(self.updateGradInputStep, "updateGradInput", input, gradOutput)

    def _accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar) -> None:
        self._back(self.accGradParametersStep, "accGradParameters", input, gradOutput, scale)

    def _back(self, after: int | None, method: str, *arguments: Any) -> Any:
        assert after is not None
        module = self.computed_by(after - 1)
        # The recurrent modules in it are the same in all steps, and are as the latest left them.
        module.setOutputStep(after - 1)
        return self.call_step(module, method, *arguments)

    def maxBPTTstep(self, rho: int) -> None:
        """Limit backward to ``rho`` steps, also in recurrent modules inside."""
        super().maxBPTTstep(rho)
        self.modules[0].maxBPTTstep(rho)

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return the hidden state of the module.

        Args:
            step: the number of the step, from 1; default: the latest.
            input: an input, from which the sizes of the first state are known.
        """
        return self.modules[0].getHiddenState(step, input)

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Set the hidden state of the module.

        Args:
            step: the number of the step, from 0 for what the first step begins with.
            hiddenState: a state, in the form of ``getHiddenState``.
        """
        self.modules[0].setHiddenState(step, hiddenState)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """Return the gradient of the module's hidden state."""
        return self.modules[0].getGradHiddenState(step)

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradient of the module's hidden state."""
        self.modules[0].setGradHiddenState(step, gradHiddenState)

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class Recurrence(Stateful):
    """A module of ``[input, its output of the step before]`` (``nn.Recurrence`` of rnn).

    Args:
        recurrentModule: the module.
        outputSize: the size of its output without batch, a number or a list of numbers; for a
            table a list of these. The first step gets zeros of that size.
        nInputDim: how many dimensions the input of a sample has; with a table, its first tensor.
        rho: as in ``AbstractRecurrent``.

    Differs from Torch7: layers after a recurrent module in it get their gradients from its output
    of the same step, not of the last.
    """

    module = Inner(0)
    workspace_fields = {"typeTensor": None}

    def __init__(
        self, recurrentModule: Module, outputSize: Any, nInputDim: int, rho: int = 9999
    ) -> None:
        super().__init__(rho)
        self.set_recurrent_module(as_module(recurrentModule, "recurrentModule"))
        self.outputSize = _checked_size(outputSize)
        self.nInputDim = whole(nInputDim, "nInputDim", 0)

    def first(self, input: Any) -> Any:
        first = input
        while not isinstance(first, Tensor):
            first = first[0]
        check_dims(first, self.nInputDim, self.nInputDim + 1)
        batch = [] if first.dim() == self.nInputDim else [first.size(0)]
        return _zeros(self._empty().to(first.device), list(self.outputSize), batch)

    def back_step(
        self, step: int, method: str, input: Any, gradients: list[Any], *scale: Scalar
    ) -> Any:
        self.computed_by(step).setOutputStep(step)
        return super().back_step(step, method, input, gradients, *scale)

    def packed(self, states: list[Any]) -> Any:
        return states[:1]

    def unpacked(self, states: Any) -> list[Any]:
        return [None] if states is None else list(states[:1])

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return a list of the output of a step, and the states of recurrent modules in it.

        Args:
            step: the number of the step, from 1; default: the latest.
            input: an input, from which the sizes of the first state are known.
        """
        [output] = self.unpacked(super().getHiddenState(step, input))
        return [output, RecurrentMethods.getHiddenState(self, step)]

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Make ``hiddenState``, as ``getHiddenState`` tells it, what a step left.

        Args:
            step: the number of the step, from 0 for what the first step begins with.
            hiddenState: a list of the output, and the states of recurrent modules inside.
        """
        super().setHiddenState(step, hiddenState)
        if len(hiddenState) > 1:
            RecurrentMethods.setHiddenState(self, step, hiddenState[1])

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """Return the gradient of ``getHiddenState(step)`` from the step after; zeros for the
        latest.
        """
        [gradient] = self.unpacked(super().getGradHiddenState(step))
        return [gradient, RecurrentMethods.getGradHiddenState(self, step)]

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradient of the state of a step, from the step after it."""
        super().setGradHiddenState(step, gradHiddenState)
        if len(gradHiddenState) > 1:
            RecurrentMethods.setGradHiddenState(self, step, gradHiddenState[1])

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


def _checked_size(size: Any) -> list[Any]:
    if isinstance(size, (list, tuple)) and size:
        return [_checked_size(n) if isinstance(n, (list, tuple)) else n for n in size]
    return [whole(size, "outputSize", 1)]


def _zeros(like: Tensor, size: Any, batch: list[int]) -> Any:
    if size and isinstance(size[0], (int, float)):
        return like.new_zeros([*batch, *map(int, size)])
    return [_zeros(like, list(part), batch) for part in size]


class Recurrent(Stateful):
    """A simple recurrent net (Torch7: ``nn.Recurrent`` of the package rnn).

    The output is ``transfer(merge([input(x), feedback(output of the step before)]))``, and in the
    first step ``transfer(start(input(x)))``.

    Args:
        start: a module, or the number of features of an ``Add``.
        input, feedback, transfer, merge: modules; by default a ``Sigmoid`` and a ``CAddTable``.
        rho: as in ``AbstractRecurrent``.
    """

    scratch_fields = ("initialModule",)
    _parts = ("startModule", "inputModule", "feedbackModule", "transferModule", "mergeModule")

    def __init__(
        self,
        start: Module | int,
        input: Module,
        feedback: Module,
        transfer: Module | None = None,
        rho: int = 99999,
        merge: Module | None = None,
    ) -> None:
        super().__init__(rho)
        self.add(start if isinstance(start, (Module, torch.nn.Module)) else Add(start))
        self.add(input).add(feedback)
        self.add(Sigmoid() if transfer is None else transfer)
        self.add(CAddTable() if merge is None else merge)
        for name, module in zip(self._parts, self.modules, strict=True):
            setattr(self, name, module)
        self._build()

    def _build(self) -> None:
        start, input, feedback, transfer, merge = self.modules
        # As Torch7 computes the first step with modules of its own.
        self.initialModule = Sequential(input.sharedClone(), start, transfer.sharedClone())
        self._of_later_steps = Sequential(ParallelTable(input, feedback), merge, transfer)
        self.sharedClones = {2: self._of_later_steps}

    @property  # type: ignore[misc]
    def recurrentModule(self) -> Any:
        return self._of_later_steps

    def first(self, input: Any) -> Any:
        """Return nothing: the first step takes the input alone."""

    def run_step(self, input: Any) -> Any:
        if self.step == 1:
            return self.call_step(self.initialModule, "updateOutput", input[0])
        return super().run_step(input)

    def back_step(
        self, step: int, method: str, input: Any, gradients: list[Any], *scale: Scalar
    ) -> Any:
        if step > 1:
            return super().back_step(step, method, input, gradients, *scale)
        module = self.computed_by(step)
        return [self.call_step(module, method, input, gradients[0], *scale), None]

    def _module_of(self, step: int) -> Any:
        return self.initialModule if step == 1 else super()._module_of(step)

    def step_modules(self) -> list[Module]:
        return [self.initialModule, *super().step_modules()]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields() | {"sharedClones": {2: self.recurrentModule}}
        del fields["_of_later_steps"]
        return fields

    def _restore_recurrent(self, module: Any) -> None:
        """Rebuild the recurrent module from the modules in the fields."""
        self._build()

    def _body(self) -> list[str]:
        start, input, feedback, transfer, merge = self.modules
        # The lines of a container in it are as far to the right as in Torch7.
        return [
            "[{input(t), output(t-1)} -> (1) -> (2) -> (3) -> output(t)]",
            "(1):  {",
            "  input(t)",
            "    |`-> (t==0): " + repr(start).replace("\n", "\n    |    "),
            "    |`-> (t~=0): " + repr(input).replace("\n", "\n    |    "),
            "  output(t-1)",
            "    |`-> " + repr(feedback).replace("\n", "\n      |    "),
            "}",
            indented("(2): ", merge),
            indented("(3): ", transfer),
        ]

    def maskZero(self, nInputDim: int) -> Any:
        """Raise an error: the first step has other modules."""
        raise TypeError("nn.Recurrent has no maskZero; use nn.Recurrence instead")

    trimZero = maskZero
