"""Slow checks, off by default: for NaN and infinity, and for replicas that differ."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from compat.nn.core.module import Module
from compat.tensor_tables import tensors


def _finite(value: object) -> bool:
    return all(bool(t.isfinite().all()) for t in tensors(value) if t.is_floating_point())


def check_outputs(module: Module) -> None:
    """Raise FloatingPointError if an output is not finite; it names the first such module."""
    for place, inner in module.named_modules():
        if not _finite(inner.output):
            raise FloatingPointError(f"{place}: output has values that are not finite")


def check_gradients(module: Module) -> None:
    """Raise FloatingPointError if a gradient is not finite; it names the last such module.

    Backward begins at the last module, so the error arose there.
    """
    for place, inner in reversed(list(module.named_modules())):
        if inner.children():
            continue
        for name, gradient in zip(inner.parameter_names, inner.parameters()[1], strict=False):
            if not _finite([gradient]):
                raise FloatingPointError(
                    f"{place}: the gradient of {name} has values that are not finite"
                )


def check_agreement(
    parameters: Sequence[Sequence[Tensor]], devices: Sequence[torch.device]
) -> None:
    """Raise RuntimeError if a replica's parameters differ from the first one's."""
    first = parameters[0]
    for r, replica in enumerate(parameters[1:], 2):
        for i, (mine, theirs) in enumerate(zip(first, replica, strict=True), 1):
            if not torch.equal(mine, theirs.to(mine.device)):
                raise RuntimeError(
                    f"parameter {i} of replica {r} ({devices[r - 1]}) differs from the first "
                    "replica's; it was changed elsewhere, or a copy went wrong"
                )
