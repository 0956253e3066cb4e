"""Decodes many similar table entries at once.

The kinds of objects that the first entry consists of are its shape. A window of the file is
searched for every place that could be the start of an entry of this shape. Those are taken that
follow each other without a gap from the first one on, so that an entry is never read from the
inside of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from compat.lua_tables import List, Table
from compat.t7.encoding.primitives import LARGEST

Array = np.ndarray[Any, Any]

_NUMBER = 1
_STRING = 2
_TABLE = 3
_NUMBER_SIZE = 12  # a type code and a double
_STRING_HEAD = 8  # a type code and a length
_TABLE_HEAD = 12  # a type code, an index and a number of entries
_MOST_FIELDS = 8
_PADDING = bytes(16)
_MARK = 0xFF  # is in no ascii string


@dataclass
class Run:
    """Entries that follow each other.

    Attributes:
        keys: a range where they are numbers that count up.
        size: the bytes they take.
        indices: of the values, where these are tables.
    """

    keys: Sequence[Any]
    values: list[Any]
    size: int
    indices: list[int]


NOTHING = Run([], [], 0, [])


def decode(window: bytes, order: str, most: int, is_plain: bool) -> Run:
    """The entries that ``window`` starts with, as long as they are of one shape; ``most`` at most.

    Their keys are numbers or ascii strings, and so are their values; or these are small tables of
    such values, either lists or with the same names; ``is_plain`` as in ``OpenTable``.
    """
    found = _Window(window, order)
    shape = found.shape()
    if not shape:
        return NOTHING
    starts = found.starts(shape)
    stops = starts
    for kind in shape:
        fits = found.matches(kind, stops)
        starts, stops = starts[fits], found.ends(kind, stops[fits])
    fits = stops <= len(window)
    starts, stops = starts[fits], stops[fits]
    if not len(starts) or starts[0]:
        return NOTHING
    count = min(_leading(stops[:-1] == starts[1:]) + 1, most)
    columns = [starts[:count]]
    for i, kind in enumerate(shape):
        columns.append(found.ends(kind, columns[-1]))
        count = min(count, found.plain(kind, columns[-2], columns[-1]))
        if i >= 2 and i % 2 == 0:  # the key of a field
            count = min(count, found.constant(kind, columns[-2]))
    if not count:
        return NOTHING
    columns = [column[:count] for column in columns]
    keys = found.keys(shape[0], columns[0], columns[1])
    values = [found.objects(shape[i], *columns[i : i + 2]) for i in range(1, len(shape), 2)]
    if shape[1] > 0:
        return Run(keys, values[0], int(stops[count - 1]), [])
    names = [
        found.objects(shape[i], columns[i][:1], columns[i + 1][:1])[0]
        for i in range(2, len(shape), 2)
    ]
    indices, *fields = values
    tables = _tables(names, fields, is_plain)
    if not tables or len(set(indices)) < count:
        return NOTHING
    return Run(keys, tables, int(stops[count - 1]), indices)


class _Window:
    """A part of the file with, for every byte of it, the int and the double that start there.

    A kind is the type code of a number or string, or minus the number of entries of a table, which
    stands for what comes before its first entry.
    """

    def __init__(self, window: bytes, order: str) -> None:
        self._raw = window
        self._size = len(window)
        padded = window + _PADDING
        places = (len(padded) - 8,)
        self._words: Array = np.ndarray(places, order + "i4", padded, 0, (1,))
        self._doubles: Array = np.ndarray(places, order + "f8", padded, 0, (1,))
        self._bytes = np.frombuffer(padded, np.uint8)
        # Which byte of a word is its lowest.
        self._lowest = 3 if order == ">" else 0

    def shape(self) -> list[int]:
        """The kinds of the first entry; none if it is not of those that are decoded here."""
        shape: list[int] = []
        place = np.zeros(1, np.int64)
        wanted = 2
        while len(shape) < wanted:
            if place[0] >= self._size:
                return []
            kind = int(self._words[place[0]])
            if kind == _TABLE and len(shape) == 1:
                fields = int(self._words[place[0] + 8])
                if not 1 <= fields <= _MOST_FIELDS:
                    return []
                kind = -fields
                wanted += 2 * fields
            elif kind not in (_NUMBER, _STRING):
                return []
            shape.append(kind)
            place = self.ends(kind, place)
        return shape

    def starts(self, shape: list[int]) -> Array:
        """Where entries could start."""
        if _STRING in shape:
            # Bytes are found several times as fast as words, which may lie anywhere.
            starts = np.flatnonzero(self._bytes[: self._size + 3] == shape[0]) - self._lowest
            starts = starts[(starts >= 0) & (starts < self._size)]
            return starts[self._words[starts] == shape[0]]
        return np.arange(0, self._size, len(shape) * _NUMBER_SIZE)

    def matches(self, kind: int, starts: Array) -> Array:
        """Whether an object of this kind could start there."""
        inside = np.minimum(starts, self._size)
        if kind > 0:
            return (starts < self._size) & (self._words[inside] == kind)
        fits = (starts < self._size - _TABLE_HEAD) & (self._words[inside] == _TABLE)
        return fits & (self._words[np.minimum(starts + 8, self._size)] == -kind)

    def ends(self, kind: int, starts: Array) -> Array:
        """Where objects would end; behind the window for what cannot be one."""
        if kind != _STRING:
            return starts + (_NUMBER_SIZE if kind > 0 else _TABLE_HEAD)
        lengths = self._words[np.minimum(starts + 4, self._size)].astype(np.int64)
        return np.where(lengths < 0, self._size + 1, starts + _STRING_HEAD + lengths)

    def plain(self, kind: int, starts: Array, ends: Array) -> int:
        """How many of these objects come before the first string that is not ascii."""
        if kind != _STRING or self._raw.isascii():
            return len(starts)
        if not len(starts) or (self._bytes[: ends[-1]][_inside(starts, ends)] < 128).all():
            return len(starts)
        # A string's head is ascii where its length is below 128; a longer one is left to others.
        return _leading(self._high[ends - 1] == self._high[starts])

    @cached_property
    def _high(self) -> Array:
        """For every byte, how many up to there are not ascii."""
        return np.cumsum(self._bytes >= 128, dtype=np.int32)

    def constant(self, kind: int, starts: Array) -> int:
        """How many of these numbers or strings are equal, counted from the first."""
        if kind == _NUMBER:
            values = self._doubles[starts + 4]
            return _leading(values == values[0])
        lengths = self._words[starts + 4]
        same = lengths == lengths[0]
        for place in range(_STRING_HEAD, _STRING_HEAD + int(lengths[0])):
            inside = np.minimum(starts + place, self._size)
            same &= self._bytes[inside] == self._bytes[inside[0]]
        return _leading(same)

    def keys(self, kind: int, starts: Array, ends: Array) -> Sequence[Any]:
        """``objects``, or a range of numbers that count up."""
        if kind == _NUMBER:
            numbers = self._doubles[starts + 4]
            first = float(numbers[0])
            steps = np.arange(len(numbers))
            is_safe = first.is_integer() and abs(first) + len(numbers) <= LARGEST
            if is_safe and (numbers == first + steps).all():
                return range(int(first), int(first) + len(numbers))
        return self.objects(kind, starts, ends)

    def objects(self, kind: int, starts: Array, ends: Array) -> list[Any]:
        """The numbers or strings that lie there, or the indices of tables."""
        if kind == _NUMBER:
            return _numbers(self._doubles[starts + 4])
        if kind != _STRING:
            return self._words[starts + 4].tolist()
        return self._strings(starts, ends)

    def _strings(self, starts: Array, ends: Array) -> list[str]:
        """The ascii strings there, split at a mark that takes the last byte of each one's head."""
        marks = starts + _STRING_HEAD - 1
        stop = int(ends[-1])
        marked = self._bytes[:stop].copy()
        marked[marks] = _MARK
        text = marked[_inside(marks, ends)].tobytes().decode("latin-1")
        return text.split(chr(_MARK))[1:]


