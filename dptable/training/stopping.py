"""Turn signals and closed outputs into requests to stop after the current step."""

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
    """Remembers the first request to stop; calling the object returns whether there was one."""

    def __init__(self) -> None:
        self._number = 0

    def __call__(self) -> bool:
        return bool(self._number)

    def note(self, number: int) -> None:
        """Remember the number of the signal, unless an earlier request is remembered."""
        self._number = self._number or number

    @property
    def exit_code(self) -> int:
        """The exit code of a command that this signal ended, as in shells: 143 after SIGTERM."""
        return 128 + self._number if self._number else 0


@contextmanager
def stop_requests() -> Iterator[Requests]:
    """Remember SIGINT, SIGTERM and SIGHUP in the block instead of ending the process.

    A second signal acts as it did outside the block. Signals that are ignored, as under ``nohup``,
    stay ignored. Python delivers signals to the main thread only; in any other thread there are
    never requests.

    Yields:
        The requests; calling them returns whether there was one.
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
def tolerate_closed_output(requests: Requests) -> Iterator[None]:
    """Treat a failing standard output as a request to stop, for the length of the block.

    The output fails when its reader ends (``head``), its terminal is closed or its disk is full.
    Further output is dropped, so that the run can still save a checkpoint.
    """
    with (
        contextlib.redirect_stdout(_TolerantStream(sys.stdout, requests)),
        contextlib.redirect_stderr(_TolerantStream(sys.stderr, requests)),
    ):
        yield


class _TolerantStream:
    """A text stream that drops its output after the first failed write."""

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
        redirect_to_null(self._stream)


def redirect_to_null(stream: TextIO) -> None:
    """Point the stream's file descriptor at the null device.

    Text that waits in the stream's buffer goes there too, so that closing it at exit cannot fail.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
