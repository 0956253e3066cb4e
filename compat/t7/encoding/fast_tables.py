"""Decodes many similar table entries at once.

The shape of an entry is the kinds of the objects in it. A window of the file is searched for every
place where an entry of the first entry's shape could start. Only entries that follow each other
without a gap are taken, so that no entry is read from the inside of another.
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
        keys: the keys; a range if they count up.
        size: the size of the entries in bytes.
        indices: the indices of the values, if the values are tables.
    """

    keys: Sequence[Any]
    values: list[Any]
    size: int
    indices: list[int]


NOTHING = Run([], [], 0, [])


def decode(window: bytes, order: str, most: int, is_plain: bool) -> Run:
    """Return the entries that ``window`` starts with, as long as they are of one shape; ``most`` at
    most.

    Their keys are numbers or ascii strings, and so are their values; or these are small tables of
    such values, either lists or with the same names; ``is_plain`` as in ``OpenTable``.
    """
    found = _Window(window, order)
    shape = found.shape()
    if not shape:
        return NOTHING
    columns = found.columns(shape)
    starts, stops = columns[0], columns[-1]
    if not len(starts) or starts[0]:
        return NOTHING
    count = min(_leading(stops[:-1] == starts[1:]) + 1, most)
    texts = {}
    for i, kind in enumerate(shape):
        starts, ends = columns[i][:count], columns[i + 1][:count]
        is_name = i >= 2 and i % 2 == 0
        if is_name:
            count = found.constant(kind, starts)
            starts, ends = starts[:1], ends[:1]
        if kind == _STRING:
            texts[i], plain = found.text(starts, ends)
            count = count if is_name and plain else plain
        if not count:
            return NOTHING

    def objects(i: int, count: int) -> list[Any]:
        return found.objects(shape[i], columns[i][:count], columns[i + 1][:count], texts.get(i))

    counted = found.counting(columns[0][:count]) if shape[0] == _NUMBER else None
    keys = objects(0, count) if counted is None else counted
    values = [objects(i, count) for i in range(1, len(shape), 2)]
    size = int(columns[-1][count - 1])
    if shape[1] > 0:
        return Run(keys, values[0], size, [])
    names = [objects(i, 1)[0] for i in range(2, len(shape), 2)]
    indices, *fields = values
    tables = _tables(names, fields, is_plain)
    # An index that occurs twice is a reference to the earlier table, not a table.
    if not tables or len(set(indices)) < count:
        return NOTHING
    return Run(keys, tables, size, indices)


