"""Sequences in both directions."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from compat.nn.interchange.recurrent.memory import flow, mapped
from compat.nn.interchange.to_torch import ToTorch, converts, converts_to_inner
from compat.nn.recurrent import bisequencers as torch7


class BiSequencerLM(nn.Module):
    """A bidirectional net: step i sees the entries before and those after entry i."""

    def __init__(self, before: nn.Module, after: nn.Module, merge: nn.Module) -> None:
        super().__init__()
        self.before, self.after, self.merge = before, after, merge

    def forward(self, input: list[Any]) -> list[Any]:
        before = self.before(flow().part(input, None, -1))
        after = self.after(flow().part(input, 1, None))
        first = mapped(torch.zeros_like, before[0])
        last = mapped(torch.zeros_like, after[-1])
        return self.merge([[first, *before], [*after, last]])


converts_to_inner(torch7.BiSequencer)


@converts(torch7.BiSequencerLM)
def _bi_sequencer_lm(module: Any, convert: ToTorch) -> nn.Module:
    return BiSequencerLM(*convert.children(module))
