"""Primitive values as bytes, in binary mode."""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct, error
from typing import Any

import numpy as np
import torch

from .binary import ELEMENTS
from .errors import T7Error

_CHUNK = 1 << 23  # elements that are converted at once
_MAX_INT = 2**31 - 1


class BinaryEncoder:
    """The bytes of values in binary mode."""

    def __init__(self, endian: str, long_size: int) -> None:
        self.order = "<" if endian == "little" else ">"
        self.long_size = long_size
        codes = {"?": "i", "l": "i" if long_size == 4 else "q"}
        self._structs = {c: Struct(self.order + codes.get(c, c)) for c in "?hilfd"}
        self.int = self._structs["i"].pack
        self._coded_double = Struct(self.order + "id").pack
        self._two_ints = Struct(self.order + "ii").pack

    def number(self, code: str, value: Any) -> bytes:
        """The number with this struct code; ``l`` is a long and ``?`` a bool."""
        try:
            return self._structs[code].pack(value)
        except error as problem:
            limits = {"l": f"a long of {self.long_size} bytes", "i": "an int"}
            expected = limits.get(code, f"a number of struct type {code!r}")
            raise T7Error(repr(value), f"{expected} ({problem})") from None

    def longs(self, values: tuple[int, ...]) -> bytes:
        """Longs, as sizes and strides are written."""
        return b"".join(self.number("l", value) for value in values)

    def bytes(self, raw: bytes) -> bytes:
        """Raw bytes."""
        return raw

    def string(self, raw: bytes) -> bytes:
        """A length and that many bytes."""
        if len(raw) > _MAX_INT:
            raise T7Error(f"a string of {len(raw)} bytes", f"at most {_MAX_INT} bytes")
        return self.int(len(raw)) + raw

    def nil(self) -> bytes:
        """The object nil."""
        return self.int(0)

    def double(self, value: float) -> bytes:
        """A number object."""
        return self._coded_double(1, value)

    def text(self, raw: bytes) -> bytes:
        """A string object."""
        return self.int(2) + self.string(raw)

    def boolean(self, value: bool) -> bytes:
        """A boolean object."""
        return self._two_ints(5, value)

    def indexed(self, code: int, index: int) -> bytes:
        """The start of an object that has an index."""
        return self._two_ints(code, index)

    def padding(self, position: int) -> int:
        """How many bytes are missing to a multiple of 64."""
        return -position % 64

    def check_elements(self, elements: torch.Tensor) -> None:
        """Raise where an element does not fit."""
        if elements.dtype is torch.int64 and self.long_size == 4 and elements.numel():
            low, high = (bound.item() for bound in elements.aminmax())
            if low < -(2**31) or high >= 2**31:
                raise T7Error(
                    f"a LongTensor with values from {low} to {high}",
                    "values that fit a long of 4 bytes",
                    hint="save with long_size=8",
                )

    def elements(self, elements: torch.Tensor) -> Iterator[Any]:
        """The elements of a storage, in chunks; no copy where the bytes are right as they are."""
        stored = np.dtype(self.order + ELEMENTS[elements.dtype])
        if elements.dtype is torch.int64:
            stored = np.dtype(f"{self.order}i{self.long_size}")
        for start in range(0, elements.numel(), _CHUNK):
            chunk = elements[start : start + _CHUNK].cpu().numpy()
            yield memoryview(chunk.astype(stored, copy=False).view(np.uint8))
