"""Recurrent nets made of modules."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import Remembering, first_of, flow, start
from compat.nn.interchange.to_torch import ToTorch, converts, converts_to_inner
from compat.nn.recurrent import recurrences as torch7


class Recurrence(Remembering):
    """A module of the input and its output of the step before, which begins with zeros.

    Args:
        module: the module.
        size: of its output without batch, a list of numbers, or a list of lists.
        sample_dims: how many dimensions the input of a sample has.
        start: what to begin with instead.
    """

    def __init__(self, module: nn.Module, size: list[Any], sample_dims: int, start: Any) -> None:
        super().__init__()
        self.module = module
        self.size = size
        self.sample_dims = sample_dims
        self.start = start

    def forward(self, input: Any) -> Any:
        def first() -> Any:
            if self.start is not None:
                return self.start
            like = first_of(input)
            batch = [] if like.dim() == self.sample_dims else [like.size(0)]
            return self._zeros(like, self.size, batch)

        self.memory = self.module([input, flow().begun(self.memory, first)])
        return self.memory

    def _zeros(self, like: Tensor, size: list[Any], batch: list[int]) -> Any:
        if isinstance(size[0], (int, float)):
            dtype = like.dtype
            if not dtype.is_floating_point:  # the input is indices
                dtype = next((p.dtype for p in self.module.parameters()), dtype)
            return like.new_zeros([*batch, *map(int, size)], dtype=dtype)
        return [self._zeros(like, list(part), batch) for part in size]


class Recurrent(Remembering):
    """``transfer(merge([input(x), feedback(output before)]))``, at first without the feedback."""

    def __init__(self, parts: list[nn.Module]) -> None:
        super().__init__()
        self.begin, self.input, self.feedback, self.transfer, self.merge = parts

    def forward(self, input: Any) -> Any:
        x = self.input(input)
        merged = flow().begun(
            self.memory,
            lambda: self.begin(x),
            lambda before: self.merge([x, self.feedback(before)]),
        )
        self.memory = self.transfer(merged)
        return self.memory


@converts(torch7.Recurrence)
def _recurrence(module: Any, convert: ToTorch) -> nn.Module:
    inner, state = convert.child(module, 0), start(module.userPrevOutput)
    return Recurrence(inner, list(module.outputSize), module.nInputDim, state)


@converts(torch7.Recurrent)
def _recurrent(module: Any, convert: ToTorch) -> nn.Module:
    return Recurrent(convert.children(module))


converts_to_inner(torch7.Recursor)