class _Window:
    """A part of the file with, for every byte of it, the int and the double that start there.

    A kind is the type code of a number or string, or minus the number of entries of a table, which
    stands for what comes before its first entry.
    """

    def __init__(self, window: bytes, order: str) -> None:
        self._raw = window
        self._size = len(window)
        # Reads of 4 and 8 bytes that begin at the last bytes of the window stay inside the array.
        padded = window + _PADDING
        places = (len(padded) - 8,)
        self._words: Array = np.ndarray(places, order + "i4", padded, 0, (1,))
        # Without a sign, what is negative ends far behind.
        self._lengths: Array = np.ndarray(places, order + "u4", padded, 0, (1,))
        self._doubles: Array = np.ndarray(places, order + "f8", padded, 0, (1,))
        self._bytes = np.frombuffer(padded, np.uint8)
        # Which byte of a word is its lowest.
        self._lowest = 3 if order == ">" else 0

    def shape(self) -> list[int]:
        """Return the kinds of the first entry; none if this module cannot decode it."""
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
        """Return the places where entries could start."""
        if _STRING in shape:
            # Bytes are found several times as fast as words, which may lie anywhere.
            lowest = self._bytes[self._lowest : self._lowest + self._size]
            starts = np.flatnonzero(lowest == shape[0])
            return starts[self._words[starts] == shape[0]]
        return np.arange(0, self._size, len(shape) * _NUMBER_SIZE)

    def columns(self, shape: list[int]) -> list[Array]:
        """Return the start of each object in possible entries, and the entries' ends."""
        columns = [self.starts(shape)]
        for kind in shape:
            columns = _where(self.matches(kind, columns[-1]), columns)
            columns.append(self.ends(kind, columns[-1]))
        return _where(columns[-1] <= self._size, columns)

    def matches(self, kind: int, starts: Array) -> Array:
        """Return whether an object of this kind could start there."""
        # Behind the window are zeros, which start none.
        words = self._words[np.minimum(starts, self._size)]
        if kind > 0:
            return words == kind
        return (words == _TABLE) & (self._words[np.minimum(starts + 8, self._size)] == -kind)

    def ends(self, kind: int, starts: Array) -> Array:
        """Return where objects that start in the window end; a place behind it for no object."""
        if kind != _STRING:
            return starts + (_NUMBER_SIZE if kind > 0 else _TABLE_HEAD)
        return starts + _STRING_HEAD + self._lengths[starts + 4]

    def text(self, starts: Array, ends: Array) -> tuple[Array, int]:
        """Return the bytes of strings, each after the last one of its head; how many come before
        the first that is not ascii.
        """
        marks = starts + _STRING_HEAD - 1
        text = self._bytes[: ends[-1]][_inside(marks, ends)]
        if (text < 128).all():
            return text, len(starts)
        return text, _leading(self._high[ends - 1] == self._high[marks])

    @cached_property
    def _high(self) -> Array:
        """Return for every byte the number of non-ascii bytes up to it."""
        return np.cumsum(self._bytes >= 128, dtype=np.int32)

    def constant(self, kind: int, starts: Array) -> int:
        """Return how many numbers or strings in a row equal the first."""
        if kind == _NUMBER:
            values = self._doubles[starts + 4]
            return _leading(values == values[0])
        lengths = self._words[starts + 4]
        same = lengths == lengths[0]
        for place in range(_STRING_HEAD, _STRING_HEAD + int(lengths[0])):
            inside = np.minimum(starts + place, self._size)
            same &= self._bytes[inside] == self._bytes[inside[0]]
        return _leading(same)

    def counting(self, starts: Array) -> range | None:
        """Return the numbers at these places, if they count up."""
        numbers = self._doubles[starts + 4]
        first = float(numbers[0])
        # Beyond 2^53 the sum below would be rounded, and two keys would seem to count up.
        is_safe = first.is_integer() and abs(first) + len(numbers) <= LARGEST
        if is_safe and (numbers == first + np.arange(len(numbers))).all():
            return range(int(first), int(first) + len(numbers))
        return None

    def objects(self, kind: int, starts: Array, ends: Array, text: Array | None) -> list[Any]:
        """Return the numbers or strings at these places, or the indices of tables.

        ``text`` begins with the strings, as ``text`` gave them.
        """
        if text is not None:
            return _split(text, ends - starts - (_STRING_HEAD - 1))
        if kind == _NUMBER:
            return _numbers(self._doubles[starts + 4])
        return self._words[starts + 4].tolist()


def _split(text: Array, lengths: Array) -> list[str]:
    """Return the ascii strings in ``text``, each after a byte, where a mark divides them."""
    ends = np.cumsum(lengths)
    # 0xFF cannot occur in ascii, so one decode and one split replace a decode for each string.
    text[ends - lengths] = _MARK
    return text[: ends[-1]].tobytes().decode("latin-1").split(chr(_MARK))[1:]


def _where(fits: Array, columns: list[Array]) -> list[Array]:
    """Return the rows that fit; mostly these are all, or all but the last, which the window cuts
    off.
    """
    count = _leading(fits)
    if not fits[count:].any():
        return [column[:count] for column in columns]
    return [column[fits] for column in columns]


def _inside(starts: Array, ends: Array) -> Array:
    """Return for every byte up to the last end whether it lies between a start and its end."""
    lengths = np.empty(2 * len(starts), np.int64)
    lengths[1::2] = ends - starts
    lengths[0] = starts[0]
    lengths[2::2] = starts[1:] - ends[:-1]
    return np.repeat(np.tile(np.array([False, True]), len(starts)), lengths)


def _leading(flags: Array) -> int:
    """Return how many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def _numbers(values: Array) -> list[int | float]:
    """Return each number as ``compat.t7.encoding.primitives.whole`` converts it."""
    is_whole = (np.abs(values) <= LARGEST) & (values == np.trunc(values))
    # -0.0 stays a float: as an int it would lose its sign.
    is_whole &= (values != 0) | ~np.signbit(values)
    if is_whole.all():
        return values.astype(np.int64).tolist()
    numbers = values.tolist()
    for i in np.flatnonzero(is_whole).tolist():
        numbers[i] = int(numbers[i])
    return numbers


def _tables(names: list[Any], columns: list[list[Any]], is_plain: bool) -> list[Any]:
    """Return tables with the same keys and these columns of values; none for unusual keys."""
    if names == list(range(1, len(names) + 1)):
        return list(map(list if is_plain else List, zip(*columns, strict=True)))
    if len(set(names)) < len(names) or not all(isinstance(name, str) for name in names):
        return []
    tables: list[Any] = [{} for _ in columns[0]] if is_plain else [Table() for _ in columns[0]]
    for name, column in zip(names, columns, strict=True):
        for table, value in zip(tables, column, strict=True):
            table[name] = value
    return tables
