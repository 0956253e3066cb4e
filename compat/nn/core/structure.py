"""Whether a net is as it was, so that what was found out about it still holds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import torch

_numbers = itertools.count(1)
_PLAIN = (int, float, str, torch.Size)
_methods = attrgetter("compute", "recordable")


class Structure:
    """What some modules, of which the first is the root, are made of.

    That is their fields, what is in those that are lists, and how their classes compute. A module
    that is in one has the number of the latest change of a field. The root's fields are not held,
    so that it may hold this.
    """

    latest = 0

    @staticmethod
    def changed(fields: dict[str, Any]) -> None:
        """Note that a field of the module that has these ``fields`` was set."""
        if "_change_number" in fields:
            Structure.latest = fields["_change_number"] = next(_numbers)

    def __init__(self, modules: Sequence[Any]) -> None:
        self._stamp = Structure.latest
        root, *inner = list(dict.fromkeys(modules))
        self._fields = [vars(module) for module in inner]
        self._changes = [fields.setdefault("_change_number", 0) for fields in self._fields]
        self._root_change = vars(root).setdefault("_change_number", 0)
        held = [value for m in (root, *inner) for value in vars(m).values()]
        self._lists = [value for value in held if isinstance(value, list)]
        self._contents = [list(value) for value in self._lists]
        self._classes = list(dict.fromkeys(type(module) for module in modules))
        self._methods = list(map(_methods, self._classes))

    def holds(self, root: dict[str, Any]) -> bool:
        """Whether nothing has changed; ``root``, the fields of the root."""
        if self._stamp != Structure.latest:
            stamp = Structure.latest
            if root.get("_change_number") != self._root_change:
                return False
            if [fields.get("_change_number") for fields in self._fields] != self._changes:
                return False
            self._stamp = stamp
        try:
            if self._lists != self._contents:
                return False
        except (RuntimeError, ValueError):  # another tensor or array, which has no one truth value
            return False
        return list(map(_methods, self._classes)) == self._methods


def same(value: Any, other: Any) -> bool:
    """Whether a field that had one value and has the other is as it was."""
    if value is other:
        return True
    return type(value) is type(other) and type(value) in _PLAIN and value == other
