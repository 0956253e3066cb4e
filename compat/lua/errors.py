"""Errors of Lua in Python."""

from __future__ import annotations

from typing import Any


class LuaError(Exception):
    """An error that Lua code raised.

    Attributes:
        value: what was raised: mostly the message, with file and line.
        traceback: the stack of Lua at that place, as text.
    """

    def __init__(self, message: str, value: Any = None, traceback: str = "") -> None:
        super().__init__(message)
        self.value = message if value is None else value
        self.traceback = traceback
        # Where the runtime keeps the very value, for the way back into Lua.
        self.kept: int | None = None
