"""The layers of package rnn over a whole sequence: LSTM and GRU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.checks import whole
from compat.nn.checks.tensors import check_type
from compat.nn.core.module import Scalar
from compat.nn.core.parameter import Parameter
from compat.nn.functional import recurrent as f
from compat.nn.layers.linear import Linear
from compat.nn.recurrent.cells import GRU, FastLSTM
from compat.nn.recurrent.parts import LinearNoBias
from compat.nn.recurrent.sequencers import is_remembered, remembered
from compat.nn.recurrent.whole_sequence import WholeSequence, check_state

Q = TypeVar("Q", bound="_Layer")
P = TypeVar("P", bound="SeqLSTMP")


class _Layer(WholeSequence):
    """A layer over a sequence ``T x N x D``, or ``N x T x D`` with ``batchfirst``.

    Fields: ``maskzero``, whether rows of the input that are zero give zeros and reset the states;
    ``userPrevCell`` and ``userPrevOutput``, what the next call starts from, and after backward
    ``userGradPrevCell`` and ``userGradPrevOutput``, the gradients of what it started from;
    ``userNextGradCell`` and ``gradPrevOutput``, gradients of what it ended with, which the next
    backward adds.
    """

    time = 0
    batchfirst: bool = False
    maskzero: bool = False
    userPrevOutput: Tensor | None = None
    userPrevCell: Tensor | None = None
    userNextGradCell: Tensor | None = None
    gradPrevOutput: Tensor | None = None
    userGradPrevOutput: Tensor | None = None
    userGradPrevCell: Tensor | None = None
    pass_fields = (*WholeSequence.pass_fields, "userGradPrevCell", "userGradPrevOutput")
    _remember: str = "neither"
    _file_output = "_output"
    _forgets = "forget"
    workspace_fields = dict.fromkeys(
        (
            *("gates", "buffer1", "buffer2", "buffer3", "grad_a_buffer", "cell"),
            *("grad_c0", "grad_h0", "grad_x", "_output", "_grad_x"),
        )
    )
    scratch_fields = (
        *("zeroMask", "_zeroMask", "_maskbyte", "_maskindices"),
        *("next_h", "grad_next_h", "recompute_backward", "_return_grad_c0", "_return_grad_h0"),
        *("userGradPrevCell", "userGradPrevOutput"),
    )

    def _build(self, inputs: int, cells: int, outputs: int | None = None) -> None:
        outputs = cells if outputs is None else outputs
        self.weight = torch.empty(inputs + outputs, self._gates * cells)
        self.bias = torch.empty(self._gates * cells)
        self._remember = "neither"
        self.batchfirst = self.maskzero = False
        self._drop_states()
        self.reset()

    def reset(self: Q, stdv: Scalar | None = None) -> Q:
        """Draw the weight from a normal distribution; the bias of the second gate becomes 1."""
        size = self.bias.numel() // self._gates
        _draw(self.weight, len(self.weight), stdv)
        self.bias.zero_()
        self.bias[size : 2 * size].fill_(1)
        return self

    def remember(self: Q, when: str | None = "both") -> Q:
        """As in ``Sequencer.remember``."""
        self._remember = remembered(when)
        return self

    @property
    def batch_first(self) -> bool:
        """Whether sequences are ``N x T x D``, not ``T x N x D``."""
        return self.batchfirst

    @property
    def remember_mode(self) -> str:
        """When it starts from the end of the sequence before, as ``remember`` was told."""
        return self._remember

    def remembers(self) -> bool:
        return is_remembered(self._remember, self.train)

    def resetStates(self) -> None:
        """``forget``."""
        self.forget()

    def maskZero(self: Q, nInputDim: int | None = None) -> Q:
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

    def updateOutput(self, input: Any) -> Tensor:
        output = super().updateOutput(input)
        self._drop(_GIVEN)
        return output

    def _turned(self, sequence: Tensor) -> Tensor:
        return sequence.transpose(0, 1) if self.batchfirst else sequence

    def _set_outputs(self, outputs: Tensor) -> Tensor:
        if not self.batchfirst:
            return super()._set_outputs(outputs)
        self._outputs = outputs
        found: Tensor = self.set_output(outputs.transpose(0, 1))
        return found

    def _back(self, steps: Tensor, states: list[Tensor], gradOutput: Any) -> list[Tensor]:
        gradients = super()._back(steps, states, gradOutput)
        self._drop(_ADDED)
        for name, gradient in zip(self._states, gradients, strict=True):
            setattr(self, _GRADIENTS[name], gradient)
        return gradients

    def _ends(self, states: list[Tensor]) -> Sequence[tuple[Tensor | None, Tensor]]:
        given = (getattr(self, _ADDED[name]) for name in self._states)
        return list(zip(given, states, strict=True))

    def _drop(self, fields: dict[str, str]) -> None:
        for name in fields.values():
            self.__dict__.pop(name, None)

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        state = getattr(self, _GIVEN[name])
        if state is not None:
            return check_state(state, f"{_GIVEN[name]} is", size, like).clone()
        return super()._first(i, name, size, like)

    def _blank(self, steps: Tensor) -> Sequence[Tensor] | None:
        """For each step which samples of the batch are zeros and to give zeros."""
        return (steps == 0).all(-1, keepdim=True).unbind(0) if self.maskzero else None

    def _give(
        self, from_input: Sequence[Any], from_output: Sequence[Any], gates: list[list[int]]
    ) -> None:
        """Give layers the values and gradients of the ``gates`` that each has side by side."""
        size = self.bias.numel() // self._gates
        for layer, feedback, own in zip(from_input, from_output, gates, strict=True):
            columns = torch.cat([torch.arange(i * size, (i + 1) * size) for i in own])
            columns = columns.to(self.weight.device)
            for weight, bias, to in (
                (self.weight, self.bias, _value),
                (self.weight.grad, self.bias.grad, _gradient),
            ):
                to(layer.weight).copy_(weight[:-size, columns].t())
                to(layer.bias).copy_(bias[columns])
                to(feedback.weight).copy_(weight[-size:, columns].t())


def _value(parameter: Tensor) -> Tensor:
    return parameter.data


def _gradient(parameter: Tensor) -> Any:
    return parameter.grad


# By state, the fields that take it, take a gradient of it at the end, and tell that at the start.
_GIVEN = {"c0": "userPrevCell", "h0": "userPrevOutput"}
_ADDED = {"c0": "userNextGradCell", "h0": "gradPrevOutput"}
_GRADIENTS = {"c0": "userGradPrevCell", "h0": "userGradPrevOutput"}


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
    _states = ("c0", "h0")
    c0: Tensor

    def __init__(self, inputsize: int, outputsize: int) -> None:
        super().__init__()
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = self.outputsize = whole(outputsize, "outputsize", 1)
        self._build(self.inputsize, self.outputsize)

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        outputs, self.cell, self.gates, self._hidden = f.lstm(
            *(steps, *states, self.weight, self.bias, self.time),
            *(self._blank(steps), self._projection()),
        )
        return outputs

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        at_gates, *gradients, self._at_outputs = f.lstm_backward(
            *(gradOutput, self.gates, self.cell, states[0], self.weight, *ends, self.time),
            *(self._blank(steps), self._projection()),
        )
        return at_gates, gradients

    def _projection(self) -> Tensor | None:
        """What the hidden states are multiplied with."""
        return None

    def toFastLSTM(self) -> FastLSTM:
        """A ``FastLSTM`` of the same values and gradients."""
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

    weightO = Parameter()

    def __init__(self, inputsize: int, hiddensize: int, outputsize: int) -> None:
        WholeSequence.__init__(self)
        self.inputsize = whole(inputsize, "inputsize", 1)
        self.hiddensize = whole(hiddensize, "hiddensize", 1)
        self.outputsize = whole(outputsize, "outputsize", 1)
        self.weightO = torch.empty(self.hiddensize, self.outputsize)
        self._build(self.inputsize, self.hiddensize, self.outputsize)

    def reset(self: P, stdv: Scalar | None = None) -> P:
        """Draw the weights from normal distributions; the biases number outputsize + 1 to
        2·outputsize become 1, as in Torch7.
        """
        self.bias.zero_()
        self.bias[self.outputsize : 2 * self.outputsize].fill_(1)
        _draw(self.weight, self.hiddensize + self.inputsize, stdv)
        _draw(self.weightO, self.outputsize + self.hiddensize, stdv)
        return self

    def _matrices(self) -> None:
        sizes = (self.inputsize + self.outputsize, 4 * self.hiddensize)
        if self.weight.shape != sizes or self.weightO.shape != (self.hiddensize, self.outputsize):
            raise ValueError(
                f"weight has size {tuple(self.weight.shape)}, weightO {tuple(self.weightO.shape)}; "
                f"{sizes} and {(self.hiddensize, self.outputsize)} are accepted"
            )
        check_type(self.bias, self.weight, "bias", "weight")

    def _widths(self) -> tuple[int, ...]:
        return self.hiddensize, self.outputsize

    def _projection(self) -> Tensor | None:
        projection: Tensor = self.weightO
        return projection

    def accumulate(
        self, steps: Tensor, h0: Tensor, outputs: Tensor, at_gates: Tensor, scale: Scalar
    ) -> None:
        super().accumulate(steps, h0, outputs, at_gates, scale)
        if self.gradWeightO is not None:
            f.projection_acc_(self._hidden, self._at_outputs, self.gradWeightO, scale)

    def toFastLSTM(self) -> FastLSTM:
        """Not possible, as a ``FastLSTM`` has no projection."""
        raise TypeError("nn.SeqLSTMP has no toFastLSTM; nn.SeqLSTM has")


def _draw(weight: Tensor, inputs: int, stdv: Scalar | None) -> None:
    random.normal_(weight, 0, 1 / math.sqrt(inputs) if stdv is None else stdv)


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
    _states = ("h0",)

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__()
        self.inputSize = whole(inputSize, "inputSize", 1)
        self.outputSize = whole(outputSize, "outputSize", 1)
        self._build(self.inputSize, self.outputSize)

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        blank = self._blank(steps)
        outputs, self.gates = f.gru(steps, *states, self.weight, self.bias, self.time, blank)
        return outputs

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        at_gates, gradient = f.gru_backward(
            *(gradOutput, self.gates, self._outputs, *states, self.weight, *ends, self.time),
            self._blank(steps),
        )
        return at_gates, [gradient]

    def accumulate(
        self, steps: Tensor, h0: Tensor, outputs: Tensor, at_gates: Tensor, scale: Scalar
    ) -> None:
        reset = self.gates[..., : h0.size(1)]
        gradients = self.gradWeight, self.gradBias
        f.recurrent_acc_(steps, outputs, h0, at_gates, *gradients, scale, self.time, reset)

    def toGRU(self) -> GRU:
        """A ``GRU`` of the same values and gradients."""
        cell = GRU(self.inputSize, self.outputSize).type(self.type())
        linear = [m for m in cell.listModules() if type(m) is Linear]
        feedback = [m for m in cell.listModules() if type(m) is LinearNoBias]
        self._give(linear, feedback, [[0, 1], [2]])
        return cell
