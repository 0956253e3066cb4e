"""Modules of this package in processes of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
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


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a run with the processes that it has made, which hold its pipe open."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def said(done: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines that a run has written about its errors."""
    return [line for line in done.stderr.splitlines() if line.strip()]
