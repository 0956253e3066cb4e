"""Classification criterions: the target says to which class an input belongs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.nn.criterion import Criterion
from compat.nn.labels import check_labels, zero_based_labels
from compat.nn.transfer import LogSoftMax


def class_weights(weights: Any) -> Tensor | None:
    """Check the ``weights`` argument: a vector with one factor per class, or None."""
    if weights is None:
        return None
    if not isinstance(weights, Tensor) or weights.dim() != 1:
        given = f"of size {tuple(weights.shape)}" if isinstance(weights, Tensor) else f"{weights!r}"
        raise ValueError(f"weights is {given}; a vector of one weight per class is accepted")
    return weights


class ClassNLLCriterion(Criterion):
    """The negative log likelihood of the right class (Torch7: ``nn.ClassNLLCriterion``).

    Args:
        weights: a vector with a factor for each class.
        sizeAverage: divide by the sum of the factors of the targets.
        ignoreIndex: the label of inputs that do not count.

    Shapes: input ``C`` or ``N x C`` of log probabilities; target a label from 1 to C, or a vector
    of ``N``. Raises ValueError for other labels and sizes. On a GPU labels are checked by PyTorch's
    kernel, which ends the process's use of the device.
    """

    ignoreIndex: int = -100
    weights: Tensor | None = None
    _scratch = ("output_tensor", "total_weight_tensor", "target")
    _dims: tuple[int, ...] = (1, 2)

    def __init__(
        self,
        weights: Tensor | None = None,
        sizeAverage: bool | None = None,
        ignoreIndex: int = -100,
    ) -> None:
        super().__init__()
        self.sizeAverage = True if sizeAverage is None else bool(sizeAverage)
        self.ignoreIndex = -100 if ignoreIndex is None else ignoreIndex
        self.weights = class_weights(weights)

    def compute(self, input: Tensor, target: Any) -> Tensor:
        return self.reduced(F.nll_loss, input, target)

    def reduced(self, loss: Callable[..., Tensor], input: Tensor, target: Any) -> Tensor:
        """Apply ``loss``, which takes the arguments of `torch.nn.functional.nll_loss`."""
        if input.dim() not in self._dims:
            accepted = " or ".join(map(str, self._dims))
            raise ValueError(f"input has {input.dim()} dimensions; {accepted} are accepted")
        axis = 0 if input.dim() == 1 else 1
        labels = zero_based_labels(
            target, input.shape[:axis] + input.shape[axis + 1 :], input.device
        )
        weights, ignored = self.weights, self.ignoreIndex - 1
        if weights is not None and weights.numel() != input.size(axis):
            raise ValueError(
                f"input has {input.size(axis)} classes, weights has {weights.numel()} elements"
            )
        average = "mean" if self.sizeAverage else "sum"
        try:
            value = loss(input, labels, weights, ignore_index=ignored, reduction=average)
        except IndexError:
            check_labels(labels, input.size(axis), ignored)
            raise
        if self.sizeAverage and (weights is not None or ignored != -101):
            # Where nothing counts, the loss is 0 and not 0 / 0.
            counted = labels != ignored
            if weights is not None:
                counted = counted & (weights[labels.clamp(min=0)] != 0)
            value = torch.where(counted.any(), value, torch.zeros_like(value))
        return value

    def t7_fields(self) -> dict[str, Any]:
        zero = torch.zeros(1, dtype=self.gradInput.dtype)
        return {
            **super().t7_fields(),
            "output_tensor": zero,
            "total_weight_tensor": torch.ones_like(zero),
            "target": torch.zeros(1, dtype=torch.int64),
        }


class CrossEntropyCriterion(Criterion):
    """`LogSoftMax` and `ClassNLLCriterion` in one (Torch7: ``nn.CrossEntropyCriterion``).

    Args:
        weights, sizeAverage: as for `ClassNLLCriterion`, which is the field ``nll``.

    Shapes: input ``C`` or ``N x C``, of any numbers, also with further dimensions of size 1; target
    a label from 1 to C, or ``N`` of them.
    """

    def __init__(self, weights: Tensor | None = None, sizeAverage: bool | None = None) -> None:
        super().__init__()
        self.lsm = LogSoftMax()
        self.nll = ClassNLLCriterion(weights, sizeAverage)
        self.sizeAverage = self.oldSizeAverage = self.nll.sizeAverage

    def compute(self, input: Tensor, target: Any) -> Tensor:
        if input.dim() > 2:
            input = input.squeeze()
        if isinstance(target, Tensor) and target.dim() > 1:
            target = target.squeeze()
        self.nll.sizeAverage = self.sizeAverage
        return self.nll.reduced(F.cross_entropy, input, target)
