"""Layers that take parts of their input along a dimension, or put constants between them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat import accelerators, cutorch
from compat.checks import given, number, whole, whole_or_none
from compat.nn.checks.indexing import checked_dim, counted, positive
from compat.nn.checks.tensors import ANYTHING, INDICES, MIXED, check_dims
from compat.nn.core.layer import Layer
from compat.nn.functional import slices as f
from compat.tensor_types import parse_type


class Narrow(Layer):
    """A range of one dimension (Torch7: ``nn.Narrow``).

    Args:
        dimension: counted from 1, or from the end with negative numbers.
        offset: the first index of the range, counted from 1. As in Torch7, a negative one means
            instead that ``length`` entries are left out at the end.
        length: the number of entries; -1 means up to the last, -2 up to the last but one, etc.

    PyTorch: ``torch.narrow``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.Narrow(1, 2, 2).forward(torch.tensor([1, 2, 3, 4])).tolist()  # from the second on
        [2, 3]
    """

    def __init__(self, dimension: int, offset: int, length: int = 1) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.index = counted(offset, "offset")
        self.length = whole(length, "length")

    def _range(self, input: Tensor) -> tuple[int, int, int]:
        """Return the dimension, the first index and the length, counted from 0."""
        dim = checked_dim(self.dimension, input)
        size = input.size(dim)
        first = max(self.index, 1) - 1
        length = self.length if self.length >= 0 else size - self.index + self.length + 2
        if self.index < 0:
            length = size - length
        if first < 0 or length < 1 or first + length > size:
            raise ValueError(
                f"input has size {size} in dimension {self.dimension}; one with {self.length} "
                f"entries from {self.index} on is accepted"
            )
        return dim, first, length

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.narrow(input, *self._range(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.narrow_backward(input, gradOutput, *self._range(input)))


class Select(Layer):
    """The entry at one index of a dimension, which is dropped (Torch7: ``nn.Select``).

    Args:
        dimension, index: counted from 1, or from the end with negative numbers.

    Differs from Torch7: of a vector it selects a vector of one element.

    PyTorch: ``torch.select``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.Select(1, -1).forward(torch.tensor([[1, 2], [3, 4]])).tolist()
        [3, 4]
    """

    def __init__(self, dimension: int, index: int) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.index = counted(index, "index")

    def _place(self, input: Tensor) -> tuple[int, int]:
        """Return the dimension and the index, counted from 0."""
        dim = checked_dim(self.dimension, input)
        size = input.size(dim)
        index = self.index - 1 if self.index > 0 else size + self.index
        if not 0 <= index < size:
            raise IndexError(
                f"input has size {size} in dimension {self.dimension}; one with index "
                f"{self.index} is accepted"
            )
        return dim, index

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.select(input, *self._place(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.select_backward(input, gradOutput, *self._place(input)))


class _OfIndices(Layer):
    """A layer with an input of indices, whose gradient is zero and of the module's type."""

    takes = ANYTHING

    def _zeros(self, indices: Tensor) -> Tensor:
        return torch.zeros(indices.shape, dtype=parse_type(self._type)[0], device=indices.device)


class Index(_OfIndices):
    """The entries at chosen indices of one dimension (Torch7: ``nn.Index``).

    Args:
        dimension: counted from 1, or from the end with negative numbers.

    The input is a table of a tensor and a vector of indices, which count from 1. The
    indices get a zero gradient.

    PyTorch: ``torch.index_select``.
    """

    takes = MIXED
    table_fields = ("gradInput",)
    of_pairs = True

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")

    def updateOutput(self, input: Any) -> Tensor:
        tensor, index = two(input, "a tensor and indices")
        dim = checked_dim(self.dimension, tensor)
        check_dims(index, 1, name="input[2]")
        check_indices(index, tensor.size(dim))
        return self.set_output(f.index_slices(tensor, dim, index))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        tensor, index = input
        dim = checked_dim(self.dimension, tensor)
        of_tensor = f.index_slices_backward(tensor, gradOutput, dim, index)
        return self.set_gradInput([of_tensor, self._zeros(index)])

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        if not (isinstance(fields.get("gradInput"), list) and fields["gradInput"]):
            fields["gradInput"] = [self._empty(), self._empty()]
        return fields


