"""Modules of this package in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ENDED = -1000  # the exit code of a run whose time was up


def run(
    module: str, *words: str, folder: str | os.PathLike[str] | None, seconds: float | None
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m compat.port.MODULE`` with arguments in a folder, for ``seconds`` at most."""
    root = str(Path(__file__).parents[2])
    paths = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-m", f"compat.port.{module}", *words]
    with (
        _stopped_by_signals(),
        tempfile.TemporaryFile() as printed,  # where a run can tell how far it has printed
        subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"},
            stdout=printed,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
    ):
        try:
            _, err = process.communicate(timeout=seconds)
            code = process.returncode
        except subprocess.TimeoutExpired:
            _kill(process)
            _, err = process.communicate()
            code = ENDED
        except BaseException:  # such as an interrupt, which does not reach its session
            _kill(process)
            raise
        printed.seek(0)
        out = printed.read()
    texts = (text.decode(errors="surrogateescape") for text in (out, err))
    return subprocess.CompletedProcess(command, code, *texts)


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Make an exception of what ends this process: a run has a session of its own and ends too."""
    numbers = []
    if threading.current_thread() is threading.main_thread():  # others cannot set handlers
        known = (getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP"))
        numbers = [n for n in known if n and signal.getsignal(n) is signal.SIG_DFL]
    for number in numbers:
        signal.signal(number, lambda n, _: sys.exit(128 + n))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a run with the processes that it has made, which hold its pipe open."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a run has written about its errors."""
    return [line for line in done.stderr.splitlines() if line.strip()]
