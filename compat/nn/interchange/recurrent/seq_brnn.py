"""Whole sequences in both directions."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.recurrent import seq_brnn as torch7


class Reverse(nn.Module):
    """The input in reverse along a dimension.

    PyTorch: ``torch.flip``.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Tensor) -> Tensor:
        return input.flip(self.dim)


converts_simply(torch7.SeqReverseSequence, lambda m: Reverse(m.dim - 1))


@converts(torch7.SeqBRNN)
def _seq_brnn(module: Any, convert: ToTorch) -> nn.Module:
    return convert.child(module, 0)
