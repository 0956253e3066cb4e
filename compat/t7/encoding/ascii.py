"""Ascii mode: numbers as text; strings and the elements of byte and char storages as they are.

Every write of one or more values ends with a newline. Reading skips white space before a number,
and one newline, if there is one, after the last number or character of a read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from math import copysign
from typing import Any

import numpy as np
import torch

from compat.t7.base.errors import T7Error
from compat.t7.encoding.byte_source import Source
from compat.t7.encoding.primitives import ELEMENTS, Cursor, Encoder, as_array

_INTEGER = rb"[+-]?\d{1,25}"
_FLOAT = (
    rb"[+-]?(?:inf(?:inity)?|nan(?:\(\w{0,20}\))?|0x[0-9a-f]{0,40}\.?[0-9a-f]{0,40}(?:p[+-]?\d{1,5})?"
    rb"|(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:e[+-]?\d{1,5})?)"
)
_INTEGERS = re.compile(rb"\s*(" + _INTEGER + rb")")
_FLOATS = re.compile(rb"\s*(" + _FLOAT + rb")", re.I)
_RANGES = {"h": 2**15, "i": 2**31, "l": 2**63}
_RAW_ELEMENTS = (torch.uint8, torch.int8)
_CHUNK = 1 << 16  # elements that are written at once


class AsciiCursor(Cursor):
    """Reads ascii mode."""

    smallest_entry = 5  # "5\n1\n0"

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.data = bytes(source.data)

    def number(self, code: str) -> Any:
        start = self.pos
        integers = code in "?hil"
        (value,) = self._numbers(1, integers)
        self._skip_newline()
        limit = _RANGES.get(code)
        if limit is not None and not -limit <= value < limit:
            raise T7Error(f"the number {value}", f"at most {limit - 1}", offset=start)
        return value == 1 if code == "?" else value

    def longs(self, count: int) -> tuple[int, ...]:
        values = tuple(self._numbers(count, True))
        if values:
            self._skip_newline()
        return values

    def raw(self, count: int, what: str = "raw data") -> bytes:
        raw = super().raw(count, what)
        if count:
            self._skip_newline()
        return raw

    def elements(self, dtype: torch.dtype, count: int, skip: bool) -> torch.Tensor:
        start = self.pos
        if dtype in _RAW_ELEMENTS:
            values = np.frombuffer(self.raw(count, "a storage"), ELEMENTS[dtype])
        else:
            if 2 * count > self.left() + 1:
                raise self.short(f"a storage of {count} elements")
            integers = not dtype.is_floating_point
            held = np.int64 if integers else np.float64
            try:
                values = np.fromiter(self._numbers(count, integers), held, count)
                values = _narrow(values, np.dtype(ELEMENTS[dtype]))
            except OverflowError as problem:
                raise T7Error(f"an element that is too large: {problem}", offset=start) from None
            if count:
                self._skip_newline()
        if skip:
            return torch.empty(count, dtype=dtype, device="meta")
        tensor = torch.empty(count, dtype=dtype)
        if count:
            as_array(tensor)[:] = values
        return tensor

    def _numbers(self, count: int, integers: bool) -> Iterator[Any]:
        """Return ``count`` numbers, with white space before each."""
        pattern = _INTEGERS if integers else _FLOATS
        convert: Callable[[bytes], Any] = int if integers else _float
        match = pattern.match
        for _ in range(count):
            found = match(self.data, self.pos)
            if found is None:
                rest = self.data[self.pos : self.pos + 20].strip()
                if not rest:
                    raise self.short("a number")
                kind = "an integer" if integers else "a number"
                raise T7Error(f"the text {rest!r}", kind, offset=self.pos)
            self.pos = found.end()
            yield convert(found[1])

    def _skip_newline(self) -> None:
        if self.data[self.pos : self.pos + 1] == b"\n":
            self.pos += 1


def _float(raw: bytes) -> float:
    lower = raw.lower()
    if b"x" in lower:
        try:
            return float.fromhex(lower.decode())
        except (ValueError, OverflowError) as problem:
            raise T7Error(f"the text {raw[:40]!r}", f"a number ({problem})") from None
    return float(lower.partition(b"(")[0])


def _narrow(values: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    if dtype.kind == "i" and values.size:
        limits = np.iinfo(dtype)
        if values.min() < limits.min or values.max() > limits.max:
            raise OverflowError(f"{values.min()} to {values.max()} do not fit {dtype}")
    with np.errstate(over="ignore"):
        return values.astype(dtype)


class AsciiEncoder(Encoder):
    """Writes ascii mode."""

    def number(self, code: str, value: Any) -> bytes:
        limit = _RANGES.get(code)
        if limit is not None and not -limit <= value < limit:
            raise T7Error(repr(value), f"an integer from {-limit} to {limit - 1}")
        return _spell(code, value) + b"\n"

    def longs(self, values: tuple[int, ...]) -> bytes:
        return b" ".join(b"%d" % value for value in values) + b"\n" if values else b""

    def raw(self, raw: bytes) -> bytes:
        return raw + b"\n" if raw else b""

    def check(self, elements: torch.Tensor) -> None:
        pass  # text can spell any number

    def padding(self, position: int) -> int:
        return 0  # text is not mapped

    def elements(self, elements: torch.Tensor) -> Iterator[Any]:
        if not elements.numel():
            return
        code = "d" if elements.dtype is torch.float64 else "f"
        if not elements.is_floating_point():
            code = "l"
        for start in range(0, elements.numel(), _CHUNK):
            chunk = elements[start : start + _CHUNK].cpu()
            if elements.dtype in _RAW_ELEMENTS:
                yield as_array(chunk).tobytes()
            else:
                words = b" ".join(_spell(code, value) for value in chunk.tolist())
                yield b" " + words if start else words
        yield b"\n"


def _spell(code: str, value: Any) -> bytes:
    """Return a number as C's printf spells it."""
    if code in _RANGES or code == "?":
        return b"%d" % value
    if value != value:
        return b"-nan" if copysign(1.0, value) < 0 else b"nan"
    return (b"%.17g" if code == "d" else b"%.9g") % value
