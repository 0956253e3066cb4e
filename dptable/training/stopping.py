"""Ctrl-C as a request to stop after the current step."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended, as shells give it."""


@contextmanager
def stop_requests() -> Iterator[Callable[[], bool]]:
    """Within the block, note SIGINT and SIGTERM instead of dying of them; yields "was there one?".

    A second signal acts as it did before. Signals reach the main thread only; in any other the
    answer is always no.
    """
    requested = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield requested.is_set
        return

    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        requested.set()
        restore()

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, note)
    try:
        yield requested.is_set
    finally:
        restore()
