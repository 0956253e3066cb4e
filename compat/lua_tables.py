"""Lua tables in Python: lists that count from 1, and dicts with attributes."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NoReturn, SupportsIndex, TypeVar

from compat.notebook import drawn

L = TypeVar("L", bound="List")
T = TypeVar("T", bound="Table")


# Lua's words, among them those of torch.class: no field of an object.
_EVENTS = {
    *("add", "sub", "mul", "div", "mod", "pow", "unm", "concat", "len", "eq", "lt", "le", "call"),
    *("index", "newindex", "metatable", "gc", "pairs", "ipairs", "close", "tostring"),
    *("init", "typename"),
}

_UNDERSCORED = re.compile(r"(_[^_](?:.*[^_])?)(_{1,3})")


def attribute(key: str) -> str:
    """Return Python's name of a field; what is no name stays.

    ``lambda`` is a word of Python's and becomes ``lambda_``; ``__size``, which Python calls
    otherwise in each class, becomes ``_size_``, and a field ``_size_`` of Lua ``_size__``.
    """
    if not isinstance(key, str):
        return key
    if key[:2] == "__" and key[-2:] != "__" and key[2:] not in _EVENTS and key[2] != "_":
        return f"{key[1:]}__" if key[-1] == "_" else f"{key[1:]}_"
    found = _UNDERSCORED.fullmatch(key)
    return f"{key}_" if keyword.iskeyword(key) or (found and found[2] == "_") else key


def field(name: str) -> str:
    """Return the field that a name of Python's stands for."""
    if not isinstance(name, str) or name[-1:] != "_":
        return name
    found = _UNDERSCORED.fullmatch(name)
    if found is not None:
        own, behind = found[1], len(found[2])
        return f"{own}_" if behind == 2 else f"_{own}{'_' * (behind > 1)}"
    return name[:-1] if keyword.iskeyword(name[:-1]) else name


def key_of(entries: Mapping[Any, Any], name: str) -> str:
    """Return the key that an attribute stands for: the name itself, or the field that it is for."""
    return name if name in entries else field(name)


class Table(dict[Any, Any]):
    """A Lua table whose keys are not 1…n: a dict whose entries are also attributes.

    ``opt.rate`` is ``opt["rate"]``, also to set or delete it, and ``opt.lambda_``, whose name would
    be a word of Python's, is ``opt["lambda"]``. Keys that are names of dict's methods
    (``opt["items"]``), and keys that are no names, need brackets.

    Examples:
        >>> opt = Table(rate=0.1)
        >>> opt.rate, opt["rate"]
        (0.1, 0.1)
    """

    _repr_html_ = drawn

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        key = key_of(self, name)
        if key in self and not _is_special(key):
            return self[key]
        known = ", ".join(str(key) for key in list(self)[:12])
        raise AttributeError(f"the table has no entry {name!r}; it has {known or 'none'}")

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name) or _is_special(name):
            raise AttributeError(f"{name} is a name of Python's; write table[{name!r}] = …")
        self[key_of(self, name)] = value

    def __delattr__(self, name: str) -> None:
        self.__getattr__(name)
        del self[key_of(self, name)]

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *(key for key in self if isinstance(key, str))]

    def copy(self: T) -> T:
        return type(self)(self)


def _is_special(name: str) -> bool:
    """Return whether Python asks objects for this name, such as ``__deepcopy__``."""
    return name.startswith("__") and name.endswith("__")


