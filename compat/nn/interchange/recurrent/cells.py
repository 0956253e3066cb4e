"""Recurrent layers that take one step at a time."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import Remembering, flow, start
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import cells as torch7


class Cell(Remembering):
    """A recurrent layer that takes one step at a time.

    Args:
        step: computes the next memory from ``[input, *memory]``; the first entry
            is the output.
        sizes: the sizes of the entries of the memory.
        start: the tensors of the first memory; None for zeros.
    """

    def __init__(self, step: nn.Module, sizes: list[int], start: list[Tensor | None]) -> None:
        super().__init__()
        self.step = step
        self.sizes = sizes
        self.start = start

    def forward(self, input: Tensor) -> Tensor:
        def first() -> list[Tensor]:
            batch = input.shape[:-1]
            begun = zip(self.start, self.sizes, strict=True)
            return [input.new_zeros([*batch, n]) if own is None else own for own, n in begun]

        memory = flow().begun(self.memory, first)
        self.memory = self.step([input, *([memory] if isinstance(memory, Tensor) else memory)])
        return self.memory if isinstance(self.memory, Tensor) else self.memory[0]


@converts(torch7.LSTM)
def _lstm(module: Any, convert: ToTorch) -> nn.Module:
    states = [start(module.userPrevOutput), start(module.userPrevCell)]
    return Cell(convert.child(module, 0), [module.outputSize] * 2, states)


@converts(torch7.GRU)
def _gru(module: Any, convert: ToTorch) -> nn.Module:
    return Cell(convert.child(module, 0), [module.outputSize], [start(module.userPrevOutput)])
