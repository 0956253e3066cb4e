"""``nn.SpatialNormalization`` of package nnx."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.interchange.layers.composed.neighbourhood_normalization import (
    NeighbourhoodAverage,
    root,
)
from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers.composed import spatial_normalization as torch7


class LocalNormalization(WithSettings):
    """Each pixel less the average around it, divided by the deviation around that.

    Args:
        average, deviation: what averages pixels, and squares.
        threshold: the least deviation; None is their mean over the image, at least 0.001.
    """

    shown = ("threshold",)

    def __init__(
        self, average: nn.Module, deviation: nn.Module, threshold: float | None = None
    ) -> None:
        super().__init__()
        self.average = average
        self.deviation = deviation
        self.threshold = threshold

    def forward(self, input: Tensor) -> Tensor:
        if input.dim() == 2:
            input = input.unsqueeze(0)
        inside = self.average(torch.ones_like(input))
        centred = input - self.average(input) / inside
        deviations = root(self.deviation(centred.square())) / inside
        if self.threshold is not None:
            return centred / F.threshold(deviations, self.threshold, self.threshold)
        least = deviations.detach().mean().clamp(min=1e-3)
        return centred / torch.where(deviations > least, deviations, least)


def _window_sum(estimator: Any) -> nn.Module:
    """Return what the net ``convo`` or ``convostd`` computes, in one plane."""
    maps, _ = estimator.findModules("nn.SpatialConvolutionMap")
    weights = [map.weight.detach().clone() for map in maps]
    # What comes second gets equal planes.
    kernels = [weights[0], *(weight.sum(0, keepdim=True) for weight in weights[1:])]
    sums = [NeighbourhoodAverage([kernel.unsqueeze(0)]) for kernel in kernels]
    return sums[0] if len(sums) == 1 else nn.Sequential(*sums)


def _spatial_normalization(module: Any) -> nn.Module:
    threshold = None if module.fixedThres is None else float(module.fixedThres)
    return LocalNormalization(_window_sum(module.convo), _window_sum(module.convostd), threshold)


converts_simply(torch7.SpatialNormalization, _spatial_normalization)
