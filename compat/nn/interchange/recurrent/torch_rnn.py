"""The recurrent layers of torch-rnn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.whole_sequence import SeqLSTM, WholeSequence, filled
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import torch_rnn as torch7


class SeqRNN(WholeSequence, nn.RNN):  # type: ignore[misc]
    """``torch.nn.RNN`` that returns the outputs alone.

    PyTorch: ``torch.nn.RNN``.
    """

    _states = 1

    def over(self, steps: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        weights = [getattr(self, name) for name in self._flat_weights_names]
        output = states[0].unsqueeze(0).contiguous()
        outputs, h = torch.rnn_tanh(
            steps.contiguous(), output, weights, True, 1, 0.0, False, False, False
        )
        return outputs, [h[0]]

    @staticmethod
    def from_torch7(tensor: Tensor) -> Tensor:
        """A weight or bias of Torch7 as rows."""
        return tensor.t()


@converts(torch7.LSTM, torch7.VanillaRNN)
def _torch_rnn(module: Any, convert: ToTorch) -> nn.Module:
    cls: Any = SeqLSTM if isinstance(module, torch7.LSTM) else SeqRNN
    inputs, outputs = module.input_dim, module.hidden_dim
    layer = cls(inputs, outputs, batch_first=True, device="meta")
    layer.remember = "always" if module.remember_states else "neither"
    return filled(layer, module, inputs, convert)
