"""Recurrent layers: LSTM and GRU."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor

from compat.checks import flag, number, number_or_none, whole
from compat.nn.containers.branches import ConcatTable, ParallelTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.graph.gmodule import gModule
from compat.nn.layers.activation import Sigmoid, Tanh
from compat.nn.layers.dropout import Dropout
from compat.nn.layers.identity import Identity
from compat.nn.layers.linear import Linear
from compat.nn.layers.normalization import BatchNormalization
from compat.nn.layers.pointwise import Add, CMul
from compat.nn.layers.shape import Reshape
from compat.nn.layers.table_arithmetic import CAddTable, CMulTable
from compat.nn.layers.table_layers import (
    FlattenTable,
    JoinTable,
    NarrowTable,
    SelectTable,
    SplitTable,
)
from compat.nn.recurrent.parts import LinearNoBias, SAdd
from compat.nn.recurrent.states import Stateful, WithCell


class _Cell(Stateful):
    """A recurrent layer from ``inputSize`` to ``outputSize`` features that starts with zeros.

    With ``p`` the inputs of the matrices are dropped out, with one mask until backward.
    """

    inputSize: int
    outputSize: int
    newer_fields = ("p", "mono")
    p: float = 0
    mono: bool = False

    def _set_sizes(self, inputSize: int, outputSize: int, p: float, mono: bool) -> None:
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        if not 0 <= number(p, "p") < 1:
            raise ValueError(f"p is {p}; 0 <= p < 1 is accepted")
        self.p, self.mono = p, flag(mono, "mono")

    def _dropout(self) -> Dropout:
        return Dropout(self.p, lazy=True, mono=self.mono)

    def _dropped(self, layer: Module) -> Module:
        """Return a layer, with dropout before it if ``p`` is not 0."""
        return Sequential(self._dropout(), layer) if self.p else layer

    def _gates(self, kind: type[Linear], inputs: int, count: int) -> Module:
        """Return a layer that computes the sums of several gates side by side.

        With dropout each has a mask and a matrix of its own, and the input must be a batch.
        """
        if not self.p:
            return kind(inputs, count * self.outputSize)
        masks = ConcatTable(*(self._dropout() for _ in range(count)))
        layers = ParallelTable(*(kind(inputs, self.outputSize) for _ in range(count)))
        return Sequential(masks, layers, JoinTable(2))

    def first(self, input: Tensor) -> Tensor:
        return input.new_zeros([*input.shape[:-1], self.outputSize])

    def __repr__(self) -> str:
        return f"{self.typename}({self.inputSize} -> {self.outputSize})"


class LSTM(_Cell, WithCell, fits=lambda fields: "inputSize" in fields):
    """Long short-term memory with peepholes (Torch7: ``nn.LSTM`` of the package rnn).

    Graves et al., Speech Recognition with Deep Recurrent Neural Networks, 2013.

    Args:
        inputSize, outputSize: numbers of features; ``outputSize`` is ``inputSize`` by default.
        rho: as in ``AbstractRecurrent``.
        cell2gate: whether the gates see the cell.
        p: the probability of dropout, for each gate by a mask of its own (Gal, A Theoretically
            Grounded Application of Dropout in Recurrent Neural Networks, 2015).
        mono: whether all samples of a batch have the same masks, as ``trimZero`` needs it.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead.

    Fields: ``cells`` and ``gradCells``, by step, as ``outputs`` and ``gradOutputs``;
    ``userPrevCell`` and ``userNextGradCell``, as ``userPrevOutput`` and ``userNextGradOutput``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> step = nn.LSTM(3, 2)
        >>> [step.forward(torch.ones(4, 3)).shape for _ in range(2)]  # two steps of one sequence
        [torch.Size([4, 2]), torch.Size([4, 2])]
        >>> step.forget()  # the next sequence starts from zeros
        nn.LSTM(3 -> 2)
    """

    cell2gate: bool = True

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
        self._set_sizes(inputSize, inputSize if outputSize is None else outputSize, p, mono)
        self.cell2gate = flag(cell2gate, "cell2gate")
        self.set_recurrent_module(self.buildModel())

    def buildGate(self) -> Module:
        """Return a gate, a module of ``[input, output before, cell]``."""
        gate = Sequential()
        if not self.cell2gate:
            gate.add(NarrowTable(1, 2))
        sums = self._sums()
        if self.cell2gate:
            sums.add(CMul(self.outputSize))
        return gate.add(sums).add(CAddTable()).add(Sigmoid())

    def _sums(self) -> ParallelTable:
        size = self.outputSize
        return ParallelTable(
            self._dropped(Linear(self.inputSize, size)), self._dropped(LinearNoBias(size, size))
        )

    def buildCell(self) -> Module:
        """Return the next cell, a module of ``[input, output before, cell before]``."""
        self.inputGate = self.buildGate()
        self.forgetGate = self.buildGate()
        self.hiddenLayer = Sequential(NarrowTable(1, 2), self._sums(), CAddTable(), Tanh())
        kept = Sequential(ConcatTable(self.forgetGate, SelectTable(3)), CMulTable())
        new = Sequential(ConcatTable(self.inputGate, self.hiddenLayer), CMulTable())
        return Sequential(ConcatTable(kept, new), CAddTable())

    def buildModel(self) -> Module:
        """Return a module of ``[input, output before, cell before]`` that gives
        ``[output, cell]``.
        """
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
        eps, momentum, affine: of batch normalisation, as in ``BatchNormalization``.

    Fields: ``i2g`` and ``o2g``, the layers from the input and the output before to the input gate,
    the hidden layer, the forget gate and the output gate. Of the class: ``bn``, whether new ones
    normalise the sums from the input, those from the output before and the cell over the batch
    (Cooijmans et al., Recurrent Batch Normalization, 2016); ``usenngraph``, whether their
    ``recurrentModule`` is a ``gModule``, as with ``bn``.
    """

    bn: ClassVar[bool] = False
    usenngraph: ClassVar[bool] = False
    eps: float | None = None
    momentum: float | None = None
    affine: bool = True

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
        self.eps = number_or_none(eps, "eps")
        self.momentum = number_or_none(momentum, "momentum")
        self.affine = flag(affine, "affine")
        super().__init__(inputSize, outputSize, rho, False, p, mono)

    def buildModel(self) -> Module:
        size = self.outputSize
        self.i2g = self._gates(Linear, self.inputSize, 4)
        self.o2g = self._gates(LinearNoBias, size, 4)
        if self.usenngraph or self.bn:
            return self.nngraphModel()
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

    def nngraphModel(self) -> Module:
        """Return the same as a graph, with batch normalisation if ``bn`` says so."""
        size = self.outputSize
        x, h, c = inputs = [Identity()() for _ in range(3)]
        from_input, from_output = self.i2g, self.o2g
        if self.bn:
            of_input, of_output, of_cell = (self._normalisation(n * size) for n in (4, 4, 1))
            sums = [of_input(from_input(x)), Add(4 * size)(of_output(from_output(h)))]
        else:
            sums = [from_input(x), from_output(h)]
        gates = SplitTable(2)(Reshape(4, size)(CAddTable()(sums))).split(4)
        new, hidden, kept, shown = (
            layer(gate)
            for layer, gate in zip((Sigmoid(), Tanh(), Sigmoid(), Sigmoid()), gates, strict=True)
        )
        cell = CAddTable()([CMulTable()([kept, c]), CMulTable()([new, hidden])])
        activated = Tanh()(of_cell(cell) if self.bn else cell)
        return gModule(inputs, [CMulTable()([shown, activated]), cell])

    def _normalisation(self, size: int) -> BatchNormalization:
        given = {"eps": self.eps, "momentum": self.momentum}
        known = {name: value for name, value in given.items() if value is not None}
        layer = BatchNormalization(size, affine=self.affine, **known)
        if self.affine:
            layer.weight.data.fill_(0.1)
        return layer


