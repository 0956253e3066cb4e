"""Calls of Python's functions by Lua: arguments, results, and the tables that are lent for them.

A table of Lua that is an argument is lent: Python gets a list or dict, and the table keeps its
content while Python alone runs. When Lua goes on, because the call returns or because Python calls
Lua, what Python has kept becomes Python's for good, and Lua's table its face (compat.lua.tables);
what it has not kept is Lua's as before, with the changes that were made. ``core/tables.lua`` has
the tables of Lua in the same order as ``Calls`` has Python's.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch

from compat.lua.tables import Table, filled, keys_and_values
from compat.lua.values import LuaSequence
from compat.lua_tables import LuaDict, MixedTable


class _Mark:
    """Marks, among encoded values, the beginning of a table."""

    def __init__(self, make: Any = None) -> None:
        self.make = make


# Before the entries of a table; their number follows.
LIST, DICT, MIXED = _Mark(list), _Mark(LuaDict), _Mark(MixedTable)
# The same for a table with a metatable, which is not lent; itself follows on the number.
FOREIGN = _Mark(LuaSequence)
# Before the number of a table lent before.
SAME = _Mark()
_TABLES = (list, dict, LuaDict, MixedTable)
# So many values are results of a call rather than a table.
_SHORT = 16


class _Lent:
    """A table of Lua that Python uses for the length of a call."""

    __slots__ = ("before", "is_kept", "table")

    def __init__(self, table: Table) -> None:
        self.table: Table | None = table
        self.before: tuple[Any, ...] = ()
        self.is_kept = False


class Calls:
    """The calls of one Lua state into Python.

    Args:
        classified: returns what Lua needs of a value: the value alone, or with its kind and
            identity.
        table_from: makes a Lua table from a list; ``keys_from`` from one of keys.

    ``tell_types``, if set, is called with the first argument and the results of each call, ``text``
    with what tables hold.
    """

    def __init__(
        self,
        classified: Callable[[Any], Any],
        table_from: Callable[[list[Any]], Any],
        keys_from: Callable[[list[Any]], Any],
    ) -> None:
        self._classified = classified
        self._table_from = table_from
        self._keys_from = keys_from
        self.tell_types: Callable[..., None] | None = None
        self.text: Callable[[Any], Any] | None = None
        self._lent: list[_Lent | None] = []
        # How many of them wait for calls that called Lua, which is running now.
        self._floor = 0
        # The first part of arguments that are too many for one call.
        self._parts: list[Any] = []
        # What sys.getrefcount tells of a table that nobody has: in a loop, and in a variable.
        self._in_loop = _references_in_loop()
        self._in_variable = self._in_loop - 1

    def functions(self) -> dict[str, Any]:
        """Return the functions that Lua calls, and the marks that it sets."""
        names = (
            "invoke",
            "invoke_with_tables",
            "add",
            "keep",
            "return_lent",
            "take",
            "items",
            "entries",
        )
        return {name: getattr(self, name) for name in names} | {
            "LIST": LIST,
            "DICT": DICT,
            "MIXED": MIXED,
            "SAME": SAME,
            "FOREIGN": FOREIGN,
        }

    # Calling --------------------------------------------------------------------------------------

    def invoke(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function. Returns what Lua is to do with lent tables, and the results."""
        results = [function(*args)]
        if self.tell_types is not None and args:
            self.tell_types(args[0], *results)
        return self._answer(results)

    def invoke_with_tables(self, function: Callable[..., Any], *flat: Any) -> Any:
        """Call a function with encoded arguments: marks, numbers and entries of tables."""
        args = self.decoded(flat)
        results = [function(*args)]
        if self.tell_types is not None:
            self.tell_types(args[0], *results)
        del args
        return self._answer(results)

    def add(self, *flat: Any) -> None:
        """Add arguments before those of the next ``invoke_with_tables``."""
        self._parts += flat

    def keep(self, *flat: Any) -> Any:
        """Take over tables, which Python owns from now on. Return each with its identity."""
        return self.kept(flat)[1]

    def kept(self, flat: Iterable[Any]) -> tuple[list[Any], Any]:
        """Decode values and take over their tables; return the values and ``keep``'s result."""
        found: list[_Lent | None] = []
        values = self._decode(flat, found)
        changes: list[Any] = []
        for lent in found:
            assert lent is not None
            changes += (lent.table, id(lent.table))
        return self._texts(values), self._table_from(changes) if changes else None

    def _answer(self, box: list[Any]) -> Any:
        # Not an argument, to which the caller has a reference in some versions of Python.
        results = box.pop()
        kind = type(results)
        if kind is torch.Tensor or kind is float:
            found = self._classified(results)
            if type(found) is not tuple:
                found = (found,)
        else:
            if not isinstance(results, tuple) or kind is torch.Size:
                results = (results,)
            found = self._classified_all(results)
            if len(found) == 3 and found[1] is None:
                found = found[:1]
        del results
        return (self.return_lent() if len(self._lent) > self._floor else None, *found)

    def _classified_all(self, values: Any) -> list[Any]:
        """Return values, their kinds and identities; a table only Lua will own is ``fresh``."""
        found: list[Any] = []
        for value in values:
            if type(value) in _TABLES:
                # One with gaps would come back as a dict.
                is_fresh = sys.getrefcount(value) <= self._in_loop and not _has_gaps(value)
                found += (value, "fresh" if is_fresh else "table", id(value))
                continue
            classified = self._classified(value)
            if type(classified) is not tuple:
                found += (classified, None, None)
            elif len(classified) == 2:
                found += (*classified, None)
            else:
                found += classified
        return found

    def take(self, table: Table) -> tuple[Any, Any, int]:
        """Return ``items`` of a table that Lua owns from now on."""
        return self.items(table, table.clear)  # what nobody else has is the caller's alone

    def entries(self, table: Any) -> Any:
        """Return the classified values of a short list, nothing of other tables."""
        if type(table) is list and 0 < len(table) <= _SHORT and table[-1] is not None:
            # Of a copy, so that no entry looks as if nobody else had it.
            return tuple(self._classified_all(list(table)))
        return None

    def items(self, table: Any, taken: Callable[[], None] | None = None) -> tuple[Any, Any, int]:
        """Return keys (None for 1…n) and classified values of a table, and their number."""
        keys, found = keys_and_values(table)
        make = self._table_from
        if taken is not None:
            taken()
        count = len(found)
        keys = keys if keys is None else self._keys_from(keys)
        return keys, make(self._classified_all(found)), count

    # Lending --------------------------------------------------------------------------------------

    def decoded(self, flat: Iterable[Any]) -> list[Any]:
        """Decode values; their tables become lists and dicts, which are lent."""
        first = len(self._lent)
        args = self._decode(flat, self._lent, first)
        for lent in self._lent[first:]:
            assert lent is not None
            table = lent.table
            lent.before = tuple(table) if type(table) is list else _entries(table)
        return args

    def _decode(self, flat: Iterable[Any], found: list[_Lent | None], first: int = 0) -> list[Any]:
        if self._parts:
            flat, self._parts = (*self._parts, *flat), []
        args: list[Any] = []
        # The table being filled: what it is to hold, how many values are left, the tables around.
        table: Any = None
        content, left = args, -1
        around: list[Any] = []
        values = iter(flat)
        for value in values:
            if type(value) is not _Mark:
                content.append(value)
            elif value is SAME:
                same = found[first + next(values)]
                assert same is not None
                content.append(same.table)
            else:
                around.append((table, content, left))
                left = next(values)
                if value is FOREIGN:
                    table = LuaSequence(next(values))
                else:
                    table = value.make()
                    found.append(_Lent(table))
                content.append(table)
                content = []
                left += 1  # for the table, which is a value, too
            left -= 1
            while not left:
                filled(table, self._texts(content))
                table, content, left = around.pop()
                left -= 1
        return args

    def _texts(self, values: list[Any]) -> list[Any]:
        return values if self.text is None else list(map(self.text, values))

    def return_lent(self, again: bool = False) -> Any:
        """Return lent tables above the floor to Lua; return what has changed, or None.

        The result is one table: ``number, "kept", table, identity`` for each table that Python
        keeps now, and ``number, "changed", keys, values, count`` for each that is Lua's again with
        other contents.

        Args:
            again: the call goes on, so kept tables will be checked again.
        """
        changes: list[Any] = []
        for number in range(self._floor, len(self._lent)):
            lent = self._lent[number]
            if lent is None or lent.table is None:
                continue
            table, lent.table = lent.table, None
            # The only references left are this variable's and, for a kept table, its face's: any
            # further one means that Python code still holds the table, so it stays Python's.
            if sys.getrefcount(table) > self._in_variable + lent.is_kept:
                if not lent.is_kept:
                    changes += (number + 1, "kept", table, id(table))
                if again:
                    lent.table, lent.is_kept, lent.before = table, True, ()
                    continue
            elif lent.is_kept or self._is_changed(table, lent.before):
                changes += (number + 1, "changed", *self.take(table))
            else:
                table.clear()
            self._lent[number] = None
        if not again:
            del self._lent[self._floor :]
        return self._table_from(changes) if changes else None

    def replace(self, old: Table, new: Any) -> None:
        """Put ``new`` in place of a lent table; unless it is a list or dict, the table is Lua's."""
        for i, lent in enumerate(self._lent):
            if lent is not None and lent.table is old:
                lent.table = new
                if not isinstance(new, (list, dict)):
                    self._lent[i] = None

    def _is_changed(self, table: Table, before: tuple[Any, ...]) -> bool:
        now = table if type(table) is list else _entries(table)
        return len(now) != len(before) or not all(map(_is_same, now, before))

    # Lua runs, called by Python -------------------------------------------------------------------

    def enter(self, is_called: bool) -> tuple[Any, int]:
        """Begin to run Lua. Returns what it is to do with lent tables, and the floor before.

        Args:
            is_called: a function that Lua called is calling.
        """
        changes = self.return_lent(again=is_called) if len(self._lent) > self._floor else None
        before, self._floor = self._floor, len(self._lent)
        return changes, before

    def leave(self, before: int) -> None:
        """End it."""
        self._floor = before


def _has_gaps(table: Table) -> bool:
    return isinstance(table, list) and any(value is None for value in table)


def _entries(table: Any) -> tuple[Any, ...]:
    if type(table) is list:
        return tuple(table)
    keys, values = keys_and_values(table)
    return (*(keys or ()), *values)


def _references_in_loop() -> int:
    values: tuple[Any, ...] = ([],)
    for value in values:
        return sys.getrefcount(value)
    raise AssertionError


def _is_same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, (int, float, str)) and a == b)


def with_options(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """Call a function with named arguments, as Lua scripts write them in a table."""
    return function(**options)
