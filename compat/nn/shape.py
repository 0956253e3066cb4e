"""Layers that select, rearrange and repeat elements."""

from __future__ import annotations

import math
from typing import Any

from torch import Tensor

from compat.nn.indexing import counted, zero_based
from compat.nn.module import Module
from compat.nn.stored import Stored, sizes


class View(Stored):
    """The input in another shape (Torch7: ``nn.View``).

    Args:
        size: the sizes of a sample, one of which may be -1 to be inferred: several numbers, or one
            list of them.

    What the elements of the input are more than the sizes hold is taken as the batch; with -1 it is
    so only after `setNumInputDims`.

    Differs from Torch7: inputs need not be contiguous.
    """

    _sizes = ("size",)
    numInputDims: int | None = None

    def __init__(self, *size: Any) -> None:
        super().__init__()
        self.size = sizes(size)
        if any(n < -1 for n in self.size) or self.size.count(-1) > 1:
            raise ValueError(f"size is {self.size}; sizes and at most one -1 are accepted")
        self.numElements = math.prod(n for n in self.size if n >= 0)

    def setNumInputDims(self, numInputDims: int | None) -> View:
        """Say how many dimensions a sample of the input has; the ones before are the batch."""
        self.numInputDims = numInputDims
        return self

    def compute(self, input: Tensor) -> Tensor:
        count = self._batch(input)
        return input.reshape(self.size if count is None else [count, *self.size])

    def _batch(self, input: Tensor) -> int | None:
        """How many samples ``input`` holds; None if it is one sample, not a batch."""
        most = input.dim() if self.numInputDims is None else self.numInputDims
        first = max(input.dim() - most, 0)
        elements, known = math.prod(input.shape[first:]), math.prod(n for n in self.size if n >= 0)
        if known == 0 or elements % known:
            raise ValueError(
                f"input has size {_times(input.shape)}, which does not fit the view "
                f"{_times(self.size)}"
            )
        count = 1 if -1 in self.size else elements // known
        count *= math.prod(input.shape[:first])
        is_sample = self.numInputDims is None or input.dim() <= self.numInputDims
        return None if count == 1 and is_sample else count

    def __repr__(self) -> str:
        return f"{self.typename}({', '.join(map(str, self.size))})"


class Reshape(Stored):
    """The input in another shape (Torch7: ``nn.Reshape``).

    Args:
        size: the sizes of a sample: several numbers, or one list of them.
        batchMode: given last. True: the first dimension of the input is the batch. False: the input
            is one sample. By default it is a batch unless it has as many elements as ``size`` and
            its first dimension is not 1.
    """

    _sizes = ("size", "batchsize")
    _scratch = ("_input", "_gradOutput")
    batchMode: bool | None = None

    def __init__(self, *size: Any, batchMode: bool | None = None) -> None:
        super().__init__()
        if size and isinstance(size[-1], bool):
            *size, batchMode = size  # type: ignore[assignment]
        self.batchMode = batchMode
        self.size = sizes(tuple(size))
        self.nelement = math.prod(self.size)
        # Torch7 writes the size of the batch into the first place; files carry the field.
        self.batchsize = [0, *self.size]

    def compute(self, input: Tensor) -> Tensor:
        whole = self.batchMode is False or (
            self.batchMode is None and input.numel() == self.nelement and input.size(0) != 1
        )
        size = self.size if whole else [input.size(0), *self.size]
        if -1 not in size and math.prod(size) != input.numel():
            raise ValueError(
                f"input has size {_times(input.shape)}, which does not fit {_times(size)}"
            )
        return input.reshape(size)

    def __repr__(self) -> str:
        return f"{self.typename}({_times(self.size)})"


class Narrow(Module):
    """A range of one dimension (Torch7: ``nn.Narrow``).

    Args:
        dimension: counted from 1, or from the end with negative numbers.
        offset: the first index of the range, counted from 1.
        length: how many there are; -1 means up to the last, -2 up to the last but one, and so on.
    """

    def __init__(self, dimension: int, offset: int, length: int = 1) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.index = counted(offset, "offset")
        self.length = length

    def compute(self, input: Tensor) -> Tensor:
        dim = checked_dim(self.dimension, input)
        size = input.size(dim)
        first = self.index - 1 if self.index > 0 else size + self.index
        length = self.length if self.length >= 0 else size - first + self.length + 1
        if first < 0 or length < 1 or first + length > size:
            raise ValueError(
                f"dimension {self.dimension} of the input has size {size}, "
                f"{self.length} from {self.index} on are wanted"
            )
        return input.narrow(dim, first, length)


def checked_dim(dimension: int, input: Tensor) -> int:
    """PyTorch's number of ``dimension``, if ``input`` has it."""
    dim = zero_based(dimension)
    if not -input.dim() <= dim < input.dim():
        raise ValueError(f"input has {input.dim()} dimensions, dimension {dimension} is wanted")
    return dim % input.dim()


def _times(size: Any) -> str:
    return "x".join(map(str, size))
