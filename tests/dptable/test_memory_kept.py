"""A process that keeps freed memory does not fault it in again."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from dptable.memory import keep_freed

SCRIPT = """
import resource, sys, torch
from dptable.memory import keep_freed
if sys.argv[1] == "keep":
    assert keep_freed()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

before = faults()
for _ in range(30):
    torch.zeros(1 << 24)
print(faults() - before)
"""


def faults(mode: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, mode],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path), "OMP_NUM_THREADS": "1"},
    )
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="glibc's allocator")
def test_freed_memory_is_used_again():
    # Only the first few find no room that is aligned as they want it.
    assert 2 * faults("keep") < faults("leave")


def test_other_allocators_are_left_alone(monkeypatch):
    monkeypatch.setattr("ctypes.CDLL", lambda name: object())
    assert keep_freed() is False
