"""Errors of Lua in Python."""

from __future__ import annotations

import importlib.util
import re

from compat.terminal import printable_lines

#: What the error of Ctrl-C says until words stand in its place: see interruption.py.
INTERRUPTION = "\x03"

_OURS = re.compile(
    r"\n\t(\[C\]: in function '(xpcall|run_protected)'|\[builtin)[^\n]*\n\t\(torch\).*", re.DOTALL
)
_NOBODYS = re.compile(r"stack traceback:|\t(\[C\]|\(torch\)|\[builtin)")


class LuaError(Exception):
    """An error that Lua code raised; the message has file and line, as Lua gives them.

    Attributes:
        traceback: the stack of Lua at that place, as text.
        kept: where the runtime keeps the very value that was raised, for its way back into Lua.
    """

    def __init__(self, message: str, traceback: str = "") -> None:
        super().__init__(message)
        self.traceback = traceback
        self.kept: int | None = None


def error_text(message: str, traceback: str) -> str:
    """Return an error as ``luajit`` prints it; the stack ends where the user's code begins.

    A stack without any of the user's code is left out.
    """
    stack = _OURS.sub("", traceback)
    if all(_NOBODYS.match(line) for line in stack.splitlines()):
        stack = ""
    return printable_lines("\n".join(filter(None, (f"luajit: {message}", stack))))


def hint(message: str) -> str:
    """Return what to do about an error, in brackets, where its own words do not tell."""
    unknown = re.search(r"unknown Torch class <((\w+)\.\w+|\w+)>$", message)
    if unknown is None:
        return ""
    package = unknown[2] and importlib.util.find_spec(f"compat.{unknown[2]}")
    needed = f"require '{unknown[2]}', or the package that adds it," if package else "its own file"
    return f" ({needed} comes before torch.load)"
