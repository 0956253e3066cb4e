"""Feeds damaged files to the reader: only a T7Error or a sound value may come of them.

The short form runs in the tests; the long form is

    python tests/compat/t7/fuzz.py --mutations 200000

Mutations derive from a fixed seed and their number alone, so that a failure can be repeated with
``--first N --mutations 1``.  The address space of the process is limited: whatever the damage says,
no reading may need much more memory than the file has bytes.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import signal
import struct
import time
from typing import Any

from t7_recordings import FILES, MALFORMED, read, register_custom_classes, variant

from compat import t7

MEMORY = 1 << 30
"""Bytes of address space beyond what the process has when it starts."""

ENDLESS = 20
"""Seconds after which a reading counts as endless."""

LARGEST_FILE = 30_000

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


def originals(entries: list[dict[str, Any]]) -> list[tuple[dict[str, Any], bytes]]:
    """The recordings that are small enough, and how they must be opened."""
    files = [(entry, read(entry)) for entry in entries]
    return [(entry, data) for entry, data in files if len(data) <= LARGEST_FILE]


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


def try_reading(data: bytes, options: dict[str, Any]) -> bool:
    """Whether ``data`` can be read.  What can be read must be writable again."""
    try:
        value = t7.loads(data, raw=True, **options)
    except t7.T7Error as error:
        assert str(error)
        return False
    try:
        written = t7.dumps(value)
    except t7.T7Error:
        return True  # e.g. the keys "a" twice, once in each of two encodings
    t7.loads(written, raw=True)
    return True


def run(first: int, mutations: int, seed: int) -> dict[str, int]:
    """Try the mutations from number ``first`` on; how many could be read, and how many not."""
    register_custom_classes()
    signal.signal(signal.SIGALRM, _stop)
    sound, broken = originals(FILES), originals(MALFORMED)
    files = sound + broken
    others = [data for _, data in files]
    counts = {"read": 0, "refused": 0}
    for number in range(first, first + mutations):
        chance = random.Random(seed * 1_000_003 + number)
        entry, data = chance.choice(sound if chance.random() < 0.9 else broken)
        damaged = mutate(data, others, chance)
        options = {} if chance.random() < 0.3 else variant(entry)
        signal.alarm(ENDLESS)
        try:
            was_read = try_reading(damaged, options)
            if chance.random() < 0.1:
                _list_entries(damaged, options)
        except BaseException as problem:
            problem.args = (f"mutation {number} of {entry['file']}: {problem!r}",)
            raise
        counts["read" if was_read else "refused"] += 1
    signal.alarm(0)
    return counts


def _list_entries(data: bytes, options: dict[str, Any]) -> None:
    try:
        for _ in t7.inspect(io.BytesIO(data), **options):
            pass
    except t7.T7Error:
        pass


class Endless(BaseException):
    """Nothing on the way may take it for a defect of the file."""


def _stop(number: int, frame: object) -> None:
    raise Endless(f"no end after {ENDLESS} s")


def limit_memory() -> None:
    """Allow this process only so much more address space."""
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def main() -> None:
    parser = argparse.ArgumentParser(description="Feed damaged .t7 files to the reader.")
    parser.add_argument("--mutations", type=int, default=200_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    limit_memory()
    started = time.perf_counter()
    counts = run(arguments.first, arguments.mutations, arguments.seed)
    seconds = time.perf_counter() - started
    print(f"{counts['read']} read, {counts['refused']} refused, none failed, in {seconds:.0f} s")


if __name__ == "__main__":
    main()
