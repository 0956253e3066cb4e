"""Normalisation of each pixel by its neighbourhood."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.layers.composed import neighbourhood_normalization as torch7


class NeighbourhoodAverage(nn.Module):
    """A weighted average over all planes and a window, of which the image is padded with zeros.

    Args:
        kernels: one of ``1 x planes x h x w``, or two, first for the rows of each plane.
    """

    kernel: Tensor
    rows: Tensor | None

    def __init__(self, kernels: list[Tensor]) -> None:
        super().__init__()
        self.planes = kernels[-1].size(1)
        self.register_buffer("kernel", kernels[-1])
        self.register_buffer("rows", kernels[0] if len(kernels) > 1 else None)
        height = kernels[-1].size(-2)
        width = kernels[0].size(-1)
        self.padding = [width // 2, (width - 1) // 2, height // 2, (height - 1) // 2]

    def forward(self, input: Tensor) -> Tensor:
        input = F.pad(input, self.padding)
        if self.rows is not None:
            input = F.conv2d(input, self.rows, groups=self.planes)
        return F.conv2d(input, self.kernel)

    def coefficients(self, input: Tensor) -> Tensor:
        """Return how much of the kernel lies inside the image, at each pixel."""
        return self.forward(torch.ones_like(input))


def root(squares: Tensor) -> Tensor:
    """Return the square root, whose gradient at 0 is 0."""
    zero = squares == 0
    return squares.masked_fill(zero, 1.0).sqrt().masked_fill(zero, 0.0)


class SubtractiveNormalization(nn.Module):
    """Each pixel less the average around it."""

    def __init__(self, average: NeighbourhoodAverage) -> None:
        super().__init__()
        self.average = average

    def forward(self, input: Tensor) -> Tensor:
        return input - self.average(input) / self.average.coefficients(input)


class DivisiveNormalization(WithSettings):
    """Each pixel divided by the deviation around it; ``value`` where that is no more than a limit.

    Args:
        average, deviation: what averages ones, and squares.
        threshold, value: the limit, and what replaces deviations up to it.
    """

    shown = ("threshold", "value")

    def __init__(
        self,
        average: NeighbourhoodAverage,
        deviation: NeighbourhoodAverage,
        threshold: float,
        value: float,
    ) -> None:
        super().__init__()
        self.average = average
        self.deviation = deviation
        self.threshold = threshold
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        deviations = root(self.deviation(input.square())) / self.average.coefficients(input)
        return input / F.threshold(deviations, self.threshold, self.value)


def _average(estimator: Any) -> NeighbourhoodAverage:
    """Return what the net ``meanestimator`` or ``stdestimator`` computes, without a bias, which is
    0.
    """
    kernels = [m.weight.detach().clone() for m in estimator.modules if hasattr(m, "nInputPlane")]
    if len(kernels) == 2:  # rows, then columns
        kernels[0] = kernels[0].view(-1, 1, *kernels[0].shape[-2:])
    kernels[-1] = kernels[-1].view(1, -1, *kernels[-1].shape[-2:])
    return NeighbourhoodAverage(kernels)


def _divisive(module: Any) -> nn.Module:
    averages = _average(module.meanestimator), _average(module.stdestimator)
    limit = module.thresholder
    return DivisiveNormalization(*averages, float(limit.threshold), float(limit.val))


converts_simply(
    torch7.SpatialSubtractiveNormalization,
    lambda m: SubtractiveNormalization(_average(m.meanestimator)),
)
converts_simply(torch7.SpatialDivisiveNormalization, _divisive)


@converts(torch7.SpatialContrastiveNormalization)
def _contrastive(module: Any, convert: ToTorch) -> nn.Module:
    return convert(module.normalizer)
