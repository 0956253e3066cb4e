"""A penalty on norms that change."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.nn.functional.recurrent import stabilized
from compat.nn.interchange.recurrent.memory import Remembering
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.recurrent import norm_stabilizer as torch7


class NormStabilizer(Remembering):
    """The input, whose gradient in training gets that of a penalty on norms that change.

    Args:
        beta: the factor of the mean of the squared differences between successive steps.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        self.beta = beta

    def forward(self, input: Tensor) -> Tensor:
        if not self.training:
            return input
        norms = self.memory or []
        norms.append(input.detach().norm(dim=1, keepdim=True))
        self.memory = norms
        output: Tensor = _Stabilized.apply(input, norms, len(norms) - 1, self.beta)
        return output


class _Stabilized(torch.autograd.Function):
    """The input, whose gradient gets that of the penalty in step ``i`` of ``norms``."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, norms: list[Tensor], i: int, beta: float) -> Tensor:
        ctx.save_for_backward(input)
        ctx.norms, ctx.i, ctx.beta = norms, i, beta
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        [input] = ctx.saved_tensors
        norms, i = ctx.norms, ctx.i
        others = norms[max(i - 1, 0) : i] + norms[i + 1 : i + 2]
        return stabilized(gradient, input, norms[i], others, ctx.beta), None, None, None


converts_simply(torch7.NormStabilizer, lambda m: NormStabilizer(m.beta))
