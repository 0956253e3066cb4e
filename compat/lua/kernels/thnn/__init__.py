"""The functions of THNN, the C library under Torch7's nn, by family; `signatures` lists them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from compat.lua.kernels.thnn import (
    convolution,
    criterions,
    linear,
    normalization,
    planes,
    pointwise,
    pooling,
    recurrent,
)
from compat.lua.kernels.thnn.signatures import SIGNATURES

_FAMILIES = (
    convolution, criterions, linear, normalization, planes, pointwise, pooling, recurrent,
)  # fmt: skip


def _kernel(name: str) -> Callable[..., Any]:
    for family in _FAMILIES:
        found = getattr(family, name, None) or getattr(family, "KERNELS", {}).get(name)
        if found is not None:
            return found
    raise LookupError(f"THNN's {name} has a signature but no kernel")


def names() -> tuple[str, ...]:
    """Return the names of the functions."""
    return tuple(SIGNATURES)


def describe(name: str) -> tuple[Any, ...]:
    """Return a function's kernel, and five values for each of its arguments: see ``Argument``."""
    signature = SIGNATURES[name]
    described: list[Any] = [signature.bind(_kernel(name))]
    for argument in signature.arguments:
        described += [
            argument.name, argument.kind, argument.like, argument.type, argument.optional
        ]  # fmt: skip
    return tuple(described)
