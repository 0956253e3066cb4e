"""Recurrent layers of package rnn whose step is one module of the input and the states before."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat.checks import given, whole
from compat.nn.checks.tensors import ANYTHING, check_type
from compat.nn.containers.branches import ParallelTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module, Scalar
from compat.nn.core.parameter import Parameter
from compat.nn.functional import recurrent as f
from compat.nn.layers.activation import Sigmoid
from compat.nn.layers.linear import Linear
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.layers.table_layers import JoinTable
from compat.nn.recurrent.masking import LookupTableMaskZero
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.recurrences import Recurrence
from compat.nn.recurrent.sequence_layer import draw
from compat.nn.recurrent.states import Stateful, WithCell

T = TypeVar("T", bound="_Step")
R = TypeVar("R", bound="RecGRU")


class _Step(Module, abstract=True):
    """A layer of ``[input, output before, ...]``, all ``N x D``, without a memory of its own."""

    takes = ANYTHING
    pass_fields = ("gates", "_found", "_at_gates", "_at_outputs")
    workspace_fields = dict.fromkeys(("gates", "hidden"))
    scratch_fields = ("recompute_backward", "maskzero", "v2", "zeroMask")
    _gates: ClassVar[int]
    inputsize: int
    outputsize: int
    gates: Tensor
    _at_gates: Tensor | None = None

    def _build(self, cells: int) -> None:
        self.weight = torch.empty(self.inputsize + self.outputsize, self._gates * cells)
        self.bias = torch.empty(self._gates * cells)
        self.reset()

    def reset(self: T, stdv: Scalar | None = None) -> T:
        """Draw the weights from normal distributions; the biases number outputsize + 1 to
        2·outputsize become 1, as in Torch7.
        """
        draw(self.weight, self.weight.size(1) // self._gates + self.inputsize, stdv)
        self.bias.zero_()
        self.bias[self.outputsize : 2 * self.outputsize].fill_(1)
        return self

    def _split(self, input: Any) -> list[Tensor]:
        """Return input and states, checked, each as a sequence of one step."""
        sizes = [self.inputsize, *self._widths()]
        if not isinstance(input, (list, tuple)) or len(input) != len(sizes):
            told = given(input, counted=True)
            raise ValueError(f"input is {told}; a table of {len(sizes)} tensors is accepted")
        for part, size in zip(input, sizes, strict=True):
            if part.dim() != 2 or part.size(1) != size or len(part) != len(input[0]):
                found = [tuple(part.shape) for part in input]
                raise ValueError(f"input has sizes {found}; N x {sizes} are accepted")
            check_type(part, self.weight)
        return [input[0].unsqueeze(0), *input[1:]]

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        _x, *states = self._split(input)
        self._at_gates, gradients = self.back(states, gradOutput)
        if self.gradInput is None:
            return None
        found = f.recurrent_grad_input(self._at_gates, self.weight, self.inputsize)
        return self.set_gradInput([found[0], *gradients])

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        x, *states = self._split(input)
        if self._at_gates is None:
            self._at_gates, _ = self.back(states, gradOutput)
        self.accumulate(x, states[0], self._at_gates, scale)
        self._at_gates = None

    def t7_fields(self) -> dict[str, Any]:
        # Lua resizes the tensors in them.
        fields, states = super().t7_fields(), len(self._widths())
        empty = [[self._empty() for _ in range(count)] for count in (states, states + 1)]
        return fields | {"gradInput": empty[1]} | ({"output": empty[0]} if states > 1 else {})

    @abstractmethod
    def _widths(self) -> tuple[int, ...]:
        """Return how many features each state has."""

    @abstractmethod
    def back(self, states: list[Tensor], gradOutput: Any) -> tuple[Tensor, list[Tensor]]:
        """Return the gradients at the gates and of the states."""

    @abstractmethod
    def accumulate(self, x: Tensor, h: Tensor, at_gates: Tensor, scale: Scalar) -> None:
        """Add the gradients of the parameters."""

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputsize} -> {self.outputsize})"


class StepLSTM(_Step):
    """A step of an LSTM without peepholes (Torch7: ``nn.StepLSTM`` of torch/rnn).

    Args:
        inputsize, hiddensize: numbers of features of the input and the cell.
        outputsize: that of the output, to which the hidden state is then projected.

    Shapes: input ``[N x inputsize, N x outputsize, N x hiddensize]``, of which the last two are
    output and cell of the step before; output ``[N x outputsize, N x hiddensize]``. ``weight`` is
    that of ``SeqLSTM``; ``weightO`` is ``hiddensize x outputsize``.
    """

    weightO = Parameter()
    _gates = 4
    _found: tuple[Tensor, Tensor]

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = self.outputsize = whole(hiddensize, "hiddensize", 1)
        if outputsize is not None:
            self.outputsize = whole(outputsize, "outputsize", 1)
            self.weightO = torch.empty(self.hiddensize, self.outputsize)
        self._build(self.hiddensize)

    def reset(self, stdv: Scalar | None = None) -> StepLSTM:
        super().reset(stdv)
        if self.weightO is not None:
            draw(self.weightO, self.outputsize + self.hiddensize, stdv)
        return self

    def _widths(self) -> tuple[int, ...]:
        return self.outputsize, self.hiddensize

    def updateOutput(self, input: Any) -> Any:
        x, h, c = self._split(input)
        self._at_gates = None
        found = f.lstm(x, c, h, self.weight, self.bias, 0, None, self.weightO)
        output, cell, self.gates, hidden = found
        self._found = cell, hidden
        return self.set_output([output[0], cell[0]])

    def back(self, states: list[Tensor], gradOutput: Any) -> tuple[Tensor, list[Tensor]]:
        (h, c), (cell, _) = states, self._found
        at_output, at_cell = gradOutput
        given = at_output.unsqueeze(0), self.gates, cell, c, self.weight, at_cell
        rest = torch.zeros_like(h), 0, None, self.weightO
        at_gates, grad_c, grad_h, self._at_outputs = f.lstm_backward(*given, *rest)
        return at_gates, [grad_h, grad_c]

    def accumulate(self, x: Tensor, h: Tensor, at_gates: Tensor, scale: Scalar) -> None:
        gradients = self.weight.grad, self.bias.grad
        f.recurrent_acc_(x, h.unsqueeze(0), h, at_gates, *gradients, scale, 0)
        if self.weightO is not None and self.weightO.grad is not None:
            _, hidden = self._found
            f.projection_acc_(hidden, self._at_outputs, self.weightO.grad, scale)

    def __repr__(self) -> str:
        if self.weightO is None:
            return super().__repr__()
        return f"{self.typename}({self.inputsize} -> {self.hiddensize} -> {self.outputsize})"


class StepGRU(_Step):
    """A step of gated recurrent units (Torch7: ``nn.StepGRU`` of torch/rnn).

    Args:
        inputsize, outputsize: numbers of features.

    Shapes: input ``[N x inputsize, N x outputsize]``, of which the second is the output of the step
    before; output ``N x outputsize``. ``weight`` is that of ``SeqGRU``.
    """

    _gates = 3

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.outputsize = whole(outputsize, "outputsize", 1)
        self._build(self.outputsize)

    def _widths(self) -> tuple[int, ...]:
        return (self.outputsize,)

    def updateOutput(self, input: Any) -> Any:
        x, h = self._split(input)
        self._at_gates = None
        self._found, self.gates = f.gru(x, h, self.weight, self.bias, 0)
        return self.set_output(self._found[0])

    def back(self, states: list[Tensor], gradOutput: Any) -> tuple[Tensor, list[Tensor]]:
        [h] = states
        given = gradOutput.unsqueeze(0), self.gates, self._found, h, self.weight
        at_gates, grad_h = f.gru_backward(*given, torch.zeros_like(h), 0)
        return at_gates, [grad_h]

    def accumulate(self, x: Tensor, h: Tensor, at_gates: Tensor, scale: Scalar) -> None:
        gradients, reset = (self.weight.grad, self.bias.grad), self.gates[..., : self.outputsize]
        f.recurrent_acc_(x, h.unsqueeze(0), h, at_gates, *gradients, scale, 0, reset)


_ZEROS = ("zeroOutput", "zeroCell")  # what Lua's first step gets


class RecGRU(Stateful):
    """Gated recurrent units (Torch7: ``nn.RecGRU`` of torch/rnn): a ``StepGRU``, repeated.

    Args:
        inputsize, outputsize: numbers of features.

    Shapes: input ``N x inputsize``, output ``N x outputsize``.
    """

    scratch_fields = _ZEROS
    inputsize: int
    outputsize: int

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self._take(StepGRU(inputsize, outputsize))

    def _take(self, step: Any) -> None:
        self.inputsize, self.outputsize = step.inputsize, step.outputsize
        self.set_recurrent_module(step)

    def first(self, input: Tensor) -> Tensor:
        return input.new_zeros([*input.shape[:-1], self.outputsize])

    def setStartState(self, startState: Any) -> None:
        """Set what each sequence begins with instead of zeros, in the form of ``getHiddenState``.

        Args:
            startState: the state; None for zeros.
        """
        for state, value in zip(self.states, self.unpacked(startState), strict=True):
            setattr(self, state.first, value)

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Make ``hiddenState`` what a step left; that of step 0 outlasts ``forget``."""
        if step == 0:
            self.setStartState(hiddenState)
        else:
            super().setHiddenState(step, hiddenState)

    def clearState(self: R) -> R:
        self.setStartState(None)
        return super().clearState()

    def t7_fields(self) -> dict[str, Any]:
        begun = [getattr(self, state.first) for state in self.states]
        zeros = {name: self._empty() for name in _ZEROS}
        return super().t7_fields() | zeros | {"startState": self._packed_known(begun)}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        begun = fields.pop("startState", None)
        super().t7_restore(fields, version)
        self.setStartState(begun)

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputsize} -> {self.outputsize})"


