"""Layers that work on every element."""

from __future__ import annotations

import torch
from torch import Tensor

from compat.nn.functional import pointwise as f
from compat.nn.interchange.computed import computes
from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.pairs import INPLACE, Setting, pair
from compat.nn.layers import pointwise as torch7


class Sqrt(WithSettings):
    """The square root of the input plus ``eps``, with slope 0 where it is 0.

    PyTorch: ``torch.sqrt``.
    """

    shown = ("eps",)

    def __init__(self, eps: float = 0.0) -> None:
        super().__init__()
        self.eps = float(eps)

    def forward(self, input: Tensor) -> Tensor:
        zero = input == -self.eps
        return f.sqrt(input.masked_fill(zero, 1.0), self.eps).masked_fill(zero, 0.0)


class MulConstant(WithSettings):
    """The input times a constant.

    PyTorch: ``torch.mul``, and with ``inplace`` ``Tensor.mul_`` while autograd records nothing.
    """

    shown = ("constant",)

    def __init__(self, constant: float, inplace: bool = False) -> None:
        super().__init__()
        self.constant = constant
        self.inplace = inplace

    def forward(self, input: Tensor) -> Tensor:
        if self.inplace and not torch.is_grad_enabled():
            return input.mul_(self.constant)
        return input * self.constant


pair(torch7.Sqrt, Sqrt, Setting("eps", "eps"))
pair(torch7.MulConstant, MulConstant, Setting("constant_scalar", "constant"), INPLACE)
computes(torch7.Abs, torch7.Exp, torch7.Log, torch7.Square, torch7.Power, torch7.Normalize)
computes(torch7.AddConstant, torch7.Add, torch7.CAdd, torch7.Mul, torch7.CMul)
