"""The names of cudnn.torch: classes that are called ``cudnn.X`` in scripts and files.

They compute what their ``compat.nn`` namesakes compute, on any device; PyTorch chooses the
algorithms. ``convert`` turns the layers of a net from one family into the other. The descriptors
that Lua's objects hold are left out. ``cudnn.SpatialDivisiveNormalization`` has no counterpart:
files keep it as an unknown object.

``benchmark`` is PyTorch's ``torch.backends.cudnn.benchmark``, ``version`` that of its cuDNN or,
where PyTorch has none, the last one that cudnn.torch was written for, so that scripts which ask
for a version go on; ``fastest`` and ``verbose`` have no effect.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING

import torch

from compat import cutorch
from compat.cudnn import to_torch as _to_torch
from compat.cudnn.activation import (
    ClippedReLU,
    LogSoftMax,
    ReLU,
    Sigmoid,
    SoftMax,
    SpatialLogSoftMax,
    SpatialSoftMax,
    Tanh,
    VolumetricLogSoftMax,
    VolumetricSoftMax,
)
from compat.cudnn.convert import convert
from compat.cudnn.convolution import (
    SpatialConvolution,
    SpatialFullConvolution,
    TemporalConvolution,
    VolumetricConvolution,
    VolumetricFullConvolution,
)
from compat.cudnn.criterion import SpatialCrossEntropyCriterion, VolumetricCrossEntropyCriterion
from compat.cudnn.normalization import (
    BatchNormalization,
    SpatialBatchNormalization,
    SpatialCrossMapLRN,
    VolumetricBatchNormalization,
)
from compat.cudnn.pooling import (
    SpatialAveragePooling,
    SpatialMaxPooling,
    VolumetricAveragePooling,
    VolumetricMaxPooling,
)
from compat.cudnn.recurrent import BGRU, BLSTM, GRU, LSTM, RNN, RNNReLU, RNNTanh
from compat.hints import answers as _answers

__all__ = [
    "BGRU",
    "BLSTM",
    "GRU",
    "LSTM",
    "RNN",
    "BatchNormalization",
    "ClippedReLU",
    "LogSoftMax",
    "RNNReLU",
    "RNNTanh",
    "ReLU",
    "Sigmoid",
    "SoftMax",
    "SpatialAveragePooling",
    "SpatialBatchNormalization",
    "SpatialConvolution",
    "SpatialCrossEntropyCriterion",
    "SpatialCrossMapLRN",
    "SpatialFullConvolution",
    "SpatialLogSoftMax",
    "SpatialMaxPooling",
    "SpatialSoftMax",
    "Tanh",
    "TemporalConvolution",
    "VolumetricAveragePooling",
    "VolumetricBatchNormalization",
    "VolumetricConvolution",
    "VolumetricCrossEntropyCriterion",
    "VolumetricFullConvolution",
    "VolumetricLogSoftMax",
    "VolumetricMaxPooling",
    "VolumetricSoftMax",
    "convert",
]

# 5.1.10: cudnn.torch takes versions below 6000.
_LAST_KNOWN = 5110

fastest = False
verbose = False


class _Flags(types.ModuleType):
    """The module's attributes that map to PyTorch settings."""

    @property
    def benchmark(self) -> bool:
        return torch.backends.cudnn.benchmark

    @benchmark.setter
    def benchmark(self, value: bool) -> None:
        torch.backends.cudnn.benchmark = value

    @property
    def version(self) -> int:
        version = torch.backends.cudnn.version()
        if version is None:
            cutorch.cuda_device("cudnn")
            return _LAST_KNOWN
        return version


sys.modules[__name__].__class__ = _Flags


if not TYPE_CHECKING:
    __getattr__ = _answers(
        __name__, "cudnn", {"enabled": "use torch.backends.cudnn.enabled"}, __all__
    )
