"""``math.random``: the numbers of LuaJIT's generator, bit for bit.

LuaJIT uses Tausworthe's generator with a period of 2^223 and four words of 64 bits (P. L'Ecuyer,
"Tables of maximally equidistributed combined LFSR generators", 1999).
"""

from __future__ import annotations

import math
import struct

# For each word: bits that are left out, its two shifts.
_WORDS = ((63, 31, 18), (58, 19, 28), (55, 24, 7), (47, 21, 8))
_ALL = (1 << 64) - 1


def _bits(number: float) -> int:
    found: int = struct.unpack("<Q", struct.pack("<d", number))[0]
    return found


class _Tausworthe:
    def __init__(self) -> None:
        self.state = [0] * 4
        self.seed(0.0)

    def seed(self, number: float) -> None:
        """Start the sequence of a number."""
        least = 0x11090601
        for i in range(4):
            number = number * math.pi + math.e
            bits, low = _bits(number), 1 << (least & 255)
            least >>= 8
            self.state[i] = bits + low if bits < low else bits
        for _ in range(10):
            self.step()

    def step(self) -> int:
        """Return the next word."""
        result = 0
        for i, (kept, q, shift) in enumerate(_WORDS):
            z = self.state[i]
            high = z & (_ALL << (64 - kept)) & _ALL
            z = ((((z << q) & _ALL) ^ z) >> (kept - shift)) ^ ((high << shift) & _ALL)
            self.state[i] = z
            result ^= z
        return result

    def fraction(self) -> float:
        """Return the next number in [0, 1)."""
        bits = (self.step() & 0x000FFFFFFFFFFFFF) | 0x3FF0000000000000
        found: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
        return found - 1.0


_generator = _Tausworthe()


def random(first: float | None = None, last: float | None = None) -> float:
    """``math.random()``, ``math.random(last)`` or ``math.random(first, last)``."""
    drawn = _generator.fraction()
    if first is None:
        return drawn
    low, high = (1, first) if last is None else (first, last)
    if high < low:
        raise ValueError(f"bad argument to 'random': the interval from {low} to {high} is empty")
    return math.floor(drawn * (high - low + 1)) + low


def randomseed(seed: float) -> None:
    """``math.randomseed``."""
    _generator.seed(float(seed))
