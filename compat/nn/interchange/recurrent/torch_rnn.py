"""The recurrent layers of torch-rnn."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.recurrent.whole_sequence import OfTorch, SeqLSTM, filled
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import torch_rnn as torch7


class SeqRNN(OfTorch, nn.RNN):  # type: ignore[misc]
    """``torch.nn.RNN`` that returns the outputs alone.

    PyTorch: ``torch.nn.RNN``.
    """


@converts(torch7.LSTM, torch7.VanillaRNN)
def _torch_rnn(module: Any, convert: ToTorch) -> nn.Module:
    cls: Any = SeqLSTM if isinstance(module, torch7.LSTM) else SeqRNN
    inputs, outputs = module.input_dim, module.hidden_dim
    layer = cls(inputs, outputs, batch_first=True, device="meta")
    layer.remember = "always" if module.remember_states else "neither"
    return filled(layer, module, inputs, convert)
