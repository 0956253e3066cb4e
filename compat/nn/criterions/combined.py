"""Criterions made of criterions, and those without a target."""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from torch import Tensor

from compat import t7
from compat.checks import flag, given, number, wrong_type
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import ANYTHING, TENSOR
from compat.nn.core.conversion import Conversion
from compat.nn.core.convertible import check_lists
from compat.nn.core.module import Module
from compat.nn.criterions.base import Arguments, Criterion, check_criterion

W = TypeVar("W", bound="_Weighted")


class L1Cost(Criterion):
    """The sum of the absolute values (Torch7: ``nn.L1Cost``).

    Shapes: any input; there is no target.
    """

    takes = TENSOR

    def compute(self, input: Tensor, target: Any) -> Tensor:
        return input.abs().sum()


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

    def _part(self, index: int, input: Any, target: Any) -> tuple[Any, Any]:
        """What criterion ``index`` gets."""
        return input, target

    def compute(self, input: Any, target: Any) -> Tensor:
        if not self.criterions:
            raise ValueError("there are no criterions; add some first")
        losses = [
            weight * criterion.run(*self._part(i, input, target))
            for i, (criterion, weight) in enumerate(zip(self.criterions, self.weights, strict=True))
        ]
        return sum(losses[1:], losses[0])


class MultiCriterion(_Weighted):
    """A weighted sum of criterions of the same input and target (Torch7: ``nn.MultiCriterion``)."""

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "weights": t7.Storage(self.weights, "torch.DoubleStorage")}


class ParallelCriterion(_Weighted):
    """A weighted sum of criterions, each of its own entry (Torch7: ``nn.ParallelCriterion``).

    Args:
        repeatTarget: every criterion gets the whole target instead of its entry.

    Shapes: input and target are tables with one entry per criterion.
    """

    repeatTarget: bool | None = None

    def __init__(self, repeatTarget: bool | None = None) -> None:
        super().__init__()
        self.repeatTarget = None if repeatTarget is None else flag(repeatTarget, "repeatTarget")

    def _unset(self) -> list[Tensor]:
        return []

    def _part(self, index: int, input: Any, target: Any) -> tuple[Any, Any]:
        tables = {"input": input} if self.repeatTarget else {"input": input, "target": target}
        for name, value in tables.items():
            if not isinstance(value, (list, tuple)) or len(value) < len(self.criterions):
                raise ValueError(
                    f"{name} is {given(value, counted=True)}; a table of "
                    f"{len(self.criterions)} is accepted"
                )
        return input[index], target if self.repeatTarget else target[index]


class ModuleCriterion(Criterion):
    """A criterion of what modules make of input and target (Torch7: ``nn.ModuleCriterion``).

    Args:
        criterion: the loss.
        inputModule: applied to the input, if given. Its parameters are not trained.
        targetModule: applied to the target, if given.
        castTarget: whether ``type`` converts the ``targetModule``.
    """

    takes = TENSOR

    scratch_fields = ("input", "target")
    transient_fields = ("_seen", "_changed")
    _seen: Arguments | None = None
    _changed: tuple[Any, Any] = (None, None)
    inputModule: Module | None = None
    targetModule: Module | None = None

    @nil_is_default
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
        seen = Arguments(input, target)
        if self.inputModule is not None:
            input = self.inputModule.forward(input)
        if self.targetModule is not None:
            target = self.targetModule.forward(target)
        self.output = self.criterion.forward(input, target)
        self._seen, self._changed = seen, (input, target)
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        if self._seen is None or not self._seen.fits(input, target):
            self.updateOutput(input, target)
        self.gradInput = self.criterion.backward(*self._changed)
        if self.inputModule is not None:
            self.gradInput = self.inputModule.updateGradInput(input, self.gradInput)
        return self.gradInput

    def convert(self, conversion: Conversion, name: str) -> None:
        kept = None if self.castTarget else self.__dict__.pop("targetModule", None)
        super().convert(conversion, name)
        if kept is not None:
            self.targetModule = kept


class CriterionTable(Module):
    """A criterion as a module, whose input is a table of input and target.

    Torch7: ``nn.CriterionTable``. The output is a number, and gradInput a table whose first entry
    is the gradient of the input.

    Args:
        criterion: the loss.

    Differs from Torch7: ``clearState`` leaves it usable.
    """

    takes = TENSOR

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
        self.output = self.criterion.forward(*self._unpacked(input))
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = [self.criterion.backward(*self._unpacked(input)), None]
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: float = 1) -> None:
        """A criterion has no parameters."""

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "gradInput": [self.criterion.gradInput]}
