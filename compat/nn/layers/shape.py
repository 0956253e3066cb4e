"""Layers that select, rearrange and repeat elements."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat import accelerators, cutorch
from compat.checks import given, number, whole, whole_or_none
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.indexing import checked_dim, counted, positive
from compat.nn.checks.tensors import ANYTHING, INDICES, MIXED, TENSOR, check_dims
from compat.nn.core.file_fields import Stored, sizes
from compat.nn.core.module import Module, deterministic
from compat.tensor_types import parse_type


class View(Stored):
    """The input in another shape (Torch7: ``nn.View``).

    Args:
        size: the sizes of a sample, one of which may be -1 to be inferred: several numbers, or one
            list of them.

    What the input holds more than one sample is a batch; with -1, it is so only after
    ``setNumInputDims``.

    Differs from Torch7: inputs need not be contiguous.

    PyTorch: ``torch.Tensor.view``.
    """

    size_fields = ("size",)
    nil_stops_gradient = False
    numInputDims: int | None = None

    def __init__(self, *size: Any) -> None:
        super().__init__()
        self.resetSize(*size)

    def resetSize(self, *size: Any) -> View:
        """Set the sizes of a sample, as in the constructor."""
        given = sizes(size)
        if not given or any(n < -1 for n in given) or given.count(-1) > 1:
            raise ValueError(f"size is {given}; sizes and at most one -1 are accepted")
        self.size = given
        self.numElements = _known(given)
        return self

    def setNumInputDims(self, numInputDims: int | None) -> View:
        """Say how many dimensions a sample of the input has; the ones before are the batch."""
        self.numInputDims = whole_or_none(numInputDims, "numInputDims", 0)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.reshape(*self._fitting(input))

    def _fitting(self, input: Tensor) -> list[int]:
        most, known, size = self.numInputDims, self.numElements, self.size
        first = 0 if most is None else max(input.dim() - most, 0)
        elements = math.prod(input.shape[first:]) if first else input.numel()
        if known == 0 or elements % known:
            raise ValueError(
                f"input has size {_times(input.shape)}; one that fits the view {_times(size)} is "
                "accepted"
            )
        count, inferred = elements // known, -1 in size
        if not first:
            return size if inferred or count == 1 else [count, *size]
        if inferred:
            # For a batch of no samples PyTorch could not tell.
            count, size = 1, [count if n == -1 else n for n in size]
        return [count * math.prod(input.shape[:first]), *size]

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.numElements = _known(self.size)

    def __repr__(self) -> str:
        return f"{self.typename}({', '.join(map(str, self.size))})"


class Reshape(Stored):
    """The input in another shape (Torch7: ``nn.Reshape``).

    Args:
        size: the sizes of a sample: several numbers, or one list of them.
        batchMode: given last. True: the first dimension of the input is the batch. False: the input
            is one sample. By default it is a batch unless it has as many elements as ``size`` and
            its first dimension is not 1.

    PyTorch: ``torch.reshape``.
    """

    size_fields = ("size", "batchsize")
    scratch_fields = ("_input", "_gradOutput")
    batchMode: bool | None = None

    def __init__(self, *size: Any, batchMode: bool | None = None) -> None:
        super().__init__()
        if size and isinstance(size[-1], bool):
            *size, batchMode = size  # type: ignore[assignment]
        self.batchMode = batchMode
        self.size = sizes(tuple(size))
        if not self.size:
            raise ValueError("size is empty; one or more sizes are accepted")
        self.nelement = math.prod(self.size)
        # Torch7 writes the size of the batch into the first place.
        self.batchsize = [0, *self.size]

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.reshape(*self._fitting(input))

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.nelement = math.prod(self.size)

    def _fitting(self, input: Tensor) -> list[int]:
        single = self.batchMode is False or (
            self.batchMode is None and input.numel() == self.nelement and input.size(0) != 1
        )
        return self.size if single else [input.size(0), *self.size]

    def objection(self, **arguments: Any) -> Exception | None:
        found, input = super().objection(**arguments), arguments["input"]
        if found is None and not input.dim():
            found = ValueError("input has no dimensions; at least one is accepted")
        elif found is None:
            shape, wanted = _times(input.shape), _times(self._fitting(input))
            found = ValueError(f"input has size {shape}; one that fits {wanted} is accepted")
        return found

    def __repr__(self) -> str:
        return f"{self.typename}({_times(self.size)})"


class Collapse(Stored):
    """All dimensions of a sample as one (Torch7: ``nn.Collapse``).

    Args:
        nInputDim: the number of dimensions of a sample; the first of an input with more is the
            batch.

    PyTorch: ``torch.nn.Flatten``.
    """

    scratch_fields = ("_input",)

    def __init__(self, nInputDim: int) -> None:
        super().__init__()
        self.nInputDim = whole(nInputDim, "nInputDim", 1)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.flatten(1 if input.dim() > self.nInputDim else 0)


class Squeeze(Module):
    """Drops dimensions of size 1 (Torch7: ``nn.Squeeze``).

    Args:
        dim: the one to drop if its size is 1, counted from 1; by default all such.
        numInputDims: the number of dimensions of a sample; given an input with one more, a batch,
            ``dim`` means that of the samples.

    PyTorch: ``torch.squeeze``.
    """

    takes = TENSOR

    dim: int | None = None
    numInputDims: int | None = None

    def __init__(self, dim: int | None = None, numInputDims: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else positive(dim, "dim")
        self.setNumInputDims(numInputDims)

    def setNumInputDims(self, numInputDims: int | None) -> Squeeze:
        """Say how many dimensions a sample has."""
        self.numInputDims = whole_or_none(numInputDims, "numInputDims", 0)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        is_batch = self.numInputDims is not None and input.dim() == self.numInputDims + 1
        first = 1 if is_batch else 0
        if self.dim is None:
            dropped = [d for d in range(first, input.dim()) if input.size(d) == 1]
        else:
            dropped = [checked_dim(self.dim + first, input)]
        # Torch7 has no tensors without dimensions.
        return input.squeeze(dropped[1:] if len(dropped) == input.dim() else dropped)


class Unsqueeze(Module):
    """Inserts a dimension of size 1 (Torch7: ``nn.Unsqueeze``).

    Args:
        pos: the number that the new dimension gets, counted from 1.
        numInputDims: the number of dimensions of a sample; those before are the batch. By default
            that of the first input, which the field keeps.

    PyTorch: ``torch.unsqueeze``.
    """

    takes = TENSOR

    numInputDims: int | None = None

    def __init__(self, pos: int, numInputDims: int | None = None) -> None:
        super().__init__()
        self.pos = positive(pos, "pos")
        self.setNumInputDims(numInputDims)

    def setNumInputDims(self, numInputDims: int | None) -> Unsqueeze:
        """Say how many dimensions a sample has."""
        self.numInputDims = whole_or_none(numInputDims, "numInputDims", 0)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        if self.numInputDims is None:
            self.numInputDims = input.dim()
        dims = self.numInputDims
        if input.dim() < dims:
            raise ValueError(f"input has {input.dim()} dimensions; at least {dims} are accepted")
        if self.pos > dims + 1:
            raise ValueError(
                f"pos is {self.pos}; 1 to {dims + 1} are accepted for {dims} dimensions"
            )
        return input.unsqueeze(input.dim() - dims + self.pos - 1)

    def __repr__(self) -> str:
        return f"{self.typename}(dim {self.pos})"


class Transpose(Module):
    """Swaps dimensions (Torch7: ``nn.Transpose``). The output is contiguous.

    Args:
        permutations: pairs of dimensions, counted from 1, swapped one pair after the other.

    PyTorch: ``torch.transpose``.
    """

    takes = TENSOR

    numInputDims: int | None = None

    def __init__(self, *permutations: Any) -> None:
        super().__init__()
        self.permutations = [_pair(pair) for pair in permutations]

    def setNumInputDims(self, numInputDims: int | None) -> Transpose:
        """Say how many dimensions a sample has; the ones before are the batch."""
        self.numInputDims = whole_or_none(numInputDims, "numInputDims", 0)
        return self

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        offset = 0 if self.numInputDims is None else input.dim() - self.numInputDims
        for one, other in self.permutations:
            input = input.transpose(
                checked_dim(one + offset, input), checked_dim(other + offset, input)
            )
        return input.contiguous()


class Contiguous(Module):
    """The input with its elements side by side in memory (Torch7: ``nn.Contiguous``).

    PyTorch: ``torch.Tensor.contiguous``.
    """

    takes = TENSOR
    sets_results = True

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        return input.contiguous()


class Narrow(Module):
    """A range of one dimension (Torch7: ``nn.Narrow``).

    Args:
        dimension: counted from 1, or from the end with negative numbers.
        offset: the first index of the range, counted from 1. As in Torch7, a negative one means
            instead that ``length`` entries are left out at the end.
        length: how many there are; -1 means up to the last, -2 up to the last but one, and so on.

    PyTorch: ``torch.narrow``.
    """

    takes = TENSOR

    @nil_is_default
    def __init__(self, dimension: int, offset: int, length: int = 1) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.index = counted(offset, "offset")
        self.length = whole(length, "length")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
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
        # A copy, as in Torch7: an in-place layer may follow.
        return input.narrow(dim, first, length).clone()


class Select(Module):
    """One index of one dimension, which is dropped (Torch7: ``nn.Select``).

    Args:
        dimension, index: counted from 1, or from the end with negative numbers.

    Differs from Torch7: of a vector it selects a vector of one element.

    PyTorch: ``torch.select``.
    """

    takes = TENSOR

    def __init__(self, dimension: int, index: int) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")
        self.index = counted(index, "index")

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        dim = checked_dim(self.dimension, input)
        size = input.size(dim)
        index = self.index - 1 if self.index > 0 else size + self.index
        if not 0 <= index < size:
            raise IndexError(
                f"input has size {size} in dimension {self.dimension}; one with index "
                f"{self.index} is accepted"
            )
        selected = input.narrow(dim, index, 1) if input.dim() == 1 else input.select(dim, index)
        return selected.clone()


class _OfIndices(Stored):
    """A layer with an input of indices, whose gradient is zero and of the module's type."""

    takes = ANYTHING

    def unreached(self, input: Tensor) -> Tensor:
        return torch.zeros(input.shape, dtype=parse_type(self._type)[0], device=input.device)


