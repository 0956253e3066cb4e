"""Arithmetic on every element, with and without parameters."""

from __future__ import annotations

from torch import Tensor

from compat.nn.elementwise import Elementwise, flag, number


class MulConstant(Elementwise):
    """The input times a constant (Torch7: ``nn.MulConstant``).

    Args:
        constant_scalar: the constant.
        ip: work in place. Differs from Torch7: backward changes neither gradOutput nor the input.
    """

    def __init__(self, constant_scalar: float, ip: bool = False) -> None:
        super().__init__()
        self.constant_scalar = number(constant_scalar, "constant_scalar")
        self.inplace = flag(ip)

    def apply_to(self, input: Tensor) -> Tensor:
        c = self.constant_scalar
        return input.mul_(c) if self.inplace else input * c
