"""Tables that Lua and Python share: Python's lists and dicts, which Lua sees through faces.

A table of Lua that Python keeps, in a field of a module for one, is a list or dict from then on;
the table in Lua is its face, without content of its own (core/tables.lua). So each table has one
owner. A list is a table with the keys 1…n; None is nil. When Lua writes what a list cannot hold, a
dict takes its place wherever Python has it, and a list that of such a dict whose keys have become
1…n.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from compat.t7.base.types import Key

Table = list[Any] | dict[Any, Any]


class LuaDict(dict[Any, Any]):
    """A table that Lua made, and a list cannot hold; a list takes its place if its keys are 1…n."""


class Tables:
    """What faces call.

    Args:
        classified: what Lua is to make of a value: the value alone, or with its kind and identity.
        table_from: makes a table of Lua of a list.
        replaced: called when something else takes the place of a list or dict.
    """

    def __init__(
        self,
        classified: Callable[[Any], Any],
        table_from: Callable[[list[Any]], Any],
        replaced: Callable[[Table, Any], None],
    ) -> None:
        self._classified = classified
        self._table_from = table_from
        self._replaced = replaced
        table: Table = []
        self._own = _references(table)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """What Lua calls."""
        names = ("get", "put", "length", "keys", "items", "as_dict", "replace")
        return {name: getattr(self, name) for name in names}

    def get(self, table: Table, key: Any) -> Any:
        """The value of a key; None if there is none."""
        if isinstance(table, list):
            if type(key) is int and 0 < key <= len(table):
                return self._classified(table[key - 1])
            return None
        return self._classified(table.get(_stored(table, key)))

    def length(self, table: Table) -> int:
        """What ``#`` gives: a key n whose successor has no value."""
        if isinstance(table, list):
            n = len(table)
            while n and table[n - 1] is None:
                n -= 1
            return n
        n = 0
        while table.get(n + 1) is not None:
            n += 1
        return n

    def keys(self, table: Table) -> tuple[Any, int]:
        """The keys that have values, and how many."""
        if isinstance(table, list):
            found: list[Any] = [i for i, value in enumerate(table, 1) if value is not None]
        else:
            found = [key for key, value in table.items() if value is not None]
        return self._table_from(found), len(found)

    def items(self, table: Table) -> tuple[Any, Any, int]:
        """Keys (None for 1…n), values, how many."""
        make = self._table_from
        if isinstance(table, dict):
            return make(list(table)), make(list(table.values())), len(table)
        return None, make(list(table)), len(table)

    def put(self, table: Table, key: Any, value: Any) -> tuple[Table, int] | None:
        """Set a value; None removes it.

        Returns what the table has become, and its identity, if that is another object.
        """
        new = self._put_in_list(table, key, value) if isinstance(table, list) else None
        if isinstance(table, dict):
            put_in_dict(table, key, value)
            n = len(table)
            is_list = isinstance(table, LuaDict) and 1 in table and n in table and key != n + 1
            if is_list and all(type(k) is int and 0 < k <= n for k in table):
                new = [table[i] for i in range(1, n + 1)]
        return None if new is None else (new, id(new))

    def _put_in_list(self, table: list[Any], key: Any, value: Any) -> Table | None:
        n = len(table)
        if type(key) is int and 0 < key <= n:
            table[key - 1] = value
            while table and table[-1] is None:
                table.pop()
        elif type(key) is int and key == n + 1:
            if value is not None:
                table.append(value)
        elif value is not None:
            new = _dict_of(table)
            put_in_dict(new, key, value)
            return new
        return None

    def as_dict(self, table: Table) -> tuple[Table, int] | None:
        """What the table becomes to be a dict for good; None if it is one."""
        if isinstance(table, dict):
            if not isinstance(table, LuaDict):
                return None
            made = dict(table)
            return made, id(made)
        new: Table = dict(_dict_of(table))
        return new, id(new)

    def replace(self, old: Table, new: Any, holder: Any = None) -> None:
        """Put ``new`` in the place of ``old``, wherever Python has it; first in ``holder``."""
        self._replaced(old, new)
        _replace_in(holder, old, new)
        # Lua's wrapper and the arguments of the call have it, too.
        if _references(old) > self._own + 2:
            for other in gc.get_referrers(old):
                _replace_in(other, old, new)


def put_in_dict(table: dict[Any, Any], key: Any, value: Any) -> None:
    """Set a value under a key of Lua; None removes it."""
    key = _stored(table, key)
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value


class _Probe:
    """Equal to a key as numbers are; remembers the key of a dict that it met."""

    def __init__(self, number: Any) -> None:
        self._number = number
        self.met: Any = None

    def __hash__(self) -> int:
        return hash(self._number)

    def __eq__(self, other: object) -> bool:
        if other != self._number:
            return False
        self.met = other
        return True


def _stored(table: dict[Any, Any], key: Any) -> Any:
    """The key under which a dict has, or is to have, what Lua has under ``key``."""
    if isinstance(key, (list, dict)):
        return Key(key)
    if isinstance(key, (bool, int, float)) and (key == 0 or key == 1):
        # To Python True is 1: one of both is there as it is, the other one under a Key.
        probe = _Probe(key)
        table.get(probe)
        if probe.met is None:
            return Key(key) if Key(key) in table else key
        return key if isinstance(probe.met, bool) == isinstance(key, bool) else Key(key)
    return key


def _references(table: Table) -> int:
    return sys.getrefcount(table)


def _dict_of(table: list[Any]) -> LuaDict:
    return LuaDict((i, value) for i, value in enumerate(table, 1) if value is not None)


def _replace_in(holder: Any, old: Table, new: Any) -> None:
    fields = holder if isinstance(holder, (list, dict)) else getattr(holder, "__dict__", None)
    if isinstance(fields, list):
        fields[:] = [new if value is old else value for value in fields]
    elif isinstance(fields, dict):
        for key, value in fields.items():
            if value is old:
                fields[key] = new
