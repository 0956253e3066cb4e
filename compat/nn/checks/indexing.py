"""Torch7 counts from 1, PyTorch from 0: the one place where numbers are translated."""

from __future__ import annotations

from torch import Tensor

from compat.checks import whole


def counted(value: int, name: str) -> int:
    """Check an argument that counts from 1, or from the end with negative numbers."""
    number = whole(value, name)
    if number == 0:
        several = "indices" if name == "index" else f"{name}s"
        raise ValueError(
            f"{name} is 0; any other whole number is accepted: {several} count from 1, as in Torch7"
        )
    return number


def counted_or_none(value: int | None, name: str) -> int | None:
    """Return ``counted``, or None."""
    return None if value is None else counted(value, name)


def needed(value: int | None, name: str) -> int:
    """Check that a dimension is there, which a container that is never called may lack."""
    if value is None:
        raise ValueError(f"{name} is None; a container that is called needs it")
    return value


def positive(value: int, name: str) -> int:
    """Check an argument that counts from 1, and not from the end."""
    if counted(value, name) < 0:
        raise ValueError(f"{name} is {value}; a whole number from 1 on is accepted")
    return int(value)


def zero_based(value: int) -> int:
    """Return PyTorch's number of a dimension or index; negative ones mean the same in both."""
    return value - 1 if value > 0 else value


def batched(dimension: int, input: Tensor, nInputDims: int | None) -> int:
    """Return PyTorch's number of ``dimension`` of a sample, for an input that may be a batch.

    ``nInputDims`` is the number of dimensions of one sample; an input with one more is a batch.
    Whether the input has that dimension is not checked.
    """
    is_batch = nInputDims is not None and input.dim() == nInputDims + 1
    if dimension < 0:
        return input.dim() + dimension
    return dimension - 1 + is_batch


def checked_dim(dimension: int, input: Tensor, name: str = "input") -> int:
    """Return PyTorch's number, from 0 on, of ``dimension``, if ``input`` has it."""
    dim = zero_based(dimension)
    if not -input.dim() <= dim < input.dim():
        raise lacks_dimension(input, dimension, name)
    return dim % input.dim()


def checked_batched(dimension: int, input: Tensor, nInputDims: int | None) -> int:
    """Return ``batched``, if the input has that dimension."""
    dim = batched(dimension, input, nInputDims)
    if not 0 <= dim < input.dim():
        raise lacks_dimension(input, dimension, "input")
    return dim


def lacks_dimension(value: Tensor, dimension: int, name: str) -> ValueError:
    """Return the error for a tensor without ``dimension``, counted from 1."""
    return ValueError(
        f"{name} has {value.dim()} dimensions; one that has dimension {dimension} is accepted"
    )
