"""Criterions of sequences."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.to_torch import ToTorch, converts
from compat.nn.recurrent import sequence_criterions as torch7


class OverSteps(nn.Module):
    """The sum of a loss over the entries of a list, each with its target or all with one."""

    def __init__(self, loss: nn.Module, repeat_target: bool, mean: bool = False) -> None:
        super().__init__()
        self.loss = loss
        self.repeat_target = repeat_target
        self.mean = mean

    def forward(self, input: Any, target: Any) -> Tensor:
        targets = [target] * len(input) if self.repeat_target else target
        losses = [self.loss(entry, t) for entry, t in zip(input, targets, strict=True)]
        total = torch.stack(losses).sum()
        return total / len(losses) if self.mean else total


@converts(torch7.SequencerCriterion)
def _sequencer(criterion: Any, convert: ToTorch) -> nn.Module:
    mean = bool(getattr(criterion, "sizeAverage", False))
    return OverSteps(convert(criterion.criterion), False, mean)


@converts(torch7.RepeaterCriterion)
def _repeater(criterion: Any, convert: ToTorch) -> nn.Module:
    return OverSteps(convert(criterion.criterion), True)
