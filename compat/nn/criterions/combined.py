"""Criterions made of other criterions, and criterions without a target."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, TypeVar

from torch import Tensor

from compat import t7
from compat.checks import flag, given, number, wrong_type
from compat.nn.checks.tensors import ANYTHING, TENSOR
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import check_lists
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module
from compat.nn.criterions.base import (
    Criterion,
    Stated,
    check_criterion,
    gradient_of,
    loss_of,
)
from compat.nn.functional import criterions_regression as f
from compat.nn.utils import recursiveAdd
from compat.tensor_tables import map_tensors

W = TypeVar("W", bound="_Weighted")


class L1Cost(Stated):
    """The sum of the absolute values (Torch7: ``nn.L1Cost``).

    Shapes: any input; there is no target.
    """

    takes = TENSOR

    _loss = staticmethod(f.l1_cost)
    _slopes = staticmethod(f.l1_cost_backward)

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        return (input,)


class _Weighted(Criterion):
    """A weighted sum of criterions."""

    takes = ANYTHING

    def __init__(self) -> None:
        super().__init__()
        self.criterions: list[Criterion] = []
        self.weights: list[float] = []

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        weights = fields.get("weights", [])
        if isinstance(weights, t7.Storage):
            t7.claim(entries=len(weights))
            fields["weights"] = weights.tolist()
        check_lists(fields, "criterions", "weights")
        super().t7_restore(fields, version)

    def add(self: W, criterion: Criterion, weight: float | None = 1) -> W:
        """Append a criterion with its factor, 1 by default. Returns self."""
        check_criterion(criterion)
        self.weights.append(1 if weight is None else number(weight, "weight"))
        self.criterions.append(criterion)
        return self

    def _parts(self, input: Any, target: Any) -> Iterator[tuple[Criterion, float, Any, Any]]:
        """Yield the criterions, each with its weight, its input and its target."""
        for criterion, weight in zip(self.criterions, self.weights, strict=True):
            yield criterion, weight, input, target

    def updateOutput(self, input: Any, target: Any = None) -> float:
        if not self.criterions:
            raise ValueError("there are no criterions; add some first")
        self.output = sum(
            weight * loss_of(criterion, own, own_target)
            for criterion, weight, own, own_target in self._parts(input, target)
        )
        return self.output


class MultiCriterion(_Weighted):
    """A weighted sum of criterions of the same input and target (Torch7: ``nn.MultiCriterion``)."""

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        total = map_tensors(_zeros, input)
        for criterion, weight in zip(self.criterions, self.weights, strict=True):
            recursiveAdd(total, weight, gradient_of(criterion, input, target))
        return self.set_gradInput(total)

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "weights": t7.Storage(self.weights, "torch.DoubleStorage")}


class ParallelCriterion(_Weighted):
    """A weighted sum of criterions, each of its own entry (Torch7: ``nn.ParallelCriterion``).

    Args:
        repeatTarget: every criterion gets the whole target instead of its entry.

    Shapes: input and target are tables with one entry per criterion. A criterion that takes no
        target may have None, in a dict with the keys 1…n no entry.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> criterion = nn.ParallelCriterion().add(nn.MSECriterion()).add(nn.AbsCriterion(), 0.5)
        >>> criterion.forward([torch.ones(2), torch.ones(2)], [torch.zeros(2), torch.zeros(2)])
        1.5
    """

    repeatTarget: bool | None = None

    def __init__(self, repeatTarget: bool | None = None) -> None:
        super().__init__()
        self.repeatTarget = None if repeatTarget is None else flag(repeatTarget, "repeatTarget")

    def _unset(self) -> list[Tensor]:
        return []

    def _parts(self, input: Any, target: Any) -> Iterator[tuple[Criterion, float, Any, Any]]:
        count = len(self.criterions)
        if isinstance(target, dict):
            target = [target.get(i + 1) for i in range(count)]
        elif isinstance(target, list):
            target = [*target, *[None] * (count - len(target))]
        tables = {"input": input} if self.repeatTarget else {"input": input, "target": target}
        for name, value in tables.items():
            if not isinstance(value, (list, tuple)) or len(value) < count:
                raise ValueError(
                    f"{name} is {given(value, counted=True)}; a table of {count} is accepted"
                )
        targets = [target] * count if self.repeatTarget else target
        yield from zip(self.criterions, self.weights, input, targets, strict=False)

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        total = map_tensors(_zeros, input)
        for i, (criterion, weight, own, own_target) in enumerate(self._parts(input, target)):
            recursiveAdd(total[i], weight, gradient_of(criterion, own, own_target))
        return self.set_gradInput(total)


def _zeros(tensor: Tensor) -> Tensor:
    return tensor.new_zeros(tensor.shape)


class ModuleCriterion(Criterion):
    """A criterion of the outputs of modules (Torch7: ``nn.ModuleCriterion``).

    Args:
        criterion: the loss.
        inputModule: applied to the input, if given. Its parameters are not trained.
        targetModule: applied to the target, if given.
        castTarget: whether ``type`` converts the ``targetModule``.
    """

    takes = TENSOR

    scratch_fields = ("input", "target")
    transient_fields = ("input", "target")
    input: Any = None
    target: Any = None
    inputModule: Module | None = None
    targetModule: Module | None = None

    def __init__(
        self,
        criterion: Criterion,
        inputModule: Module | None = None,
        targetModule: Module | None = None,
        castTarget: bool = True,
    ) -> None:
        super().__init__()
        check_criterion(criterion)
        for name, module in (("inputModule", inputModule), ("targetModule", targetModule)):
            if module is not None and not isinstance(module, Module):
                raise wrong_type(module, name, "a module or None")
        if inputModule is not None and inputModule.parameters()[0]:
            warnings.warn("nn.ModuleCriterion does not train the inputModule", stacklevel=2)
        self.criterion = criterion
        self.inputModule = inputModule
        self.targetModule = targetModule
        self.castTarget = flag(castTarget, "castTarget")

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        if self.inputModule is not None:
            input = self.input = self.inputModule.forward(input)
        if self.targetModule is not None:
            target = self.target = self.targetModule.forward(target)
        self.output = loss_of(self.criterion, input, target)
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        fields = (self.inputModule, self.input), (self.targetModule, self.target)
        if any(module is not None and made is None for module, made in fields):
            self.updateOutput(input, target)
        own = input if self.inputModule is None else self.input
        own_target = target if self.targetModule is None else self.target
        self.gradInput = gradient_of(self.criterion, own, own_target)
        if self.inputModule is not None:
            self.gradInput = self.inputModule.backward(input, self.gradInput)
        return self.gradInput

    def convert(self, conversion: Conversion, name: str) -> None:
        kept = None if self.castTarget else self.__dict__.pop("targetModule", None)
        super().convert(conversion, name)
        if kept is not None:
            self.targetModule = kept


class CriterionTable(Layer):
    """A criterion as a module, whose input is a table of input and target.

    Torch7: ``nn.CriterionTable``. The output is a number, and gradInput a table whose first entry
    is the gradient of the input.

    Args:
        criterion: the loss.

    Differs from Torch7: ``clearState`` leaves it usable.
    """

    def __init__(self, criterion: Criterion) -> None:
        super().__init__()
        self.criterion = check_criterion(criterion)

    def _unpacked(self, input: Any) -> Any:
        if not isinstance(input, (list, tuple)) or len(input) != 2:
            raise ValueError(
                f"input is {given(input, counted=True)}; a table of two, the criterion's input and "
                "its target, is accepted"
            )
        return input

    def updateOutput(self, input: Any) -> Any:
        self.output = loss_of(self.criterion, *self._unpacked(input))
        return self.output

    def backward(self, input: Any, gradOutput: Any = None, scale: float = 1) -> Any:
        return super().backward(input, gradOutput, scale)

    def updateGradInput(self, input: Any, gradOutput: Any = None) -> Any:
        self.gradInput = [gradient_of(self.criterion, *self._unpacked(input)), None]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any = None, scale: float = 1) -> None:
        """Do nothing: a criterion has no parameters."""

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "gradInput": [self.criterion.gradInput]}
