"""A penalty on norms that change."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.recurrent.memory import Remembering, flow
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.recurrent import norm_stabilizer as torch7


class StableNorm(torch.autograd.Function):
    """The identity; adds the gradient of the norm's squared difference from another."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        norm: Tensor,
        before: Tensor,
        beta: float,
    ) -> Tensor:
        ctx.save_for_backward(norm - before)
        ctx.factor = 2 * beta / x.size(0)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        slope = ctx.saved_tensors[0] * ctx.factor
        return gradients[0], slope, -slope, None


@self_contained
class NormPenalty(nn.Module):
    """The identity; in training it penalises the norm's difference from another."""

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, x: Tensor, norm: Tensor, before: Tensor) -> Tensor:
        return StableNorm.apply(x, norm, before, self.beta) if self.training else x


class NormStabilizer(Remembering):
    """The identity; in training it adds the gradient of a penalty on changing norms.

    Args:
        beta: the factor of the mean of the squared differences between successive steps.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.penalty = NormPenalty(beta)

    def forward(self, input: Tensor) -> Tensor:
        norm = input.norm(dim=1, keepdim=True)
        before = flow().begun(self.memory, lambda: norm)
        self.memory = norm
        output: Tensor = self.penalty(input, norm, before)
        return output


converts_simply(torch7.NormStabilizer, lambda m: NormStabilizer(m.beta))