class MaskedSelect(Layer):
    """The elements where a mask is not 0, as a vector (Torch7: ``nn.MaskedSelect``).

    The input is a table of a tensor and a mask of the same size, of bytes or booleans. In the
    gradient the second is zero.

    PyTorch: ``torch.masked_select``.
    """

    takes = MIXED
    workspace_fields = {
        "_maskIndices": torch.int64,
        "_maskIndexBuffer": torch.int64,
        "_maskIndexBufferCPU": torch.float32,
        "_gradBuffer": None,
        "_gradMask": torch.uint8,
    }

    def updateOutput(self, input: Any) -> Tensor:
        tensor, mask = two(input, "a tensor and a mask")
        if mask.shape != tensor.shape:
            raise ValueError(
                f"input[2] has size {_times(mask.shape)}; that of input[1], "
                f"{_times(tensor.shape)}, is accepted"
            )
        return self.set_output(f.masked_select(tensor, mask))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> list[Tensor] | None:
        if self.gradInput is None:
            return None
        tensor, mask = input
        count = int(mask.count_nonzero())
        # On a GPU too few elements would stop the program.
        if gradOutput.numel() != count:
            raise ValueError(f"gradOutput has {gradOutput.numel()} elements; {count} are accepted")
        of_tensor = f.masked_select_backward(tensor, gradOutput, mask)
        return self.set_gradInput([of_tensor, mask.new_zeros(mask.shape)])


class OneHot(_OfIndices):
    """The one-hot vector of each number (Torch7: ``nn.OneHot``).

    Args:
        outputSize: the size of the vectors.

    The input is a tensor of numbers from 1 to ``outputSize``, or one number; the output has one
    more dimension, the last. The gradient is zero.

    PyTorch: ``torch.nn.functional.one_hot``.
    """

    takes = INDICES
    scratch_fields = ("_single", "_input")

    def __init__(self, outputSize: int) -> None:
        super().__init__()
        self.outputSize = whole(outputSize, "outputSize", 1)

    def updateOutput(self, input: Any) -> Tensor:
        dtype, device = cutorch.place(self._type)
        if isinstance(input, (int, float)):
            input = torch.tensor(input, device=device)
        check_indices(input, self.outputSize)
        return self.set_output(f.one_hot(input, self.outputSize, dtype))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Tensor | int | None:
        if self.gradInput is None:
            return None
        if isinstance(input, Tensor):
            return self.set_gradInput(self._zeros(input))
        self.gradInput = 0
        return 0


class Padding(Layer):
    """Insert constant entries into one dimension (Torch7: ``nn.Padding``).

    Args:
        dim: the dimension, counted from 1.
        pad: how many; negative to count ``index`` from the left, positive from the right.
        nInputDim: the number of dimensions of a sample; ``dim`` is one more for other inputs.
        value: the constant.
        index: where they go, counted from 1: at 1 they come before the first entry (after the last
            for a positive ``pad``), at 2 between the first two (last two), and so on.

    PyTorch: ``torch.nn.functional.pad``.
    """

    size_fields = ("outputSize",)
    nInputDim: int | None = None
    newer_fields = ("index",)
    value: float = 0
    index: int = 1

    def __init__(
        self,
        dim: int,
        pad: int,
        nInputDim: int | None = None,
        value: float = 0,
        index: int = 1,
    ) -> None:
        super().__init__()
        self.value = number(value, "value")
        self.index = positive(index, "index")
        self.dim = positive(dim, "dim")
        self.pad = whole(pad, "pad")
        self.nInputDim = whole_or_none(nInputDim, "nInputDim")
        self.outputSize: list[int] = []

    def _place(self, input: Tensor) -> tuple[int, int, int]:
        """Return the dimension, how many entries come before the constants, and how many
        constants.
        """
        is_batch = self.nInputDim is not None and input.dim() != self.nInputDim
        dim = checked_dim(self.dim + is_batch, input)
        size = input.size(dim)
        before = size - self.index + 1 if self.pad > 0 else self.index - 1
        if not 0 <= before <= size:
            raise ValueError(
                f"input has size {size} in dimension {self.dim}; one with index {self.index} is "
                "accepted"
            )
        return dim, before, abs(self.pad)

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.padding(input, *self._place(input), self.value))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.padding_backward(input, gradOutput, *self._place(input)))


def two(input: Any, what: str) -> tuple[Tensor, Tensor]:
    """Return the two tensors of an input that is a table of two."""
    if not isinstance(input, (list, tuple)) or len(input) != 2:
        raise TypeError(f"input is {given(input, counted=True)}; a table of {what} is accepted")
    return input[0], input[1]


def check_indices(index: Tensor, size: int) -> None:
    """Refuse indices that are not from 1 to ``size``."""
    # On a GPU the check would wait for the device, which checks by itself.
    if not accelerators.holds(index) and index.numel():
        least, most = index.min().item(), index.max().item()
        if least < 1 or most > size:
            raise IndexError(
                f"input[2] has indices from {least} to {most}; 1 to {size} are accepted, as in "
                "Torch7"
            )


def _times(size: Any) -> str:
    return "x".join(map(str, size))
