"""Notices that tensors were given other memory.

``tensor.data = other`` keeps the tensor and replaces its storage. Code that reads a tensor's memory
by its address, as the Lua runtime does through its FFI, listens here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torch import Tensor

# Each is called with tensors whose ``data`` was set.
listeners: list[Callable[[list[Tensor]], None]] = []


def moved(tensors: Iterable[Tensor]) -> None:
    """Tell the listeners that these tensors have other memory now than before."""
    if listeners:
        tensors = list(tensors)
        for listener in listeners:
            listener(tensors)
