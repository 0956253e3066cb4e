"""Layers that drop elements or planes, and that add noise."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.layers.pointwise import MulConstant
from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.pairs import Setting, pair
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import dropout as torch7
from compat.nn.layers import pointwise


@self_contained
class StochasticDropout(nn.Module):
    """Dropout in evaluation, too; of planes with ``places`` elements each."""

    def __init__(self, p: float = 0.5, places: int = 0) -> None:
        super().__init__()
        self.p = p
        self.places = places

    def forward(self, x: Tensor) -> Tensor:
        shape = (*x.shape[: x.dim() - self.places], *[1] * self.places)
        return x * functional.dropout(x.new_ones(shape), self.p)


@self_contained
class TotalDropout(nn.Module):
    """Set the whole input to 0 with probability ``p`` in training."""

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.bernoulli(x.new_tensor(1 - self.p)) if self.training else x


@self_contained
class SpatialRegionDropout(nn.Module):
    """Set a share ``p`` of the rows or columns, on one side, to 0 in training."""

    def __init__(self, p: float = 0.2) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return x
        side = int(torch.randint(4, ()))
        dim = -2 if side < 2 else -1
        dropped = int(x.size(dim) * self.p)
        kept = torch.ones_like(x)
        first = x.size(dim) - dropped if side % 2 else 0
        kept.narrow(dim, first, dropped).zero_()
        return x * kept / (1 - self.p)


@self_contained
class WhiteNoise(nn.Module):
    """Add normal noise in training, and its mean in evaluation."""

    def __init__(self, mean: float = 0.0, std: float = 0.1) -> None:
        super().__init__()
        self.mean = mean
        self.std = std

    def forward(self, x: Tensor) -> Tensor:
        return x + self.mean + (torch.randn_like(x) * self.std if self.training else 0)


def _dropout(module: Any) -> nn.Module:
    if module.stochastic_inference:
        always = StochasticDropout(module.p)
        return always if module.v2 else _unscaled(always, module)
    layer = nn.Dropout(module.p, module.inplace)
    return layer if module.v2 else _unscaled(layer, module)


def _plane_dropout(layer: type[nn.Module], places: int, module: Any) -> nn.Module:
    if module.stochastic_inference:
        return _unscaled(StochasticDropout(module.p, places), module)
    return _unscaled(layer(module.p), module)


def _unscaled(layer: nn.Module, module: Any) -> nn.Module:
    """Return a dropout that scales by 1 - p in evaluation, instead of by 1 / (1 - p) in
    training.
    """
    both = nn.Sequential(layer, MulConstant(1 - module.p))
    return both.train(module.train)


def _scaled(dropout: Module, module: Any) -> Module:
    """Return a dropout that scales by 1 / (1 - p) in training, as PyTorch's does."""
    dropout.train = module.training
    require(module.p < 1, f"p {module.p}")
    return Sequential(dropout, pointwise.MulConstant(1 / (1 - module.p)))


converts_simply(torch7.Dropout, _dropout)
converts_simply(torch7.SpatialDropout, lambda m: _plane_dropout(nn.Dropout2d, 2, m))
converts_simply(torch7.VolumetricDropout, lambda m: _plane_dropout(nn.Dropout3d, 3, m))
pair(torch7.TotalDropout, TotalDropout, Setting("p", "p"))
pair(torch7.SpatialRegionDropout, SpatialRegionDropout, Setting("p", "p"))
pair(torch7.WhiteNoise, WhiteNoise, Setting("mean", "mean"), Setting("std", "std"))
converts_from_simply(nn.Dropout, lambda m: torch7.Dropout(m.p, False, m.inplace))
converts_from_simply(nn.Dropout2d, lambda m: _scaled(torch7.SpatialDropout(m.p), m))
converts_from_simply(nn.Dropout3d, lambda m: _scaled(torch7.VolumetricDropout(m.p), m))
