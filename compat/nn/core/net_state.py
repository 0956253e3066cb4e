"""What a compiled net is held against before each pass: its modules, their fields, their memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from operator import is_
from typing import Any

import torch
from torch import Tensor

from compat import t7
from compat.checks import given
from compat.nn.core.convertible import Convertible
from compat.nn.core.node import Edge, Graph, Node
from compat.nn.core.slots import RESULTS, Slot, changes, memory
from compat.nn.core.tape import Recorded
from compat.nn.core.tracing import Untraceable

# Fields that do not change what is computed.
_WITHOUT_EFFECT = RESULTS | {"keep_results", "compilation", "watched"}
_PLAIN = (bool, int, float, complex, str, bytes, torch.dtype, torch.device, type, type(None))
_KNOWN = (Convertible, Node, Graph, Edge, t7.Storage, t7.LuaFunction)


class NetState:
    """A net as it is now.

    Fields: ``key``, which two states have in common that compute alike, but for the form of their
    tensors; ``groups``, the slots of its tensors, those together that share memory and gradient;
    ``tensors``, what is in them; ``held``, for each group the tensor that stands for it;
    ``fields``, those of each module.

    Raises ``Untraceable`` for a net that is known not to be a graph.
    """

    def __init__(self, net: Recorded) -> None:
        self._count = changes.count
        self._tables: list[tuple[Any, list[Any]]] = []
        self._is_foreign = False
        modules = net.listModules()
        self.fields = [vars(module) for module in modules]
        for fields in self.fields:
            fields["watched"] = True
        key = [entry for module in modules for entry in self._described(module)]
        groups: dict[Any, list[Slot]] = {}
        every = [slot for module in modules for slot in module.tensor_slots()]
        for slot in every:
            groups.setdefault(memory(slot.get()), []).append(slot)
        self.groups = list(groups.values())
        numbers = {group: i for i, group in enumerate(groups)}
        key.append(tuple(numbers[memory(slot.get())] for slot in every))
        self.key = tuple(key)
        self.tensors = [[slot.get() for slot in group] for group in self.groups]
        self.held = [group[0] for group in self.tensors]
        self._all = [tensor for group in self.tensors for tensor in group]
        self._pointers = [tensor.data_ptr() for tensor in self._all]
        self._gradients = [tensor.grad for tensor in self._all]

    def holds(self) -> bool:
        """Whether the net still is as it was."""
        return (
            not self._is_foreign
            and self._count == changes.count
            and all(_same_entries(table, entries) for table, entries in self._tables)
            and [tensor.data_ptr() for tensor in self._all] == self._pointers
            and all(map(is_, [tensor.grad for tensor in self._all], self._gradients))
        )

    def _described(self, module: Recorded) -> Iterator[Any]:
        if not module.recordable or module.remembers_calls:
            raise Untraceable(f"{module.typename} computes its own gradients")
        yield id(module)
        for name, value in vars(module).items():
            if name not in _WITHOUT_EFFECT:
                yield name, self._value(module, name, value)

    def _value(self, module: Recorded, name: str, value: Any) -> Any:
        if isinstance(value, _PLAIN):
            return type(value), value
        if isinstance(value, Tensor):
            return Tensor, value.grad is None, value.requires_grad
        if isinstance(value, (list, tuple, dict)):
            entries = _entries(value)
            if not isinstance(value, tuple):
                self._tables.append((value, entries))
            return len(entries), *(self._value(module, name, entry) for entry in entries)
        if isinstance(value, _KNOWN) or is_dataclass(value):
            return id(value)
        if isinstance(value, torch.nn.Module):
            # Its fields are set without anybody noticing.
            self._is_foreign = True
            return tuple(
                (id(inner), key, self._value(module, name, own))
                for inner in value.modules()
                for key, own in vars(inner).items()
                if not key.startswith("_")
            )
        raise Untraceable(f"{module.typename} has {given(value)} as {name}")


def _entries(table: Any) -> list[Any]:
    return [*table, *table.values()] if isinstance(table, dict) else list(table)


def _same_entries(table: Any, entries: list[Any]) -> bool:
    now = _entries(table) if isinstance(table, dict) else table
    return len(now) == len(entries) and all(map(is_, now, entries))
