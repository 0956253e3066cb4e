"""Make the C library keep freed memory in the process."""

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
    """Make glibc keep freed CPU memory in this process for reuse.

    A training step frees what the next one allocates again. By default glibc returns much of it to
    the system, and each new page costs a page fault and zeroing: up to a sixth of a step's time.
    After this call the process stays as large as it ever was. Tensors over 64 MiB made by other
    threads than the main one are still returned.

    Returns:
        False if this C library has no such setting.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    settings = {_TRIM_THRESHOLD: -1, _TOP_PAD: _TWO_HEAPS, _MMAP_MAX: 0}
    accepted = [mallopt(name, value) for name, value in settings.items()]
    return all(accepted)
