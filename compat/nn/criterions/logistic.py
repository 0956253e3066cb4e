"""Logistic regression: the target of each number is 1 or -1."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import check_tensor
from compat.nn.checks.tensors import check_dims
from compat.nn.criterions.regression import Averaged, matching
from compat.nn.functional import criterions_classification as f


class _Logistic(Averaged):
    """The base: the sum of ``log(1 + exp(-target * input))`` times each element's weight."""

    _loss = staticmethod(f.logistic_loss)
    _slopes = staticmethod(f.logistic_loss_backward)


class BinaryLogisticRegression(_Logistic):
    """The mean of ``log(1 + exp(-target * input))``.

    Torch7: ``nn.BinaryLogisticRegression`` of dpnn.

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target, of 1 and -1, ``N`` or ``N x 1``.

    Differs from Torch7: exponentials that overflow give a loss and a gradient that are finite.

    PyTorch: ``torch.nn.SoftMarginLoss``.
    """

    scratch_fields = ("_baseExponents", "_coeff", "_logCoeff", "_k")

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        for name, value in (("input", input), ("target", target)):
            check_dims(check_tensor(value, name), 1, 2, name=name)
            if value.dim() == 2 and 1 not in value.shape:
                raise ValueError(f"{name} has size {tuple(value.shape)}; N or N x 1 is accepted")
        return input, matching(input, target), 1 / input.numel() if self.sizeAverage else 1


class SpatialBinaryLogisticRegression(_Logistic):
    """Half of ``BinaryLogisticRegression`` of each pixel.

    Torch7: ``nn.SpatialBinaryLogisticRegression`` of dpnn.

    Shapes: input and target, of 1 and -1, ``[N x] 1 x H x W``.

    Field: ``sizeAverage``, whether the sum is divided by ``2·N·H·W``, or only by ``2·H·W``.

    Differs from Torch7: exponentials that overflow give a loss and a gradient that are finite.
    """

    scratch_fields = ("_baseExponents", "_coeff", "_logCoeff", "_k", "_h", "_w", "_isBatch")

    def __init__(self) -> None:
        super().__init__()

    def _arguments(self, input: Tensor, target: Any) -> tuple[Any, ...]:
        check_dims(check_tensor(input), 3, 4)
        if check_tensor(target, "target").shape != input.shape or input.size(-3) != 1:
            raise ValueError(
                f"input has size {tuple(input.shape)}, target has {tuple(target.shape)}; the same "
                "for both, of one plane, is accepted"
            )
        pixels = input.numel() if self.sizeAverage else input.size(-1) * input.size(-2)
        return input, matching(input, target), 1 / (2 * pixels)
