"""Keeping the memory that the C library would give back."""

from __future__ import annotations

import ctypes

# Numbers of glibc's <malloc.h>.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4


def keep_freed() -> bool:
    """Let this process keep freed memory of the CPU for its next use; False where that is unknown.

    A training step frees what the next one needs again. glibc gives much of it back to the system,
    which then hands out zeroed pages anew, one fault each: up to a sixth of a step's time. Once
    this is called, the process stays as large as it has been.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_TRIM_THRESHOLD, -1) & mallopt(_MMAP_MAX, 0))
