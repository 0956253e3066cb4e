"""Errors of kernels that Lua shows as Torch7's."""

from __future__ import annotations


class ArgumentError(ValueError):
    """Argument ``number``, counted from 1, is wrong: "bad argument #2 to 'x' (…)" in Lua."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number
