"""``SeqGRU``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.sequence_layer import begun
from compat.nn.interchange.recurrent.whole_sequence import WholeSequence
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import seq_gru as torch7


class SeqGRU(WholeSequence):
    """Gated recurrent units whose reset gate acts before the matrix, not after as PyTorch's.

    Args:
        weight: ``inputs + outputs x 3·outputs``, of the reset gate, the update gate and the input.
        bias: ``3·outputs``.
        batch_first: whether sequences are ``N x T x D``.
    """

    _states = 1

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter, batch_first: bool = False) -> None:
        super().__init__()
        self.weight = weight
        self.bias = bias
        self.hidden_size = bias.numel() // 3
        self.batch_first = batch_first

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        size = self.hidden_size
        inputs, hidden = self.weight.split([len(self.weight) - size, size])
        to_gates, to_hidden = hidden.split([2 * size, size], 1)
        [output] = states
        outputs = []
        for step in steps @ inputs + self.bias:
            reset, update = torch.sigmoid(step[:, : 2 * size] + output @ to_gates).chunk(2, 1)
            new = torch.tanh(step[:, 2 * size :] + (reset * output) @ to_hidden)
            output = torch.lerp(new, output, update)
            outputs.append(output)
        return torch.stack(outputs), [output]


@converts(torch7.SeqGRU)
def _seq_gru(module: Any, convert: ToTorch) -> nn.Module:
    weight, bias = convert.parameter(module.weight), convert.parameter(module.bias)
    return begun(SeqGRU(weight, bias, bool(module.batchfirst)), module)
