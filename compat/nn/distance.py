"""Distances and similarities of pairs of vectors, shared by layers and criterions."""

from __future__ import annotations

from torch import Tensor


def cosine(first: Tensor, second: Tensor) -> Tensor:
    """The cosine of the angle between vectors in the last dimension.

    Torch7 adds 1e-12 to the squared norms.
    """
    norms = [(x * x).sum(-1).add(1e-12).sqrt() for x in (first, second)]
    return (first * second).sum(-1) / norms[0] / norms[1]


def check_pair(first: Tensor, second: Tensor) -> None:
    """Raise ValueError where the two tensors of an input differ in size."""
    if first.shape != second.shape:
        raise ValueError(
            f"input has tensors of size {tuple(first.shape)} and {tuple(second.shape)}; "
            "equal ones are accepted"
        )


def pair(input: object) -> tuple[Tensor, Tensor]:
    """Check that ``input`` is a table of two tensors of the same size."""
    if not isinstance(input, (list, tuple)) or not all(isinstance(x, Tensor) for x in input):
        raise TypeError(f"input is a {type(input).__name__}; a table of two tensors is accepted")
    if len(input) != 2:
        raise ValueError(f"input is a table of {len(input)}; a table of two tensors is accepted")
    first, second = input
    check_pair(first, second)
    return first, second
