"""Checks that cost time and are off by default: numbers that are none, replicas that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from compat.nn.core.module import Module
from compat.tensor_tables import tensors


def named_modules(module: Module, place: str = "") -> Iterator[tuple[str, Module]]:
    """Each module below ``module`` with its place: ``nn.Sequential[3] nn.Linear``."""
    for i, child in enumerate(module._children, 1):
        yield from named_modules(child, f"{place}{module.typename}[{i}] ")
    yield f"{place}{module.typename}", module


def _finite(value: object) -> bool:
    return all(bool(t.isfinite().all()) for t in tensors(value) if t.is_floating_point())


def check_outputs(module: Module) -> None:
    """Raise FloatingPointError naming the first module, in order, whose output is not finite."""
    for place, inner in named_modules(module):
        if not _finite(inner.output):
            raise FloatingPointError(f"{place}: output has values that are not finite")


def check_gradients(module: Module) -> None:
    """Raise FloatingPointError naming a module with a gradient that is not finite.

    The last one in the net is named: gradients come from there.
    """
    for place, inner in reversed(list(named_modules(module))):
        if inner._children:
            continue
        for name, gradient in zip(inner._parameter_names, inner.parameters()[1], strict=False):
            if not _finite(gradient):
                raise FloatingPointError(
                    f"{place}: the gradient of {name} has values that are not finite"
                )


def check_agreement(parameters: Sequence[Sequence[Tensor]], names: Sequence[str]) -> None:
    """Raise RuntimeError if a replica's parameters differ from the first one's."""
    first = parameters[0]
    for r, replica in enumerate(parameters[1:], 2):
        for i, (mine, theirs) in enumerate(zip(first, replica, strict=True), 1):
            if not torch.equal(mine, theirs.to(mine.device)):
                raise RuntimeError(
                    f"parameter {i} of replica {r} ({names[r - 1]}) differs from the first "
                    "replica's; it was changed elsewhere, or a copy went wrong"
                )