def _inside(starts: Array, ends: Array) -> Array:
    """For every byte up to the last end whether it lies between a start and its end."""
    lengths = np.empty(2 * len(starts), np.int64)
    lengths[1::2] = ends - starts
    lengths[0] = starts[0]
    lengths[2::2] = starts[1:] - ends[:-1]
    return np.repeat(np.tile(np.array([False, True]), len(starts)), lengths)


def _leading(flags: Array) -> int:
    """How many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def _numbers(values: Array) -> list[int | float]:
    """What ``compat.t7.encoding.primitives.whole`` makes of each."""
    is_whole = (np.abs(values) <= LARGEST) & (values == np.trunc(values))
    is_whole &= (values != 0) | ~np.signbit(values)
    if is_whole.all():
        return values.astype(np.int64).tolist()
    numbers = values.tolist()
    for i in np.flatnonzero(is_whole).tolist():
        numbers[i] = int(numbers[i])
    return numbers


def _tables(names: list[Any], columns: list[list[Any]], is_plain: bool) -> list[Any]:
    """Tables of the same keys and of these columns of values; none if the keys are unusual."""
    if names == list(range(1, len(names) + 1)):
        return list(map(list if is_plain else List, zip(*columns, strict=True)))
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        return []
    empty = dict.fromkeys(names)  # a copy is cheaper than to build each anew
    tables = [empty.copy() if is_plain else Table(empty) for _ in columns[0]]
    for name, column in zip(names, columns, strict=True):
        for table, value in zip(tables, column, strict=True):
            table[name] = value
    return tables
