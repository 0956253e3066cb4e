"""Recurrent layers whose step is one module."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.cells import Cell
from compat.nn.interchange.recurrent.memory import start
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import steps as torch7


class StepLSTM(nn.Module):
    """A step of an LSTM: ``[input, output, cell]`` to ``[output, cell]``.

    Args:
        weight: ``inputs + outputs x 4·hiddens``, of the input, forget and output gate and the new.
        bias: ``4·hiddens``.
        projection: ``hiddens x outputs``, None if these are the same.
    """

    def __init__(
        self, weight: nn.Parameter, bias: nn.Parameter, projection: nn.Parameter | None
    ) -> None:
        super().__init__()
        self.weight, self.bias, self.projection = weight, bias, projection

    def forward(self, input: list[Tensor]) -> list[Tensor]:
        x, h, c = input
        sums = torch.cat([x, h], 1) @ self.weight + self.bias
        new, forget, out, candidate = sums.chunk(4, 1)
        c = torch.sigmoid(forget) * c + torch.sigmoid(new) * torch.tanh(candidate)
        h = torch.sigmoid(out) * torch.tanh(c)
        return [h if self.projection is None else h @ self.projection, c]


class StepGRU(nn.Module):
    """A step of gated recurrent units: ``[input, output]`` to the next output.

    Args:
        weight: ``inputs + outputs x 3·outputs``, of the reset gate, the update gate and the input.
        bias: ``3·outputs``.
    """

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, input: list[Tensor]) -> Tensor:
        x, h = input
        size = h.size(1)
        inputs, hidden = self.weight.split([len(self.weight) - size, size])
        sums = x @ inputs + self.bias
        gates = torch.sigmoid(sums[:, : 2 * size] + h @ hidden[:, : 2 * size])
        reset, update = gates.chunk(2, 1)
        new = torch.tanh(sums[:, 2 * size :] + (reset * h) @ hidden[:, 2 * size :])
        return torch.lerp(new, h, update)


@converts(torch7.StepLSTM)
def _step_lstm(module: Any, convert: ToTorch) -> nn.Module:
    projection = None if module.weightO is None else convert.parameter(module.weightO)
    return StepLSTM(convert.parameter(module.weight), convert.parameter(module.bias), projection)


@converts(torch7.StepGRU)
def _step_gru(module: Any, convert: ToTorch) -> nn.Module:
    return StepGRU(convert.parameter(module.weight), convert.parameter(module.bias))


@converts(torch7.RecLSTM)
def _rec_lstm(module: Any, convert: ToTorch) -> nn.Module:
    states = [start(module.userPrevOutput), start(module.userPrevCell)]
    return Cell(convert.child(module, 0), [module.outputsize, module.hiddensize], states)


@converts(torch7.RecGRU)
def _rec_gru(module: Any, convert: ToTorch) -> nn.Module:
    return Cell(convert.child(module, 0), [module.outputsize], [start(module.userPrevOutput)])
