"""Weights given by their direction and length."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import weight_norm as torch7


@converts(torch7.LinearWeightNorm)
def _linear_weight_norm(module: Any, convert: ToTorch) -> nn.Module:
    outputs, inputs = module.v.shape
    layer: Any = nn.Linear(inputs, outputs, device="meta")
    layer.bias = convert.parameter(module.bias)
    nn.utils.parametrizations.weight_norm(layer)
    layer.parametrizations.weight.original0 = convert.parameter(module.g)
    layer.parametrizations.weight.original1 = convert.parameter(module.v)
    return layer


@converts(torch7.WeightNorm)
def _weight_norm(module: Any, convert: ToTorch) -> nn.Module:
    # PyTorch's parametrization lacks what Torch7 adds to the lengths: the weight stays as it is.
    module.updateWeight()
    return convert.child(module, 0)
