"""The share of time that the Lua runtime takes, from samples of where the main thread is.

``python -m compat.port.check.timing OUT SECONDS FOLDER SCRIPT arguments…`` runs a script of a
program in Python and writes the counts to OUT. The time before the first line of the script, in
which PyTorch is loaded, does not count; 0 seconds are as many as it takes.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import threading
import time
from pathlib import Path
from types import FrameType

_STEP = 0.005  # seconds from one look to the next
_RUNTIME = str(Path(__file__).parents[2] / "lua" / "runtime.py")


class Sampler(threading.Thread):
    """Looks again and again whether the main thread is in Lua.

    Args:
        root: the program's folder: what its files call themselves is Python's time.
        seconds: after so long the process ends; 0: never.
    """

    def __init__(self, root: str, out: Path, seconds: float) -> None:
        super().__init__(daemon=True)
        self._root, self._out, self._seconds = root, out, seconds
        self._main = threading.get_ident()
        self._counts = {"lua": 0, "python": 0}
        self._start: float | None = None

    def run(self) -> None:
        """Look, until the process ends."""
        while True:
            time.sleep(_STEP)
            frame = sys._current_frames().get(self._main)  # noqa: SLF001, there is no other way
            where = self._where(frame)
            if where is None:
                continue
            self._start = self._start or time.monotonic()
            self._counts[where] += 1
            if self._seconds and time.monotonic() - self._start > self._seconds:
                self.save("the time was up")
                os._exit(0)

    def _where(self, frame: FrameType | None) -> str | None:
        """In what the innermost frame is that belongs to either; None: what it needs is loaded."""
        while frame is not None:
            name = frame.f_code.co_filename
            if name == _RUNTIME and frame.f_code.co_name == "invoke":
                return "lua"
            if name.startswith(self._root):
                return "python"
            if name.startswith("<frozen importlib"):
                return None  # a package is being loaded
            frame = frame.f_back
        return None

    def save(self, error: str) -> None:
        """Write what was counted."""
        elapsed = time.monotonic() - self._start if self._start else 0.0
        whole = {**self._counts, "seconds": elapsed, "error": error}
        self._out.write_text(json.dumps(whole))


def _run(out: str, seconds: str, root: str, script: str, *arguments: str) -> int:
    path = str(Path(root, script))
    sampler = Sampler(root + os.sep, Path(out), float(seconds))
    sampler.start()
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(path)
    error = ""
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as ended:
        error = "" if ended.code in (None, 0) else f"exit code {ended.code}"
    except BaseException as problem:
        error = f"{type(problem).__name__}: {problem}".split("\n")[0]
    sampler.save(error)
    return 0


if __name__ == "__main__":
    code = _run(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)
