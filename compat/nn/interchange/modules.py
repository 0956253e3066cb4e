"""The bases and helpers of the ``torch.nn`` modules of this package."""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor, nn

M = TypeVar("M", bound=nn.Module)


def along(dim: int, sample_dims: int, input: Tensor) -> int:
    """Return the dimension of ``input`` that is ``dim`` of a sample; see the top of this
    package.
    """
    if dim >= 0 and sample_dims >= 0 and input.dim() == sample_dims + 1:
        return dim + 1
    return dim


def at_least_1d(output: Tensor) -> Tensor:
    """Return ``output``; a number as a vector, since Torch7 has no tensors without dimensions."""
    return output.reshape(1) if output.dim() == 0 else output


class WithSettings(nn.Module):
    """A module that prints its constructor's settings."""

    shown: tuple[str, ...] = ()

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)!r}" for name in self.shown)


class OverSamples(WithSettings):
    """A module that works along a dimension of samples."""

    shown: tuple[str, ...] = ("dim", "sample_dims")

    def __init__(self, dim: int, sample_dims: int = -1) -> None:
        super().__init__()
        self.dim = dim
        self.sample_dims = sample_dims


# Classes that sources of nets have as they stand here.
STANDING_ALONE: set[type[nn.Module]] = set()


def self_contained(cls: type[M]) -> type[M]:
    """Mark a class whose source is copied into the sources of nets that need it.

    It and what it uses of this package import torch alone, under the names ``torch``, ``Tensor``,
    ``nn`` and ``functional``; its attributes are its arguments; its lines have at most 88 letters.
    """
    STANDING_ALONE.add(cls)
    return cls
