"""``nn.SeqBRNN``, and the layer that reverses a sequence."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module
from compat.nn.core.tree import Inner
from compat.nn.layers.shape import Transpose
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.recurrent.seq_lstm import SeqLSTM


class SeqReverseSequence(Layer):
    """The input in reverse along a dimension (Torch7: ``nn.SeqReverseSequence`` of rnn).

    Args:
        dim: the dimension, counted from 1.
    """

    workspace_fields = dict.fromkeys(("outputIndices", "gradIndices"), torch.int64)

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = whole(dim, "dim", 1, 3)

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(input.flip(self.dim - 1))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self.set_gradInput(gradOutput.flip(self.dim - 1))


class SeqBRNN(Decorator):
    """A bidirectional ``SeqLSTM`` (Torch7: ``nn.SeqBRNN`` of the package rnn).

    Args:
        inputDim, hiddenDim: numbers of features.
        batchFirst: whether the batch is the first dimension.
        merge: the module that joins the two outputs; by default their sum.
    """

    module = Inner(0)

    def __init__(
        self,
        inputDim: int,
        hiddenDim: int,
        batchFirst: bool = False,
        merge: Module | None = None,
    ) -> None:
        sizes = whole(inputDim, "inputDim", 1), whole(hiddenDim, "hiddenDim", 1)
        forward, backward = SeqLSTM(*sizes), SeqLSTM(*sizes)
        merge = CAddTable() if merge is None else merge
        backwards = Sequential(SeqReverseSequence(1), backward, SeqReverseSequence(1))
        net = Sequential(ConcatTable(forward, backwards), merge)
        if flag(batchFirst, "batchFirst"):
            net.insert(Transpose([1, 2]), 1)
            net.insert(Transpose([1, 2]))
        super().__init__(net)
        self.forwardModule, self.backwardModule, self.merge = forward, backward, merge
        self.dim = 1
