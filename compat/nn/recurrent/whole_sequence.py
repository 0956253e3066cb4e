"""Recurrent layers that take a whole sequence as one tensor."""

from __future__ import annotations

import math
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.checks import flag, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_count, check_dims
from compat.nn.containers.basic import ConcatTable, Sequential
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.layers.shape import Transpose
from compat.nn.layers.table_layers import CAddTable
from compat.nn.recurrent.sequencers import AbstractSequencer, is_remembered, remembered

Q = TypeVar("Q", bound="_Layer")


class _Layer(Stored):
    """A layer over a sequence ``T x N x D``, or ``N x T x D`` with ``batchfirst``.

    The input may be a list of the states to start with and the sequence; by default they are zero,
    or with ``remember`` what the sequence before ended with.

    Fields: ``maskzero``, whether rows of the input that are zero give zeros and reset the states.
    """

    nil_stops_gradient = False
    batchfirst: bool = False
    maskzero: bool = False
    userPrevOutput: Tensor | None = None
    _remember: str = "neither"
    # How many matrices the weight holds side by side, and which states there are, last the output.
    _gates: ClassVar[int]
    _states: ClassVar[tuple[str, ...]]
    _end: Any = None
    transient_fields = ("_end",)
    scratch_fields = (
        *("gates", "buffer1", "buffer2", "buffer3", "grad_a_buffer", "h0", "c0", "cell"),
        *("grad_c0", "grad_h0", "grad_x", "_output", "_grad_x", "zeroMask", "_zeroMask"),
        *("next_h", "grad_next_h", "recompute_backward", "_return_grad_c0", "_return_grad_h0"),
        *("userGradPrevCell", "userGradPrevOutput", "_maskbyte", "_maskindices"),
    )

    def _build(self, inputs: int, outputs: int) -> None:
        self.weight = torch.empty(inputs + outputs, self._gates * outputs)
        self.bias = torch.empty(self._gates * outputs)
        self._remember = "neither"
        self.batchfirst = self.maskzero = False
        self.reset()

    def reset(self: Q, stdv: Scalar | None = None) -> Q:
        """Draw the weight from a normal distribution; the bias of the second gate becomes 1."""
        size = self.bias.numel() // self._gates
        random.normal_(self.weight, 0, 1 / math.sqrt(len(self.weight)) if stdv is None else stdv)
        self.bias.zero_()
        self.bias[size : 2 * size].fill_(1)
        return self

    def remember(self: Q, when: str | None = "both") -> Q:
        """As in ``Sequencer.remember``."""
        self._remember = remembered(when)
        return self

    def forget_itself(self) -> None:
        """Start anew."""
        self._end = None

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the next sequence starts from zeros."""
        given = any(getattr(self, name) is not None for name in self._states)
        return not (given or self.remembers())

    @property
    def remember_mode(self) -> str:
        """When it starts from the end of the sequence before, as ``remember`` was told."""
        return self._remember

    def remembers(self) -> bool:
        """Whether it starts from the end of the sequence before in the present mode."""
        return is_remembered(self._remember, self.train)

    def forget(self: Q) -> Q:
        """Start anew."""
        self.forget_itself()
        return self

    def maskZero(self: Q) -> Q:
        """Set ``maskzero``."""
        self.maskzero = True
        return self

    def training(self: Q) -> Q:
        if not self.train:
            self.forget()
        return super().training()

    def evaluate(self: Q) -> Q:
        if self.train:
            self.forget()
        return super().evaluate()

    @deterministic
    def compute(self, input: Any) -> Tensor:
        *given, sequence = input if isinstance(input, (list, tuple)) else [input]
        check_dims(sequence, 3)
        size = self.bias.numel() // self._gates
        features = len(self.weight) - size
        check_count(sequence.size(-1), features)
        steps = sequence.transpose(0, 1) if self.batchfirst else sequence
        states = self._first(given, steps.new_zeros(steps.size(1), size))
        outputs = self.over(steps, states, self.weight[:features], self.weight[features:])
        return outputs.transpose(0, 1) if self.batchfirst else outputs

    def _first(self, given: list[Tensor], zeros: Tensor) -> list[Tensor]:
        """The states to start with."""
        states = [zeros] * len(self._states)
        if self.remembers() and self._end is not None:
            states = [state.detach() for state in self._end]
        for i, name in enumerate(self._states):
            if getattr(self, name) is not None:
                states[i] = getattr(self, name)
                setattr(self, name, None)
        return [*states[: len(states) - len(given)], *given]

    def over(self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor) -> Tensor:
        """The outputs for all steps. Classes define it."""
        raise TypeError(f"{self.typename} does not define over(steps, states, Wx, Wh)")

    def _kept(self, steps: Tensor) -> Any:
        """For each step the factor, 0 or 1, of each sample of the batch."""
        if not self.maskzero:
            return [1] * len(steps)
        return (steps != 0).any(-1, keepdim=True).to(steps.dtype)

    def t7_fields(self) -> dict[str, Any]:
        return super().t7_fields() | {name: self._empty() for name in self.scratch_fields[:13]}


class SeqLSTM(_Layer):
    """An LSTM over a whole sequence (Torch7: ``nn.SeqLSTM`` of the package rnn).

    Args:
        inputsize, outputsize: numbers of features.

    Shapes: input ``T x N x inputsize``, or a list ``[cell, output, sequence]`` or
    ``[output, sequence]`` with what to start from, ``N x outputsize``; output
    ``T x N x outputsize``; ``weight`` is ``inputsize + outputsize x 4·outputsize``, of the input
    gate, the forget gate, the output gate and the input.

    Fields: ``batchfirst``, whether the batch is the first dimension of sequences; ``maskzero``.
    """

    _gates = 4
    _states = ("userPrevCell", "userPrevOutput")
    userPrevCell: Tensor | None = None

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = self.outputsize = whole(outputsize, "outputsize", 1)
        self._build(self.inputsize, self.outputsize)

    def over(self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor) -> Tensor:
        if not self.maskzero:
            outputs, self._end = lstm(steps, states, Wx, Wh, self.bias)
            return outputs
        cell, output = states
        parameters = _torch_parameters(Wx, Wh, self.bias)
        results = []
        for step, kept in zip(steps, self._kept(steps), strict=True):
            output, cell = torch.lstm_cell(step, [output, cell], *parameters)
            output, cell = output * kept, cell * kept
            results.append(output)
        self._end = [cell, output]
        return torch.stack(results)


def lstm(
    steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor, bias: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """The outputs of an LSTM without peepholes for ``T x N x D``, and the states at the end.

    The states are cell and output. The columns of the weights, and the bias, are those of the
    input, forget and output gates and of the input.
    """
    cell, output = (state.unsqueeze(0) for state in states)
    parameters = _torch_parameters(Wx, Wh, bias)
    outputs, h, c = torch.lstm(
        steps.contiguous(), [output, cell], parameters, True, 1, 0.0, False, False, False
    )
    return outputs, [c[0], h[0]]


def _torch_parameters(Wx: Tensor, Wh: Tensor, bias: Tensor) -> list[Tensor]:
    parameters = [_torch_order(tensor) for tensor in (Wx.t(), Wh.t(), bias)]
    return [*parameters, torch.zeros_like(parameters[2])]


def _torch_order(rows: Tensor) -> Tensor:
    """Rows of the input, forget and output gates and of the input in PyTorch's order."""
    i, f, o, g = rows.chunk(4)
    return torch.cat([i, f, g, o])


