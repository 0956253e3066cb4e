"""The command: a Lua script with its arguments."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from types import FrameType

from compat.lua.errors import LuaError
from compat.lua.runtime import Runtime

# How long a script may take to notice Ctrl-C, in seconds.
_PATIENCE = 0.7


def main(arguments: Sequence[str]) -> int:
    """Run ``script.lua arguments…``. Returns the exit code."""
    if not arguments:
        print("usage: python -m compat.lua script.lua [arguments]", file=sys.stderr)
        return 2
    runtime = Runtime(standard_output=True)
    end_on_interrupt()
    try:
        runtime.run(arguments[0], *arguments[1:])
    except LuaError as error:
        runtime.flush()
        print(f"luajit: {error}", file=sys.stderr)
        if error.traceback:
            print(error.traceback, file=sys.stderr)
        return 1
    finally:
        runtime.flush()
    return 0


def end_on_interrupt() -> None:
    """Have Ctrl-C end the program within a second, also where Lua calls nothing of Python's.

    An operation on tensors raises an error in Lua, with its stack; a loop that has none is ended
    by a thread that watches.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    noticed = threading.Event()

    def notice(number: int, frame: FrameType | None) -> None:
        noticed.set()
        raise KeyboardInterrupt

    def watch() -> None:
        while os.read(read, 1):
            if not noticed.wait(_PATIENCE):
                sys.stderr.write("interrupted!\n")
                sys.stderr.flush()
                os._exit(130)
            noticed.clear()

    signal.signal(signal.SIGINT, notice)
    signal.set_wakeup_fd(write)
    threading.Thread(target=watch, daemon=True).start()
