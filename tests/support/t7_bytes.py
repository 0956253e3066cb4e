"""Spells .t7 files byte by byte, independently of the writer under test."""

from __future__ import annotations

import struct


def integer(value: int) -> bytes:
    return struct.pack("<i", value)


def long(value: int, size: int = 8) -> bytes:
    return struct.pack("<q" if size == 8 else "<i", value)


def chars(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return integer(len(raw)) + raw


NIL = integer(0)
TRUE = integer(5) + integer(1)


def number(value: float) -> bytes:
    return integer(1) + struct.pack("<d", value)


def string(text: str | bytes) -> bytes:
    return integer(2) + chars(text)


def reference(index: int, code: int = 3) -> bytes:
    return integer(code) + integer(index)


def table(index: int, *entries: bytes) -> bytes:
    """A table of keys and values in turn."""
    return integer(3) + integer(index) + integer(len(entries) // 2) + b"".join(entries)


def array(index: int, *values: bytes) -> bytes:
    keyed = [part for i, value in enumerate(values, 1) for part in (number(i), value)]
    return table(index, *keyed)


def torch_object(index: int, typename: str, payload: bytes, version: str = "V 1") -> bytes:
    return integer(4) + integer(index) + chars(version) + chars(typename) + payload


def storage(index: int, typename: str, count: int, raw: bytes, long_size: int = 8) -> bytes:
    return torch_object(index, typename, long(count, long_size) + raw)


def tensor(
    index: int,
    typename: str,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    storage: bytes,
    *,
    offset: int = 1,
    long_size: int = 8,
) -> bytes:
    longs = b"".join(long(n, long_size) for n in (*sizes, *strides, offset))
    return torch_object(index, typename, integer(len(sizes)) + longs + storage)


def function6(bytecode: bytes, upvalues: bytes) -> bytes:
    return integer(6) + chars(bytecode) + upvalues