class GRU(_Cell):
    """Gated recurrent units (Torch7: ``nn.GRU`` of the package rnn).

    Cho et al., Learning Phrase Representations using RNN Encoder-Decoder, 2014.

    Args:
        inputSize, outputSize: numbers of features.
        rho: as in ``AbstractRecurrent``.
        p: the probability of dropout, for each gate by a mask of its own (Gal, A Theoretically
            Grounded Application of Dropout in Recurrent Neural Networks, 2015).
        mono: whether all samples of a batch have the same masks, as ``trimZero`` needs it.

    Shapes: input ``inputSize`` or ``N x inputSize``; output with ``outputSize`` instead.
    """

    def __init__(
        self, inputSize: int, outputSize: int, rho: int = 9999, p: float = 0, mono: bool = False
    ) -> None:
        super().__init__(rho)
        self._set_sizes(inputSize, outputSize, p, mono)
        self.set_recurrent_module(self.buildModel())

    def buildModel(self) -> Module:
        """Return a module of ``[input, output before]``."""
        size = self.outputSize
        self.i2g = self._gates(Linear, self.inputSize, 2)
        self.o2g = self._gates(LinearNoBias, size, 2)
        gates = Sequential(ParallelTable(self.i2g, self.o2g), CAddTable())
        gates.add(Reshape(2, size)).add(SplitTable(1, 2)).add(ParallelTable(Sigmoid(), Sigmoid()))
        # From here on: input, output before, reset gate, update gate, output before.
        new = Sequential(SelectTable(1), self._dropped(Linear(self.inputSize, size)))
        product = Sequential(NarrowTable(2, 2), CMulTable())
        old = product.add(self._dropped(LinearNoBias(size, size)))
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
