"""The recurrent layers of Justin Johnson's torch-rnn, whose files are among the most frequent."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat import random
from compat.checks import whole
from compat.nn.core.module import Scalar
from compat.nn.functional import recurrent as f
from compat.nn.recurrent.whole_sequence import WholeSequence

S = TypeVar("S", bound="_Layer")


def _is_of_torch_rnn(fields: Any) -> bool:
    return "input_dim" in fields and "hidden_dim" in fields


class _Layer(WholeSequence):
    """A layer over sequences ``N x T x input_dim``.

    Fields: ``remember_states``, whether it starts from what the call before ended with;
    ``input_dim`` and ``hidden_dim``.
    """

    time = 1
    _file_output = "output"
    _forgets = "resetStates"
    scratch_fields = ("recompute_backward", "_return_grad_c0", "_return_grad_h0")
    workspace_fields = dict.fromkeys(
        (
            *("gates", "buffer1", "buffer2", "buffer3", "grad_a_buffer"),
            *("grad_c0", "grad_h0", "grad_x"),
        )
    )
    remember_states: bool = False

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.input_dim = whole(input_dim, "input_dim", 1)
        self.hidden_dim = whole(hidden_dim, "hidden_dim", 1)
        columns = self._gates * self.hidden_dim
        self.weight = torch.empty(self.input_dim + self.hidden_dim, columns)
        self.bias = torch.empty(columns)
        self.remember_states = False
        self._drop_states()
        self.reset()

    def reset(self: S, std: Scalar | None = None) -> S:
        """Draw the weight from a normal distribution; the bias becomes 0."""
        self.bias.zero_()
        random.normal_(self.weight, 0, 1 / math.sqrt(len(self.weight)) if std is None else std)
        return self

    def starts_with_batch(self) -> bool:
        return True

    def remembers(self) -> bool:
        return self.remember_states

    def resetStates(self: S) -> S:
        """Have the next call start from zeros."""
        return self.forget()

    def __repr__(self) -> str:
        return f"{self.typename}({self.input_dim} -> {self.hidden_dim})"


class LSTM(_Layer, fits=_is_of_torch_rnn):
    """An LSTM over whole sequences (torch-rnn: ``nn.LSTM``).

    Not package rnn's ``nn.LSTM``, which takes single steps; in files their fields distinguish the
    two.

    Args:
        input_dim, hidden_dim: numbers of features.

    Shapes: input ``N x T x input_dim``, or a list ``[c0, h0, sequence]`` or ``[h0, sequence]`` with
    what to start from, ``N x hidden_dim``; output ``N x T x hidden_dim``; ``weight`` is
    ``input_dim + hidden_dim x 4·hidden_dim``, of the input, forget and output gates and the input.

    Raises:
        ValueError: another number of sequences while states are remembered.
    """

    _states = ("c0", "h0")
    _gates = 4
    c0: Tensor
    workspace_fields = {**_Layer.workspace_fields, "cell": None}

    def reset(self, std: Scalar | None = None) -> LSTM:
        """Draw the weight; the bias of the forget gate becomes 1, the rest 0."""
        super().reset(std)
        self.bias[self.hidden_dim : 2 * self.hidden_dim].fill_(1)
        return self

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        c0, h0 = states
        found = f.lstm(steps, c0, h0, self.weight, self.bias, self.time)
        outputs, self.cell, self.gates, _ = found
        return outputs

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        grad_c, grad_h = ends
        given = gradOutput, self.gates, self.cell, states[0], self.weight, grad_c, grad_h
        at_gates, grad_c, grad_h, _ = f.lstm_backward(*given, self.time)
        return at_gates, [grad_c, grad_h]


class VanillaRNN(_Layer, fits=_is_of_torch_rnn):
    """A recurrent net with hyperbolic tangents over whole sequences (torch-rnn: ``nn.VanillaRNN``).

    Args:
        input_dim, hidden_dim: numbers of features.

    Shapes: input ``N x T x input_dim``, or a list ``[h0, sequence]`` with what to start from,
    ``N x hidden_dim``; output ``N x T x hidden_dim``; ``weight`` is
    ``input_dim + hidden_dim x hidden_dim``.
    """

    _states = ("h0",)
    _gates = 1

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        [h0] = states
        self.gates = f.rnn(steps, h0, self.weight, self.bias, self.time)
        return self.gates

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        assert self._outputs is not None
        [grad_h] = ends
        found = f.rnn_backward(gradOutput, self._outputs, self.weight, grad_h, self.time)
        return found[0], [found[1]]
