"""A process that keeps freed memory does not fault it in again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from dptable.memory import keep_freed

SCRIPT = """
import resource, sys, threading, torch
from dptable.memory import keep_freed
if sys.argv[1] == "keep":
    assert keep_freed()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def step(count, size):
    held = [torch.zeros(size) for _ in range(count)]

def steps():
    for _ in range(40):
        step(*map(int, sys.argv[3:]))

before = faults()
if sys.argv[2] == "thread":
    thread = threading.Thread(target=steps)
    thread.start()
    thread.join()
else:
    steps()
print(faults() - before)
"""


def faults(mode: str, where: str, *step: int) -> int:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, mode, where, *map(str, step)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
# A tensor as large as glibc would map alone, and as many as fill two heaps of a thread.
@pytest.mark.parametrize("step", [("main", 1, 1 << 24), ("thread", 30, 1 << 20)])
def test_freed_memory_is_used_again(step):
    # Only the first few find no room that is aligned as they want it.
    assert 2 * faults("keep", *step) < faults("leave", *step)


def test_other_allocators_are_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert keep_freed() is False
