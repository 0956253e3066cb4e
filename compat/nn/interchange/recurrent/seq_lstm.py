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
    inputs, hidden, outputs = module.inputsize, module.hiddensize, module.outputsize
    options = {"batch_first": module.batchfirst, "device": "meta"}
    if module.weightO is None:
        layer = SeqLSTM(inputs, outputs, **options)
    elif outputs >= hidden:
        raise ValueError(
            f"torch.nn has no equivalent of an outputsize of {outputs}; less than the hiddensize, "
            f"{hidden}, is accepted"
        )
    else:
        layer = SeqLSTM(inputs, hidden, proj_size=outputs, **options)
        layer.weight_hr_l0 = convert.parameter(module.weightO, Tensor.t)
    return begun(filled(layer, module, inputs, convert), module)
