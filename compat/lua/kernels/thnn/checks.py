"""The checks of shapes in THNN's functions, with its error texts."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from compat.lua.kernels.errors import ArgumentError


def shown(tensor: Tensor) -> str:
    """Return the sizes as THNN's errors show them."""
    return f"[{' x '.join(map(str, tensor.shape))}]"


def check_batch(input: Tensor, dims: int, argument: int = 2) -> None:
    """Check that ``input`` has ``dims`` dimensions, or one more for a batch."""
    if input.dim() not in (dims, dims + 1):
        raise ArgumentError(
            argument,
            f"{dims}D or {dims + 1}D (batch mode) tensor expected for input, but got: "
            f"{shown(input)}",
        )


def check_size(tensor: Tensor, name: str, dims: int, dim: int, size: int) -> None:
    """Check that ``tensor`` has ``dims`` dimensions, and ``size`` elements along ``dim``.

    ``dim`` counts from 0.
    """
    if tensor.dim() != dims or tensor.size(dim) != size:
        raise RuntimeError(
            f"Need {name} of dimension {dims} and {name}.size[{dim}] == {size} but got {name} to "
            f"be of shape: {shown(tensor)}"
        )


def check_shape(tensor: Tensor, name: str, shape: Sequence[int]) -> None:
    """Check that ``tensor`` has this shape."""
    if tensor.shape != tuple(shape):
        expected = " x ".join(map(str, shape))
        raise RuntimeError(f"{name} has sizes {shown(tensor)}, but [{expected}] is expected")
