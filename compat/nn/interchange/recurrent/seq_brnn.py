"""Whole sequences in both directions."""

from __future__ import annotations

from torch import Tensor, nn

from compat.nn.interchange.to_torch import converts_simply, converts_to_inner
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
converts_to_inner(torch7.SeqBRNN)
