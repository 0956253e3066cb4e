"""``net.to_torch()`` for the classes of cudnn.torch that differ from their namesakes in nn."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from compat.cudnn import recurrent
from compat.cudnn.activation import (
    ClippedReLU,
    Sigmoid,
    SpatialLogSoftMax,
    SpatialSoftMax,
    Tanh,
)
from compat.cudnn.criterion import SpatialCrossEntropyCriterion, VolumetricCrossEntropyCriterion
from compat.nn.interchange.criterions.classification import PlaneCrossEntropyCriterion
from compat.nn.interchange.layers.softmax import LogSoftMax, SoftMax
from compat.nn.interchange.recurrent.whole_sequence import OfTorch
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.torch_internals import weight_names

converts_simply(ClippedReLU, lambda m: torch.nn.Hardtanh(0.0, m.ceiling, inplace=m.inplace))
converts_simply(Tanh, lambda m: torch.nn.Tanh())
converts_simply(Sigmoid, lambda m: torch.nn.Sigmoid())
converts_simply(SpatialSoftMax, lambda m: SoftMax(m.sample_dims, m.over_all))
converts_simply(SpatialLogSoftMax, lambda m: LogSoftMax(m.sample_dims, m.over_all))
converts_simply(
    SpatialCrossEntropyCriterion,
    lambda c: PlaneCrossEntropyCriterion(c.sizeAverage, c.nll.weights),
)
converts_simply(
    VolumetricCrossEntropyCriterion,
    lambda c: PlaneCrossEntropyCriterion(c.scec.sizeAverage, c.scec.nll.weights),
)


class RNN(OfTorch, torch.nn.RNN):  # type: ignore[misc]
    """``torch.nn.RNN`` that returns the outputs alone."""


class GRU(OfTorch, torch.nn.GRU):  # type: ignore[misc]
    """``torch.nn.GRU`` that returns the outputs alone."""


class LSTM(OfTorch, torch.nn.LSTM):  # type: ignore[misc]
    """``torch.nn.LSTM`` that returns the outputs alone."""


_RECURRENT: dict[str, Callable[..., OfTorch]] = {
    "CUDNN_RNN_RELU": functools.partial(RNN, nonlinearity="relu"),
    "CUDNN_RNN_TANH": RNN,
    "CUDNN_GRU": GRU,
    "CUDNN_LSTM": LSTM,
}


@converts(recurrent.RNN)
def _rnn(module: Any, convert: ToTorch) -> torch.nn.Module:
    given = module.hiddenInput is not None or module.cellInput is not None
    if given and not module.rememberStates:
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
    layer.remember = "always" if module.rememberStates else "neither"
    return layer