class SeqGRU(_Layer):
    """Gated recurrent units over a whole sequence (Torch7: ``nn.SeqGRU`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.

    Shapes: input ``T x N x inputSize``, or a list of the output to start from and the sequence;
    output ``T x N x outputSize``; ``weight`` is ``inputSize + outputSize x 3·outputSize``, of the
    reset gate, the update gate and the input.

    Fields: ``batchfirst`` and ``maskzero`` as in ``SeqLSTM``.
    """

    _gates = 3
    _states = ("userPrevOutput",)

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        self._build(self.inputSize, self.outputSize)

    def over(self, steps: Tensor, states: list[Tensor], Wx: Tensor, Wh: Tensor) -> Tensor:
        [output] = states
        size = output.size(1)
        to_gates, to_hidden = Wh.split([2 * size, size], 1)
        results = []
        summed = steps @ Wx + self.bias
        for step, kept in zip(summed, self._kept(steps), strict=True):
            gates = torch.sigmoid(step[:, : 2 * size] + output @ to_gates)
            reset, update = gates.chunk(2, 1)
            hidden = torch.tanh(step[:, 2 * size :] + (reset * output) @ to_hidden)
            output = torch.lerp(hidden, output, update) * kept
            results.append(output)
        self._end = [output]
        return torch.stack(results)


class SeqReverseSequence(Stored):
    """The input in reverse along a dimension (Torch7: ``nn.SeqReverseSequence`` of rnn).

    Args:
        dim: the dimension, counted from 1.
    """

    scratch_fields = ("outputIndices", "gradIndices")

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = whole(dim, "dim", 1, 3)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.flip(self.dim - 1)

    def t7_fields(self) -> dict[str, Any]:
        empty = torch.empty(0, dtype=torch.int64)
        return super().t7_fields() | {"outputIndices": empty, "gradIndices": empty.clone()}


class SeqBRNN(AbstractSequencer):
    """Two ``SeqLSTM``, forwards and backwards (Torch7: ``nn.SeqBRNN`` of the package rnn).

    Args:
        inputDim, hiddenDim: numbers of features.
        batchFirst: whether the batch is the first dimension.
        merge: makes one output of the two; by default their sum.
    """

    @nil_is_default
    def __init__(
        self,
        inputDim: int,
        hiddenDim: int,
        batchFirst: bool = False,
        merge: Module | None = None,
    ) -> None:
        super().__init__()
        sizes = whole(inputDim, "inputDim", 1), whole(hiddenDim, "hiddenDim", 1)
        self.forwardModule, self.backwardModule = SeqLSTM(*sizes), SeqLSTM(*sizes)
        self.merge = CAddTable() if merge is None else merge
        self.dim = 1
        turn = SeqReverseSequence(1), SeqReverseSequence(1)
        backwards = Sequential(turn[0], self.backwardModule, turn[1])
        net = Sequential(ConcatTable(self.forwardModule, backwards), self.merge)
        if flag(batchFirst, "batchFirst"):
            net.insert(Transpose([1, 2]), 1)
            net.insert(Transpose([1, 2]))
        self.add(net)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return self.call(0, input)
