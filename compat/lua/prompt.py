"""Lua at the terminal: lines are read, run, and what they give is printed, as ``th`` does."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import Any

from compat.lua.interruption import interruptible, message
from compat.lua.runtime import Runtime

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
        self._complete = runtime.eval("require('trepl').complete")
        self._found: list[str] = []

    def loop(self) -> None:
        """Read and run until the end of the input, or ``exit``."""
        history = Path(os.environ.get("TREPL_HISTORY") or Path.home() / ".luahistory")
        if self._interactive and readline is not None:
            self._set_up(history)
        while (line := self._read("th> ")) is not None:
            if line.strip() in ("exit", "break"):
                break
            self._run(line)
        if self._interactive:
            print()
            if readline is not None:
                with contextlib.suppress(OSError):
                    readline.write_history_file(history)

    def _set_up(self, history: Path) -> None:
        with contextlib.suppress(OSError):
            readline.read_history_file(history)
        readline.set_history_length(1000)
        readline.set_completer_delims(" \t\n\"'()[]{}=+-*/%^#,;<>~")
        readline.set_completer(self._completions)
        readline.parse_and_bind("tab: complete")

    def _completions(self, word: str, state: int) -> str | None:
        if state == 0:
            found: Any = self._complete(word)
            self._found = list(found.values()) if isinstance(found, dict) else found
        return self._found[state] if state < len(self._found) else None

    def _read(self, prompt: str) -> str | None:
        self._runtime.flush()
        try:
            if self._interactive:
                return input(prompt)
            line = sys.stdin.readline()
            return line.rstrip("\n") if line else None
        except EOFError:
            return None
        except KeyboardInterrupt:
            print()
            return ""

    def _run(self, line: str) -> None:
        complaint = self._try(line)
        while complaint == "more":
            following = self._read("..> ")
            line += f"\n{following or ''}"
            # An empty line gives up what was begun.
            complaint = self._try(line, last=not following)
        if complaint:
            self._runtime.flush()
            print(message(complaint), file=sys.stderr, flush=True)

    def _try(self, text: str, last: bool = False) -> str | None:
        line = text.encode("utf-8", "surrogateescape").decode("latin-1")
        try:
            with interruptible(self._runtime):
                found = self._evaluate(line, last, self._interactive)
        except KeyboardInterrupt:
            return "interrupted!"
        return None if found is None else str(found)
