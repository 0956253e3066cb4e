"""One dimension as a number."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.checks.indexing import zero_based
from compat.nn.functional import reduction as f
from compat.nn.interchange.from_torch import comes_back_simply
from compat.nn.interchange.modules import OverSamples, along, at_least_1d
from compat.nn.interchange.pairs import (
    DIMENSION,
    from_one,
    known_dims,
    of_samples,
    pair,
    sample_dims,
)
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import reduction as torch7


class Max(OverSamples):
    """The largest element along a dimension.

    PyTorch: ``torch.max``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return at_least_1d(input.max(along(self.dim, self.sample_dims, input))[0])


class Min(OverSamples):
    """The smallest element along a dimension.

    PyTorch: ``torch.min``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return at_least_1d(input.min(along(self.dim, self.sample_dims, input))[0])


class Sum(OverSamples):
    """The sum over a dimension.

    PyTorch: ``torch.sum``.
    """

    shown = ("dim", "sample_dims", "keepdim")

    def __init__(self, dim: int, sample_dims: int = -1, keepdim: bool = False) -> None:
        super().__init__(dim, sample_dims)
        self.keepdim = keepdim

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        return at_least_1d(f.sum_over(input, dim, self.keepdim, average=False))


class Mean(Sum):
    """The mean over a dimension.

    PyTorch: ``torch.mean``.
    """

    def forward(self, input: Tensor) -> Tensor:
        dim = along(self.dim, self.sample_dims, input)
        return at_least_1d(f.sum_over(input, dim, self.keepdim, average=True))


pair(torch7.Max, Max, DIMENSION, of_samples())
pair(torch7.Min, Min, DIMENSION, of_samples())


def _sum(module: Any) -> nn.Module:
    cls = Mean if module.sizeAverage else Sum
    return cls(zero_based(module.dimension), sample_dims(module.nInputDims), not module.squeeze)


def _from_sum(module: Any) -> torch7.Sum:
    dims, average = known_dims(module.sample_dims), isinstance(module, Mean)
    return torch7.Sum(from_one(module.dim), dims, average, not module.keepdim)


converts_simply(torch7.Sum, _sum)
comes_back_simply(Sum, _from_sum)
comes_back_simply(Mean, _from_sum)
