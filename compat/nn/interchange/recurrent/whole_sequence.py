"""Recurrent layers over a sequence that is one tensor."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import OverSequences, Remembering
from compat.nn.interchange.to_torch import ToTorch


class WholeSequence(OverSequences, Remembering):
    """A layer over a sequence that is one tensor, steps first or batch first.

    The input may be a list of states to start with, last the output, and the sequence.
    """

    # How many states there are; the last is the output.
    _states: int
    batch_first: bool
    hidden_size: int
    mask_zero: bool = False

    def forward(self, input: Any) -> Tensor:
        self.begin()
        *given, sequence = [input] if isinstance(input, Tensor) else input
        steps = sequence.transpose(0, 1) if self.batch_first else sequence
        states = self.memory
        if states is None:
            states = [steps.new_zeros(steps.size(1), width) for width in self._widths()]
        states = [*states[: self._states - len(given)], *given]
        if self.mask_zero:
            outputs, self.memory = self._masked(steps, states)
        else:
            outputs, self.memory = self.over(steps, states)
        return outputs.transpose(0, 1) if self.batch_first else outputs

    def _masked(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """Step by step: rows of zeros give zeros, and reset the states."""
        kept = (steps != 0).any(-1, keepdim=True).to(steps.dtype)
        outputs = []
        for step, factor in zip(steps, kept, strict=True):
            _, states = self.over(step.unsqueeze(0), states)
            states = [state * factor for state in states]
            outputs.append(states[-1])
        return torch.stack(outputs), states

    def _widths(self) -> list[int]:
        return [self.hidden_size] * self._states

    @abstractmethod
    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        """The outputs for ``T x N x D``, and the states at the end."""


class SeqLSTM(WholeSequence, nn.LSTM):  # type: ignore[misc]
    """``torch.nn.LSTM`` that returns the outputs alone; the states are ``[cell, output]``.

    PyTorch: ``torch.nn.LSTM``.
    """

    _states = 2

    def _widths(self) -> list[int]:
        return [self.hidden_size, self.proj_size or self.hidden_size]

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        weights = [getattr(self, name) for name in self._flat_weights_names]
        cell, output = (state.unsqueeze(0).contiguous() for state in states)
        outputs, h, c = torch.lstm(
            steps.contiguous(), [output, cell], weights, True, 1, 0.0, False, False, False
        )
        return outputs, [c[0], h[0]]

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """A weight or bias of Torch7, whose columns are of the input, forget and output gates and
        of the input, in PyTorch's order of rows.
        """
        i, f, o, g = tensor.t().chunk(4)
        return torch.cat([i, f, g, o])


def filled(layer: Any, module: Any, inputs: int, convert: ToTorch) -> Any:
    """``layer``, of ``torch.nn``, with the weight and bias of ``module``."""
    halves: Any = module.weight.split([inputs, len(module.weight) - inputs])
    halves = [convert.parameter(half, layer.from_torch7) for half in halves]
    for half in halves:
        half.requires_grad_(module.gradWeight is not None)
    layer.weight_ih_l0, layer.weight_hh_l0 = halves
    layer.bias_ih_l0 = convert.parameter(module.bias, layer.from_torch7)
    layer.bias_hh_l0 = nn.Parameter(torch.zeros_like(module.bias), requires_grad=False)
    return layer
