"""Decides whether a Lua table that is being read becomes a list or a dict.

A table is a list if its keys are 1…n, which is known when the last entry has been read. But inside
a cycle the table is referenced before: then the kind is guessed from the keys so far. Where a
guess turns out wrong, the file is read a second time with what the first reading found out.

The tables of a user are a ``List``, also if empty, or a ``Table``. Tables in the fields of a
registered class are plain: its code counts as Python does, and knows which are lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch

from compat.lua_tables import List, Table
from compat.t7.base.errors import T7Error
from compat.t7.base.types import Key

_PLAIN_KEYS = (str, bytes, int, float, torch.Tensor)


class OpenTable:
    """The entries read so far.

    Attributes:
        is_plain: whether the table becomes a plain list or dict, not a ``List`` or ``Table``.
        items: the values, as long as the keys come as 1, 2, 3, …; else ``None``.
        is_list: the kind settled on; ``None`` until it is needed.
        credit: bytes that may be spent on attempts to decode entries in bulk.
        key: the key whose value is being read, if that value has content of its own.

    Of the class: ``quick``, whether ``items`` may be appended to without ``put``.
    """

    quick: ClassVar[bool] = True

    __slots__ = (
        "_count",
        "_entries",
        "_has_booleans",
        "_result",
        "credit",
        "is_list",
        "is_plain",
        "items",
        "key",
    )

    def __init__(self, count: int, is_list: bool | None = None, is_plain: bool = False) -> None:
        self._count = count
        self.is_plain = is_plain
        self.items: list[Any] | None = self._new_list()
        self._entries: dict[Any, Any] = {} if is_plain else Table()
        self._has_booleans = False
        self._result: list[Any] | dict[Any, Any] | None = None
        self.credit = 1
        self.key: Any = None
        self.is_list: bool | None = None
        if is_list is not None:
            self._settle(is_list)

    def put(self, key: Any, value: Any) -> None:
        """Add an entry as Lua does: the last of equal keys wins, and nil removes the entry."""
        items = self.items
        if items is not None:
            if type(key) is int and key == len(items) + 1 and value is not None:
                items.append(value)
                return
            self._leave_items()
        if type(key) is not str and type(key) is not int:
            key = self._normalise(key)
        if value is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = value

    def put_many(self, keys: Sequence[Any], values: list[Any]) -> None:
        """Add entries with numbers or strings as keys, and values that are not nil.

        Keys that count up are best given as a range.
        """
        items = self.items
        if items is not None and keys == range(len(items) + 1, len(items) + 1 + len(keys)):
            items.extend(values)
        elif keys and isinstance(keys[0], str):
            self._leave_items()
            self._entries.update(zip(keys, values, strict=True))
        else:
            for key, value in zip(keys, values, strict=True):
                self.put(key, value)

    def settle(self) -> Any:
        """Return the future list or dict of this table, for a reference from within
        the table.
        """
        if self._result is None:
            keys = (self.key, *self._entries)
            self._settle(all(type(key) is int and 1 <= key <= self._count for key in keys))
        return self._result

    def finish(self) -> list[Any] | dict[Any, Any]:
        """Return the complete table, of the kind settled on if the kind was right."""
        if self.items:
            return self.items
        entries = self.finish_dict()
        size = len(entries)
        if not size and self._result is not None:
            return self._result
        is_list = all(type(k) is int and 1 <= k <= size for k in entries)
        if not is_list or (not size and self.is_plain):
            return entries
        result = self._result if isinstance(self._result, list) else self._new_list()
        result[:] = [entries[key] for key in range(1, size + 1)]
        return result

    def finish_dict(self) -> dict[Any, Any]:
        """Return the complete table as a dict, whatever its keys are."""
        if self._has_booleans:
            self._unwrap_booleans()
        return self._entries

    def _settle(self, is_list: bool) -> None:
        self.is_list = is_list
        if not is_list:
            self._leave_items()
            self._result = self._entries
        else:
            self._result = self._new_list() if self.items is None else self.items

    def _new_list(self) -> list[Any]:
        return [] if self.is_plain else List()

    def _leave_items(self) -> None:
        if self.items is None:
            return
        self._entries.update(enumerate(self.items, 1))
        self.items = None

    def _normalise(self, key: Any) -> Any:
        if isinstance(key, bool):
            self._has_booleans = True
            return Key(key)
        return key_of(key)

    def _unwrap_booleans(self) -> None:
        """Use plain booleans as keys where no equal number is a key as well."""
        entries = self._entries
        renamed = {
            key: key.value
            for key in map(Key, (True, False))
            if key in entries and int(key.value) not in entries
        }
        pairs = [(renamed.get(key, key), value) for key, value in entries.items()]
        entries.clear()
        entries.update(pairs)


def key_of(key: Any) -> Any:
    """Return the object that stands for a Lua table key in a dict."""
    if key is None:
        raise T7Error("nil as a table key", "any other object")
    if isinstance(key, float):
        if key != key:
            raise T7Error("nan as a table key", "any other number")
        return key or 0  # -0 and 0 are the same key
    if isinstance(key, _PLAIN_KEYS) or type(key).__eq__ is object.__eq__:
        return key
    return Key(key)