class Index(_OfIndices):
    """Chosen indices of one dimension (Torch7: ``nn.Index``).

    Args:
        dimension: counted from 1, or from the end with negative numbers.

    The input is a table of a tensor and a vector of indices, which count from 1. In the gradient
    the second is zero.

    PyTorch: ``torch.index_select``.
    """

    takes = MIXED

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.dimension = counted(dimension, "dimension")

    @deterministic
    def compute(self, input: Any) -> Tensor:
        tensor, index = two(input, "a tensor and indices")
        dim = checked_dim(self.dimension, tensor)
        check_dims(index, 1, name="input[2]")
        return tensor.index_select(dim, zero_based_indices(index, tensor.size(dim)))

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        if not isinstance(fields.get("gradInput"), list):
            fields["gradInput"] = [self._empty(), self._empty()]
        return fields


class MaskedSelect(Stored):
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

    @deterministic
    def compute(self, input: Any) -> Tensor:
        tensor, mask = two(input, "a tensor and a mask")
        if mask.shape != tensor.shape:
            raise ValueError(
                f"input[2] has size {_times(mask.shape)}; that of input[1], "
                f"{_times(tensor.shape)}, is accepted"
            )
        return tensor.masked_select(mask.bool())


class OneHot(_OfIndices):
    """Each number as a vector with a 1 in its place (Torch7: ``nn.OneHot``).

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

    @deterministic
    def compute(self, input: Any) -> Tensor:
        dtype, device = cutorch.place(self._type)
        if isinstance(input, (int, float)):
            input = torch.tensor(input, device=device)
        places = zero_based_indices(input, self.outputSize).unsqueeze(-1)
        zeros = torch.zeros(*input.shape, self.outputSize, dtype=dtype, device=input.device)
        return zeros.scatter_(-1, places, 1)

    def _as_grad_input(self, input: Any, gradients: Any) -> Any:
        return super()._as_grad_input(input, gradients) if isinstance(input, Tensor) else 0


class Padding(Stored):
    """Inserts constant entries into one dimension (Torch7: ``nn.Padding``).

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

    @nil_is_default
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
        self.nInputDim = whole_or_none(nInputDim, "nInputDim", 0)
        self.outputSize: list[int] = []

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        is_batch = self.nInputDim is not None and input.dim() != self.nInputDim
        dim = checked_dim(self.dim + is_batch, input)
        size = input.size(dim)
        before = size - self.index + 1 if self.pad > 0 else self.index - 1
        if not 0 <= before <= size:
            raise ValueError(
                f"input has size {size} in dimension {self.dim}; one with index {self.index} is "
                "accepted"
            )
        shape = [*input.shape[:dim], abs(self.pad), *input.shape[dim + 1 :]]
        block = input.new_full(shape, self.value)
        left, right = input.split([before, size - before], dim)
        return torch.cat([left, block, right], dim)


