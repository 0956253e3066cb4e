"""The functions of package string: Lua's own, on Python's texts."""

from __future__ import annotations

import builtins
import math
import os
import re
from collections.abc import Iterator
from typing import Any

from compat.lua.state import implementation, new_state
from compat.port.lua import kinds
from compat.port.lua.numbers import sub_
from compat.port.lua.tables import index, string_methods
from compat.port.lua.text import Error, bytes_as_text, shows_bytes, tostring
from compat.port.lua.values import first, results, truth

# The calls have names in Lua's errors. `each` gives one match after the other, also empty ones.
_FUNCTIONS = """
local function each(text, pattern, place, plain)
   local function step(first, last, ...)
      place = first and math.max(first, last) + 1
      if first then return first, last, ... end
   end
   return function()
      if place and place <= #text + 1 then return step(string.find(text, pattern, place, plain)) end
   end
end
return each, function(...) return (string.format(...)) end
"""
_lua = implementation(os.environ.get("DPTABLE_LUA"))
_each, _format = new_state(_lua).execute(_FUNCTIONS)


def _called(function: Any, *args: Any) -> Any:
    try:
        return function(*args)
    except _lua.LuaError as error:
        told = str(error).partition("\nstack traceback:")[0]
        raise Error(re.sub(r"^\[string .*?\]:\d+: ", "", told), 1) from None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text(data: str) -> str:
    """Return the text of Lua's bytes."""
    return bytes_as_text(data.encode("latin-1"))


def format(template: str, *args: Any) -> Any:
    """``string.format``; with a format of Python's as ``args`` it is Python's ``format``."""
    if not isinstance(template, str) or (len(args) == 1 and args[0] == ".14g"):
        return builtins.format(template, *args)
    plain = (int, float, type(None))
    given = [a if isinstance(a, plain) else _bytes(tostring(a)) for a in args]
    return _text(_called(_format, _bytes(template), *given))


def _slice(text: str | bytes, begin: Any, last: Any) -> tuple[int, int]:
    begin, last = int(begin), int(last)
    if begin < 0:
        begin = max(len(text) + begin + 1, 1)
    elif begin == 0:
        begin = 1
    if last < 0:
        last = len(text) + last + 1
    return begin - 1, min(last, len(text))  # the first may be behind the text


def sub(text: Any, begin: Any, last: Any = -1) -> Any:
    """``s:sub(begin, last)``; of other values ``begin`` is what is taken away."""
    if not isinstance(text, str):
        return sub_(text, begin)
    start, end = _slice(text, begin, last)
    return text[start:end] if start < end else ""


def byte(text: str, begin: int = 1, last: int | None = None) -> Any:
    """``s:byte(begin, last)``."""
    data = _bytes(text)
    start, end = _slice(data, begin, begin if last is None else last)
    return results(data[start:end])


def char(*codes: Any) -> str:
    """``string.char``; a byte that is no ASCII is a surrogate, as in what is read from files."""
    data = bytes(int(c) for c in codes)
    if not data.isascii():
        shows_bytes()
    return data.decode("ascii", "surrogateescape")


class _Match:
    """A match of a pattern: the bytes before and in it, and what it captured."""

    def __init__(self, data: bytes, first: int, last: int, *captures: Any) -> None:
        self.data, self.start, self.end = data, first - 1, last
        self.whole = data[first - 1 : last].decode("utf-8", "surrogateescape")
        self.named = [_text(c) if isinstance(c, str) else self.letter(c - 1) + 1 for c in captures]
        self.captures = self.named or [self.whole]

    def letter(self, byte: int) -> int:
        """Return which letter stands at a byte; both count from 0."""
        return byte if self.data.isascii() else len(self.data[:byte].decode("utf-8", "replace"))


def _matches(text: Any, pattern: str, start: int = 0, plain: bool = False) -> Iterator[_Match]:
    text = tostring(text)
    data = _bytes(text)
    if start > len(text):
        return
    step = _called(_each, data, _bytes(pattern), len(_bytes(text[:start])) + 1, plain)
    while (found := _called(step)) is not None:
        yield _Match(data, *found)


def find(text: str, pattern: str, begin: int = 1, plain: Any = None) -> Any:
    """``s:find``: first and last place, and captures; None where there is nothing."""
    start = _slice(text, begin, -1)[0]
    hit = next(_matches(text, pattern, start, truth(plain)), None)
    return None if hit is None else (hit.letter(hit.start) + 1, hit.letter(hit.end), *hit.named)


def match(text: Any, pattern: str, begin: int = 1) -> Any:
    """``s:match``: the captures, or the whole."""
    hit = next(_matches(text, pattern, _slice(tostring(text), begin, -1)[0]), None)
    return None if hit is None else results(hit.captures)


def gmatch(text: str, pattern: str) -> Iterator[Any]:
    """``s:gmatch``: the captures of each match."""
    literal = f"%{pattern}" if pattern.startswith("^") else pattern  # no anchor there
    return (results(hit.captures) for hit in _matches(text, literal))


def gsub(text: Any, pattern: str, new: Any, most: float | None = None) -> tuple[str, int]:
    """``s:gsub``: the new text, and how often it was changed."""
    data = _bytes(tostring(text))
    made, place, count = b"", 0, 0
    most = min(math.inf if most is None else most, 1 if pattern.startswith("^") else math.inf)
    for hit in _matches(text, pattern):
        if count >= most:
            break
        made += data[place : hit.start] + _bytes(_replacement(hit, new))
        place, count = hit.end, count + 1
    return (made + data[place:]).decode("utf-8", "surrogateescape"), count


def _replacement(hit: _Match, new: Any) -> str:
    if isinstance(new, (str, int, float)):

        def capture(found: re.Match[str]) -> str:
            name = found[1]
            if name == "0":
                return hit.whole
            return tostring(hit.captures[int(name) - 1]) if name.isdigit() else name

        return re.sub(r"%(.)", capture, tostring(new), flags=re.S)
    value = first(new(*hit.captures)) if callable(new) else index(new, hit.captures[0])
    if not truth(value):
        return hit.whole
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise Error(f"invalid replacement value (a {kinds.type(value)})", level=1)
    return tostring(value)


string_methods.update(
    find=find,
    match=match,
    gmatch=gmatch,
    gsub=gsub,
    sub=sub,
    byte=byte,
    format=format,
    len=len,
    rep=lambda text, count: text * int(count),
    reverse=lambda text: text[::-1],
)
