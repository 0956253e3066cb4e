"""``SeqLSTM`` and ``SeqLSTMP``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.whole_sequence import WholeSequence, begun, filled
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import seq_lstm as torch7


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


@converts(torch7.SeqLSTM)
def _seq_lstm(module: Any, convert: ToTorch) -> nn.Module:
    inputs, outputs = module.inputsize, module.outputsize
    layer = SeqLSTM(inputs, outputs, batch_first=module.batchfirst, device="meta")
    return begun(filled(layer, module, inputs, convert), module)


@converts(torch7.SeqLSTMP)
def _seq_lstm_p(module: Any, convert: ToTorch) -> nn.Module:
    inputs, hidden, outputs = module.inputsize, module.hiddensize, module.outputsize
    if outputs >= hidden:
        raise ValueError(
            f"torch.nn has no equivalent of an outputsize of {outputs}; less than the hiddensize, "
            f"{hidden}, is accepted"
        )
    layer = SeqLSTM(inputs, hidden, batch_first=module.batchfirst, proj_size=outputs, device="meta")
    layer.weight_hr_l0 = convert.parameter(module.weightO, Tensor.t)
    return begun(filled(layer, module, inputs, convert), module)
