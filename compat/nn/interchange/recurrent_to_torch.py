"""``net.to_torch()`` for the recurrent classes of package rnn, of torch-rnn and of char-rnn."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.interchange import torch_recurrent as recurrent
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers import one_hot, slices
from compat.nn.recurrent.bisequencers import BiSequencer, BiSequencerLM
from compat.nn.recurrent.cells import GRU, LSTM
from compat.nn.recurrent.language_model import LanguageModel
from compat.nn.recurrent.masking import LookupTableMaskZero, MaskZero
from compat.nn.recurrent.norm_stabilizer import NormStabilizer
from compat.nn.recurrent.recurrences import Recurrence, Recurrent, Recursor
from compat.nn.recurrent.seq_brnn import SeqBRNN, SeqReverseSequence
from compat.nn.recurrent.seq_gru import SeqGRU
from compat.nn.recurrent.seq_lstm import SeqLSTM, SeqLSTMP
from compat.nn.recurrent.sequencers import Repeater, ReverseTable, Sequencer
from compat.nn.recurrent.torch_rnn import LSTM as TorchRnnLSTM
from compat.nn.recurrent.torch_rnn import VanillaRNN
from compat.tensor_types import parse_type


def _start(tensor: Any) -> Any:
    return None if tensor is None else tensor.detach().clone()


@converts(LSTM, GRU)
def _cell(module: Any, convert: ToTorch) -> torch.nn.Module:
    names = ("userPrevOutput", "userPrevCell") if isinstance(module, LSTM) else ("userPrevOutput",)
    start = [_start(getattr(module, name)) for name in names]
    return recurrent.Cell(convert.child(module, 0), module.outputSize, start)


@converts(Recurrence)
def _recurrence(module: Any, convert: ToTorch) -> torch.nn.Module:
    start = module.userPrevOutput
    start = list(map(_start, start)) if isinstance(start, list) else _start(start)
    inner = convert.child(module, 0)
    return recurrent.Recurrence(inner, list(module.outputSize), module.nInputDim, start)


@converts(Recurrent)
def _recurrent(module: Any, convert: ToTorch) -> torch.nn.Module:
    return recurrent.Recurrent(convert.children(module))


@converts(Sequencer)
def _sequencer(module: Any, convert: ToTorch) -> torch.nn.Module:
    return recurrent.Sequencer(convert.child(module, 0), module.remember_mode)


@converts(Repeater)
def _repeater(module: Any, convert: ToTorch) -> torch.nn.Module:
    return recurrent.Repeater(convert.child(module, 0), module.rho)


@converts(Recursor, BiSequencer, SeqBRNN)
def _the_module_in_it(module: Any, convert: ToTorch) -> torch.nn.Module:
    return convert.child(module, 0)


@converts(BiSequencerLM)
def _bi_sequencer_lm(module: Any, convert: ToTorch) -> torch.nn.Module:
    return recurrent.BiSequencerLM(*convert.children(module))


@converts(MaskZero)
def _mask_zero(module: Any, convert: ToTorch) -> torch.nn.Module:
    return recurrent.MaskZero(convert.child(module, 0), module.nInputDim)


@converts(LookupTableMaskZero)
def _lookup_table_mask_zero(module: Any, convert: ToTorch) -> torch.nn.Module:
    rows, size = module.weight.shape
    layer = recurrent.LookupTableMaskZero(
        rows,
        size,
        padding_idx=0,
        max_norm=module.maxNorm,
        norm_type=module.normType or 2.0,
        scale_grad_by_freq=module.shouldScaleGradByFreq,
        device="meta",
    )
    layer.weight = convert.parameter(module.weight)  # type: ignore[assignment]
    with torch.no_grad():
        layer.weight[0].zero_()
    return layer


def _over_sequence(layer: Any, module: Any, inputs: int, convert: ToTorch) -> Any:
    """``layer``, of ``torch.nn``, with the weight and bias of ``module``."""
    halves: Any = module.weight.split([inputs, len(module.weight) - inputs])
    halves = [convert.parameter(half, layer.from_torch7) for half in halves]
    for half in halves:
        half.requires_grad_(module.gradWeight is not None)
    layer.weight_ih_l0, layer.weight_hh_l0 = halves
    layer.bias_ih_l0 = convert.parameter(module.bias, layer.from_torch7)
    layer.bias_hh_l0 = torch.nn.Parameter(torch.zeros_like(module.bias), requires_grad=False)
    return layer


def _begun(layer: Any, module: Any) -> Any:
    """``layer`` that masks and remembers as ``module`` of package rnn does."""
    given = (getattr(module, name, None) for name in ("userPrevOutput", "userPrevCell"))
    if any(state is not None for state in given):
        raise ValueError("torch.nn has no equivalent that begins with states of its own")
    layer.mask_zero = bool(module.maskzero)
    layer.remember = module.remember_mode
    return layer


@converts(SeqLSTM)
def _seq_lstm(module: Any, convert: ToTorch) -> torch.nn.Module:
    inputs, outputs = module.inputsize, module.outputsize
    layer = recurrent.SeqLSTM(inputs, outputs, batch_first=module.batchfirst, device="meta")
    return _begun(_over_sequence(layer, module, inputs, convert), module)


@converts(SeqLSTMP)
def _seq_lstm_p(module: Any, convert: ToTorch) -> torch.nn.Module:
    inputs, hidden, outputs = module.inputsize, module.hiddensize, module.outputsize
    if outputs >= hidden:
        raise ValueError(
            f"torch.nn has no equivalent of an outputsize of {outputs}; less than the hiddensize, "
            f"{hidden}, is accepted"
        )
    layer = recurrent.SeqLSTM(
        inputs, hidden, batch_first=module.batchfirst, proj_size=outputs, device="meta"
    )
    layer.weight_hr_l0 = convert.parameter(module.weightO, Tensor.t)
    return _begun(_over_sequence(layer, module, inputs, convert), module)


@converts(SeqGRU)
def _seq_gru(module: Any, convert: ToTorch) -> torch.nn.Module:
    weight: Any = convert.parameter(module.weight)
    bias: Any = convert.parameter(module.bias)
    return _begun(recurrent.SeqGRU(weight, bias, bool(module.batchfirst)), module)


@converts(TorchRnnLSTM, VanillaRNN)
def _torch_rnn(module: Any, convert: ToTorch) -> torch.nn.Module:
    cls: Any = recurrent.SeqLSTM if isinstance(module, TorchRnnLSTM) else recurrent.SeqRNN
    inputs, outputs = module.input_dim, module.hidden_dim
    layer = cls(inputs, outputs, batch_first=True, device="meta")
    layer.remember = "always" if module.remember_states else "neither"
    return _over_sequence(layer, module, inputs, convert)


@converts(LanguageModel)
def _language_model(module: LanguageModel, convert: ToTorch) -> torch.nn.Module:
    merging = {id(view) for view in (module.view1, *module.bn_view_in)}
    dividing = {id(view) for view in (module.view2, *module.bn_view_out)}
    layers = []
    for i, layer in enumerate(module.net.modules):
        idle = id(layer) in merging | dividing
        layers.append(torch.nn.Identity() if idle else convert.child(module.net, i))
    places = [
        [i for i, layer in enumerate(module.net.modules) if id(layer) in kind]
        for kind in (merging, dividing)
    ]
    return recurrent.LanguageModel(torch.nn.Sequential(*layers), *places)


converts_simply(NormStabilizer, lambda m: recurrent.NormStabilizer(m.beta))
converts_simply(ReverseTable, lambda m: recurrent.ReverseTable())
converts_simply(SeqReverseSequence, lambda m: recurrent.Reverse(m.dim - 1))
for _one_hot in (one_hot.OneHot, slices.OneHot):
    converts_simply(_one_hot, lambda m: recurrent.OneHot(m.outputSize, parse_type(m.type())[0]))
