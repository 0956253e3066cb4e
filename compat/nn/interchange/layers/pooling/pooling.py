"""Poolings of images and volumes, from PyTorch's; the way there is in ``windows.py``."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.layers.window import in_torch7_order, torch7_window
from compat.nn.layers.pooling import pooling as torch7


def _from_max_pool(dims: int, cls: Any, dilated: Any, module: Any) -> Module:
    require(not module.return_indices, "return_indices")
    sizes, dilation = torch7_window(dims, module), in_torch7_order(dims, module.dilation)
    target = cls(*sizes) if set(dilation) == {1} else dilated(*sizes, *dilation)
    return target.ceil() if module.ceil_mode else target


def _from_average_pool(dims: int, cls: Any, module: Any) -> Module:
    require(module.divisor_override is None, "divisor_override")
    target = cls(*torch7_window(dims, module))
    target.count_include_pad = module.count_include_pad
    return target.ceil() if module.ceil_mode else target


converts_from_simply(
    nn.MaxPool2d,
    lambda m: _from_max_pool(2, torch7.SpatialMaxPooling, torch7.SpatialDilatedMaxPooling, m),
)
converts_from_simply(
    nn.MaxPool3d,
    lambda m: _from_max_pool(3, torch7.VolumetricMaxPooling, torch7.VolumetricDilatedMaxPooling, m),
)
converts_from_simply(nn.AvgPool2d, lambda m: _from_average_pool(2, torch7.SpatialAveragePooling, m))
converts_from_simply(
    nn.AvgPool3d, lambda m: _from_average_pool(3, torch7.VolumetricAveragePooling, m)
)
