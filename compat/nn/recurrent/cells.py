"""Recurrent layers: LSTM and GRU."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from compat.checks import flag, number, number_or_none, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TENSOR
from compat.nn.containers.basic import ConcatTable, ParallelTable, Sequential
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module, deterministic
from compat.nn.layers.activation import Sigmoid, Tanh
from compat.nn.layers.identity import Identity
from compat.nn.layers.linear import Linear
from compat.nn.layers.pointwise import CMul
from compat.nn.layers.shape import Reshape
from compat.nn.layers.table_layers import (
    CAddTable,
    CMulTable,
    FlattenTable,
    NarrowTable,
    SelectTable,
    SplitTable,
)
from compat.nn.recurrent.calls import State, computed
from compat.nn.recurrent.memory import AbstractRecurrent


class LinearNoBias(Linear):
    """A ``Linear`` without bias (Torch7: ``nn.LinearNoBias`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.
    """

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize, False)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # In old files it is there, and zero.
        fields.pop("bias", None)
        fields.pop("gradBias", None)
        super().t7_restore(fields, version)


class SAdd(Module):
    """The input plus a number (Torch7: ``nn.SAdd`` of the package rnn).

    Args:
        addend: the number.
        negate: whether to negate the sum.
    """

    takes = TENSOR
    # Old files lack it.
    negate: bool = False

    @nil_is_default
    def __init__(self, addend: float, negate: bool = False) -> None:
        super().__init__()
        self.addend = number(addend, "addend")
        self.negate = flag(negate, "negate")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return -input - self.addend if self.negate else input + self.addend


class CopyGrad(Identity):
    """The input itself (Torch7: ``nn.CopyGrad`` of the package rnn)."""


class _Cell(AbstractRecurrent):
    """A recurrent layer from ``inputSize`` to ``outputSize`` features that starts with zeros.

    Fields: ``userPrevOutput`` (and for an LSTM ``userPrevCell``), what the first step gets instead.
    With ``p`` what the matrices are given is dropped out, by one mask until backward.
    """

    inputSize: int
    outputSize: int

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        output = self.advance([input, *self.recalled(input)])
        results = output if isinstance(output, list) else [output]
        self.memorize(*results)
        return results[0]

    def first(self, input: Tensor) -> State:
        zeros = input.new_zeros([*input.shape[:-1], self.outputSize])
        return [zeros] * len(self.state_fields)

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputSize} -> {self.outputSize})"


def _without_dropout(p: float, mono: bool) -> None:
    flag(mono, "mono")
    if number(p, "p") != 0:
        raise ValueError(f"p is {p}; 0 is accepted, because none are made with dropout inside")


class LSTM(_Cell, fits=lambda fields: "inputSize" in fields):
    """Long short-term memory with peepholes (Torch7: ``nn.LSTM`` of the package rnn).

    Graves et al., Speech Recognition with Deep Recurrent Neural Networks, 2013.

    Args:
        inputSize, outputSize: numbers of features; as many by default.
        rho: as in ``AbstractRecurrent``.
        cell2gate: whether the gates see the cell.
        p: 0.
        mono: not used, as it is of dropout.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead.

    Differs from Torch7: none are made with dropout inside (the argument ``p``).
    """

    state_fields = ("outputs", "cells")
    start_fields = ("userPrevOutput", "userPrevCell")
    end_fields = ("userNextGradOutput", "userNextGradCell")
    cell2gate: bool = True
    userPrevCell: Tensor | None = None
    userNextGradCell: Tensor | None = None
    cells: dict[int, Tensor]

    @nil_is_default
    def __init__(
        self,
        inputSize: int,
        outputSize: int | None = None,
        rho: int = 9999,
        cell2gate: bool = True,
        p: float = 0,
        mono: bool = False,
    ) -> None:
        super().__init__(rho)
        _without_dropout(p, mono)
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(inputSize if outputSize is None else outputSize, "outputSize", 1)
        self.cell2gate = flag(cell2gate, "cell2gate")
        self.set_recurrent_module(self.buildModel())

    @property
    def cell(self) -> Tensor | None:
        """The latest cell."""
        return self.cells.get(self.step - 1)

    @computed
    def gradCells(self) -> dict[int, Tensor]:
        """The gradients of the cells from the step after each."""
        return {step: gradients[1] for step, gradients in self.state_gradients().items()}

    def packed(self, state: State) -> Any:
        return state

    def unpacked(self, state: Any) -> State:
        return list(state)

    def convert(self, conversion: Conversion, name: str) -> None:
        # As in Torch7, which it is the only one to do there.
        self.forget_itself()
        super().convert(conversion, name)

    def buildGate(self) -> Module:
        """A gate, a module of ``[input, output before, cell]``."""
        gate = Sequential()
        if not self.cell2gate:
            gate.add(NarrowTable(1, 2))
        sums = self._sums()
        if self.cell2gate:
            sums.add(CMul(self.outputSize))
        return gate.add(sums).add(CAddTable()).add(Sigmoid())

    def _sums(self) -> ParallelTable:
        size = self.outputSize
        return ParallelTable(Linear(self.inputSize, size), LinearNoBias(size, size))

    def buildCell(self) -> Module:
        """The next cell, a module of ``[input, output before, cell before]``."""
        self.inputGate = self.buildGate()
        self.forgetGate = self.buildGate()
        self.hiddenLayer = Sequential(NarrowTable(1, 2), self._sums(), CAddTable(), Tanh())
        kept = Sequential(ConcatTable(self.forgetGate, SelectTable(3)), CMulTable())
        new = Sequential(ConcatTable(self.inputGate, self.hiddenLayer), CMulTable())
        return Sequential(ConcatTable(kept, new), CAddTable())

    def buildModel(self) -> Module:
        """A module of ``[input, output before, cell before]`` that gives ``[output, cell]``."""
        self.cellLayer = self.buildCell()
        self.outputGate = self.buildGate()
        activated = Sequential(SelectTable(3), Tanh())
        output = Sequential(ConcatTable(self.outputGate, activated), CMulTable())
        return Sequential(
            ConcatTable(NarrowTable(1, 2), self.cellLayer),
            FlattenTable(),
            ConcatTable(output, SelectTable(3)),
        )


class FastLSTM(LSTM):
    """An ``LSTM`` without peepholes that computes all gates at once (``nn.FastLSTM`` of rnn).

    Args:
        inputSize, outputSize, rho, p, mono: as in ``LSTM``.
        eps, momentum, affine: not used, as they are of batch normalisation.

    Fields: ``i2g`` and ``o2g``, the ``Linear`` layers from the input and the output before to the
    input gate, the hidden layer, the forget gate and the output gate.

    Differs from Torch7: none are made with batch normalisation (``nn.FastLSTM.bn``) or dropout (the
    argument ``p``) inside.
    """

    bn: ClassVar[bool] = False

    @nil_is_default
    def __init__(
        self,
        inputSize: int,
        outputSize: int | None = None,
        rho: int = 9999,
        eps: float | None = None,
        momentum: float | None = None,
        affine: bool = True,
        p: float = 0,
        mono: bool = False,
    ) -> None:
        if self.bn:
            raise ValueError("nn.FastLSTM.bn is True; False is accepted")
        number_or_none(eps, "eps")
        number_or_none(momentum, "momentum")
        flag(affine, "affine")
        super().__init__(inputSize, outputSize, rho, False, p, mono)

    def buildModel(self) -> Module:
        size = self.outputSize
        self.i2g = Linear(self.inputSize, 4 * size)
        self.o2g = LinearNoBias(size, 4 * size)
        gates = Sequential(NarrowTable(1, 2), ParallelTable(self.i2g, self.o2g), CAddTable())
        gates.add(Reshape(4, size)).add(SplitTable(1, 2))
        gates.add(ParallelTable(Sigmoid(), Tanh(), Sigmoid(), Sigmoid()))
        new = Sequential(NarrowTable(1, 2), CMulTable())
        kept = Sequential(ConcatTable(SelectTable(3), SelectTable(5)), CMulTable())
        cell = Sequential(ConcatTable(new, kept), CAddTable())
        activated = Sequential(SelectTable(1), Tanh())
        output = Sequential(ConcatTable(activated, SelectTable(2)), CMulTable())
        return Sequential(
            ConcatTable(gates, SelectTable(3)),
            FlattenTable(),
            ConcatTable(cell, SelectTable(4)),
            FlattenTable(),
            ConcatTable(output, SelectTable(1)),
        )


class GRU(_Cell):
    """Gated recurrent units (Torch7: ``nn.GRU`` of the package rnn).

    Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.

    Args:
        inputSize, outputSize: numbers of features.
        rho: as in ``AbstractRecurrent``.
        p: 0.
        mono: not used, as it is of dropout.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead.

    Differs from Torch7: none are made with dropout inside (the argument ``p``).
    """

    newer_fields = ("p",)
    p: float = 0

    @nil_is_default
    def __init__(
        self, inputSize: int, outputSize: int, rho: int = 9999, p: float = 0, mono: bool = False
    ) -> None:
        super().__init__(rho)
        _without_dropout(p, mono)
        self.p = 0
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        self.set_recurrent_module(self.buildModel())

    def buildModel(self) -> Module:
        """A module of ``[input, output before]``."""
        size = self.outputSize
        self.i2g = Linear(self.inputSize, 2 * size)
        self.o2g = LinearNoBias(size, 2 * size)
        gates = Sequential(ParallelTable(self.i2g, self.o2g), CAddTable())
        gates.add(Reshape(2, size)).add(SplitTable(1, 2)).add(ParallelTable(Sigmoid(), Sigmoid()))
        # From here on: input, output before, reset gate, update gate, output before.
        new = Sequential(SelectTable(1), Linear(self.inputSize, size))
        old = Sequential(NarrowTable(2, 2), CMulTable(), LinearNoBias(size, size))
        hidden = Sequential(ConcatTable(new, old), CAddTable(), Tanh())
        rest = Sequential(SelectTable(4), SAdd(-1, True))
        added = Sequential(ConcatTable(hidden, rest), CMulTable())
        kept = Sequential(NarrowTable(4, 2), CMulTable())
        return Sequential(
            ConcatTable(Identity(), gates),
            FlattenTable(),
            ConcatTable(NarrowTable(1, 4), SelectTable(2)),
            FlattenTable(),
            Sequential(ConcatTable(added, kept), CAddTable()),
        )

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputSize} -> {self.outputSize}, {self.p:.2f})"
