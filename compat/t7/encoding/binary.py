"""Binary mode: values as they lie in memory, in either byte order, longs of 4 or 8 bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from struct import Struct, error
from typing import Any

import numpy as np
import torch

from compat.t7.base.errors import T7Error
from compat.t7.encoding import fast_tables as bulk
from compat.t7.encoding.byte_source import Source
from compat.t7.encoding.lua_table import OpenTable
from compat.t7.encoding.primitives import (
    ELEMENTS,
    LARGEST,
    Cursor,
    Encoder,
    as_array,
    as_bytes,
    text,
    whole,
)

_CHUNK = 1 << 23  # elements that are converted at once
_MAPPED = 1 << 12  # bytes from which elements are mapped; smaller tensors stay resizable
_MANY = 128  # entries from which it is worth while to look for a regular run of them
_WINDOW = 1 << 13
_LARGEST_WINDOW = 1 << 18


class Layout:
    """The layout of numbers in the file: byte order and size of longs."""

    def __init__(self, endian: str, long_size: int) -> None:
        self.order = "<" if endian == "little" else ">"
        self.long_size = long_size
        codes = {"?": "i", "l": "i" if long_size == 4 else "q"}
        self.structs = {code: Struct(self.order + codes.get(code, code)) for code in "?hilfd"}
        self.coded_double = Struct(self.order + "id")
        self.two_ints = Struct(self.order + "ii")

    def elements(self, dtype: torch.dtype) -> np.dtype[Any]:
        """Return the numpy type of the elements of a storage."""
        if dtype is torch.int64:
            return np.dtype(f"{self.order}i{self.long_size}")
        return np.dtype(self.order + ELEMENTS[dtype])


class BinaryCursor(Cursor):
    """Reads binary mode."""

    smallest_entry = 12  # a key of 8 bytes and a value of 4

    def __init__(self, source: Source, endian: str, long_size: int) -> None:
        super().__init__(source)
        self._layout = Layout(endian, long_size)
        self._int = self._layout.structs["i"].unpack_from
        self._coded_double = self._layout.coded_double.unpack_from
        self._two_ints = self._layout.two_ints.unpack_from

    def number(self, code: str) -> Any:
        struct = self._layout.structs[code]
        if code == "l":
            # Also where the file ends within it: shorter ones may fit.
            self.used_longs = True
        try:
            (value,) = struct.unpack_from(self.data, self.pos)
        except error:
            raise self.short(f"a number of {struct.size} bytes") from None
        self.pos += struct.size
        return value == 1 if code == "?" else value

    def integer(self) -> int:
        try:
            (value,) = self._int(self.data, self.pos)
        except error:
            raise self.short("a number of 4 bytes") from None
        self.pos += 4
        return value

    def longs(self, count: int) -> tuple[int, ...]:
        return tuple(self.number("l") for _ in range(count))

    def item(self) -> tuple[int, Any]:
        data, pos = self.data, self.pos
        try:
            # A number is the most frequent item, so its code and value are decoded in one call. For
            # other items the double is read in vain.
            code, value = self._coded_double(data, pos)
        except error:  # too near to the end of the file to look at so much at once
            return super().item()
        if code == 1:
            self.pos = pos + 12
            if -LARGEST <= value <= LARGEST:
                return 1, whole(value)
            return 1, value
        if code == 2:
            (count,) = self._int(data, pos + 4)
            start = pos + 8
            end = start + count
            # The slow way raises the error with its place.
            if count < 0 or end > self.size:
                return super().item()
            self.pos = end
            return 2, text(data[start:end])
        if code == 5:
            self.pos = pos + 8
            return 5, self._int(data, pos + 4)[0] == 1
        if code in (3, 4, 7, 8):
            self.pos = pos + 8
            return code, self._int(data, pos + 4)[0]
        return super().item()

    def entries(self, table: OpenTable, count: int, known: dict[int, Any] | None) -> int:
        done = 0
        # A failed look costs credit and a successful one earns it: `table.credit` bounds the time
        # that irregular tables lose to looking for runs. A large dict is filled faster at once than
        # between one run and the next.
        names: list[Any] = []
        values: list[Any] = []
        while count - done >= _MANY and table.credit > 0:
            run = self._next_run(table, count - done, known)
            if not run.keys:
                break
            if isinstance(run.keys[0], str):
                names += run.keys
                values += run.values
            else:
                table.put_many(names, values)
                names, values = [], []
                table.put_many(run.keys, run.values)
            self.pos += run.size
            done += len(run.keys)
        table.put_many(names, values)
        return done + self._entries_one_by_one(table, count - done) if count > done else done

    def _next_run(self, table: OpenTable, count: int, known: dict[int, Any] | None) -> bulk.Run:
        """Return the next entries, as many as are decoded at once."""
        size = min(max(_WINDOW, 2 * table.credit), 64 * count, _LARGEST_WINDOW)
        window = self.data[self.pos : self.pos + size]
        run = bulk.decode(window, self._layout.order, count, table.is_plain)
        if run.indices:
            if known is None or not known.keys().isdisjoint(run.indices):
                # A run makes new tables for its indices. A known index is a reference and needs the
                # one way.
                run = bulk.NOTHING  # some are references
            else:
                known.update(zip(run.indices, run.values, strict=True))
        # What is looked at in vain stays below what is gained.
        table.credit += run.size if 2 * run.size > len(window) else -len(window)
        return run

    def _entries_one_by_one(self, table: OpenTable, count: int) -> int:
        data, pos, size = self.data, self.pos, self.size
        coded_double, integer = self._coded_double, self._int
        items = table.items if table.quick else None
        done = 0
        try:
            while done < count:
                code, key = coded_double(data, pos)
                if code == 1:
                    end = pos + 12
                elif code == 2:
                    start = pos + 8
                    end = start + integer(data, pos + 4)[0]
                    # A negative or too large length: `item` raises the error with its place.
                    if not start <= end <= size:
                        break
                    key = text(data[start:end])
                else:
                    break
                code, value = coded_double(data, end)
                if code == 1:
                    end += 12
                    if value.is_integer() and -LARGEST <= value <= LARGEST:
                        value = int(value) or whole(value)
                elif code == 2:
                    start = end + 8
                    end = start + integer(data, end + 4)[0]
                    if not start <= end <= size:
                        break
                    value = text(data[start:end])
                elif code == 5:
                    value = integer(data, end + 4)[0] == 1
                    end += 8
                else:
                    break
                if items is not None and key == len(items) + 1:
                    items.append(value)
                else:
                    table.put(whole(key) if type(key) is float else key, value)
                    items = table.items if table.quick else None
                pos = self.pos = end
                done += 1
        except error:
            pass  # too near to the end of the file to look at so much at once
        return done

    def elements(self, dtype: torch.dtype, count: int, skip: bool) -> torch.Tensor:
        stored = self._layout.elements(dtype)
        offset, size = self.pos, count * stored.itemsize
        if size > self.left():
            raise self.short(f"a storage of {count} elements of {stored.itemsize} bytes")
        # The position moves before the elements are read, or skipped: both ways end at the same
        # place.
        self.pos += size
        if skip:
            return torch.empty(count, dtype=dtype, device="meta")
        as_it_is = stored.isnative and stored.itemsize == dtype.itemsize
        # PyTorch's kernels assume that elements are aligned. `padding` of the encoder aligns our
        # own files.
        is_aligned = offset % stored.itemsize == 0
        if as_it_is and is_aligned and self.source.mapped and size >= _MAPPED:
            # No copy: the tensor holds a reference to the map, which is private, so writes do not
            # reach the file.
            return torch.frombuffer(self.data, dtype=dtype, count=count, offset=offset)
        tensor = torch.empty(count, dtype=dtype)
        if as_it_is:
            self.source.read_into(as_bytes(as_array(tensor)), offset)
        elif count:
            as_array(tensor)[:] = np.frombuffer(self.data, stored, count, offset)
        return tensor


class BinaryEncoder(Encoder):
    """Writes binary mode."""

    def __init__(self, endian: str = sys.byteorder, long_size: int = 8) -> None:
        self._layout = Layout(endian, long_size)
        self._coded_double = self._layout.coded_double.pack
        self._two_ints = self._layout.two_ints.pack

    def number(self, code: str, value: Any) -> bytes:
        struct = self._layout.structs[code]
        try:
            return struct.pack(value)
        except error as problem:
            expected = f"a number that {struct.size} bytes can hold: {problem}"
            raise T7Error(repr(value), expected) from None

    def longs(self, values: tuple[int, ...]) -> bytes:
        return b"".join(self.number("l", value) for value in values)

    def raw(self, raw: bytes) -> bytes:
        return raw

    def double(self, value: float) -> bytes:
        return self._coded_double(1, value)

    def text(self, raw: bytes) -> bytes:
        if len(raw) < 256:
            return self._two_ints(2, len(raw)) + raw
        return super().text(raw)

    def boolean(self, value: bool) -> bytes:
        return self._two_ints(5, value)

    def indexed(self, code: int, index: int) -> bytes:
        return self._two_ints(code, index)

    def padding(self, position: int) -> int:
        return -position % 64

    def check(self, elements: torch.Tensor) -> None:
        if elements.dtype is torch.int64 and self._layout.long_size == 4 and elements.numel():
            low, high = (bound.item() for bound in elements.aminmax())
            # Torch7 built with 4-byte longs would read other numbers, without an error.
            if low < -(2**31) or high >= 2**31:
                raise T7Error(
                    f"a LongTensor with values from {low} to {high}",
                    "values that a long of 4 bytes can hold",
                    hint="save with long_size=8",
                )

    def elements(self, elements: torch.Tensor) -> Iterator[Any]:
        stored = self._layout.elements(elements.dtype)
        for start in range(0, elements.numel(), _CHUNK):
            # In chunks, so that a tensor on a GPU needs no second whole copy in the host's memory.
            chunk = elements[start : start + _CHUNK].cpu()
            yield as_bytes(as_array(chunk).astype(stored, copy=False))
