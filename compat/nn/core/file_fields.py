"""Fields that have another form in Torch7's files than in Python."""

from __future__ import annotations

from typing import Any, ClassVar

import torch

from compat import t7
from compat.checks import whole
from compat.nn.checks.tensors import TENSOR
from compat.nn.core.module import Module


class Stored(Module, abstract=True):
    """A module that declares which of its fields Torch7 stores in its own way.

    ``size_fields`` are lists of numbers here and LongStorages in files. ``table_fields`` are
    results that Lua fills entry by entry, so that before the first they are empty tables in files.
    ``workspace_fields`` are ``scratch_fields`` that Lua expects to find: they are written, as empty
    tensors of these dtypes (None: the module's own).
    """

    takes = TENSOR
    size_fields: ClassVar[tuple[str, ...]] = ()
    table_fields: ClassVar[tuple[str, ...]] = ()
    workspace_fields: ClassVar[dict[str, torch.dtype | None]] = {}

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in self.size_fields:
            if name in fields:
                fields[name] = t7.Storage(fields[name], "torch.LongStorage")
        for name in self.table_fields:
            if isinstance(fields.get(name), torch.Tensor):
                fields[name] = []
        for name, dtype in self.workspace_fields.items():
            fields[name] = self._empty() if dtype is None else torch.empty(0, dtype=dtype)
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in (*self.scratch_fields, *self.workspace_fields):
            fields.pop(name, None)
        for name in self.size_fields:
            if name in fields:
                t7.claim(entries=len(fields[name]))
                fields[name] = [int(n) for n in fields[name]]
        super().t7_restore(fields, version)


def sizes(given: tuple[Any, ...], name: str = "size") -> list[int]:
    """The sizes that Torch7's constructors take as several numbers or as one LongStorage."""
    if len(given) == 1 and isinstance(given[0], (list, tuple, t7.Storage)):
        given = tuple(given[0])
    return [whole(number, name) for number in given]
