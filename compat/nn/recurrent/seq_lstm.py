"""``nn.SeqLSTM`` and ``nn.SeqLSTMP``."""

from __future__ import annotations

from typing import TypeVar

import torch
from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_type
from compat.nn.core.module import Scalar
from compat.nn.core.parameter import Parameter
from compat.nn.functional import recurrent as f
from compat.nn.recurrent.cells import FastLSTM
from compat.nn.recurrent.sequence_layer import SequenceLayer, draw

S = TypeVar("S", bound="SeqLSTM")


class SeqLSTM(SequenceLayer):
    """An LSTM over a whole sequence (Torch7: ``nn.SeqLSTM`` of the package rnn).

    Args:
        inputsize, outputsize: numbers of features.
        projected: that of the output, if the hidden state, of ``outputsize``, is to be projected to
            it (as in ``SeqLSTMP``, and in ``nn.SeqLSTM`` of torch/rnn).

    Shapes: input ``T x N x inputsize``, or a list ``[cell, output, sequence]`` or
    ``[output, sequence]`` with what to start from, ``N x outputsize``; output
    ``T x N x outputsize``; ``weight`` is ``inputsize + outputsize x 4·outputsize``, of the input
    gate, the forget gate, the output gate and the input.

    Fields: ``batchfirst``, whether the batch is the first dimension of sequences; ``maskzero``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SeqLSTM(3, 2).forward(torch.ones(7, 4, 3)).shape  # 7 steps, 4 sequences
        torch.Size([7, 4, 2])
    """

    weightO = Parameter()
    _gates = 4
    _states = ("c0", "h0")
    c0: Tensor
    _hidden: Tensor

    def __init__(self, inputsize: int, outputsize: int, projected: int | None = None) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = self.outputsize = whole(outputsize, "outputsize", 1)
        if projected is not None:
            self.outputsize = whole(projected, "projected", 1)
            self.weightO = torch.empty(self.hiddensize, self.outputsize)
        self._build(self.inputsize, self.hiddensize, self.outputsize)

    def reset(self: S, stdv: Scalar | None = None) -> S:
        """Draw the weights from normal distributions; the biases number outputsize + 1 to
        2·outputsize become 1, as in Torch7.
        """
        if self.weightO is None:
            return super().reset(stdv)
        self.bias.zero_()
        self.bias[self.outputsize : 2 * self.outputsize].fill_(1)
        draw(self.weight, self.hiddensize + self.inputsize, stdv)
        draw(self.weightO, self.outputsize + self.hiddensize, stdv)
        return self

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        (c0, h0), options = states, (self._blank(steps), self.weightO)
        found = f.lstm(steps, c0, h0, self.weight, self.bias, self.time, *options)
        outputs, self.cell, self.gates, self._hidden = found
        return outputs

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        (grad_c, grad_h), options = ends, (self._blank(steps), self.weightO)
        given = gradOutput, self.gates, self.cell, states[0], self.weight, grad_c, grad_h
        at_gates, grad_c, grad_h, self._at_outputs = f.lstm_backward(*given, self.time, *options)
        return at_gates, [grad_c, grad_h]

    def accumulate(
        self, steps: Tensor, h0: Tensor, outputs: Tensor, at_gates: Tensor, scale: Scalar
    ) -> None:
        super().accumulate(steps, h0, outputs, at_gates, scale)
        if self.weightO is not None and self.weightO.grad is not None:
            assert self._at_outputs is not None
            f.projection_acc_(self._hidden, self._at_outputs, self.weightO.grad, scale)

    def _matrices(self) -> None:
        if self.weightO is None:
            super()._matrices()
            return
        sizes = (self.inputsize + self.outputsize, 4 * self.hiddensize)
        if self.weight.shape != sizes or self.weightO.shape != (self.hiddensize, self.outputsize):
            raise ValueError(
                f"weight has size {tuple(self.weight.shape)}, weightO {tuple(self.weightO.shape)}; "
                f"{sizes} and {(self.hiddensize, self.outputsize)} are accepted"
            )
        check_type(self.bias, self.weight, "bias", "weight")

    def _widths(self) -> tuple[int, ...]:
        return super()._widths() if self.weightO is None else (self.hiddensize, self.outputsize)

    def toFastLSTM(self) -> FastLSTM:
        """Return a ``FastLSTM`` of the same values and gradients. Raises TypeError if the output is
        projected: a ``FastLSTM`` has no projection.
        """
        if self.weightO is not None:
            raise TypeError(f"{self.typename} has no toFastLSTM with a projection")
        cell = FastLSTM(self.inputsize, self.outputsize).type(self.type())
        self._give([cell.i2g], [cell.o2g], [[0, 3, 1, 2]])
        return cell


class SeqLSTMP(SeqLSTM):
    """A ``SeqLSTM`` whose output is projected (Torch7: ``nn.SeqLSTMP`` of the package rnn).

    Sak et al., Long Short-Term Memory Recurrent Neural Network Architectures for Large Scale
    Acoustic Modeling, 2014.

    Args:
        inputsize: number of features.
        hiddensize: that of the cell.
        outputsize: that of the output.

    Shapes: as in ``SeqLSTM``, but for ``weight``, ``inputsize + outputsize x 4·hiddensize``, and a
    cell that the input has, ``N x hiddensize``. ``weightO`` is ``hiddensize x outputsize``.
    """

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int) -> None:
        super().__init__(inputsize, hiddensize, whole(outputsize, "outputsize", 1))
