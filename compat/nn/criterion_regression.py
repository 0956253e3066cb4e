"""Regression criterions: the target is a value for each number of the input."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import functional as F

from compat.nn.criterion import Criterion


def matching(input: Any, target: Any) -> Tensor:
    """``target`` in the shape of ``input``. Raises for another number of elements or type."""
    for name, value in (("input", input), ("target", target)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{name} is a {type(value).__name__}; a tensor is accepted")
    if input.dtype != target.dtype or input.device != target.device:
        raise TypeError(
            f"target is {target.dtype} on {target.device}, input is {input.dtype} on {input.device}"
        )
    if target.shape == input.shape:
        return target
    if target.numel() != input.numel():
        raise ValueError(
            f"target has size {tuple(target.shape)}, input has size {tuple(input.shape)}"
        )
    return target.reshape(input.shape)


class _Averaged(Criterion):
    """Criterions whose first argument is whether to average over all elements."""

    def __init__(self, sizeAverage: bool | None = None) -> None:
        super().__init__()
        self.sizeAverage = True if sizeAverage is None else bool(sizeAverage)

    @property
    def _reduction(self) -> str:
        return "mean" if self.sizeAverage else "sum"


class MSECriterion(_Averaged):
    """The mean of the squared differences (Torch7: ``nn.MSECriterion``).

    Args:
        sizeAverage: take the mean; otherwise the sum.

    Shapes: input and target have the same number of elements.
    """

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, matching(input, target), reduction=self._reduction)
