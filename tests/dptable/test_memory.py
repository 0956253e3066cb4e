"""A process that keeps freed memory does not fault it in again."""

from __future__ import annotations

import platform
import resource
import subprocess
import sys

import pytest

from dptable.memory import keep_freed

SCRIPT = """
import resource, sys, threading, torch
from dptable.memory import keep_freed
assert keep_freed()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def step(count, size):
    held = [torch.zeros(size) for _ in range(count)]

def steps():
    for i in range(30):
        if i == 10:
            before = faults()
        step(*map(int, sys.argv[2:]))
    print(faults() - before)

thread = threading.Thread(target=steps)
(thread.start if sys.argv[1] == "thread" else steps)()
"""


def faults(where: str, *step: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, where, *map(str, step)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    return int(done.stdout)


# A tensor as large as glibc would map alone, and as many as fill two heaps of a thread.
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
@pytest.mark.parametrize("where, count, size", [("main", 1, 1 << 24), ("thread", 30, 1 << 20)])
def test_freed_memory_is_used_again(where, count, size):
    pages_written = 20 * count * size * 4 // resource.getpagesize()
    assert faults(where, count, size) < pages_written / 1000


def test_other_allocators_are_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert keep_freed() is False
