"""Adaptive poolings: the size of the output is given."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.layers.window import in_torch7_order
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.pooling import adaptive as torch7


def _register(layer: Any, cls: Any) -> None:
    def from_torch(module: Any) -> Module:
        sizes = in_torch7_order(2, module.output_size)
        require(None not in sizes, "an output_size of None")
        return cls(*sizes)

    converts_simply(cls, lambda m: layer((m.H, m.W)))
    converts_from_simply(layer, from_torch)


_register(nn.AdaptiveAvgPool2d, torch7.SpatialAdaptiveAveragePooling)
_register(nn.AdaptiveMaxPool2d, torch7.SpatialAdaptiveMaxPooling)
