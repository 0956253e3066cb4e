"""Poolings of windows: the largest element, or the mean."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.layers.pointwise import MulConstant
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers.pooling import windows as torch7
from compat.nn.layers.pooling.unpooling import MaxUnpooling


class RememberingPool(nn.Module):
    """A max pooling that notes where the maxima were and what size the input had."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.pool = pool
        self.dims = 3 if isinstance(pool, nn.MaxPool3d) else 2

    def forward(self, input: Tensor) -> Tensor:
        output, self.indices = self.pool(input)
        self.size = input.shape[-self.dims :]
        return output


_MAX_POOLS = {1: nn.MaxPool1d, 2: nn.MaxPool2d, 3: nn.MaxPool3d}


@converts(torch7.MaxPooling)
def _max_pooling(module: Any, convert: ToTorch) -> nn.Module:
    nets = convert.whole.listModules()
    unpooled = any(isinstance(m, MaxUnpooling) and m.pooling is module for m in nets)
    layer = max_pool(module, unpooled)
    return RememberingPool(layer) if unpooled else layer


def max_pool(module: Any, return_indices: bool = False) -> nn.Module:
    """Return PyTorch's layer for a max pooling."""
    return _MAX_POOLS[len(module.axes)](
        module.window_size,
        module.window_stride,
        module.window_padding,
        module.window_dilation,
        return_indices=return_indices,
        ceil_mode=module.ceil_mode,
    )


def _average_pooling(module: Any) -> nn.Module:
    layer = (nn.AvgPool3d if len(module.axes) == 3 else nn.AvgPool2d)(
        module.window_size,
        module.window_stride,
        module.window_padding,
        ceil_mode=module.ceil_mode,
        count_include_pad=module.count_include_pad,
    )
    if module.divide:
        return layer
    return nn.Sequential(layer, MulConstant(float(torch.Size(module.window_size).numel())))


converts_simply(torch7.AveragePooling, _average_pooling)
