"""Decodes many similar table entries at once.

A window of the file is searched for every place that could be the start of an entry.  Those are
taken that follow each other without a gap from the first one on, so that an entry is never read
from the inside of another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .primitives import LARGEST

Array = np.ndarray[Any, Any]

_NUMBER = 1
_STRING = 2
_NUMBER_SIZE = 12  # a type code and a double
_STRING_HEAD = 8  # a type code and a length
_PADDING = bytes(16)


def decode(window: bytes, order: str, most: int) -> tuple[list[Any], list[Any], int]:
    """The entries that ``window`` starts with, as long as they are of one kind; ``most`` at most.

    That is a number or ascii string as key, and a number or ascii string as value.

    Returns the keys, the values and the number of bytes they took: 0 if there is no such entry.
    """
    found = _Window(window, order)
    key_kind = int(found.words[0])
    middle = found.ends(key_kind, np.zeros(1, np.int64))[0]
    if middle > len(window):
        return [], [], 0
    value_kind = int(found.words[middle])
    starts = found.starts(key_kind, value_kind)
    middles = found.ends(key_kind, starts)
    fits = middles < len(window)
    starts, middles = starts[fits], middles[fits]
    stops = found.ends(value_kind, middles)
    fits = (found.words[middles] == value_kind) & (stops <= len(window))
    starts, middles, stops = starts[fits], middles[fits], stops[fits]
    if not len(starts) or starts[0]:
        return [], [], 0
    count = min(_leading(stops[:-1] == starts[1:]) + 1, most)
    count = found.plain(key_kind, starts[:count], middles[:count])
    count = found.plain(value_kind, middles[:count], stops[:count])
    if not count:
        return [], [], 0
    keys = found.objects(key_kind, starts[:count], middles[:count])
    values = found.objects(value_kind, middles[:count], stops[:count])
    return keys, values, int(stops[count - 1])


class _Window:
    """A part of the file with, for every byte of it, the int and the double that start there."""

    def __init__(self, window: bytes, order: str) -> None:
        self._raw = window
        self._size = len(window)
        padded = window + _PADDING
        shape = (len(padded) - 8,)
        self.words: Array = np.ndarray(shape, order + "i4", padded, 0, (1,))
        self._doubles: Array = np.ndarray(shape, order + "f8", padded, 0, (1,))
        self._text = window.decode("latin-1")

    def starts(self, key_kind: int, value_kind: int) -> Array:
        """Where entries could start."""
        if key_kind == value_kind == _NUMBER:
            return np.arange(0, self._size, 2 * _NUMBER_SIZE)
        return np.flatnonzero(self.words[: self._size] == key_kind)

    def ends(self, kind: int, starts: Array) -> Array:
        """Where objects would end; behind the window for what cannot be one."""
        if kind == _NUMBER:
            return starts + _NUMBER_SIZE
        if kind != _STRING:
            return np.full_like(starts, self._size + 1)
        lengths = self.words[np.minimum(starts + 4, self._size)].astype(np.int64)
        return np.where(lengths < 0, self._size + 1, starts + _STRING_HEAD + lengths)

    def plain(self, kind: int, starts: Array, ends: Array) -> int:
        """How many of these objects are numbers or ascii strings, up to the first that is not."""
        if kind == _NUMBER or self._raw.isascii():
            return len(starts)
        high = np.cumsum(np.frombuffer(self._raw, np.uint8) >= 128)
        # A string's head is ascii where its length is below 128; a longer one is left to others.
        return _leading(high[ends - 1] == high[starts])

    def objects(self, kind: int, starts: Array, ends: Array) -> list[Any]:
        """The numbers or strings that lie there."""
        if kind == _NUMBER:
            return _numbers(self._doubles[starts + 4])
        text = self._text
        spans = zip((starts + _STRING_HEAD).tolist(), ends.tolist(), strict=True)
        return [text[start:end] for start, end in spans]


def _leading(flags: Array) -> int:
    """How many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def _numbers(values: Array) -> list[int | float]:
    """What :func:`compat.t7.primitives.whole` makes of each."""
    is_whole = (np.abs(values) <= LARGEST) & (values == np.trunc(values))
    is_whole &= (values != 0) | ~np.signbit(values)
    if is_whole.all():
        return values.astype(np.int64).tolist()
    numbers = values.tolist()
    for i in np.flatnonzero(is_whole).tolist():
        numbers[i] = int(numbers[i])
    return numbers
