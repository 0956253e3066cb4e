"""Layers that reduce one dimension to a number."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, whole, whole_or_none
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.indexing import checked_batched, checked_dim, counted, positive
from compat.nn.core.file_fields import Stored
from compat.nn.core.module import deterministic


class _Reduction(Stored):
    """A function over one dimension. A class states it as ``over(input, dim, keepdim)``.

    Args:
        dimension: the dimension, counted from 1, or from the end with negative numbers.
        nInputDims: the number of dimensions of a sample; given an input with one more, a batch,
            ``dimension`` means that of the samples.

    Shapes: the output lacks the dimension; that of a vector has one element.
    """

    nInputDims: int | None = None

    @nil_is_default
    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims", 0)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        dim = checked_batched(self.dimension, input, self.nInputDims)
        # Torch7 has no tensors without dimensions: what is left of a vector is a vector of one.
        return self.over(input, dim, input.dim() == 1)

    def over(self, input: Tensor, dim: int, keepdim: bool) -> Tensor:
        """The function over dimension ``dim``, counted from 0. Classes define it."""
        raise TypeError(f"{self.typename} does not define over(input, dim, keepdim)")


class Max(_Reduction):
    """The largest element along one dimension (Torch7: ``nn.Max``).

    The gradient goes to the first of equal ones.

    Args:
        dimension: the dimension, counted from 1, or from the end with negative numbers.
        nInputDims: the number of dimensions of a sample; given an input with one more, a batch,
            ``dimension`` means that of the samples.

    PyTorch: ``torch.max``.
    """

    scratch_fields = ("_output", "_indices")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        try:
            return super().compute(input)
        except IndexError:
            size = tuple(input.shape)
            raise ValueError(
                f"input has size {size}; elements along dimension {self.dimension} are accepted"
            ) from None

    def over(self, input: Tensor, dim: int, keepdim: bool) -> Tensor:
        return input.max(dim, keepdim)[0]


class Min(Max):
    """The smallest element along one dimension (Torch7: ``nn.Min``).

    Args:
        dimension, nInputDims: as in ``Max``.

    PyTorch: ``torch.min``.
    """

    def over(self, input: Tensor, dim: int, keepdim: bool) -> Tensor:
        return input.min(dim, keepdim)[0]


class Sum(_Reduction):
    """The sum over one dimension (Torch7: ``nn.Sum``).

    Args:
        dimension, nInputDims: as in ``Max``.
        sizeAverage: divide by the size of the dimension.
        squeeze: drop the dimension, unless the input is a vector.

    PyTorch: ``torch.sum``.
    """

    scratch_fields = ("_gradOutput", "_gradInput")
    sizeAverage: bool = False
    squeeze: bool = True

    @nil_is_default
    def __init__(
        self,
        dimension: int = 1,
        nInputDims: int | None = None,
        sizeAverage: bool = False,
        squeeze: bool = True,
    ) -> None:
        super().__init__(dimension, nInputDims)
        self.sizeAverage = flag(sizeAverage, "sizeAverage")
        self.squeeze = flag(squeeze, "squeeze")

    def over(self, input: Tensor, dim: int, keepdim: bool) -> Tensor:
        keepdim = keepdim or not self.squeeze
        return input.mean(dim, keepdim) if self.sizeAverage else input.sum(dim, keepdim)


class Mean(Sum):
    """The mean over one dimension (Torch7: ``nn.Mean``).

    Args:
        dimension, nInputDims: as in ``Max``.

    PyTorch: ``torch.mean``.
    """

    # Files from before Mean was a Sum do not say so.
    newer_fields = ("sizeAverage",)
    sizeAverage = True

    @nil_is_default
    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__(dimension, nInputDims, sizeAverage=True)


class ArgMax(Stored):
    """The index, from 1, of the largest element along one dimension (``nn.ArgMax`` of dpnn).

    The gradient is zero; the gradOutput is not used.

    Args:
        dim: the dimension, counted from 1.
        nInputDim: the number of dimensions of a sample; for an input with more, a batch, ``dim``
            means that of the samples.
        asLong: give a tensor of whole numbers, not one of the input's type.

    PyTorch: ``torch.argmax``.
    """

    needs_gradOutput = False
    scratch_fields = ("_value", "_indices")

    @nil_is_default
    def __init__(self, dim: int = 1, nInputDim: int = 9999, asLong: bool = True) -> None:
        super().__init__()
        self.dim = positive(dim, "dim")
        self.nInputDim = whole(nInputDim, "nInputDim", 0)
        self.asLong = flag(asLong, "asLong")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        dim = checked_dim(self.dim + (input.dim() > self.nInputDim), input)
        largest = input.max(dim, input.dim() == 1)[1] + 1
        return largest if self.asLong else largest.to(input.dtype)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        if self.asLong and not fields["output"].numel():
            fields["output"] = torch.empty(0, dtype=torch.int64)
        return fields
