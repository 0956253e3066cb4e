"""Converts both ways, in one line per pair, layers without tensors that have equal settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch

from compat.nn.checks.indexing import zero_based
from compat.nn.core.module import Module
from compat.nn.interchange.from_torch import converts_from_simply
from compat.nn.interchange.to_torch import converts_simply


class Setting(NamedTuple):
    """A setting with its two names and the functions that convert its values."""

    torch7: str
    pytorch: str
    to_torch: Callable[[Any], Any] = lambda value: value
    from_torch: Callable[[Any], Any] = lambda value: value


def pair(torch7: type[Module], pytorch: type[torch.nn.Module], *settings: Setting) -> None:
    """Convert the two classes to each other; both are made of the settings, in this order."""

    def to_torch(module: Any) -> torch.nn.Module:
        return pytorch(*(s.to_torch(getattr(module, s.torch7)) for s in settings))

    def from_torch(module: Any) -> Module:
        return torch7(*(s.from_torch(getattr(module, s.pytorch)) for s in settings))

    converts_simply(torch7, to_torch)
    converts_from_simply(pytorch, from_torch)


def from_one(number: int) -> int:
    """Return PyTorch's dimension or index in Torch7's counting."""
    return number + 1 if number >= 0 else number


def sample_dims(dims: int | None) -> int:
    """Return the dimensions of a sample as this package's modules tell them: -1 for
    Torch7's None.
    """
    return -1 if dims is None else dims


def known_dims(dims: int) -> int | None:
    """Return the reverse of ``sample_dims``."""
    return None if dims < 0 else dims


def counted(torch7: str, pytorch: str) -> Setting:
    """Return the setting for a number that Torch7 counts from 1 and PyTorch from 0."""
    return Setting(torch7, pytorch, zero_based, from_one)


def of_samples(torch7: str = "nInputDims") -> Setting:
    """Return the setting for the number of dimensions of a sample."""
    return Setting(torch7, "sample_dims", sample_dims, known_dims)


INPLACE = Setting("inplace", "inplace")
DIMENSION = counted("dimension", "dim")