class Replicate(Module):
    """Repeats the input along a new dimension (Torch7: ``nn.Replicate``).

    Args:
        nf: how often.
        dim: the number that the new dimension gets, counted from 1.
        ndim: the number of dimensions of a sample; an input with more is a batch of samples.

    The output shares the memory of the input.

    PyTorch: ``torch.Tensor.expand``.
    """

    takes = TENSOR

    dim: int = 1
    ndim: int | None = None

    @nil_is_default
    def __init__(self, nf: int, dim: int = 1, ndim: int | None = None) -> None:
        super().__init__()
        self.nfeatures = whole(nf, "nf", 1)
        self.dim = positive(dim, "dim")
        self.ndim = whole_or_none(ndim, "ndim", 0)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        is_batch = self.ndim is not None and input.dim() > self.ndim
        dim = self.dim - 1 + is_batch
        if dim > input.dim():
            raise ValueError(
                f"input has {input.dim()} dimensions; at least {self.dim - 1 + is_batch} are "
                f"accepted to replicate along dimension {self.dim}"
            )
        return input.unsqueeze(dim).expand(*input.shape[:dim], self.nfeatures, *input.shape[dim:])


class PixelShuffle(Stored):
    """Planes as pixels: ``D·r² x H x W`` becomes ``D x H·r x W·r`` (Torch7: ``nn.PixelShuffle``).

    Shi et al., Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
    Convolutional Neural Network, 2016.

    Args:
        upscaleFactor: the factor r.

    Shapes: ``D·r² x H x W`` or a batch ``N x D·r² x H x W``.

    PyTorch: ``torch.nn.PixelShuffle``.
    """

    scratch_fields = (
        *("_intermediateShape", "_intermediateShapeGrad", "_outShape", "_shuffleOut"),
        *("_shuffleIn", "_shuffleGradOutput"),
    )

    def __init__(self, upscaleFactor: int) -> None:
        super().__init__()
        self.upscaleFactor = whole(upscaleFactor, "upscaleFactor", 1)
        self.upscaleFactorSquared = self.upscaleFactor**2

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_dims(input, 3, 4)
        if input.size(-3) % self.upscaleFactorSquared:
            raise ValueError(
                f"input has {input.size(-3)} planes; a multiple of {self.upscaleFactorSquared} "
                "is accepted"
            )
        return F.pixel_shuffle(input, self.upscaleFactor)


def two(input: Any, what: str) -> tuple[Tensor, Tensor]:
    """The two tensors of an input that is a table of two."""
    if not isinstance(input, (list, tuple)) or len(input) != 2:
        raise TypeError(f"input is {given(input, counted=True)}; a table of {what} is accepted")
    return input[0], input[1]


def zero_based_indices(index: Tensor, size: int) -> Tensor:
    """PyTorch's form of a tensor of indices that count from 1 to ``size``."""
    # On a GPU the check would wait for the device, which checks by itself.
    if not accelerators.holds(index) and index.numel():
        least, most = index.min().item(), index.max().item()
        if least < 1 or most > size:
            raise IndexError(
                f"input[2] has indices from {least} to {most}; 1 to {size} are accepted, as in "
                "Torch7"
            )
    return index.long() - 1


def _known(size: list[int]) -> int:
    return math.prod(n for n in size if n >= 0)


def _pair(pair: Any) -> list[int]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"a permutation is {pair!r}; a pair of dimensions is accepted")
    return [positive(dim, "dimension") for dim in pair]


def _times(size: Any) -> str:
    return "x".join(map(str, size))
