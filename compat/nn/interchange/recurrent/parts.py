"""Parts of recurrent layers."""

from __future__ import annotations

from torch import Tensor

from compat.nn.interchange.modules import WithSettings
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.recurrent import parts as torch7


class SAdd(WithSettings):
    """The input plus a number, or the negative of that."""

    shown = ("addend", "negate")

    def __init__(self, addend: float, negate: bool) -> None:
        super().__init__()
        self.addend = addend
        self.negate = negate

    def forward(self, input: Tensor) -> Tensor:
        return -self.addend - input if self.negate else input + self.addend


converts_simply(torch7.SAdd, lambda m: SAdd(m.addend, m.negate))
