"""Numbers, strings and raw bytes, which binary and ascii mode encode differently.

A ``Cursor`` reads these values one after the other, an ``Encoder`` makes bytes of them. Composed
values are defined here, and again in ``compat.t7.encoding.binary`` where speed matters.
"""

from __future__ import annotations

import ctypes
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import copysign
from typing import Any

import numpy as np
import torch

from compat.t7.base.errors import T7Error
from compat.t7.encoding.byte_source import Source
from compat.t7.encoding.lua_table import OpenTable

LARGEST = 2**53
"""Whole numbers up to here are exact in a double, and come back as int."""

MAX_INT = 2**31 - 1

ELEMENTS = {
    torch.uint8: "u1",
    torch.int8: "i1",
    torch.int16: "i2",
    torch.int32: "i4",
    torch.int64: "i8",
    torch.float16: "f2",
    torch.float32: "f4",
    torch.float64: "f8",
}
"""The numpy type codes of what tensors hold."""


def whole(value: float) -> int | float:
    """Return a Lua number as int where that loses nothing, not even the sign of zero."""
    if -LARGEST <= value <= LARGEST and value.is_integer():
        as_int = int(value)
        if as_int or copysign(1.0, value) > 0:
            return as_int
    return value


def text(raw: bytes) -> str | bytes:
    """Return a Lua string as str if it is UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


_DECIMAL = re.compile(rb"[+-]?(\d{1,300}(\.\d{0,300})?|\.\d{1,300})(e[+-]?\d{1,3})?", re.I)
_HEXADECIMAL = re.compile(rb"[+-]?0x[0-9a-f]{1,300}", re.I)


def lua_number(raw: bytes) -> int | float | None:
    """Return what Lua's ``tonumber`` makes of the digits of a class version."""
    raw = raw.strip()
    if _HEXADECIMAL.fullmatch(raw):
        return int(raw, 16)
    return whole(float(raw)) if _DECIMAL.fullmatch(raw) else None


class Cursor(ABC):
    """Reads primitive values one after the other.

    Attributes:
        pos: where the next value starts.
        used_longs: whether anything read so far depends on the size of longs.
    """

    smallest_entry: int
    """How many bytes a table entry takes at least."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data = source.data
        self.size = source.size
        self.pos = 0
        self.used_longs = False

    def left(self) -> int:
        """Return the number of remaining bytes."""
        return self.size - self.pos

    def most_entries(self) -> int:
        """Return the largest number of table entries that the remaining bytes could hold."""
        return (self.size - self.pos + 1) // self.smallest_entry

    def short(self, what: str) -> T7Error:
        """Return the error for a file that ends too soon."""
        return T7Error(
            f"the end of the file after {self.left()} bytes",
            what,
            hint="the file is truncated or damaged",
            offset=self.pos,
        )

    @abstractmethod
    def number(self, code: str) -> Any:
        """Return the number with this ``struct`` code; ``l`` is a long and ``?`` a bool."""

    @abstractmethod
    def longs(self, count: int) -> tuple[int, ...]:
        """Return ``count`` longs, which the caller has checked to be few."""

    def raw(self, count: int, what: str = "raw data") -> bytes:
        """Return ``count`` bytes as they are."""
        if count < 0:
            raise T7Error(f"length {count}", f"the length of {what}", offset=self.pos)
        if count > self.left():
            raise self.short(f"{what} of {count} bytes")
        self.pos += count
        return self.data[self.pos - count : self.pos]

    @abstractmethod
    def elements(self, dtype: torch.dtype, count: int, skip: bool) -> torch.Tensor:
        """Return ``count`` elements of a storage; with ``skip`` a tensor without data instead."""

    def integer(self) -> int:
        """Return an int."""
        return self.number("i")

    def string(self, what: str) -> bytes:
        """Return a length and that many bytes."""
        return self.raw(self.integer(), what)

    def item(self) -> tuple[int, Any]:
        """Return a type code, and the value of a scalar or the index of anything that has one."""
        start = self.pos
        code = self.integer()
        if code == 1:
            return 1, whole(self.number("d"))
        if code == 2:
            return 2, text(self.string("a string"))
        if code == 5:
            return 5, self.number("?")
        if code in (0, 6):
            return code, None
        if code in (3, 4, 7, 8):
            return code, self.integer()
        raise T7Error(f"type code {code}", "a type code from 0 to 8", offset=start)

    def entries(self, table: OpenTable, count: int, known: dict[int, Any] | None) -> int:
        """Put entries into the table that consist of scalars, or of tables of scalars.

        Args:
            count: how many at most.
            known: where such tables are added by their index; ``None`` leaves them to others.

        Returns:
            How many entries it were. The next one may still be of that kind.
        """
        return 0


class Encoder(ABC):
    """Makes bytes of values."""

    @abstractmethod
    def number(self, code: str, value: Any) -> bytes:
        """Return the number with this ``struct`` code; ``l`` is a long and ``?`` a bool."""

    @abstractmethod
    def longs(self, values: tuple[int, ...]) -> bytes:
        """Return longs that are written together."""

    @abstractmethod
    def raw(self, raw: bytes) -> bytes:
        """Return bytes as they are."""

    @abstractmethod
    def elements(self, elements: torch.Tensor) -> Iterator[Any]:
        """Return the elements of a storage, in chunks."""

    @abstractmethod
    def check(self, elements: torch.Tensor) -> None:
        """Raise T7Error where an element cannot be written."""

    @abstractmethod
    def padding(self, position: int) -> int:
        """Return the number of bytes up to the next aligned place for elements."""

    def integer(self, value: int) -> bytes:
        """Return an int."""
        return self.number("i", value)

    def string(self, raw: bytes) -> bytes:
        """Return a length and that many bytes."""
        if len(raw) > MAX_INT:
            raise T7Error(f"a string of {len(raw)} bytes", f"at most {MAX_INT} bytes")
        return self.integer(len(raw)) + self.raw(raw)

    def indexed(self, code: int, index: int) -> bytes:
        """Return the start of an object that has an index."""
        return self.integer(code) + self.integer(index)

    def nil(self, value: None = None) -> bytes:
        """Return the object nil."""
        return self.integer(0)

    def double(self, value: float) -> bytes:
        """Return a number object."""
        return self.integer(1) + self.number("d", value)

    def text(self, raw: bytes) -> bytes:
        """Return a string object."""
        return self.integer(2) + self.string(raw)

    def boolean(self, value: bool) -> bytes:
        """Return a boolean object."""
        return self.integer(5) + self.number("?", value)


def as_array(elements: torch.Tensor) -> np.ndarray[Any, Any]:
    """Return the memory of a contiguous CPU tensor.

    Unlike after ``Tensor.numpy()``, the tensor can still be resized; not while the array is used.
    """
    dtype = np.dtype(ELEMENTS[elements.dtype])
    if not elements.numel():
        return np.empty(0, dtype)
    memory = (ctypes.c_byte * (elements.numel() * dtype.itemsize)).from_address(elements.data_ptr())
    memory.tensor = elements  # type: ignore[attr-defined]  # lives as long as the array
    return np.frombuffer(memoryview(memory), dtype)


def as_bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the memory of a contiguous array."""
    return memoryview(array.view(np.uint8).data)
