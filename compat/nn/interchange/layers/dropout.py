"""Layers that drop elements or planes."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import comes_back_simply, require
from compat.nn.interchange.layers.pointwise import MulConstant
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import dropout as torch7
from compat.nn.layers import pointwise


def _dropout(module: Any) -> nn.Module:
    _refuse_inference(module)
    layer = nn.Dropout(module.p, module.inplace)
    return layer if module.v2 else _unscaled(layer, module)


def _plane_dropout(layer: type[nn.Module], module: Any) -> nn.Module:
    _refuse_inference(module)
    return _unscaled(layer(module.p), module)


def _refuse_inference(module: Any) -> None:
    if module.stochastic_inference:
        raise ValueError("stochasticInference is True; False, as torch.nn has it, is accepted")


def _unscaled(layer: nn.Module, module: Any) -> nn.Module:
    """A dropout that scales by 1 - p in evaluation, instead of by 1 / (1 - p) in training."""
    both = nn.Sequential(layer, MulConstant(1 - module.p))
    return both.train(module.train)


def _scaled(dropout: Module, module: Any) -> Module:
    """A dropout that scales by 1 / (1 - p) in training, as PyTorch's does."""
    dropout.train = module.training
    require(module.p < 1, f"p {module.p}")
    return Sequential(dropout, pointwise.MulConstant(1 / (1 - module.p)))


converts_simply(torch7.Dropout, _dropout)
converts_simply(torch7.SpatialDropout, lambda m: _plane_dropout(nn.Dropout2d, m))
converts_simply(torch7.VolumetricDropout, lambda m: _plane_dropout(nn.Dropout3d, m))
comes_back_simply(nn.Dropout, lambda m: torch7.Dropout(m.p, False, m.inplace))
comes_back_simply(nn.Dropout2d, lambda m: _scaled(torch7.SpatialDropout(m.p), m))
comes_back_simply(nn.Dropout3d, lambda m: _scaled(torch7.VolumetricDropout(m.p), m))
