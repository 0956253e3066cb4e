"""The recurrent layers of Justin Johnson's torch-rnn, whose files are among the most frequent."""

from __future__ import annotations

import math
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import random, t7
from compat.nn.checks.arguments import whole
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import Scalar, deterministic
from compat.nn.recurrent.whole_sequence import lstm

S = TypeVar("S", bound="_Layer")


def _is_of_torch_rnn(fields: Any) -> bool:
    return "input_dim" in fields and "hidden_dim" in fields


class _Layer(Stored):
    """A layer over sequences ``N x T x input_dim``.

    The input may be a list of the states to start with and the sequence. By default they are zero,
    or with ``remember_states``, from the second call on, what the call before ended with.

    Fields: ``remember_states``; ``input_dim`` and ``hidden_dim``.
    """

    # Whether a state is given is told by its place: the last is the output.
    _states: ClassVar[tuple[str, ...]]
    # How many matrices the weight holds side by side.
    _gates: ClassVar[int]
    scratch_fields = (
        *("gates", "buffer1", "buffer2", "buffer3", "grad_a_buffer"),
        *("grad_c0", "grad_h0", "grad_x"),
        *("recompute_backward", "_return_grad_c0", "_return_grad_h0"),
    )
    remember_states: bool = False
    # The states that the latest call ended with, and which of them the next may start from.
    _ended_with: list[Tensor] | None = None
    _continued: frozenset[str] = frozenset()

    def __init__(self, input_dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.input_dim = whole(input_dim, "input_dim", 1)
        self.hidden_dim = whole(hidden_dim, "hidden_dim", 1)
        columns = self._gates * self.hidden_dim
        self.weight = torch.empty(self.input_dim + self.hidden_dim, columns)
        self.bias = torch.empty(columns)
        self.remember_states = False
        self.reset()

    def reset(self: S, std: Scalar | None = None) -> S:
        """Draw the weight from a normal distribution; the bias becomes 0."""
        self.bias.zero_()
        random.normal_(self.weight, 0, 1 / math.sqrt(len(self.weight)) if std is None else std)
        return self

    def resetStates(self: S) -> S:
        """Have the next call start from zeros."""
        self._continued = frozenset()
        return self

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether the next call starts from zeros."""
        return not self.remember_states

    @deterministic
    def compute(self, input: Any) -> Tensor:
        *given, steps = input if isinstance(input, (list, tuple)) else [input]
        if len(given) > len(self._states):
            most = len(self._states) + 1
            raise ValueError(f"input is a table of {len(given) + 1}; up to {most} are accepted")
        if steps.dim() != 3 or steps.size(2) != self.input_dim:
            raise ValueError(
                f"input has size {tuple(steps.shape)}; N x T x {self.input_dim} is accepted"
            )
        size = (steps.size(0), self.hidden_dim)
        names = self._states[: len(self._states) - len(given)]
        states = [self._first(i, name, size, steps) for i, name in enumerate(names)]
        for state in given:
            if state.shape != size:
                raise ValueError(
                    f"input has a state of size {tuple(state.shape)} for {size[0]} sequences; "
                    f"{size[0]} x {size[1]} is accepted"
                )
        outputs, self._ended_with = self.over(steps, [*states, *given])
        self._continued |= {*names}
        return outputs

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        """The state number ``i`` that the sequences start from."""
        if not (self.remember_states and name in self._continued and self._ended_with):
            return like.new_zeros(size)
        state = self._ended_with[i]
        if state.shape != size:
            raise ValueError(
                f"input has {size[0]} sequences, the call before had {len(state)}; to remember "
                "states their number must stay, or resetStates() be called"
            )
        return state

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The outputs for ``N x T x input_dim``, and the states at the end."""
        raise NotImplementedError

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("_continued", None)
        fields |= {name: self._empty() for name in self.scratch_fields[:8]}
        ended = fields.pop("_ended_with", None)
        for name in self._states:
            there = ended is not None and name in self._continued
            fields[name] = torch.zeros_like(ended[-1]) if there else self._empty()
        if ended is not None and self._continued:
            # Where Lua looks for them: the last step of both.
            fields["output"] = ended[-1].unsqueeze(1)
            if len(ended) > 1:
                fields["cell"] = ended[0].unsqueeze(1)
        elif len(self._states) > 1:
            fields["cell"] = self._empty()
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        starts = {name: fields.pop(name, None) for name in self._states}
        cell, output = fields.pop("cell", None), fields.get("output")
        super().t7_restore(fields, version)
        ended = [cell, output][-len(self._states) :]
        if all(isinstance(state, Tensor) and state.dim() == 3 for state in ended):
            t7.claim(sum(state[:, -1].nbytes for state in ended))
            self._ended_with = [state[:, -1].clone() for state in ended]
            self._continued = frozenset(n for n, s in starts.items() if s is not None and s.numel())

    def __repr__(self) -> str:
        return f"{self.typename}({self.input_dim} -> {self.hidden_dim})"


class LSTM(_Layer, fits=_is_of_torch_rnn):
    """An LSTM over whole sequences (torch-rnn: ``nn.LSTM``).

    Not package rnn's ``nn.LSTM``, which takes single steps; in files the two are told apart by
    their fields.

    Args:
        input_dim, hidden_dim: numbers of features.

    Shapes: input ``N x T x input_dim``, or a list ``[c0, h0, sequence]`` or ``[h0, sequence]`` with
    what to start from, ``N x hidden_dim``; output ``N x T x hidden_dim``; ``weight`` is
    ``input_dim + hidden_dim x 4·hidden_dim``, of the input, forget and output gates and the input.

    Raises ValueError for another number of sequences while states are remembered.
    """

    _states = ("c0", "h0")
    _gates = 4

    def reset(self, std: Scalar | None = None) -> LSTM:
        """Draw the weight; the bias of the forget gate becomes 1, the rest 0."""
        super().reset(std)
        self.bias[self.hidden_dim : 2 * self.hidden_dim].fill_(1)
        return self

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        Wx, Wh = self.weight.split([self.input_dim, self.hidden_dim])
        outputs, ended = lstm(steps.transpose(0, 1), states, Wx, Wh, self.bias)
        return outputs.transpose(0, 1), [state.detach() for state in ended]


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

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        Wx, Wh = self.weight.split([self.input_dim, self.hidden_dim])
        [output] = states
        results = []
        for step in (steps @ Wx + self.bias).unbind(1):
            output = torch.tanh(torch.addmm(step, output, Wh))
            results.append(output)
        return torch.stack(results, 1), [output.detach()]