class RecLSTM(RecGRU, WithCell):
    """An LSTM without peepholes (Torch7: ``nn.RecLSTM`` of torch/rnn): a ``StepLSTM``, repeated.

    Args:
        inputsize, hiddensize, outputsize: as in ``StepLSTM``.

    Shapes: input ``N x inputsize``, output ``N x outputsize``.
    """

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int | None = None) -> None:
        AbstractRecurrent.__init__(self)
        self._take(StepLSTM(inputsize, hiddensize, outputsize))
        self.hiddensize = self.recurrentModule.hiddensize

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """Return a list of output and cell, as in ``LSTM``."""
        found = super().getHiddenState(step, input)
        if found is not None and found[1] is self.zeroTensor:
            found[1] = found[1].new_zeros([*found[1].shape[:-1], self.hiddensize])
        return found


class LinearRNN(Recurrence):
    """``transfer(linear([input, output before]))`` (Torch7: ``nn.LinearRNN`` of torch/rnn).

    Args:
        inputsize, outputsize: numbers of features.
        transfer: a module; by default a ``Sigmoid``.

    Shapes: input ``inputsize`` or ``N x inputsize``; output with ``outputsize`` instead.
    """

    def __init__(self, inputsize: int, outputsize: int, transfer: Module | None = None) -> None:
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.outputsize = whole(outputsize, "outputsize", 1)
        step = Sequential(JoinTable(1, 1), Linear(self.inputsize + self.outputsize, outputsize))
        step.add(Sigmoid() if transfer is None else transfer)
        super().__init__(step, outputsize, 1)

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputsize} -> {self.outputsize})"


class LookupRNN(Recurrence):
    """``transfer(merge([row of a table, linear(output before)]))`` (``nn.LookupRNN`` of torch/rnn).

    Args:
        nindex: the number of rows.
        outputsize: number of features.
        transfer, merge: modules; by default a ``Sigmoid`` and a ``CAddTable``.

    Shapes: input a number or ``N`` of them, from 1, or 0 for zeros; output ``N x outputsize``.
    """

    def __init__(
        self,
        nindex: int,
        outputsize: int,
        transfer: Module | None = None,
        merge: Module | None = None,
    ) -> None:
        self.nindex = whole(nindex, "nindex", 1)
        self.outputsize = whole(outputsize, "outputsize", 1)
        layers = LookupTableMaskZero(nindex, outputsize), Linear(outputsize, outputsize)
        step = Sequential(ParallelTable(*layers), CAddTable() if merge is None else merge)
        super().__init__(step.add(Sigmoid() if transfer is None else transfer), outputsize, 0)

    def __repr__(self) -> str:
        return f"{self.typename}({self.nindex} -> {self.outputsize})"
