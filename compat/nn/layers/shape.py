"""Layers that give the elements of their input in another shape or order, or repeat them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

from torch import Tensor

from compat.checks import whole, whole_or_none
from compat.nn.checks.indexing import checked_dim, positive
from compat.nn.core.files import sizes
from compat.nn.core.layer import Layer
from compat.nn.functional import shape as f

S = TypeVar("S", bound="_OfSamples")


class _OfSamples(Layer, abstract=True):
    """A layer that can be told how many dimensions a sample of the input has."""

    numInputDims: int | None = None

    def setNumInputDims(self: S, numInputDims: int | None) -> S:
        """Say how many dimensions a sample of the input has; the ones before are the batch."""
        self.numInputDims = whole_or_none(numInputDims, "numInputDims")
        return self


class _InShape(Layer, abstract=True):
    """The base of layers that give their input another shape, as a view where possible.

    A class states ``shape_of(input)``.
    """

    def shape_of(self, input: Tensor) -> Sequence[int]:
        """Return the shape of the output. Classes define it."""
        raise TypeError(f"{self.typename} does not define shape_of(input)")

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output_view(f.in_shape(input, self.shape_of(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput_view(f.in_shape(gradOutput, input.shape))


class View(_InShape, _OfSamples):
    """View the input in another shape (Torch7: ``nn.View``).

    Args:
        size: the sizes of a sample, one of which may be -1 to be inferred: several numbers, or one
            list of them.

    An input with more elements than one sample is a batch; with a -1 in ``size``, only after
    ``setNumInputDims``.

    Differs from Torch7: inputs need not be contiguous.

    PyTorch: ``torch.Tensor.view``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.View(-1, 6).forward(torch.ones(4, 2, 3)).shape
        torch.Size([4, 6])
    """

    size_fields = ("size",)
    nil_stops_gradient = False

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

    def shape_of(self, input: Tensor) -> list[int]:
        most, known, size = self.numInputDims, self.numElements, self.size
        if most is not None and most < 0:
            raise ValueError(f"numInputDims is {most}; a view takes a whole number from 0 on")
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


class Reshape(_InShape):
    """Give the input another shape (Torch7: ``nn.Reshape``).

    Args:
        size: the sizes of a sample: several numbers, or one list of them; none for a sample of one
            element.
        batchMode: given last. True: the first dimension of the input is the batch. False: the input
            is one sample. By default it is a batch unless it has as many elements as ``size`` and
            its first dimension is not 1.

    PyTorch: ``torch.reshape``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.Reshape(6).forward(torch.ones(4, 2, 3)).shape  # the first dimension is the batch's
        torch.Size([4, 6])
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
        self.nelement = math.prod(self.size)
        # Torch7 writes the size of the batch into the first place.
        self.batchsize = [0, *self.size]

    def shape_of(self, input: Tensor) -> list[int]:
        single = self.batchMode is False or (
            self.batchMode is None and input.numel() == self.nelement and input.size(0) != 1
        )
        return self.size if single else [input.size(0), *self.size]

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.nelement = math.prod(self.size)

    def objection(self, input: Any) -> Exception | None:
        found = super().objection(input)
        if found is None and not input.dim():
            found = ValueError("input has no dimensions; at least one is accepted")
        elif found is None:
            shape, wanted = _times(input.shape), _times(self.shape_of(input))
            found = ValueError(f"input has size {shape}; one that fits {wanted} is accepted")
        return found

    def __repr__(self) -> str:
        return f"{self.typename}({_times(self.size)})"


class Collapse(_InShape):
    """Merge all dimensions of a sample into one (Torch7: ``nn.Collapse``).

    Args:
        nInputDim: the number of dimensions of a sample; the first of an input with more is the
            batch.

    PyTorch: ``torch.nn.Flatten``.
    """

    scratch_fields = ("_input",)

    def __init__(self, nInputDim: int) -> None:
        super().__init__()
        self.nInputDim = whole(nInputDim, "nInputDim", 1)

    def shape_of(self, input: Tensor) -> list[int]:
        shape = input.shape
        if len(shape) > self.nInputDim:
            return [shape[0], math.prod(shape[1:])]
        return [math.prod(shape)]


