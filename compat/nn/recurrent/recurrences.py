"""Any modules as recurrent ones: nn.Recursor, nn.Recurrence and nn.Recurrent."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.basic import ParallelTable, Sequential, indented
from compat.nn.core.module import Module, deterministic
from compat.nn.core.native import as_module
from compat.nn.layers.activation import Sigmoid
from compat.nn.layers.pointwise import Add
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.recurrent.calls import State
from compat.nn.recurrent.hidden_states import (
    get_grad_hidden_state,
    get_hidden_state,
    max_bptt_step,
    set_grad_hidden_state,
    set_hidden_state,
)
from compat.nn.recurrent.memory import AbstractRecurrent, shared_clone


class Recursor(AbstractRecurrent):
    """Any module as a recurrent one (Torch7: ``nn.Recursor`` of the package rnn).

    The recurrent modules in it keep their memories, and backward goes through its calls.

    Args:
        module: the module.
        rho: as in ``AbstractRecurrent``.
    """

    state_fields = ()
    start_fields = ()
    end_fields = ()

    @nil_is_default
    def __init__(self, module: Module | torch.nn.Module, rho: int = 9999999) -> None:
        super().__init__(rho)
        self.set_recurrent_module(as_module(module))

    @deterministic
    def compute(self, input: Any) -> Any:
        output = self.advance(input)
        self.memorize(output)
        return output

    def given_gradOutput(self) -> list[Module]:
        return self.modules

    def maxBPTTstep(self, rho: int) -> None:
        """Set ``rho``, and those of the recurrent modules in it."""
        super().maxBPTTstep(rho)
        max_bptt_step(self.modules[0], rho)

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """``get_hidden_state`` of the module."""
        return get_hidden_state(self.modules[0], step, input)

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """``set_hidden_state`` of the module."""
        set_hidden_state(self.modules[0], step, hiddenState)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """``get_grad_hidden_state`` of the module."""
        return get_grad_hidden_state(self.modules[0], step)

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """``set_grad_hidden_state`` of the module."""
        set_grad_hidden_state(self.modules[0], step, gradHiddenState)

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "module": self.modules[0]}

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class Recurrence(AbstractRecurrent):
    """A module of ``[input, its output of the step before]`` (``nn.Recurrence`` of rnn).

    Args:
        recurrentModule: the module.
        outputSize: the size of its output without batch, a number or a list of numbers; for a
            table a list of these. The first step gets zeros of that size.
        nInputDim: how many dimensions the input of a sample has; with a table, its first tensor.
        rho: as in ``AbstractRecurrent``.

    Field: ``userPrevOutput``, what the first step gets instead of zeros.
    """

    @nil_is_default
    def __init__(
        self, recurrentModule: Module, outputSize: Any, nInputDim: int, rho: int = 9999
    ) -> None:
        super().__init__(rho)
        self.set_recurrent_module(as_module(recurrentModule, "recurrentModule"))
        self.outputSize = _checked_size(outputSize)
        self.nInputDim = whole(nInputDim, "nInputDim", 0)

    @deterministic
    def compute(self, input: Any) -> Any:
        [previous] = self.recalled(input)
        output = self.advance([input, previous])
        self.memorize(output)
        return output

    def first(self, input: Any) -> State:
        first = input
        while not isinstance(first, Tensor):
            first = first[0]
        check_dims(first, self.nInputDim, self.nInputDim + 1)
        batch = [] if first.dim() == self.nInputDim else [first.size(0)]
        return [_zeros(self._empty().to(first.device), list(self.outputSize), batch)]

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """A list of the output of a step, and the states of recurrent modules in it."""
        return [super().getHiddenState(step, input), self._inside(get_hidden_state, step)]

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Make ``hiddenState``, as ``getHiddenState`` tells it, what a step left."""
        super().setHiddenState(step, hiddenState[0])
        self._set_inside(set_hidden_state, step, hiddenState)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """The gradient of ``getHiddenState(step)`` from the step after; zeros for the latest."""
        return [super().getGradHiddenState(step), self._inside(get_grad_hidden_state, step)]

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradient of the state of a step, from the step after it."""
        super().setGradHiddenState(step, gradHiddenState[0])
        self._set_inside(set_grad_hidden_state, step, gradHiddenState)

    def _inside(self, get: Any, step: int | None) -> list[Any]:
        return [get(child, step) for child in self.modules]

    def _set_inside(self, set_state: Any, step: int | None, states: Any) -> None:
        for child, state in zip(self.modules, states[1] if len(states) > 1 else [], strict=False):
            if state is not None:
                set_state(child, step, state)

    def t7_fields(self) -> dict[str, Any]:
        more = {"module": self.modules[0], "typeTensor": self._empty()}
        return super().t7_fields() | more

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


class Recurrent(AbstractRecurrent):
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

    @nil_is_default
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
        self.initialModule = Sequential(shared_clone(input), start, shared_clone(transfer))
        self._of_later_steps = Sequential(ParallelTable(input, feedback), merge, transfer)
        self.sharedClones = {2: self._of_later_steps}

    @property  # type: ignore[misc]
    def recurrentModule(self) -> Any:
        return self._of_later_steps

    @deterministic
    def compute(self, input: Any) -> Any:
        if self.step > 1:
            [previous] = self.recalled(input)
            output = self.advance([input, previous])
        else:
            output = self.initialModule.run(input)
        self.memorize(output)
        return output

    def step_modules(self) -> list[Module]:
        return [self.initialModule, *super().step_modules()]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields() | {"sharedClones": {2: self.recurrentModule}}
        del fields["_of_later_steps"]
        return fields

    def _restore_recurrent(self, module: Any) -> None:
        """The modules tell all."""
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
        """Not possible, as the first step has other modules."""
        raise TypeError("nn.Recurrent has no maskZero; use nn.Recurrence instead")

    trimZero = maskZero
