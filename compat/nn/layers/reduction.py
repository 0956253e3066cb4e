"""Layers that reduce one dimension to a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat.checks import flag, whole, whole_or_none
from compat.nn.checks.indexing import checked_batched, checked_dim, counted, positive
from compat.nn.core.layer import Layer
from compat.nn.functional import reduction as f


class _Reduction(Layer):
    """The base of reductions over one dimension.

    Args:
        dimension: the dimension, counted from 1, or from the end with negative numbers.
        nInputDims: the number of dimensions of a sample. An input with one more is a batch, and
            ``dimension`` counts within a sample. A negative number is ignored.

    Shapes: the output lacks the dimension; that of a vector has one element.
    """

    nInputDims: int | None = None

    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.nInputDims = whole_or_none(nInputDims, "nInputDims")

    def _dim(self, input: Tensor) -> int:
        """Return the dimension, counted from 0."""
        return checked_batched(self.dimension, input, self.nInputDims)


class Max(_Reduction):
    """The largest element along one dimension (Torch7: ``nn.Max``).

    The gradient goes to the first of equal elements.

    Args:
        dimension: the dimension, counted from 1, or from the end with negative numbers.
        nInputDims: the number of dimensions of a sample. An input with one more is a batch, and
            ``dimension`` counts within a sample. A negative number is ignored.

    PyTorch: ``torch.max``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> layer = nn.Max(2)
        >>> layer.forward(torch.tensor([[1.0, 3.0], [5.0, 4.0]])).tolist()
        [3.0, 5.0]
    """

    scratch_fields = ("_output", "_indices")
    pass_fields = ("_indices",)

    # What finds the elements and their indices.
    _find: ClassVar[Callable[..., Any]] = staticmethod(torch.max)

    def updateOutput(self, input: Tensor) -> Tensor:
        dim = self._dim(input)
        try:
            # Torch7 has no tensors without dimensions: what is left of a vector is a vector of one.
            output, self._indices = self._find(input, dim, input.dim() == 1)
        except IndexError:
            size = tuple(input.shape)
            raise ValueError(
                f"input has size {size}; elements along dimension {self.dimension} are accepted"
            ) from None
        return self.set_output(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        dim = self._dim(input)
        return self.set_gradInput(f.extreme_backward(input, gradOutput, self._indices, dim))


class Min(Max):
    """The smallest element along one dimension (Torch7: ``nn.Min``).

    Args:
        dimension, nInputDims: as in ``Max``.

    PyTorch: ``torch.min``.
    """

    _find = staticmethod(torch.min)


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

    def updateOutput(self, input: Tensor) -> Tensor:
        dim, keepdim = self._dim(input), input.dim() == 1 or not self.squeeze
        return self.set_output(f.sum_over(input, dim, keepdim, self.sizeAverage))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        dim = self._dim(input)
        return self.set_gradInput(f.sum_over_backward(input, gradOutput, dim, self.sizeAverage))


class Mean(Sum):
    """The mean over one dimension (Torch7: ``nn.Mean``).

    Args:
        dimension, nInputDims: as in ``Max``.

    PyTorch: ``torch.mean``.
    """

    # Files from before Mean was a Sum do not say so.
    newer_fields = ("sizeAverage",)
    sizeAverage = True

    def __init__(self, dimension: int = 1, nInputDims: int | None = None) -> None:
        super().__init__(dimension, nInputDims, sizeAverage=True)


class ArgMax(Layer):
    """The index, from 1, of the largest element along one dimension (``nn.ArgMax`` of dpnn).

    The gradient is zero; the gradOutput is not used.

    Args:
        dim: the dimension, counted from 1.
        nInputDim: the number of dimensions of a sample; for an input with more, a batch, ``dim``
            means that of the samples.
        asLong: give a tensor of whole numbers, not one of the input's type.

    PyTorch: ``torch.argmax``.
    """

    scratch_fields = ("_value", "_indices")

    def __init__(self, dim: int = 1, nInputDim: int = 9999, asLong: bool = True) -> None:
        super().__init__()
        self.dim = positive(dim, "dim")
        self.nInputDim = whole(nInputDim, "nInputDim", 0)
        self.asLong = flag(asLong, "asLong")

    def updateOutput(self, input: Tensor) -> Tensor:
        dim = checked_dim(self.dim + (input.dim() > self.nInputDim), input)
        largest = input.max(dim, input.dim() == 1)[1].add_(1)
        return self.set_output(largest if self.asLong else largest.to(input.dtype))

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(input.new_zeros(input.shape))

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        if self.asLong and not fields["output"].numel():
            fields["output"] = torch.empty(0, dtype=torch.int64)
        return fields
