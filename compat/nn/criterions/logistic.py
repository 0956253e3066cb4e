"""Logistic regression: the target of each number is 1 or -1."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import check_tensor
from compat.nn.checks.tensors import check_dims
from compat.nn.criterions.regression import Averaged, matching
from compat.nn.functional import criterions_classification as f


class _Logistic(Averaged):
    """The sum over ``log(1 + exp(-target * input))``, times a share that a class states."""

    def _target_and_share(self, input: Tensor, target: Any) -> tuple[Tensor, float]:
        """The target in the shape of the input, and what the loss of each element counts."""
        raise TypeError(f"{self.typename} does not define _target_and_share(input, target)")

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        self.output = f.logistic_loss(input, *self._target_and_share(input, target)).item()
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        own = self._target_and_share(input, target)
        return self.set_gradInput(f.logistic_loss_backward(input, *own))


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

    def _target_and_share(self, input: Tensor, target: Any) -> tuple[Tensor, float]:
        for name, value in (("input", input), ("target", target)):
            check_dims(check_tensor(value, name), 1, 2, name=name)
            if value.dim() == 2 and 1 not in value.shape:
                raise ValueError(f"{name} has size {tuple(value.shape)}; N or N x 1 is accepted")
        return matching(input, target), 1 / input.numel() if self.sizeAverage else 1


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

    def _target_and_share(self, input: Tensor, target: Any) -> tuple[Tensor, float]:
        check_dims(check_tensor(input), 3, 4)
        if check_tensor(target, "target").shape != input.shape or input.size(-3) != 1:
            raise ValueError(
                f"input has size {tuple(input.shape)}, target has {tuple(target.shape)}; the same "
                "for both, of one plane, is accepted"
            )
        pixels = input.numel() if self.sizeAverage else input.size(-1) * input.size(-2)
        return matching(input, target), 1 / (2 * pixels)
