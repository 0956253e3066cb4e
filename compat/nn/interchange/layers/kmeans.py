"""``Kmeans``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.functional.kmeans import nearest, offsets_from_means
from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.layers import kmeans as torch7


class NearestCenter(torch.autograd.Function):
    """The numbers of the nearest centers, whose gradient is how far they are off."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, centers: Tensor, factor: float) -> Tensor:
        numbers = nearest(x, centers)[1]
        ctx.save_for_backward(x, centers, numbers)
        ctx.factor = factor
        return (numbers + 1).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        x, centers, numbers = ctx.saved_tensors
        counts = torch.bincount(numbers, minlength=len(centers)).to(centers)
        moved = offsets_from_means(x, centers, numbers, counts) * ctx.factor
        return torch.zeros_like(x), moved, None


@self_contained
class Kmeans(nn.Module):
    """The numbers, from 1, of the centers that are nearest to ``N x dim`` samples.

    Whatever the gradient of the output, that of a center is how far it is from the mean
    of its samples, times ``factor``.
    """

    def __init__(self, k: int, dim: int, factor: float = 1.0) -> None:
        super().__init__()
        self.k = k
        self.dim = dim
        self.factor = factor
        self.weight = nn.Parameter(torch.empty(k, dim))

    def forward(self, x: Tensor) -> Tensor:
        return NearestCenter.apply(x, self.weight, self.factor)


@converts(torch7.Kmeans)
def _kmeans(module: Any, convert: ToTorch) -> nn.Module:
    layer = Kmeans(module.k, module.dim, 1.0 if module.scale is None else float(module.scale))
    layer.weight = convert.parameter(module.weight)
    return layer
