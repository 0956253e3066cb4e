"""Primitive values in binary mode."""

from __future__ import annotations

import sys
from math import copysign
from struct import Struct, error
from typing import Any

import numpy as np
import torch

from .errors import T7Error
from .source import Source

LARGEST = 2.0**53
"""Whole numbers up to here are exact in a double, and come back as int."""

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


def number(value: float) -> int | float:
    """A Lua number as int where that loses nothing, not even the sign of zero."""
    if -LARGEST <= value <= LARGEST and value.is_integer():
        whole = int(value)
        if whole or copysign(1.0, value) > 0:
            return whole
    return value


def text(raw: bytes) -> str | bytes:
    """A Lua string as str if it is UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


class BinaryCursor:
    """Reads primitive values one after the other; ``pos`` is where the next one starts."""

    mode = "binary"
    smallest_entry = 12  # bytes of a table entry: a key of 8 and a value of 4

    def __init__(self, source: Source, endian: str, long_size: int) -> None:
        self.source = source
        self.data = source.data
        self.size = source.size
        self.pos = 0
        self.order = "<" if endian == "little" else ">"
        self.long_size = long_size
        self.used_longs = False
        self._native = endian == sys.byteorder
        codes = {"?": "i", "l": "i" if long_size == 4 else "q"}
        self._structs = {c: Struct(self.order + codes.get(c, c)) for c in "?hilfd"}
        self._int = self._structs["i"].unpack_from
        self._double = self._structs["d"].unpack_from

    def left(self) -> int:
        """How many bytes there still are."""
        return self.size - self.pos

    def short(self, needed: int, what: str) -> T7Error:
        """The error for a file that ends too soon."""
        return T7Error(
            f"{self.left()} bytes to the end of the file",
            f"{needed} bytes of {what}",
            hint="the file is truncated or damaged",
            offset=self.pos,
        )

    def number(self, code: str) -> Any:
        """The number with this struct code; ``l`` is a long and ``?`` a bool."""
        struct = self._structs[code]
        try:
            (value,) = struct.unpack_from(self.data, self.pos)
        except error:
            raise self.short(struct.size, "a number") from None
        self.pos += struct.size
        if code == "l":
            self.used_longs = True
        return value == 1 if code == "?" else value

    def int(self) -> int:
        """An int of 4 bytes."""
        try:
            (value,) = self._int(self.data, self.pos)
        except error:
            raise self.short(4, "an int") from None
        self.pos += 4
        return value

    def long(self) -> int:
        """A long."""
        return self.number("l")

    def longs(self, count: int) -> tuple[int, ...]:
        """``count`` longs, which the caller has checked to be few."""
        return tuple(self.number("l") for _ in range(count))

    def bytes(self, count: int, what: str = "raw data") -> bytes:
        """``count`` raw bytes."""
        if count < 0:
            raise T7Error(f"length {count}", f"a length of {what}", offset=self.pos)
        end = self.pos + count
        if end > self.size:
            raise self.short(count, what)
        raw = self.data[self.pos : end]
        self.pos = end
        return raw

    def item(self) -> tuple[int, Any]:
        """A type code, and the value of a scalar or the index of anything that has one."""
        data, pos = self.data, self.pos
        try:
            (code,) = self._int(data, pos)
            if code == 1:
                (value,) = self._double(data, pos + 4)
                self.pos = pos + 12
                return 1, number(value)
            if code == 2:
                (count,) = self._int(data, pos + 4)
                end = pos + 8 + count
                if count < 0 or end > self.size:
                    self.pos = pos + 8
                    self.bytes(count, "a string")
                self.pos = end
                return 2, text(data[pos + 8 : end])
            if code == 0 or code == 6:
                self.pos = pos + 4
                return code, None
            if code == 5:
                (value,) = self._int(data, pos + 4)
                self.pos = pos + 8
                return 5, value == 1
            if 3 <= code <= 8:
                (index,) = self._int(data, pos + 4)
                self.pos = pos + 8
                return code, index
        except error:
            raise self.short(12, "an object") from None
        raise T7Error(f"type code {code}", "a type code from 0 to 8", offset=pos)

    def elements(self, dtype: torch.dtype, count: int, device: str | None) -> torch.Tensor:
        """``count`` elements of a storage; on the device ``meta`` they are skipped."""
        stored = np.dtype(self.order + ELEMENTS[dtype])
        if dtype is torch.int64:
            stored = np.dtype(f"{self.order}i{self.long_size}")
        offset, length = self.pos, count * stored.itemsize
        if length > self.left():
            raise self.short(length, f"a storage of {count} elements")
        self.pos += length
        if device == "meta":
            return torch.empty(count, dtype=dtype, device="meta")
        plain = self._native and stored.itemsize == dtype.itemsize
        if plain and self.source.mapped and offset % stored.itemsize == 0 and count:
            return torch.frombuffer(self.data, dtype=dtype, count=count, offset=offset)
        tensor = torch.empty(count, dtype=dtype)
        if plain:
            self.source.read_into(tensor.numpy(), offset)
        elif count:
            tensor.numpy()[:] = np.frombuffer(self.data, stored, count, offset)
        return tensor
