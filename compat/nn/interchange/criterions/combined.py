"""Sums of criterions, and criterions of what modules make."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from compat.nn.criterions import combined as torch7
from compat.nn.functional import criterions_regression as f
from compat.nn.interchange.to_torch import ToTorch, converts, converts_simply


class L1Cost(nn.Module):
    """The sum of the absolute values; there is no target."""

    def forward(self, input: Tensor, target: Any = None) -> Tensor:
        return f.l1_cost(input)


class WeightedSum(nn.ModuleList):
    """A weighted sum of losses.

    Args:
        losses, weights: as many.
        split: whether loss i gets entry i of the input, instead of all.
        split_target: the same of the target.
    """

    def __init__(
        self, losses: list[nn.Module], weights: list[float], split: bool, split_target: bool
    ) -> None:
        super().__init__(losses)
        self.weights = weights
        self.split = split
        self.split_target = split_target

    def forward(self, input: Any, target: Any = None) -> Tensor:
        losses = []
        for i, (loss, weight) in enumerate(zip(self, self.weights, strict=True)):
            own = target[i] if self.split_target else target
            losses.append(weight * loss(input[i] if self.split else input, own))
        return sum(losses[1:], losses[0])


class ModuleCriterion(nn.Module):
    """A loss of what modules make of input and target."""

    def __init__(self, loss: nn.Module, of_input: nn.Module, of_target: nn.Module) -> None:
        super().__init__()
        self.loss, self.of_input, self.of_target = loss, of_input, of_target

    def forward(self, input: Any, target: Any) -> Tensor:
        return self.loss(self.of_input(input), self.of_target(target))


class OfPair(nn.Module):
    """A loss as a module of a list of input and target.

    Args:
        loss: the loss.
        size: of the output.
    """

    def __init__(self, loss: nn.Module, size: list[int]) -> None:
        super().__init__()
        self.loss = loss
        self.size = size

    def forward(self, input: list[Any]) -> Tensor:
        return self.loss(input[0], input[1]).reshape(self.size)


def _sum(criterion: Any, convert: ToTorch, split: bool, split_target: bool) -> nn.Module:
    parts = list(map(convert, criterion.criterions))
    return WeightedSum(parts, list(criterion.weights), split, split_target)


converts_simply(torch7.L1Cost, lambda c: L1Cost())


@converts(torch7.MultiCriterion)
def _multi(criterion: Any, convert: ToTorch) -> nn.Module:
    return _sum(criterion, convert, False, False)


@converts(torch7.ParallelCriterion)
def _parallel(criterion: Any, convert: ToTorch) -> nn.Module:
    return _sum(criterion, convert, True, not criterion.repeatTarget)


@converts(torch7.ModuleCriterion)
def _of_modules(criterion: Any, convert: ToTorch) -> nn.Module:
    modules = (criterion.inputModule, criterion.targetModule)
    nets = (nn.Identity() if module is None else module.to_torch() for module in modules)
    return ModuleCriterion(convert(criterion.criterion), *nets)


@converts(torch7.CriterionTable)
def _criterion_table(module: Any, convert: ToTorch) -> nn.Module:
    return OfPair(convert(module.criterion), [])
