"""``CategoricalEntropy``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.functional.entropy import categorical_entropy
from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import entropy as torch7


class EntropyGradient(torch.autograd.Function):
    """The identity, which adds the gradient of the input's entropy."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float, least: float | None) -> Tensor:
        ctx.save_for_backward(x)
        ctx.scale, ctx.least = scale, least
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        entropy, slope = categorical_entropy(ctx.saved_tensors[0], 1e-6)
        enough = ctx.least is not None and bool(entropy >= ctx.least)
        return gradients[0] - (0 if enough else slope * ctx.scale), None, None


@self_contained
class CategoricalEntropy(nn.Module):
    """The identity of probabilities, whose gradient raises their entropy.

    ``least``: only while it is smaller than that. ``mean``: divided by the samples.
    """

    def __init__(
        self,
        scale: float = 1.0,
        least: float | None = None,
        mean: bool = True,
    ) -> None:
        super().__init__()
        self.scale = scale
        self.least = least
        self.mean = mean

    def forward(self, x: Tensor) -> Tensor:
        scale = self.scale / x.size(0) if self.mean else self.scale
        return EntropyGradient.apply(x, scale, self.least)


converts_simply(
    torch7.CategoricalEntropy, lambda m: CategoricalEntropy(m.scale, m.minEntropy, m.sizeAverage)
)
