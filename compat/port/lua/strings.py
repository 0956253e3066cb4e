"""The functions of package string."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from typing import Any

from compat.port.library import patterns
from compat.port.lua import kinds
from compat.port.lua.numbers import sub_, tonumber
from compat.port.lua.tables import index, string_methods
from compat.port.lua.text import Error, shows_bytes, tostring
from compat.port.lua.values import first, results, truth


def format(template: str, *args: Any) -> Any:
    """``string.format``; with a format of Python's as ``args`` it is Python's ``format``."""
    if not isinstance(template, str):
        return builtins.format(template, *args)
    if not args and "%" not in template:
        return template
    if len(args) == 1 and args[0] == ".14g":
        return builtins.format(template, args[0])
    left = list(args)

    def one(match: re.Match[str]) -> str:
        flags, letter = match[1], match[2]
        if letter == "%":
            return "%"
        if not left:
            raise Error("bad argument to 'format' (no value)")
        value = left.pop(0)
        if letter == "s":
            return f"%{flags}s" % tostring(value)
        if letter == "q":
            quoted = str(value).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\\n")
            return f'"{quoted}"'
        number = tonumber(value)
        if number is None:
            raise Error(f"bad argument to 'format' (number expected, got {kinds.type(value)})")
        if letter in "diuxXoc":
            number = int(number)
            if letter == "c":
                return chr(number)
        return f"%{flags}{'d' if letter in 'iu' else letter}" % number

    return re.sub(r"%([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z%])", one, template)


def _slice(text: str | bytes, begin: Any, last: Any) -> tuple[int, int]:
    begin, last = int(begin), int(last)
    if begin < 0:
        begin = max(len(text) + begin + 1, 1)
    elif begin == 0:
        begin = 1
    if last < 0:
        last = len(text) + last + 1
    return begin - 1, min(last, len(text))


def sub(text: Any, begin: Any, last: Any = -1) -> Any:
    """``s:sub(begin, last)``; of other values ``begin`` is what is taken away."""
    if not isinstance(text, str):
        return sub_(text, begin)
    start, end = _slice(text, begin, last)
    return text[start:end] if start < end else ""


def byte(text: str, begin: int = 1, last: int | None = None) -> Any:
    """``s:byte(begin, last)``."""
    data = text.encode("utf-8", "surrogateescape")
    start, end = _slice(data, begin, begin if last is None else last)
    return results(data[start:end])


def char(*codes: Any) -> str:
    """``string.char``; a byte that is no ASCII is a surrogate, as in what is read from files."""
    data = bytes(int(c) for c in codes)
    if not data.isascii():
        shows_bytes()
    return data.decode("ascii", "surrogateescape")


def find(text: str, pattern: str, begin: int = 1, plain: Any = None) -> Any:
    """``s:find``: first and last place, and captures; None where there is nothing."""
    start = _slice(text, begin, -1)[0]
    if truth(plain):
        place = text.find(pattern, start)
        return None if place < 0 else (place + 1, place + len(pattern))
    match = patterns.Pattern(text, pattern).search(start)
    return None if match is None else (match.start + 1, match.end, *match.named)


def match(text: Any, pattern: str, begin: int = 1) -> Any:
    """``s:match``: the captures, or the whole."""
    found = patterns.Pattern(tostring(text), pattern).search(_slice(tostring(text), begin, -1)[0])
    return None if found is None else results(found.captures)


def gmatch(text: str, pattern: str) -> Iterator[Any]:
    """``s:gmatch``: the captures of each match."""
    return (results(m.captures) for m in patterns.Pattern(text, pattern).all())


def gsub(text: Any, pattern: str, new: Any, most: int | None = None) -> tuple[str, int]:
    """``s:gsub``: the new text, and how often it was changed."""
    text = tostring(text)
    made, place, count = "", 0, 0
    anchored = pattern.startswith("^")
    whole = patterns.Pattern(text, pattern)
    found = filter(None, [whole.search()]) if anchored else whole.all()
    for hit in found:
        if most is not None and count >= most:
            break
        made += text[place : hit.start] + _replacement(hit, new)
        place, count = hit.end, count + 1
    return made + text[place:], count


def _replacement(hit: patterns.Match, new: Any) -> str:
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
