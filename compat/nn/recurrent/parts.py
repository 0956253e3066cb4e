"""Layers that the cells of package rnn are made of."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import flag, number
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TENSOR
from compat.nn.core.module import Module, deterministic
from compat.nn.layers.identity import Identity
from compat.nn.layers.linear import Linear


class LinearNoBias(Linear):
    """A ``Linear`` without bias (Torch7: ``nn.LinearNoBias`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.
    """

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize, False)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # In old files it is there, and zero.
        fields.pop("bias", None)
        fields.pop("gradBias", None)
        super().t7_restore(fields, version)


class SAdd(Module):
    """The input plus a number (Torch7: ``nn.SAdd`` of the package rnn).

    Args:
        addend: the number.
        negate: whether to negate the sum.
    """

    takes = TENSOR
    # Old files lack it.
    negate: bool = False

    @nil_is_default
    def __init__(self, addend: float, negate: bool = False) -> None:
        super().__init__()
        self.addend = number(addend, "addend")
        self.negate = flag(negate, "negate")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return -input - self.addend if self.negate else input + self.addend


class CopyGrad(Identity):
    """The input itself (Torch7: ``nn.CopyGrad`` of the package rnn)."""
