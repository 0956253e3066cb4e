"""The functions of package string: Lua's own, on Python's texts."""

from __future__ import annotations

import builtins
import functools
import os
import re
from typing import Any

from compat.lua.state import implementation, new_state
from compat.port.lua import kinds
from compat.port.lua.numbers import sub_
from compat.port.lua.tables import index, string_methods
from compat.port.lua.text import Error, bytes_as_letters, bytes_as_text, tostring
from compat.port.lua.values import Steps, first, results, truth

# The calls have names in Lua's errors, and no tail call takes these away.
_CALL = "function(...) local function all(...) return ... end return all(string.%s(...)) end"
_lua = implementation(os.environ.get("DPTABLE_LUA"))
_state = new_state(_lua)
_as_function = _state.eval("function(f) return function(...) return f(...) end end")


@functools.cache
def _function(name: str) -> Any:
    return _state.eval(_CALL % name)


def _called(function: Any, *args: Any) -> tuple[Any, ...]:
    """Return the results of a function of Lua's; its first may be None."""
    try:
        found = function(*args)
    except _lua.LuaError as error:
        told = str(error).partition("\nstack traceback:")[0]
        raise Error(re.sub(r"^\[string .*?\]:\d+: ", "", told), 1) from None
    return found if isinstance(found, tuple) else (found,)


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
    return _text(_called(_function("format"), _bytes(template), *given)[0])


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
    return bytes_as_letters(bytes(int(c) for c in codes))


def _letter(data: bytes, byte: int) -> int:
    """Return the number of letters in the bytes up to a place."""
    return byte if data.isascii() else len(data[:byte].decode("utf-8", "replace"))


def _captures(data: bytes, found: tuple[Any, ...]) -> list[Any]:
    """Return texts, and places counted in letters."""
    return [_text(c) if isinstance(c, str) else _letter(data, c - 1) + 1 for c in found]


def _searched(name: str, text: Any, pattern: str, begin: int, *more: Any) -> Any:
    """Return the text's bytes and what Lua finds in them from a letter on."""
    text = tostring(text)
    data, before = _bytes(text), _bytes(text[: _slice(text, begin, -1)[0]])
    if begin > len(text) + 1:
        return data, (None,)
    return data, _called(_function(name), data, _bytes(pattern), len(before) + 1, *more)


def find(text: str, pattern: str, begin: int = 1, plain: Any = None) -> Any:
    """``s:find``: first and last place, and captures; None where there is nothing."""
    data, (first, *rest) = _searched("find", text, pattern, begin, truth(plain))
    if first is None:
        return None
    return (_letter(data, first - 1) + 1, _letter(data, rest[0]), *_captures(data, rest[1:]))


def match(text: Any, pattern: str, begin: int = 1) -> Any:
    """``s:match``: the captures, or the whole."""
    data, found = _searched("match", text, pattern, begin)
    return None if found[0] is None else results(_captures(data, found))


def gmatch(text: str, pattern: str) -> Steps:
    """``s:gmatch``: the captures of each match."""
    data = _bytes(tostring(text))
    (step,) = _called(_function("gmatch"), data, _bytes(pattern))
    found = iter(lambda: _called(step), (None,))
    return Steps(results(_captures(data, captures)) for captures in found)


def gsub(text: Any, pattern: str, new: Any, most: float | None = None) -> tuple[str, int]:
    """``s:gsub``: the new text, and how often it was changed."""
    data = _bytes(tostring(text))

    def replaced(*found: Any) -> Any:
        captures = _captures(data, found)
        value = first(new(*captures)) if callable(new) else index(new, captures[0])
        if not truth(value):
            return False
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            raise Error(f"invalid replacement value (a {kinds.type(value)})", level=1)
        return _bytes(tostring(value))

    is_text = isinstance(new, (str, int, float, type(None)))
    instead = new if new is None else _bytes(tostring(new)) if is_text else _as_function(replaced)
    made, count = _called(_function("gsub"), data, _bytes(pattern), instead, most)
    return _text(made), count


def split(text: str, pattern: str) -> list[str]:
    """``s:split(pattern)`` of package xlua: no part is empty at the ends of the text."""
    made = pieces(text, pattern)
    return made[1:] if made[:1] == [""] else made


def pieces(
    text: str, pattern: str = "%s+", plain: Any = None, count: int | None = None
) -> list[str]:
    """Return the parts of Penlight's ``utils.split``; behind the last separator none is empty."""
    if not pattern:
        return [text]
    made: list[str] = []
    begin = 1
    while len(made) + 1 != count and (found := find(text, pattern, begin, plain)) is not None:
        made.append(text[begin - 1 : found[0] - 1])
        begin = found[1] + 1
    rest = [text[begin - 1 :]] if begin <= len(text) else []
    return [] if [*made, *rest] == [""] else made + rest


def parts(text: str, glue: str | None) -> list[str]:
    """``stringx.split(text, glue)``: an empty text has none, ``glue`` itself one."""
    return [""] if text == glue else text.split(glue) if text else []


string_methods.update(
    find=find,
    match=match,
    gmatch=gmatch,
    gsub=gsub,
    sub=sub,
    byte=byte,
    format=format,
    split=split,
    len=len,
    rep=lambda text, count: text * int(count),
    reverse=lambda text: text[::-1],
)
