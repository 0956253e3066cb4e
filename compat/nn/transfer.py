"""Transfer functions: the layers between the layers with parameters, and the softmax family."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.nn.elementwise import Elementwise, flag, number
from compat.nn.module import Module


class Threshold(Elementwise):
    """``x`` above ``th`` and ``v`` elsewhere (Torch7: ``nn.Threshold``).

    Args:
        th: the threshold.
        v: the value at and below it.
        ip: work in place. Raises ValueError where ``v`` exceeds ``th``, as the gradient would then
            be wrong.
    """

    def __init__(self, th: float = 1e-6, v: float = 0, ip: bool = False) -> None:
        super().__init__()
        self.threshold = number(th, "th")
        self.val = number(v, "v")
        self.inplace = flag(ip)
        if self.inplace and v > th:
            raise ValueError(f"v is {v}; in place at most th, {th}, is accepted")

    def apply_to(self, input: Tensor) -> Tensor:
        return F.threshold(input, self.threshold, self.val, self.inplace)


class ReLU(Threshold):
    """``max(x, 0)`` (Torch7: ``nn.ReLU``).

    Args:
        p: work in place.
    """

    def __init__(self, p: bool = False) -> None:
        super().__init__(0, 0, flag(p, "p"))

    def apply_to(self, input: Tensor) -> Tensor:
        return F.relu(input, self.inplace)


class Tanh(Elementwise):
    """``tanh(x)`` (Torch7: ``nn.Tanh``)."""

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.tanh(input)


class Sigmoid(Elementwise):
    """``1 / (1 + exp(-x))`` (Torch7: ``nn.Sigmoid``)."""

    def apply_to(self, input: Tensor) -> Tensor:
        return torch.sigmoid(input)


class _OverFeatures(Module):
    """The softmax family: a function over the features of each sample or place.

    Features are the last dimension of a vector or of a batch of them, ``D`` or ``N x D``, and the
    planes of an image or of a batch of them, ``D x H x W`` or ``N x D x H x W``.
    """

    _dims: tuple[int, ...] = (1, 2, 3, 4)

    def compute(self, input: Tensor) -> Tensor:
        if input.dim() not in self._dims:
            accepted = f"{', '.join(map(str, self._dims[:-1]))} or {self._dims[-1]}"
            raise ValueError(f"input has {input.dim()} dimensions; {accepted} are accepted")
        return self.over(input, (input.dim() + 1) % 2)

    def over(self, input: Tensor, dim: int) -> Tensor:
        """The function over dimension ``dim``, counted from 0. Classes define it."""
        raise TypeError(f"{self.typename} does not define over(input, dim)")


class SoftMax(_OverFeatures):
    """``exp(x_i) / sum_j exp(x_j)`` over the features (Torch7: ``nn.SoftMax``).

    Shapes: ``D``, ``N x D``, ``D x H x W`` or ``N x D x H x W``, features in the dimension ``D``.
    """

    def over(self, input: Tensor, dim: int) -> Tensor:
        return torch.softmax(input, dim)


class LogSoftMax(_OverFeatures):
    """The logarithm of `SoftMax` (Torch7: ``nn.LogSoftMax``). Shapes as there."""

    def over(self, input: Tensor, dim: int) -> Tensor:
        return torch.log_softmax(input, dim)