class Squeeze(_InShape, _OfSamples):
    """Drop dimensions of size 1 (Torch7: ``nn.Squeeze``).

    Args:
        dim: the dimension to drop if its size is 1, counted from 1; by default all of size 1.
        numInputDims: the number of dimensions of a sample; given an input with one more, a batch,
            ``dim`` means that of the samples.

    PyTorch: ``torch.squeeze``.
    """

    dim: int | None = None

    def __init__(self, dim: int | None = None, numInputDims: int | None = None) -> None:
        super().__init__()
        self.dim = None if dim is None else positive(dim, "dim")
        self.setNumInputDims(numInputDims)

    def shape_of(self, input: Tensor) -> list[int]:
        is_batch = self.numInputDims is not None and input.dim() == self.numInputDims + 1
        first, shape = (1 if is_batch else 0), list(input.shape)
        if self.dim is None:
            shape[first:] = [size for size in shape[first:] if size != 1]
        elif shape[dim := checked_dim(self.dim + first, input)] == 1:
            del shape[dim]
        # Torch7 has no tensors without dimensions.
        return shape or [1]


class Unsqueeze(_InShape, _OfSamples):
    """Insert a dimension of size 1 (Torch7: ``nn.Unsqueeze``).

    Args:
        pos: the number that the new dimension gets, counted from 1.
        numInputDims: the number of dimensions of a sample; those before are the batch. By default
            that of the first input, which the field keeps.

    PyTorch: ``torch.unsqueeze``.
    """

    def __init__(self, pos: int, numInputDims: int | None = None) -> None:
        super().__init__()
        self.pos = positive(pos, "pos")
        self.setNumInputDims(numInputDims)

    def shape_of(self, input: Tensor) -> list[int]:
        if self.numInputDims is None:
            self.numInputDims = input.dim()
        dims = self.numInputDims
        if input.dim() < dims:
            raise ValueError(f"input has {input.dim()} dimensions; at least {dims} are accepted")
        if self.pos > dims + 1:
            raise ValueError(
                f"pos is {self.pos}; 1 to {dims + 1} are accepted for {dims} dimensions"
            )
        place = input.dim() - dims + self.pos - 1
        return [*input.shape[:place], 1, *input.shape[place:]]

    def __repr__(self) -> str:
        return f"{self.typename}(dim {self.pos})"


class Transpose(_OfSamples):
    """Swap dimensions (Torch7: ``nn.Transpose``). The output is contiguous.

    Args:
        permutations: pairs of dimensions, counted from 1, swapped one pair after the other.

    PyTorch: ``torch.transpose``.
    """

    def __init__(self, *permutations: Any) -> None:
        super().__init__()
        self.permutations = [_pair(pair) for pair in permutations]

    def _pairs(self, input: Tensor) -> list[tuple[int, int]]:
        offset = 0 if self.numInputDims is None else input.dim() - self.numInputDims
        return [
            (checked_dim(one + offset, input), checked_dim(other + offset, input))
            for one, other in self.permutations
        ]

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.transpose(input, self._pairs(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.transpose(gradOutput, self._pairs(input)[::-1]))


class Contiguous(Layer):
    """Make the input contiguous in memory (Torch7: ``nn.Contiguous``).

    PyTorch: ``torch.Tensor.contiguous``.
    """

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output_view(f.contiguous(input))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput_view(f.contiguous(gradOutput))


class Replicate(Layer):
    """Repeat the input along a new dimension (Torch7: ``nn.Replicate``).

    Args:
        nf: the number of repeats.
        dim: the number that the new dimension gets, counted from 1.
        ndim: the number of dimensions of a sample; an input with more is a batch of samples.

    The output shares the memory of the input.

    PyTorch: ``torch.Tensor.expand``.
    """

    dim: int = 1
    ndim: int | None = None

    def __init__(self, nf: int, dim: int = 1, ndim: int | None = None) -> None:
        super().__init__()
        self.nfeatures = whole(nf, "nf", 1)
        self.dim = positive(dim, "dim")
        self.ndim = whole_or_none(ndim, "ndim", 0)

    def _dim(self, input: Tensor) -> int:
        is_batch = self.ndim is not None and input.dim() > self.ndim
        dim = self.dim - 1 + is_batch
        if dim > input.dim():
            raise ValueError(
                f"input has {input.dim()} dimensions; at least {self.dim - 1 + is_batch} are "
                f"accepted to replicate along dimension {self.dim}"
            )
        return dim

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output_view(f.replicate(input, self.nfeatures, self._dim(input)))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        return self.set_gradInput(f.replicate_backward(input, gradOutput, self._dim(input)))


def _known(size: list[int]) -> int:
    return math.prod(n for n in size if n >= 0)


def _pair(pair: Any) -> list[int]:
    if not isinstance(pair, (list, tuple)) or len(pair) != 2:
        raise TypeError(f"a permutation is {pair!r}; a pair of dimensions is accepted")
    return [positive(dim, "dimension") for dim in pair]


def _times(size: Any) -> str:
    return "x".join(map(str, size))
