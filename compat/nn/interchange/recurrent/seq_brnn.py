"""Whole sequences in both directions."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.to_torch import converts_simply, converts_to_inner
from compat.nn.recurrent import seq_brnn as torch7


class Reverse(nn.Module):
    """The input, a tensor or a list, in reverse along a dimension.

    PyTorch: ``torch.flip``.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return input.flip(self.dim) if isinstance(input, Tensor) else input[::-1]


converts_simply(torch7.SeqReverseSequence, lambda m: Reverse(m.dim - 1))
converts_simply(torch7.ReverseSequence, lambda m: Reverse(0))
for _class in (torch7.SeqBRNN, torch7.ReverseUnreverse, torch7.SeqBLSTM, torch7.SeqBGRU):
    converts_to_inner(_class)
