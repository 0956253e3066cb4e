"""Telling those who look at tensors' memory themselves that a tensor was given other memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor

# Each is called with tensors whose ``data`` was set.
listeners: list[Callable[[list[Tensor]], None]] = []


def moved(tensors: Iterable[Tensor]) -> None:
    """Say that these tensors have other memory now than before."""
    if listeners:
        tensors = list(tensors)
        for listener in listeners:
            listener(tensors)
