"""``SeqGRU``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import flow
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

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter, batch_first: bool = False) -> None:
        super().__init__()
        self.weight = weight
        self.bias = bias
        self.hidden_size = bias.numel() // 3
        self.batch_first = batch_first

    def over(self, sequence: Tensor, memory: Any) -> tuple[Tensor, Any]:
        size = self.hidden_size
        steps = sequence.transpose(0, 1) if self.batch_first else sequence
        inputs, hidden = self.weight.split([len(self.weight) - size, size])
        to_gates, to_new = hidden.split([2 * size, size], 1)

        def step(x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
            reset, update = torch.sigmoid(x[:, : 2 * size] + h @ to_gates).chunk(2, 1)
            new = torch.tanh(x[:, 2 * size :] + (reset * h) @ to_new)
            h = torch.lerp(new, h, update)
            return h, h

        h = flow().begun(memory, lambda: steps.new_zeros(steps.size(1), size))
        outputs, h = flow().over(self, step, steps @ inputs + self.bias, h)
        return (outputs.transpose(0, 1) if self.batch_first else outputs), h

    def given(self, states: list[Tensor], sequence: Tensor) -> Any:
        return states[-1]


@converts(torch7.SeqGRU)
def _seq_gru(module: Any, convert: ToTorch) -> nn.Module:
    weight, bias = convert.parameter(module.weight), convert.parameter(module.bias)
    return begun(SeqGRU(weight, bias, bool(module.batchfirst)), module)
