"""Where a net keeps its tensors, and how often its fields were set: what compiled code goes by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

# What a pass leaves behind in any module.
RESULTS = frozenset(
    (
        "latest_tape",
        "latest_record",
        "results_read",
        "read_after_update",
        "_output",
        "_gradInput",
        "_plans",
        "_trained",
        "_change_number",
    )
)


class _Changes:
    """How often a field of a watched module was set."""

    count = 0


changes = _Changes()


@dataclass(frozen=True, eq=False)
class Slot:
    """A place of a tensor: a module's fields or a table in them, and the key."""

    table: Any
    key: Any

    def get(self) -> Any:
        return self.table[self.key]

    def set(self, value: Any) -> None:
        self.table[self.key] = value


def slots_in(table: Any, left_out: frozenset[str] = frozenset()) -> Iterator[Slot]:
    """The slots in a list or dict, and in those in it, but for these keys."""
    items = table.items() if isinstance(table, dict) else enumerate(table)
    for key, value in list(items):
        if key in left_out:
            continue
        if isinstance(value, Tensor):
            yield Slot(table, key)
        elif isinstance(value, (list, dict)):
            yield from slots_in(value)


def memory(tensor: Tensor) -> Any:
    """What two tensors have in common that are one to a graph: memory, gradient and form."""
    if not tensor.numel():
        return id(tensor)
    gradient = tensor.grad
    return (
        tensor.data_ptr(),
        tensor.shape,
        tensor.stride(),
        tensor.dtype,
        None if gradient is None else gradient.data_ptr(),
    )
