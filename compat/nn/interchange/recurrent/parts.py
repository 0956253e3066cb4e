"""What recurrent layers are made of."""

from __future__ import annotations

from torch import nn

from compat.nn.interchange.layers.pointwise import AddConstant, MulConstant
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.recurrent import parts as torch7

converts_simply(
    torch7.SAdd,
    lambda m: nn.Sequential(AddConstant(m.addend), MulConstant(-1 if m.negate else 1)),
)
