"""``RecurrentAttention``."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import OverSequences, flow
from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import attention as torch7


class RecurrentAttention(OverSequences):
    """A net that looks at one input several times.

    ``action`` computes from the previous output where to look. No gradient flows from
    ``rnn`` to ``action``.
    """

    def __init__(self, rnn: nn.Module, action: nn.Module, count: int, size: list[int]) -> None:
        super().__init__()
        self.rnn, self.action = rnn, action
        self.count = count
        self.size = size

    def forward(self, input: Tensor) -> Any:
        self.begin()

        def step(_: Any, hidden: Tensor) -> tuple[Tensor, Tensor]:
            hidden = self.rnn([input, self.action(hidden).detach()])
            return hidden, hidden

        zeros = input.new_zeros(input.size(0), *self.size)
        return flow().over(self, step, self.count, zeros)[0]


@converts(torch7.RecurrentAttention)
def _attention(module: Any, convert: ToTorch) -> nn.Module:
    if module.forwardActions:
        raise ValueError("forwardActions is True; False is accepted, since torch.nn has no such")
    rnn, action = convert.children(module)
    return RecurrentAttention(rnn, action, module.nStep, list(map(int, module.hiddenSize)))
