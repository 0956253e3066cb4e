"""Start the command quickly: what runs before PyTorch is loaded, which takes seconds.

The command reads its arguments first, and Ctrl-C ends it without a traceback meanwhile. This module
is imported before anything else of the package.
"""

from __future__ import annotations

import contextlib
import gc
import signal
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any


def _is_command() -> bool:
    """Return whether this process was started as ``dptable``, or as ``python -m dptable``."""
    if sys.argv[0] == "-m":  # while a package is loading that is to be run
        return ("-m", "dptable") in pairwise(sys.orig_argv)
    return Path(sys.argv[0]).stem == "dptable"


def _exchange(handler: Any, other: Any) -> None:
    if signal.getsignal(signal.SIGINT) is handler:
        signal.signal(signal.SIGINT, other)


@contextlib.contextmanager
def without_collector() -> Iterator[None]:
    """Keep Python from searching all of PyTorch for garbage, half of what loading dptable takes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


LOADING = bool(sys.argv) and _is_command()
if LOADING:
    _exchange(signal.default_int_handler, signal.SIG_DFL)


def loaded() -> None:
    """Restore Python's handling of Ctrl-C: it raises KeyboardInterrupt from now on."""
    if LOADING:
        _exchange(signal.SIG_DFL, signal.default_int_handler)
