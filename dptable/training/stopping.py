"""Signals, and an output that nobody reads any more, as requests to stop after the current step."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TextIO

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C ended, as shells give it."""

# Ctrl-C, an end that somebody asks for, a terminal that closes. Windows has no SIGHUP.
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_BROKEN_PIPE = 13


class Requests:
    """Whether there was a request to stop: ``requests()``."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self) -> bool:
        return bool(self._number)

    def note(self, number: int) -> None:
        """Note the signal of this number, unless there was one before."""
        self._number = self._number or number

    @property
    def exit_code(self) -> int:
        """That of a command which the signal ended, as shells give it: 143 after SIGTERM."""
        return 128 + self._number if self._number else 0


@contextmanager
def stop_requests() -> Iterator[Requests]:
    """Within the block, note signals instead of dying of them; yields "was there one?".

    The signals are SIGINT, SIGTERM and SIGHUP, where they are not ignored, as ``nohup`` has it. A
    second one acts as it did before. Signals reach the main thread only; in any other the
    answer is always no.
    """
    requests = Requests()
    if threading.current_thread() is not threading.main_thread():
        yield requests
        return

    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def note(number: int, frame: FrameType | None) -> None:
        requests.note(number)
        restore()

    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            before[number] = signal.signal(number, note)
    try:
        yield requests
    finally:
        restore()


@contextmanager
def outliving_its_output(requests: Requests) -> Iterator[None]:
    """Within the block, take what ends or closes the standard outputs for a request to stop.

    A reader that ends (``head``), a terminal that is closed, a full disk: what would be printed is
    dropped from then on, so that what a run has done can still be saved.
    """
    with (
        contextlib.redirect_stdout(_Outliving(sys.stdout, requests)),
        contextlib.redirect_stderr(_Outliving(sys.stderr, requests)),
    ):
        yield


class _Outliving:
    """A text stream that drops what it cannot write."""

    def __init__(self, stream: TextIO, requests: Requests) -> None:
        self._stream = stream
        self._requests = requests

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except OSError:
            self._drop()
        return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except OSError:
            self._drop()

    def _drop(self) -> None:
        self._requests.note(_BROKEN_PIPE)
        drop(self._stream)


def drop(stream: TextIO) -> None:
    """Have what is written to ``stream``, and what waits in it, go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