class List(list[Any]):
    """A Lua table with the keys 1…n: a list that counts from 1, as in Lua.

    ``t[1]`` is the first entry and ``t[0]`` an error. ``t[len(t) + 1] = x`` appends, ``t[-1]`` is
    the last entry. All positions count from 1 (``index``, ``insert``, ``pop``, ``del``), also in
    the results of ``+``, ``*`` and ``copy``. Iteration, ``len``, ``in`` and everything that reads
    the whole list are as in a list. It is a mapping as well: it has ``keys``, ``values``, ``items``
    and ``get``, and it equals a dict with the keys 1…n as well as a list.

    Slices other than ``t[:]`` are refused, since either count could be meant: ``list(t)[a:b]``
    counts from 0. PyTorch makes tensors only of plain lists: ``torch.tensor(t.tolist())``.

    Examples:
        >>> t = List(["a", "b"])
        >>> t[1], t == ["a", "b"], dict(t.items())
        ('a', True, {1: 'a', 2: 'b'})
    """

    _repr_html_ = drawn

    __slots__ = ()

    def _place(self, index: Any, end: int) -> int:
        """Return the 0-based position of an entry. ``end`` is the largest accepted index."""
        if isinstance(index, float) and index.is_integer():
            place = int(index)
        elif hasattr(index, "__index__"):
            place = index.__index__()
        else:
            self._refuse(index, end)
        if 1 <= place <= end:
            return place - 1
        if -len(self) <= place < 0:
            return place + len(self)
        self._refuse(index, end)

    def _refuse(self, index: Any, end: int) -> NoReturn:
        if isinstance(index, slice):
            raise TypeError(
                "a table of a .t7 file counts from 1; write list(t)[a:b], which counts from 0"
            )
        accepted = f"1 to {end} is accepted" if end else "it is empty"
        raise _NoEntry(
            f"the index is {index!r}; a table of a .t7 file counts from 1, {accepted}; "
            "its tolist() counts from 0, as PyTorch does"
        )

    def __getitem__(self, index: Any) -> Any:
        if index == slice(None):
            return self.copy()
        return list.__getitem__(self, self._place(index, len(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        if index == slice(None):
            list.__setitem__(self, slice(None), value)
            return
        place = self._place(index, len(self) + 1)
        if place == len(self):
            self.append(value)
        else:
            list.__setitem__(self, place, value)

    def __delitem__(self, index: Any) -> None:
        list.__delitem__(
            self, slice(None) if index == slice(None) else self._place(index, len(self))
        )

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dict):
            return len(self) == len(other) and all(
                key in other and (other[key] is value or other[key] == value)
                for key, value in self.items()
            )
        return list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def insert(self, index: SupportsIndex, value: Any) -> None:
        list.insert(self, self._place(index, len(self) + 1), value)

    def pop(self, index: SupportsIndex = -1) -> Any:
        return list.pop(self, self._place(index, len(self)))

    def index(self, value: Any, start: SupportsIndex = 1, *stop: SupportsIndex) -> int:
        places = [self._place(place, len(self) + 1) for place in (start, *stop)]
        return list.index(self, value, *places) + 1

    def copy(self: L) -> L:
        return type(self)(self)

    def __add__(self, other: Any) -> Any:
        return List([*self, *other]) if isinstance(other, list) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        return List([*other, *self]) if isinstance(other, list) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> Any:
        return List(list.__mul__(self, count))

    __rmul__ = __mul__

    def keys(self) -> range:
        """Return 1…n."""
        return range(1, len(self) + 1)

    def values(self) -> Iterator[Any]:
        """Return the entries."""
        return iter(self)

    def items(self) -> Iterator[tuple[int, Any]]:
        """Return the entries with their numbers, from 1."""
        return enumerate(self, 1)

    def get(self, key: Any, default: Any = None) -> Any:
        """Return entry number ``key``, or ``default`` if there is none."""
        is_there = isinstance(key, (int, float)) and 1 <= key <= len(self) and key == int(key)
        return self[key] if is_there else default

    def tolist(self) -> list[Any]:
        """Return the entries as plain lists and dicts, at all depths."""
        return plain(self)


class LuaDict(dict[Any, Any]):
    """A table that Lua made without the key 1; when it gets that key, a list replaces it."""


class MixedTable(list[Any]):
    """A Lua table with the keys 1…n and others: a list of the entries, counted from 0.

    Functions that take a list take this table, too, and ignore the other keys, as Torch7's do.
    ``table["name"]`` is one of the other entries. The table equals a dict of all its keys.

    Attributes:
        others: the values of the other keys; a key that a list entry has taken since does not
            count.
    """

    def __init__(
        self, entries: Iterable[Any] = (), others: Mapping[Any, Any] | None = None
    ) -> None:
        super().__init__(entries)
        self.others: dict[Any, Any] = dict(others or {})

    def take_entries(self) -> None:
        """Move other keys that continue the list's numbers into the list."""
        while len(self) + 1 in self.others:
            self.append(self.others.pop(len(self) + 1))

    def further(self) -> dict[Any, Any]:
        """Return ``others`` without the keys that list entries have taken."""
        taken = [key for key in self.others if type(key) is int and 0 < key <= len(self)]
        for key in taken:
            del self.others[key]
        return self.others

    def __getitem__(self, index: Any) -> Any:
        return self.others[index] if isinstance(index, str) else super().__getitem__(index)

    def clear(self) -> None:
        super().clear()
        self.others.clear()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, dict):
            return dict(items(self)) == other
        further = other.further() if isinstance(other, MixedTable) else {}
        return self.further() == further and list.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    def __repr__(self) -> str:
        return f"MixedTable({list.__repr__(self)}, {self.further()!r})"


class ForeignTable:
    """A table of another language, in a field of an object."""

    def replace_each(self, function: Callable[[Any], Any]) -> None:
        """Replace each tensor and object, at any depth, by the result of ``function``."""
        raise NotImplementedError


def items(table: Any) -> Iterator[tuple[Any, Any]]:
    """Return Lua's keys and the values of a list, tuple or dict."""
    if isinstance(table, dict):
        yield from table.items()
        return
    yield from enumerate(table, 1)
    if isinstance(table, MixedTable):
        yield from table.further().items()


def with_values(table: Any, new: Sequence[Any]) -> Any:
    """Return a table with the keys of ``table`` and the new values."""
    if isinstance(table, dict):
        return dict(zip(table, new, strict=True))
    if isinstance(table, MixedTable):
        others = zip(table.further(), new[len(table) :], strict=True)
        return MixedTable(new[: len(table)], dict(others))
    return list(new)


def values(table: Any) -> Iterable[Any]:
    """Return the values of a list, tuple or dict."""
    if isinstance(table, dict):
        return table.values()
    if isinstance(table, MixedTable):
        return chain(table, table.further().values())
    found: Iterable[Any] = table
    return found


class _NoEntry(IndexError, KeyError):
    """The error for a missing entry: that of a list and that of a dict."""

    __str__ = IndexError.__str__


def by_number(fields: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the named fields that are lists as dicts with the keys 1…n."""
    lists = {name: fields[name] for name in names if isinstance(fields.get(name), list)}
    return {name: dict(items(entries)) for name, entries in lists.items()}


def by_position(table: dict[Any, Any]) -> list[Any]:
    """Return the values of a dict with the keys 1…n; nothing of one with others."""
    places = range(1, len(table) + 1)
    return [table[i] for i in places] if all(i in table for i in places) else []


def plain(value: Any) -> Any:
    """Return ``value`` with plain lists and dicts in place of the tables in it.

    If there are none, ``value`` itself is returned. A table that occurs several times, or inside
    itself, does so in the result.

    Args:
        value: what ``load`` returned.

    Returns:
        The same tensors and objects, in new lists and dicts.
    """
    if not isinstance(value, (list, dict)):
        return value
    made: dict[int, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    found_tables = False

    def begun(value: Any) -> Any:
        nonlocal found_tables
        if not isinstance(value, (list, dict)):
            return value
        new = made.get(id(value))
        if new is None:
            found_tables |= isinstance(value, (List, Table))
            new = made[id(value)] = [] if isinstance(value, list) else {}
            waiting.append((value, new))
        return new

    result = begun(value)
    for old, new in waiting:
        if isinstance(old, list):
            new.extend(map(begun, old))
        else:
            new.update((key, begun(item)) for key, item in old.items())
    return result if found_tables else value
