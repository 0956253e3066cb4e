"""Finds the format of a file where the caller does not give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from compat.checks import check_choice
from compat.t7.base.errors import T7Error
from compat.t7.base.memory_allowance import allowance
from compat.t7.encoding.ascii import AsciiCursor
from compat.t7.encoding.binary import BinaryCursor
from compat.t7.encoding.byte_source import Source
from compat.t7.encoding.detect import HEAD, detect
from compat.t7.encoding.primitives import Cursor
from compat.t7.objects.reader import Reader, ReadOptions


class Variant:
    """The format, byte order and size of longs of a file.

    The first bytes show format and byte order, but not the size of longs. A file that cannot be
    read with 8 bytes is tried with 4, and must then be readable to its last byte. (A file with 8
    may seem sound if read with 4, so 8 comes first.)

    Raises:
        ValueError: an unknown option.
        T7Error: the file is no .t7 file.
    """

    def __init__(
        self, source: Source, format: str, endian: str, long_size: int | str = "auto"
    ) -> None:
        for name, value, accepted in (
            ("format", format, ("auto", "binary", "ascii")),
            ("endian", endian, ("auto", "little", "big")),
            ("long_size", long_size, ("auto", 4, 8)),
        ):
            check_choice(value, name, accepted)
        self._source = source
        self._long_size = long_size
        try:
            self.format, self.endian = detect(bytes(source.data[:HEAD]), format, endian)
        except T7Error as error:
            error.file = source.name
            raise

    def read(self, options: ReadOptions, many: bool) -> Any:
        """Return the object of the file, or the list of its objects."""
        cursor = self._cursor(8 if self._long_size == "auto" else int(self._long_size))
        try:
            try:
                return _read(cursor, options, many)
            except T7Error as error:
                if not cursor.used_longs:
                    raise
                return self._read_otherwise(error, cursor.pos, options, many)
        except T7Error as error:
            error.file = self._source.name
            raise

    def cursors(self) -> Iterator[Cursor]:
        """Yield a cursor at the start for each size of longs that the file may have, the likely
        first.
        """
        for size in (8, 4) if self._long_size == "auto" else (int(self._long_size),):
            yield self._cursor(size)

    def _read_otherwise(
        self, error: T7Error, reached: int, options: ReadOptions, many: bool
    ) -> Any:
        """Return a second attempt with the other size of longs.

        If it fails too, the error stands before which more of the file was read: that attempt was
        the right one.
        """
        if self._long_size == "auto":
            smaller = self._cursor(4)
            try:
                result = _read(smaller, options, many)
            except T7Error as other:
                if smaller.pos > reached:
                    raise other from other.__cause__
                raise error from error.__cause__
            if not smaller.left():
                return result
            raise error
        other_size = 12 - int(self._long_size)
        without_data = replace(options, unknown="keep", raw=True, locate=lambda typename: _META)
        if self._fits(other_size, without_data):
            error.hint = f"the file has longs of {other_size} bytes: pass long_size={other_size}"
        raise error

    def _fits(self, long_size: int, options: ReadOptions) -> bool:
        """Return whether the file reads well, to its last byte, with longs of this size."""
        cursor = self._cursor(long_size)
        try:
            Reader(cursor, options).read()
        except T7Error:
            return False
        return not cursor.left()

    def _cursor(self, long_size: int) -> Cursor:
        if self.format == "ascii":
            return AsciiCursor(self._source)
        return BinaryCursor(self._source, self.endian, long_size)


_META = torch.device("meta")


def _read(cursor: Cursor, options: ReadOptions, many: bool) -> Any:
    kinds: dict[int, bool] = {}
    while True:
        cursor.pos = 0
        reader = Reader(cursor, options, kinds)
        with allowance(cursor.size) as granted:
            result = reader.read()
            if many:
                result = [result]
                while cursor.left():
                    result.append(reader.read())
            if not reader.wrong_kinds:
                granted.check()
        if not reader.wrong_kinds:
            return result
        if kinds:  # one reading shows all kinds, unless a hook reads now this, now that
            raise T7Error("content that changes", "read hooks that always read the same")
        kinds = reader.wrong_kinds
