"""Lua's values in Python: tables with metatables, functions, the standard output."""

from __future__ import annotations

import copy
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from compat.lua_tables import ForeignTable, field


class State(Protocol):
    """A Lua state that calls its functions with Python's values."""

    def invoke(self, function: Any, *args: Any) -> Any:
        """Call a function of Lua."""

    def access(self, name: str, *args: Any) -> Any:
        """Call one of the functions of core/exchange.lua."""


class LuaTable(ForeignTable):
    """A table of Lua: ``table["key"]``, ``table.key``, ``len``, ``keys``, ``items``."""

    def __init__(self, state: State, table: Any) -> None:
        self.__dict__.update(_state=state, _handle=table)

    def __getitem__(self, key: Any) -> Any:
        return self._state.access("get", self._handle, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._state.access("set", self._handle, key, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[field(name)]

    def __setattr__(self, name: str, value: Any) -> None:
        self[field(name)] = value

    def __len__(self) -> int:
        return int(self._state.access("length", self._handle))

    def __call__(self, *args: Any) -> Any:
        return self._state.access("call", self._handle, *args)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LuaTable) and bool(
            self._state.access("same", self._handle, handle(other, self._state))
        )

    def keys(self) -> list[Any]:
        """Return the keys, in no order."""
        found: list[Any] = self._state.access("keys", self._handle)
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self.keys())

    def items(self) -> list[tuple[Any, Any]]:
        """Return keys and values."""
        return [(key, self[key]) for key in self.keys()]

    def entries(self) -> list[Any]:
        """Return the values under 1…n; nothing for an object of a class."""
        found: list[Any] = self._state.access("entries", self._handle)
        return found

    def replace_each(self, function: Callable[[Any], Any]) -> None:
        """See ``ForeignTable``; there is nothing in an object of a class."""
        self._state.access("each", self._handle, function)

    def __str__(self) -> str:
        return str(self._state.access("tostring", self._handle))

    def __deepcopy__(self, memo: dict[int, Any]) -> LuaTable:
        return self


class LuaSequence(list[Any]):
    """The values under 1…n of a Lua table with a metatable, for a call; in Lua it is the table.

    So functions that take lists accept it, as Torch7's read 1…n of anything that can be indexed.
    """

    def __init__(self, table: LuaTable) -> None:
        super().__init__()
        self.__dict__.update(vars(table))

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return copy.deepcopy(list(self), memo)


class LuaFunction:
    """A function of Lua. Several results are a tuple."""

    def __init__(self, state: State, function: Any, address: int) -> None:
        self._state, self._handle, self._address = state, function, address

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, LuaFunction)
            and other._state is self._state
            and other._address == self._address
        )

    def __hash__(self) -> int:
        return hash(self._address)

    def __call__(self, *args: Any) -> Any:
        return self._state.invoke(self._handle, *args)

    def __deepcopy__(self, memo: dict[int, Any]) -> LuaFunction:
        return self


class LuaThread:
    """A coroutine of Lua, inside a table, since lupa would take it for a function."""

    def __init__(self, state: State, box: Any) -> None:
        self._state, self._handle = state, box


def handle(value: LuaTable | LuaSequence | LuaFunction | LuaThread, state: State) -> Any:
    """Return a value's form in its state; None if it belongs to another state."""
    known = vars(value)
    return known["_handle"] if known["_state"] is state else None


class LuaOutput:
    """Standard output for Python code, through Lua's: what both print stays in order."""

    encoding = "utf-8"
    errors = "strict"

    def __init__(self, write: Callable[[str], Any], flush: Callable[[], Any]) -> None:
        self._write, self._flush = write, flush
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        """Write text as UTF-8."""
        data = text.encode("utf-8", "surrogateescape")
        if threading.get_ident() == self._thread:
            self._write(data.decode("latin-1"))
        else:
            # Lua belongs to its thread, which may be waiting for this one.
            os.write(1, data)
        return len(text)

    def flush(self) -> None:
        """Write out what is buffered."""
        if threading.get_ident() == self._thread:
            self._flush()

    def isatty(self) -> bool:
        """Return whether the output is a terminal."""
        return os.isatty(1)

    def fileno(self) -> int:
        """Return the file number of standard output."""
        return 1

    def writable(self) -> bool:
        """Return True: Lua may write to it."""
        return True
