"""``net.to_torch()`` for the classes of cudnn.torch that differ from their namesakes in nn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from compat.cudnn.activation import (
    ClippedReLU,
    Sigmoid,
    SpatialLogSoftMax,
    SpatialSoftMax,
    Tanh,
)
from compat.cudnn.criterion import SpatialCrossEntropyCriterion, VolumetricCrossEntropyCriterion
from compat.cudnn.recurrent import RNN
from compat.nn.interchange import torch_layers as layers
from compat.nn.interchange import torch_losses as losses
from compat.nn.interchange.criterions_to_torch import converts_criterion
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.torch_internals import weight_names

converts_simply(ClippedReLU, lambda m: torch.nn.Hardtanh(0.0, m.ceiling, inplace=m.inplace))
converts_simply(Tanh, lambda m: torch.nn.Tanh())
converts_simply(Sigmoid, lambda m: torch.nn.Sigmoid())
converts_simply(SpatialSoftMax, lambda m: layers.SoftMax(m.sample_dims, m.over_all))
converts_simply(SpatialLogSoftMax, lambda m: layers.LogSoftMax(m.sample_dims, m.over_all))
converts_criterion(
    SpatialCrossEntropyCriterion,
    lambda c: losses.PlaneCrossEntropyCriterion(c.sizeAverage, c.nll.weights),
)
converts_criterion(
    VolumetricCrossEntropyCriterion,
    lambda c: losses.PlaneCrossEntropyCriterion(c.scec.sizeAverage, c.scec.nll.weights),
)


_RECURRENT: dict[str, Callable[..., torch.nn.RNNBase]] = {
    "CUDNN_RNN_RELU": functools.partial(layers.RNN, nonlinearity="relu"),
    "CUDNN_RNN_TANH": layers.RNN,
    "CUDNN_GRU": layers.GRU,
    "CUDNN_LSTM": layers.LSTM,
}


@converts(RNN)
def _recurrent(module: Any, convert: ToTorch) -> torch.nn.Module:
    if module.rememberStates or module.hiddenInput is not None or module.cellInput is not None:
        raise ValueError("torch.nn has no equivalent that begins with states of its own")
    parts = module.in_order_of_torch(module.weight)
    layer = _RECURRENT[module.mode](
        module.inputSize,
        module.hiddenSize,
        module.numLayers,
        batch_first=module.batchFirst,
        dropout=float(module.dropout),
        bidirectional=module.numDirections == 2,
        device="meta",
    )
    for name, part in zip(weight_names(layer), parts, strict=True):
        parameter: Any = convert.parameter(part)
        setattr(layer, name, parameter.requires_grad_(module.gradWeight is not None))
    return layer
