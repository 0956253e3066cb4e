"""Criterions for sequences, which are lists with one entry per time step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from compat.checks import flag
from compat.nn.checks.tensors import ANYTHING
from compat.nn.criterions.base import Criterion, check_criterion, loss_of
from compat.nn.recurrent.sequencers import steps_of
from compat.tensor_tables import map_tensors


class _OverSequence(Criterion):
    """The base of criterions of sequences, with a copy of one criterion for each entry."""

    takes = ANYTHING
    sizeAverage: bool = False

    def __init__(self, criterion: Criterion | None = None) -> None:
        super().__init__()
        if criterion is not None:
            # Classes of one's own may set it later.
            self.criterion = check_criterion(criterion)

    def getStepCriterion(self, step: int) -> Criterion:
        """Return a copy of the criterion for a step, counted from 1."""
        # An empty table that somebody's own class has set is a list.
        self.clones: dict[int, Criterion] = vars(self).get("clones") or {}
        known = self.clones
        if step not in known:
            known[step] = self.criterion.clone()
        return known[step]

    def _targets(self, target: Any, count: int) -> Any:
        """Return the target of each of ``count`` steps."""
        raise NotImplementedError

    def _parts(self, input: Any, target: Any) -> Iterator[tuple[Criterion, Any, Any]]:
        steps = steps_of(input)
        pairs = zip(steps, self._targets(target, len(steps)), strict=True)
        for i, (step, own_target) in enumerate(pairs, 1):
            yield self.getStepCriterion(i), step, own_target

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        losses = [loss_of(c, step, own) for c, step, own in self._parts(input, target)]
        self.output = sum(losses) / len(losses) if self.sizeAverage else sum(losses)
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        found = [c.backward(step, own) for c, step, own in self._parts(input, target)]
        if self.sizeAverage:
            found = map_tensors(lambda gradient: gradient / len(found), found)
        if isinstance(input, Tensor):
            return self.set_gradInput(torch.stack(found))
        self.gradInput = found
        return found

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "clones": []}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.pop("clones", None)
        super().t7_restore(fields, version)


class SequencerCriterion(_OverSequence):
    """The sum of a criterion over a sequence (Torch7: ``nn.SequencerCriterion`` of rnn).

    Args:
        criterion: gets each entry of the input with that of the target.
        sizeAverage: whether the sum is divided by the number of entries.

    Shapes: input and target lists, or tensors with the steps as their first dimension.

    Differs from Torch7: one may be a list and the other a tensor.
    """

    def __init__(self, criterion: Criterion | None = None, sizeAverage: bool = False) -> None:
        super().__init__(criterion)
        self.sizeAverage = flag(sizeAverage, "sizeAverage")

    def _targets(self, target: Any, count: int) -> Any:
        if len(target) != count:
            raise ValueError(
                f"input is a sequence of {count}, target is one of {len(target)}; as many "
                "entries are accepted"
            )
        return target


class RepeaterCriterion(_OverSequence):
    """Sum a criterion over a sequence with one target (``nn.RepeaterCriterion`` of rnn).

    Args:
        criterion: is called with each entry of the input and the target.

    Shapes: input a list, or a tensor with the steps as its first dimension.
    """

    def _targets(self, target: Any, count: int) -> Any:
        return [target] * count
