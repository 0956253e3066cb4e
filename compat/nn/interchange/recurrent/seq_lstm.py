"""``SeqLSTM`` and ``SeqLSTMP``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.recurrent.sequence_layer import begun
from compat.nn.interchange.recurrent.whole_sequence import SeqLSTM, filled
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import seq_lstm as torch7


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
