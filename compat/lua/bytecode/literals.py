"""Constants as Lua's source writes them."""

from __future__ import annotations

from typing import Any

PRIMITIVES = ("nil", "false", "true")


def quoted(text: bytes) -> str:
    """Return a string as Lua source."""
    return '"' + "".join(map(_character, text)) + '"'


def _character(byte: int) -> str:
    plain = 32 <= byte < 127 and byte not in b'"\\'
    return chr(byte) if plain else f"\\{byte:03d}"


def number(value: float) -> str:
    """Return a number as Lua source, in parentheses that separate its sign from an operator."""
    if value != value:
        return "(0/0)"
    if value in (float("inf"), float("-inf")):
        return "(1/0)" if value > 0 else "(-1/0)"
    return f"({value!r})"


def literal(value: Any) -> str:
    """Return a constant as Lua source."""
    if isinstance(value, bytes):
        return quoted(value)
    if value is None or isinstance(value, bool):
        return PRIMITIVES[0 if value is None else 1 + value]
    return number(value)
