"""Errors of Lua in Python."""

from __future__ import annotations


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
