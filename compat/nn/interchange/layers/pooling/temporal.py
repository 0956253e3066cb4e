"""Poolings over time."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.computed import computes
from compat.nn.interchange.from_torch import FromTorch, require
from compat.nn.interchange.layers.pooling.windows import max_pool
from compat.nn.interchange.layers.window import OverFrames, as_list, comes_back_over_frames
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.pooling import temporal as torch7

computes(torch7.TemporalDynamicKMaxPooling)
converts_simply(torch7.TemporalMaxPooling, lambda m: OverFrames(max_pool(m)))


@comes_back_over_frames(nn.MaxPool1d)
def _from_max_pool(layer: Any, convert: FromTorch) -> Module:
    require(not layer.return_indices, "return_indices")
    require(as_list(layer.dilation, 1) == [1], "a dilation")
    require(not layer.ceil_mode, "ceil_mode")
    require(as_list(layer.padding, 1) == [0], "padding")
    return torch7.TemporalMaxPooling(*as_list(layer.kernel_size, 1), *as_list(layer.stride, 1))
