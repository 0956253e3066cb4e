"""Layers that pass their input on, some with a gradient of their own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.computed import computes
from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.modules import self_contained
from compat.nn.interchange.pairs import Setting, pair
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import identity as torch7
from compat.tensor_types import parse_type


class ScaledGradient(torch.autograd.Function):
    """The identity, whose gradient is multiplied by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, factor: float) -> Tensor:
        ctx.factor = factor
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        return gradients[0] * ctx.factor, None


@self_contained
class GradientReversal(nn.Module):
    """The identity, whose gradient is multiplied by ``-factor``."""

    def __init__(self, factor: float = 1.0) -> None:
        super().__init__()
        self.factor = factor

    def forward(self, x: Tensor) -> Tensor:
        return ScaledGradient.apply(x, -self.factor)


class PenalizedGradient(torch.autograd.Function):
    """The identity, which adds the gradient of the input's 1-norm."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: float, keep: bool) -> Tensor:
        ctx.save_for_backward(x)
        ctx.weight, ctx.keep = weight, keep
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        penalty = ctx.saved_tensors[0].sign() * ctx.weight
        return (gradients[0] + penalty if ctx.keep else penalty), None, None


@self_contained
class L1Penalty(nn.Module):
    """The identity, which adds the gradient of ``weight`` times the 1-norm.

    ``mean``: the norm is divided by the number of elements. ``keep`` False: the
    gradient from what comes after is not part of it.
    """

    def __init__(self, weight: float, mean: bool = False, keep: bool = True) -> None:
        super().__init__()
        self.weight = weight
        self.mean = mean
        self.keep = keep

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight / x.numel() if self.mean else self.weight
        return PenalizedGradient.apply(x, weight, self.keep)


class ZeroGrad(nn.Module):
    """The identity without a gradient."""

    def forward(self, input: Any) -> Any:
        if isinstance(input, Tensor):
            return input.detach()
        return [self.forward(entry) for entry in input]


class Cast(nn.Module):
    """Convert the tensors of the input to a dtype.

    Args:
        dtype: the type of the output.
        indices: convert tensors of integers too.
    """

    def __init__(self, dtype: torch.dtype, indices: bool = True) -> None:
        super().__init__()
        self.dtype = dtype
        self.indices = indices

    def forward(self, input: Any) -> Any:
        if not isinstance(input, Tensor):
            return [self.forward(entry) for entry in input]
        return input.to(self.dtype) if self.indices or input.is_floating_point() else input


def _copy(module: Any) -> nn.Module:
    if module.intype == module.outtype:
        return nn.Identity()
    return Cast(parse_type(module.outtype, "outtype")[0])


pair(torch7.Identity, nn.Identity)
pair(torch7.GradientReversal, GradientReversal, Setting("lambda_", "factor"))
converts_simply(torch7.L1Penalty, lambda m: L1Penalty(m.l1weight, m.sizeAverage, m.provideOutput))
converts_from_simply(L1Penalty, lambda m: torch7.L1Penalty(m.weight, m.mean, m.keep))
pair(torch7.ZeroGrad, ZeroGrad)
converts_simply(torch7.PrintSize, lambda m: nn.Identity())
converts_simply(torch7.Copy, _copy)
computes(torch7.Constant, torch7.Convert)
