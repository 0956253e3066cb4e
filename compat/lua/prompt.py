"""The prompt: read lines, run them, and print their values, as ``th`` does."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
import time
from pathlib import Path
from typing import Any

from compat.lua.errors import LuaError
from compat.lua.interruption import interruptible, message
from compat.lua.runtime import Runtime
from compat.terminal import printable_lines

try:
    import readline
except ImportError:  # Windows, and Pythons built without it
    readline = None  # type: ignore[assignment]


class Prompt:
    """Reads lines, with history and completion where Python has readline.

    The history is in the file ``TREPL_HISTORY``, by default ``~/.luahistory``, as th's.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._interactive = sys.stdin.isatty()
        self._evaluate = runtime.eval("require('trepl').evaluate")
        self._print_time = runtime.eval("require('trepl').print_time")
        self._complete = runtime.eval("require('trepl').complete")
        self._history = Path(os.environ.get("TREPL_HISTORY") or Path.home() / ".luahistory")
        self._found: list[str] = []

    def loop(self) -> None:
        """Read and run until the end of the input, or ``exit``."""
        if self._interactive and readline is not None:
            self._set_up()
        while True:
            try:
                line = self._read("th> ")
                if line is None or line.strip() in ("exit", "break"):
                    break
                self._run(line)
            except KeyboardInterrupt:
                print()
        if self._interactive:
            print()

    def _set_up(self) -> None:
        with contextlib.suppress(OSError):
            readline.read_history_file(self._history)
        readline.set_history_length(1000)
        readline.set_completer_delims(" \t\n\"'(){}=+-*/%^#,;<>~")
        readline.set_completer(self._completions)
        readline.parse_and_bind("tab: complete")

    def _completions(self, word: str, state: int) -> str | None:
        if state == 0:
            before = readline.get_line_buffer()[: readline.get_begidx()]
            quote = _open_quote(before)
            if quote is None:
                found: Any = self._complete(word)
                self._found = list(found.values()) if isinstance(found, dict) else found
            else:
                folder = before[quote + 1 :]
                self._found = [name.removeprefix(folder) for name in _files(folder + word)]
        return self._found[state] if state < len(self._found) else None

    def _read(self, prompt: str) -> str | None:
        """Read a line; None at the end of the input.

        KeyboardInterrupt drops an unfinished statement.
        """
        self._runtime.flush()
        try:
            if self._interactive:
                return input(prompt)
            line = sys.stdin.readline()
            return line.rstrip("\n") if line else None
        except EOFError:
            return None
        finally:
            self._save_history()

    def _save_history(self) -> None:
        # After each line: scripts may end the process.
        if self._interactive and readline is not None:
            with contextlib.suppress(OSError):
                readline.write_history_file(self._history)

    def _run(self, line: str) -> None:
        complaint = self._try(line)
        while complaint == "more":
            following = self._read("..> ")
            line += f"\n{following or ''}"
            # An empty line gives up what was begun.
            complaint = self._try(line, last=not following)
        if complaint:
            self._runtime.flush()
            print(printable_lines(message(complaint)), file=sys.stderr, flush=True)

    def _try(self, text: str, last: bool = False) -> str | None:
        line = text.encode("utf-8", "surrogateescape").decode("latin-1")
        complaint = None
        started = time.perf_counter()
        try:
            with interruptible(self._runtime, patient=True):
                complaint = self._evaluate(line, last)
        except KeyboardInterrupt:
            complaint = complaint or "interrupted!"
        except LuaError as error:
            complaint = str(error)
        if self._interactive and complaint != "more":
            self._print_time(time.perf_counter() - started)
        return None if complaint is None else str(complaint)


def _open_quote(text: str) -> int | None:
    """Return where a string begins that is still open at the end of ``text``, or None."""
    start = None
    for i, character in enumerate(text):
        if start is None:
            start = i if character in "\"'" else None
        elif character == text[start]:
            start = None
    return start


def _files(start: str) -> list[str]:
    """Return the files and folders (with a slash) whose names begin so."""
    found = sorted(glob.glob(glob.escape(os.path.expanduser(start)) + "*"))
    return [f"{name}/" if os.path.isdir(name) else name for name in found]
