"""Damage to bytes, drawn by chance, and a process of its own for who reads them."""

from __future__ import annotations

import random
import resource
import signal
import struct
from collections.abc import Iterator
from contextlib import contextmanager

_INTS = (0, 1, -1, 2, 3, 4, 5, 6, 7, 8, 9, 255, 2**15, 2**24, 2**31 - 1, -(2**31), 0x7FFF0000)
_LONGS = (0, 1, -1, 2**31, 2**32, 2**40, 2**61, 2**61 + 1, 2**62, 2**63 - 1, -(2**63))
_WORDS = (
    b"-1",
    b"0",
    b"1",
    b"99999999999",
    b"1e400",
    b"nan",
    b"-nan",
    b"inf",
    b"0x1p9",
    b".",
    b"\n",
)


def mutate(data: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """``data`` with one to four defects."""
    result = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        at = chance.randrange(len(result) + 1)
        kind = chance.randrange(8)
        if kind == 0 and result:
            result[at % len(result)] ^= 1 << chance.randrange(8)
        elif kind == 1 and result:
            result[at % len(result)] = chance.randrange(256)
        elif kind == 2:
            order = chance.choice("<>")
            result[at : at + 4] = struct.pack(order + "i", chance.choice(_INTS))
        elif kind == 3:
            result[at : at + 8] = struct.pack("<q", chance.choice(_LONGS))
        elif kind == 4:
            del result[at:]
        elif kind == 5:
            del result[at : at + chance.choice((1, 4, 8, 20))]
        elif kind == 6:
            other = chance.choice(others)
            start = chance.randrange(len(other) + 1)
            result[at:at] = other[start : start + chance.choice((4, 12, 60, 1000))]
        else:
            end = at + chance.choice((0, 1, 2))
            result[at:end] = chance.choice(_WORDS)
    return bytes(result)


class Endless(BaseException):
    """Nothing on the way may take it for a defect of what is read."""


@contextmanager
def ending(seconds: int) -> Iterator[None]:
    """Raise ``Endless`` where the block takes longer."""

    def stop(number: int, frame: object) -> None:
        raise Endless(f"no end after {seconds} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def limit_memory(size: int) -> None:
    """Allow this process only so much more address space."""
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + size, used + size))
