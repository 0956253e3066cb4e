"""Modules applied to every entry of a sequence."""

from __future__ import annotations

from typing import Any

from torch import nn

from compat.nn.interchange.recurrent.memory import OverSequences, flow
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply
from compat.nn.recurrent import sequencers as torch7


class Sequencer(OverSequences):
    """A module applied to every entry of a list in turn, or of a tensor along its first dimension.

    The output is a list or a tensor as the input is.
    """

    def __init__(self, module: nn.Module, remember: str = "neither") -> None:
        super().__init__()
        self.module = module
        self.remember = remember

    def forward(self, input: Any) -> Any:
        self.begin()
        return flow().over(self, lambda entry, _: (self.module(entry), None), input)[0]


class Repeater(OverSequences):
    """A module given the same input ``count`` times; the list of its outputs."""

    def __init__(self, module: nn.Module, count: int) -> None:
        super().__init__()
        self.module = module
        self.count = count

    def forward(self, input: Any) -> Any:
        self.begin()
        return flow().over(self, lambda *_: (self.module(input), None), self.count)[0]


class ReverseTable(nn.Module):
    """The entries of a list in reverse order."""

    def forward(self, input: list[Any]) -> list[Any]:
        return list(reversed(input))


@converts(torch7.Sequencer)
def _sequencer(module: Any, convert: ToTorch) -> nn.Module:
    return Sequencer(convert.child(module, 0), module.remember_mode)


@converts(torch7.Repeater)
def _repeater(module: Any, convert: ToTorch) -> nn.Module:
    return Repeater(convert.child(module, 0), module.rho)


converts_simply(torch7.ReverseTable, lambda m: ReverseTable())
