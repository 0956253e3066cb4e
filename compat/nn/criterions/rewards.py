"""Rewards for nets with ``nn.Reinforce`` layers: 1 for a right answer, 0 for a wrong one.

Backward gives the net the reward minus the baseline, which lowers the variance. The baseline, the
expected reward, is the second entry of the input and is trained by a criterion of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import check_tensor, number, wrong_type
from compat.nn.checks.tensors import ANYTHING, check_dims
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module
from compat.nn.criterions.base import Criterion, check_criterion
from compat.nn.criterions.regression import MSECriterion


class _ClassReward(Criterion):
    """The base of class rewards. A class defines ``is_right``, the samples that get the reward."""

    takes = ANYTHING
    scratch_fields = (
        *("_maxVal", "_maxIdx", "__maxIdx", "_target", "_reward", "_binary"),
        *("reward", "vrReward"),
    )
    transient_fields = ("reward", "vrReward")
    sizeAverage: bool = True
    reward: Tensor
    vrReward: Tensor

    def __init__(
        self, module: Module, scale: float | None = None, criterion: Criterion | None = None
    ) -> None:
        super().__init__()
        if not isinstance(module, Module):
            raise wrong_type(module, "module", "a module")
        self.module = module
        self.scale = 1 if scale is None else number(scale, "scale")
        self.criterion = MSECriterion() if criterion is None else check_criterion(criterion)
        self.sizeAverage = True

    def is_right(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return for each sample whether its class is the target. Classes define it."""
        raise TypeError(f"{self.typename} does not define is_right(scores, target)")

    def _scores(self, input: Any) -> Tensor:
        if not isinstance(input, (list, tuple)) or len(input) != 2:
            raise wrong_type(input, "input", "a table of scores and baseline rewards")
        return check_tensor(input[0], "input[1]")

    def _count(self, input: Any) -> int:
        """Return how many samples there are."""
        return len(self._scores(input))

    def updateOutput(self, input: Any, target: Any = None) -> float:
        right = self.is_right(self._scores(input), check_tensor(target, "target"))
        self.reward = right.to(input[0].dtype) * self.scale
        count = self._count(input) if self.sizeAverage else 1
        self.output = -self.reward.sum().item() / count
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> list[Tensor]:
        scores, baseline = self._scores(input), input[1]
        if baseline.numel() != len(self.reward):
            raise ValueError(
                f"input[2] has {baseline.numel()} baseline rewards; one for each of "
                f"{len(self.reward)} samples is accepted"
            )
        surprise = self.reward - baseline.reshape(-1)
        self.vrReward = surprise / self._count(input) if self.sizeAverage else surprise
        self.module.reinforce(self.vrReward)
        wanted = self.reward.view(baseline.shape)
        self.criterion.forward(baseline, wanted)
        gradient = self.criterion.backward(baseline, wanted)
        return self.set_gradInput([torch.zeros_like(scores), gradient])

    def convert(self, conversion: Conversion, name: str) -> None:
        # The net is converted by whoever owns it.
        module = self.__dict__.pop("module")
        super().convert(conversion, name)
        self.module = module

    def held_values(self) -> list[Any]:
        return [value for value in super().held_values() if value is not self.module]

    def _unset(self) -> list[Tensor]:
        return [self._empty()]


class VRClassReward(_ClassReward):
    """The reward for the right one of several classes (Torch7: ``nn.VRClassReward`` of dpnn).

    The loss is the mean reward, times -1.

    Args:
        module: the net whose ``reinforce`` backward calls.
        scale: the reward for a right class.
        criterion: trains the baseline; ``nn.MSECriterion()`` by default.

    Shapes: input a table of scores, ``N x C``, and baseline rewards, ``N x 1``, or of those of one
    sample, ``C`` and 1; target ``N`` labels from 1. The gradient of the scores is 0.

    Fields: ``reward``, of each sample, and ``vrReward``, the reward that the net got;
        ``sizeAverage``, whether both loss and ``vrReward`` are divided by ``N``.
    """

    def _count(self, input: Any) -> int:
        scores = self._scores(input)
        check_dims(scores, 1, 2, name="input[1]")
        return 1 if scores.dim() == 1 else len(scores)

    def is_right(self, scores: Tensor, target: Tensor) -> Tensor:
        found = (scores if scores.dim() == 2 else scores.unsqueeze(0)).max(1)[1] + 1
        if target.numel() != found.numel():
            raise ValueError(
                f"target has {target.numel()} labels; one for each of {found.numel()} samples is "
                "accepted"
            )
        return found == target.reshape(-1).to(found)


class BinaryClassReward(_ClassReward):
    """The reward for the right one of two classes (Torch7: ``nn.BinaryClassReward`` of dpnn).

    Like ``VRClassReward``, with one score for each sample; a score above 0.5 means class 1.

    Args:
        module, scale, criterion: as in ``VRClassReward``.

    Shapes: input a table of scores, ``N``, and baseline rewards, ``N`` or ``N x 1``; target ``N``
    labels, 0 or 1.
    """

    def is_right(self, scores: Tensor, target: Tensor) -> Tensor:
        for name, value in (("input[1]", scores), ("target", target)):
            check_dims(value, 1, name=name)
        return (scores > 0.5).to(scores) == target.to(scores)
