"""Whole sequences in both directions, and the layers that reverse a sequence."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.checks.tensors import ANYTHING
from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.container import Container
from compat.nn.containers.decorators import Decorator
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module
from compat.nn.core.tree import Inner
from compat.nn.layers.shape import Transpose
from compat.nn.layers.table_arithmetic import CAddTable
from compat.nn.layers.table_layers import table
from compat.nn.recurrent.seq_gru import SeqGRU
from compat.nn.recurrent.seq_lstm import SeqLSTM
from compat.nn.recurrent.sequencers import AbstractSequencer

B = TypeVar("B", bound="_BothWays")


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


class ReverseSequence(Module):
    """The steps in reverse order (Torch7: ``nn.ReverseSequence`` of torch/rnn).

    Shapes: a table, or a tensor with the steps as its first dimension.
    """

    takes = ANYTHING
    scratch_fields = ("_range",)

    def updateOutput(self, input: Any) -> Any:
        return self.set_output(_reversed(input))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.set_gradInput(_reversed(gradOutput))


def _reversed(steps: Any) -> Any:
    return steps.flip(0) if isinstance(steps, Tensor) else table(steps)[::-1]


class ReverseUnreverse(Decorator):
    """A module that gets a sequence in reverse (Torch7: ``nn.ReverseUnreverse`` of torch/rnn).

    Its output is in the order of the input.

    Args:
        sequencer: the module.
    """

    scratch_fields = ("_zeroMask", "_range")

    def __init__(self, sequencer: Module) -> None:
        super().__init__(Sequential(ReverseSequence(), sequencer, ReverseSequence()))

    def getModule(self) -> Any:
        """Return the module."""
        return self.get(1).get(2)


class _BothWays(AbstractSequencer, Decorator, abstract=True):
    """A layer over whole sequences, and one that goes backwards, whose outputs are merged."""

    def __init__(self, forward: Module, merge: Module | None) -> None:
        both = ConcatTable(forward, ReverseUnreverse(forward.clone().reset()))
        Decorator.__init__(self, Sequential(both, CAddTable() if merge is None else merge))

    def getForward(self) -> Any:
        """Return the layer that goes forwards."""
        return self.get(1).get(1).get(1)

    def getBackward(self) -> Any:
        """Return the layer that goes backwards."""
        return self.get(1).get(1).get(2).getModule()

    def remember(self: B, when: str | None = "both") -> B:
        """Have the layer that goes forwards remember; the other one does not."""
        self.getForward().remember(when)
        return self

    def _body(self) -> list[str]:
        names = ("forward:  ", "backward: ", "merge:    ")
        modules = (self.getForward(), self.getBackward(), self.get(1).get(2))
        parts = zip(names, modules, strict=True)
        return [name + repr(module).replace("\n", "\n    |    ") for name, module in parts]

    def __repr__(self) -> str:
        return Container.__repr__(self)


class SeqBLSTM(_BothWays):
    """A bidirectional ``SeqLSTM`` (Torch7: ``nn.SeqBLSTM`` of torch/rnn).

    Args:
        inputsize, hiddensize: numbers of features.
        outputsize: as ``projected`` of ``SeqLSTM``; or ``merge``.
        merge: the module that joins the two outputs; by default their sum.

    Shapes: as in ``SeqLSTM``.
    """

    def __init__(
        self,
        inputsize: int,
        hiddensize: int,
        outputsize: Module | int | None = None,
        merge: Module | None = None,
    ) -> None:
        if isinstance(outputsize, Module):
            outputsize, merge = None, outputsize
        super().__init__(SeqLSTM(inputsize, hiddensize, outputsize), merge)


class SeqBGRU(_BothWays):
    """A bidirectional ``SeqGRU`` (Torch7: ``nn.SeqBGRU`` of torch/rnn).

    Args:
        inputsize, outputsize: numbers of features.
        merge: the module that joins the two outputs; by default their sum.

    Shapes: as in ``SeqGRU``.
    """

    def __init__(self, inputsize: int, outputsize: int, merge: Module | None = None) -> None:
        super().__init__(SeqGRU(inputsize, outputsize), merge)
