"""Keeping the memory that the C library would give back."""

from __future__ import annotations

import ctypes

__all__ = [
    "keep_freed",
]

# Numbers of glibc's <malloc.h>.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4
# Threads have heaps of 64 MiB, of which one that is empty is kept if more than this is to be spare.
_TWO_HEAPS = 2 * (64 << 20)


def keep_freed() -> bool:
    """Let this process keep freed memory of the CPU for its next use; False where that is unknown.

    A training step frees what the next one needs again. glibc gives much of it back to the system,
    which then hands out zeroed pages anew, one fault each: up to a sixth of a step's time. Once
    this is called, the process stays as large as it has been. Not kept are tensors of more than
    64 MiB each that other threads than the main one make.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = {_TRIM_THRESHOLD: -1, _TOP_PAD: _TWO_HEAPS, _MMAP_MAX: 0}
    accepted = [mallopt(name, value) for name, value in settings.items()]
    return all(accepted)
