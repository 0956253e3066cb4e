"""Recurrent layers over a sequence that is one tensor."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import OverSequences, Remembering, flow, mapped
from compat.nn.interchange.to_torch import ToTorch


class WholeSequence(OverSequences, Remembering):
    """A layer over a sequence that is one tensor, steps first or batch first.

    The input may be a list of states to start with, last the output, and the sequence.
    """

    batch_first: bool
    hidden_size: int
    mask_zero: bool = False

    def forward(self, input: Any) -> Tensor:
        self.begin()
        *given, sequence = [input] if isinstance(input, Tensor) else input
        memory = self.given(given, sequence) if given else self.memory
        outputs, self.memory = (self._masked if self.mask_zero else self.over)(sequence, memory)
        return outputs

    def _masked(self, sequence: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Step by step: rows of zeros give zeros, and reset the states."""
        time = 1 if self.batch_first else 0
        steps = sequence.transpose(0, 1) if self.batch_first else sequence
        kept = (steps != 0).any(-1, keepdim=True).to(steps.dtype)

        def step(entry: Any, memory: Any) -> Any:
            x, factor = entry
            output, memory = self.over(x.unsqueeze(time), memory)
            memory = flow().begun(
                memory, lambda: None, lambda m: mapped(lambda state: state * factor, m)
            )
            return output.squeeze(time) * factor, memory

        outputs, memory = flow().over(self, step, list(zip(steps, kept, strict=True)), memory)
        return torch.stack(outputs, time), memory

    @abstractmethod
    def over(self, sequence: Tensor, memory: Any) -> tuple[Tensor, Any]:
        """Return the outputs, and the memory at the end."""

    @abstractmethod
    def given(self, states: list[Tensor], sequence: Tensor) -> Any:
        """Return the memory that has these states, of which the last is the output."""


class OfTorch(WholeSequence, nn.RNNBase):
    """A recurrent layer of ``torch.nn`` that returns the outputs alone."""

    def over(self, sequence: Tensor, memory: Any) -> tuple[Tensor, Any]:
        cls = next(base for base in type(self).__mro__ if base.__module__ == nn.LSTM.__module__)
        return flow().native(cls, self, sequence, memory)

    def given(self, states: list[Tensor], sequence: Tensor) -> Any:
        return states[-1].unsqueeze(0)

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """Return a weight or bias of Torch7 as rows."""
        return tensor.t()


class SeqLSTM(OfTorch, nn.LSTM):  # type: ignore[misc]
    """``torch.nn.LSTM`` that returns the outputs alone.

    PyTorch: ``torch.nn.LSTM``.
    """

    def given(self, states: list[Tensor], sequence: Tensor) -> Any:
        output = super().given(states, sequence)
        if len(states) > 1:
            return output, states[0].unsqueeze(0)

        def first() -> Tensor:
            batch = sequence.size(0 if self.batch_first else 1)
            return sequence.new_zeros(1, batch, self.hidden_size)

        return output, flow().begun(self.memory, first, lambda memory: memory[1])

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """Return a weight or bias of Torch7, whose columns are of the input, forget and output
        gates and of the input, in PyTorch's order of rows.
        """
        i, f, o, g = tensor.t().chunk(4)
        return torch.cat([i, f, g, o])


def filled(layer: Any, module: Any, inputs: int, convert: ToTorch) -> Any:
    """Return ``layer``, of ``torch.nn``, with the weight and bias of ``module``."""
    halves: Any = module.weight.split([inputs, len(module.weight) - inputs])
    halves = [convert.parameter(half, layer.from_torch7) for half in halves]
    for half in halves:
        half.requires_grad_(module.gradWeight is not None)
    layer.weight_ih_l0, layer.weight_hh_l0 = halves
    layer.bias_ih_l0 = convert.parameter(module.bias, layer.from_torch7)
    layer.bias_hh_l0 = nn.Parameter(torch.zeros_like(module.bias), requires_grad=False)
    return layer
