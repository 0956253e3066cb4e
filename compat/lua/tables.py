"""Tables that Lua and Python share: Python's lists and dicts, which Lua accesses through faces.

A table of Lua that Python keeps, for instance in a field of a module, becomes a list or dict. The
table in Lua becomes its face, without content of its own (core/tables.lua). So each table has one
owner. A list is a table with the keys 1…n, a ``MixedTable`` one with the key 1 and others, a dict
one without the key 1; None is nil. When Lua writes what a list or dict cannot hold, another kind
replaces it wherever Python has it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from compat.lua_tables import LuaDict, MixedTable, items
from compat.t7.base.types import Key

Table = list[Any] | dict[Any, Any]


class Tables:
    """The functions that faces call.

    Args:
        classified: returns what Lua needs of a value: the value alone, or with its kind and
            identity.
        keys_from: makes a Lua table from a list of keys.
        replaced: called when another object replaces a list or dict.
    """

    def __init__(
        self,
        classified: Callable[[Any], Any],
        keys_from: Callable[[list[Any]], Any],
        replaced: Callable[[Table, Any], None],
    ) -> None:
        self._classified = classified
        self._keys_from = keys_from
        self._replaced = replaced
        table: Table = []
        self._own = _references(table)

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that Lua calls."""
        names = ("get", "put", "length", "keys", "as_dict", "replace")
        return {name: getattr(self, name) for name in names}

    def get(self, table: Table, key: Any) -> Any:
        """Return the value of a key; None if there is none."""
        if isinstance(table, list):
            if type(key) is int and 0 < key <= len(table):
                return self._classified(table[key - 1])
            if type(table) is list:
                return None
            table = _others(table)
        return self._classified(table.get(_stored(table, key)))

    def length(self, table: Table) -> int:
        """Return what ``#`` gives: a key n whose successor has no value."""
        if isinstance(table, list):
            n = len(table)
            while n and table[n - 1] is None:
                n -= 1
            table = _others(table) if n == len(table) else {}
        else:
            n = 0
        while table.get(n + 1) is not None:
            n += 1
        return n

    def keys(self, table: Table) -> tuple[Any, int]:
        """Return the keys with values, and their number."""
        found = [key for key, value in items(table) if value is not None]
        return self._keys_from(found), len(found)

    def put(self, table: Table, key: Any, value: Any) -> tuple[Table, int] | None:
        """Set a value; None removes it.

        Returns what the table has become, and its identity, if that is another object.
        """
        if isinstance(table, list):
            new = _put_in_list(table, key, value)
        else:
            put_in_dict(table, key, value)
            is_begun = type(key) is int and key == 1 and value is not None
            new = _listed(table) if is_begun and isinstance(table, LuaDict) else None
        return None if new is None else (new, id(new))

    def as_dict(self, table: Table) -> tuple[Table, int] | None:
        """Turn the table into a dict for good; return it, or None if it is one."""
        if isinstance(table, dict):
            if not isinstance(table, LuaDict):
                return None
            made = dict(table)
            return made, id(made)
        new: Table = {key: value for key, value in items(table) if value is not None}
        return new, id(new)

    def replace(self, old: Table, new: Any, holder: Any = None) -> None:
        """Put ``new`` in place of ``old``, wherever Python has it; first in ``holder``."""
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
    """Return the dict key for Lua's ``key``."""
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


def keys_and_values(table: Any) -> tuple[list[Any] | None, list[Any]]:
    """Return keys (None for 1…n) and values of a list, tuple or dict."""
    if type(table) is not list and isinstance(table, (dict, MixedTable)):
        found = list(items(table))
        return [key for key, _ in found], [value for _, value in found]
    return None, list(table)


def filled(table: Table, content: list[Any]) -> None:
    """Give an empty table what Lua has in one: the entries of a list, else keys and values.

    For a ``MixedTable`` the number of entries, these, and keys and values.
    """
    others: Any = table
    if type(table) is not list and isinstance(table, MixedTable):
        count = content[0]
        table += content[1 : count + 1]
        content, others = content[count + 1 :], table.others
    elif isinstance(table, list):
        table += content
        return
    for key, value in zip(content[::2], content[1::2], strict=True):
        if type(key) is str or (type(key) is int and key > 1):
            others[key] = value
        else:
            put_in_dict(others, _other(key) if others is not table else key, value)


def _other(key: Any) -> Any:
    """Return the key for Lua's in a table that has the key 1, which equals True in Python."""
    return Key(True) if key is True else key


def _others(table: list[Any]) -> dict[Any, Any]:
    """Return the entries of a list under keys other than 1…n."""
    return table.further() if isinstance(table, MixedTable) else {}


def _put_in_list(table: list[Any], key: Any, value: Any) -> Table | None:
    n = len(table)
    if type(key) is int and 0 < key <= n:
        table[key - 1] = value
        while table and table[-1] is None:
            table.pop()
    elif type(key) is int and key == n + 1 and value is not None:
        table.append(value)
        if isinstance(table, MixedTable):
            table.take_entries()
    elif isinstance(table, MixedTable):
        put_in_dict(table.further(), _other(key), value)
    elif value is not None and n:
        mixed = MixedTable(table)
        _put_in_list(mixed, key, value)
        return mixed
    elif value is not None:
        new = LuaDict()
        put_in_dict(new, key, value)
        return new
    return None


def _listed(table: dict[Any, Any]) -> list[Any]:
    """Return a dict with the key 1 as a list."""
    mixed = MixedTable()
    for key, value in table.items():
        number = key.value if isinstance(key, Key) else key
        mixed.others[number if type(number) is int else _other(key)] = value
    mixed.take_entries()
    return mixed if mixed.others else list(mixed)


def _references(table: Table) -> int:
    return sys.getrefcount(table)


def _replace_in(holder: Any, old: Table, new: Any) -> None:
    fields = holder if isinstance(holder, (list, dict)) else getattr(holder, "__dict__", None)
    if isinstance(fields, list):
        fields[:] = [new if value is old else value for value in fields]
        fields = _others(fields)
    if isinstance(fields, dict):
        for key, value in fields.items():
            if value is old:
                fields[key] = new
