"""The softmax family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn

from compat.nn.core.module import Module
from compat.nn.functional import activation as f
from compat.nn.interchange.from_torch import converts_from_simply, require
from compat.nn.interchange.to_torch import converts_simply
from compat.nn.layers import softmax as torch7


def features_of(input: Tensor, sample_dims: int) -> int:
    """Return the dimension of the features: of vectors the last, of samples with planes
    the planes.
    """
    return 1 if input.dim() == 2 or input.dim() == sample_dims + 1 else 0


class _OverFeatures(nn.Module):
    """A softmax over the features of batches and of samples; ``over_all``, over all of each."""

    _function: Callable[[Tensor, int], Tensor]

    def __init__(self, sample_dims: int = 3, over_all: bool = False) -> None:
        super().__init__(1)
        self.sample_dims = sample_dims
        self.over_all = over_all

    def forward(self, input: Tensor) -> Tensor:
        dim = features_of(input, self.sample_dims)
        flat = input.flatten(dim) if self.over_all else input
        return self._function(flat, dim).view(input.shape)


class SoftMax(_OverFeatures, nn.Softmax):
    """``torch.nn.Softmax`` for samples too; ``over_all``, over all of each.

    PyTorch: ``torch.nn.Softmax``.
    """

    _function = staticmethod(f.softmax)


class LogSoftMax(_OverFeatures, nn.LogSoftmax):
    """``torch.nn.LogSoftmax`` for samples too; ``over_all``, over all of each.

    PyTorch: ``torch.nn.LogSoftmax``.
    """

    _function = staticmethod(f.log_softmax)


class SoftMin(nn.Softmin):
    """``torch.nn.Softmin`` for samples too.

    PyTorch: ``torch.nn.Softmin``.
    """

    def forward(self, input: Tensor) -> Tensor:
        return f.softmax(-input, features_of(input, 3))


def _from_ours(cls: type[Module]) -> Callable[[Any], Module]:
    def make(module: Any) -> Module:
        require(module.sample_dims == 3 and not module.over_all, "a softmax that is cudnn's own")
        return cls()

    return make


def _from_pytorchs(cls: type[Module]) -> Callable[[Any], Module]:
    def make(module: Any) -> Module:
        require(module.dim == 1, f"dim {module.dim}")
        return cls()

    return make


converts_simply(torch7.SoftMax, lambda m: SoftMax())
converts_simply(torch7.LogSoftMax, lambda m: LogSoftMax())
converts_simply(torch7.SoftMin, lambda m: SoftMin(1))
converts_from_simply(SoftMax, _from_ours(torch7.SoftMax))
converts_from_simply(LogSoftMax, _from_ours(torch7.LogSoftMax))
converts_from_simply(SoftMin, lambda m: torch7.SoftMin())
converts_from_simply(nn.Softmax, _from_pytorchs(torch7.SoftMax))
converts_from_simply(nn.LogSoftmax, _from_pytorchs(torch7.LogSoftMax))
converts_from_simply(nn.Softmin, _from_pytorchs(torch7.SoftMin))
