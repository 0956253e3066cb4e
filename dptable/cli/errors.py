"""Describe an error in one line."""

from __future__ import annotations

from compat.terminal import printable


class WrongCommandLine(ValueError):
    """Arguments that are accepted one by one, but not together. The exit status is 2."""


def in_one_line(error: Exception, given: str) -> str:
    """Return one line about an error; ``given`` names the files of the command."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{printable(error.filename)}: {error.strerror}"
    if isinstance(error, RecursionError):
        return printable(f"{given}: it holds what lies too deep in each other for this")
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
