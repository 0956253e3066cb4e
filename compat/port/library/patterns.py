"""Lua's patterns of strings."""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import Any

_CLASSES = {
    "a": string.ascii_letters,
    "c": "".join(map(chr, [*range(32), 127])),
    "d": string.digits,
    "l": string.ascii_lowercase,
    "p": string.punctuation,
    "s": " \t\n\r\f\v",
    "u": string.ascii_uppercase,
    "w": string.ascii_letters + string.digits,
    "x": string.hexdigits,
    "z": "\0",
}
_SPECIAL = set("^$*+?.([%-")


def plain(pattern: str) -> str | None:
    """Return the text that a pattern stands for, if it is nothing but text."""
    text = ""
    i = 0
    while i < len(pattern):
        if pattern[i] == "%" and i + 1 < len(pattern) and not pattern[i + 1].isalnum():
            text += pattern[i + 1]
            i += 2
        elif pattern[i] in _SPECIAL or pattern[i] in ")]":
            return None
        else:
            text += pattern[i]
            i += 1
    return text


class Match:
    """Where a pattern matched, and what it captured."""

    def __init__(self, pattern: Pattern, start: int, end: int) -> None:
        self.start, self.end = start, end
        self._text = pattern.text
        self._captures = [
            first + 1 if last == -2 else pattern.text[first:last]
            for first, last in pattern.captures
        ]

    @property
    def whole(self) -> str:
        """The text that matched."""
        return self._text[self.start : self.end]

    @property
    def captures(self) -> list[Any]:
        """The captures; the whole where the pattern has none."""
        return self._captures or [self.whole]

    @property
    def named(self) -> list[Any]:
        """The captures that the pattern has."""
        return self._captures


class Pattern:
    """A pattern on a text."""

    def __init__(self, text: str, pattern: str) -> None:
        self.text, self.pattern = text, pattern
        self.captures: list[tuple[int, int]] = []

    def search(self, start: int = 0) -> Match | None:
        """Return the first match from a place on."""
        anchored = self.pattern.startswith("^")
        for place in range(start, len(self.text) + 1):
            self.captures = []
            end = self._match(place, 1 if anchored else 0)
            if end is not None:
                return Match(self, place, end)
            if anchored:
                return None
        return None

    def all(self) -> Iterator[Match]:
        """Yield the matches one after the other."""
        place = 0
        while place <= len(self.text):
            self.captures = []
            end = self._match(place, 0)
            if end is None:
                place += 1
                continue
            yield Match(self, place, end)
            place = end if end > place else end + 1

    def _match(self, s: int, p: int) -> int | None:
        pattern, text = self.pattern, self.text
        while p < len(pattern):
            c = pattern[p]
            if c == "(":
                is_place = pattern[p + 1 : p + 2] == ")"
                return self._capture(s, p + (2 if is_place else 1), -2 if is_place else -1)
            if c == ")":
                return self._close(s, p + 1)
            if c == "$" and p + 1 == len(pattern):
                return s if s == len(text) else None
            if c == "%" and pattern[p + 1 : p + 2] == "b":
                end = self._balanced(s, pattern[p + 2], pattern[p + 3])
                if end is None:
                    return None
                s, p = end, p + 4
                continue
            if c == "%" and pattern[p + 1 : p + 2] == "f":
                stop = self._end(p + 2)
                before = text[s - 1] if s > 0 else "\0"
                after = text[s] if s < len(text) else "\0"
                if self._one(before, p + 2, stop) or not self._one(after, p + 2, stop):
                    return None
                p = stop
                continue
            if c == "%" and pattern[p + 1 : p + 2].isdigit():
                first, last = self.captures[int(pattern[p + 1]) - 1]
                same = text[first:last]
                if not text.startswith(same, s):
                    return None
                s, p = s + len(same), p + 2
                continue
            stop = self._end(p)
            repeat = pattern[stop : stop + 1]
            matches = s < len(text) and self._one(text[s], p, stop)
            if repeat == "?":
                if matches:
                    end = self._match(s + 1, stop + 1)
                    if end is not None:
                        return end
                p = stop + 1
                continue
            if repeat in ("*", "+"):
                return self._longest(s, p, stop, 1 if repeat == "+" else 0)
            if repeat == "-":
                return self._shortest(s, p, stop)
            if not matches:
                return None
            s, p = s + 1, stop
        return s

    def _capture(self, s: int, p: int, kind: int) -> int | None:
        self.captures.append((s, kind))
        count = len(self.captures)
        end = self._match(s, p)
        if end is None:
            del self.captures[count - 1 :]
        return end

    def _close(self, s: int, p: int) -> int | None:
        number = max(i for i, (_, last) in enumerate(self.captures) if last == -1)
        start = self.captures[number][0]
        self.captures[number] = (start, s)
        end = self._match(s, p)
        if end is None:
            self.captures[number] = (start, -1)
        return end

    def _balanced(self, s: int, left: str, right: str) -> int | None:
        if self.text[s : s + 1] != left:
            return None
        depth = 0
        for i in range(s, len(self.text)):
            if self.text[i] == right:
                depth -= 1
                if depth == 0:
                    return i + 1
            elif self.text[i] == left:
                depth += 1
        return None

    def _longest(self, s: int, p: int, stop: int, least: int) -> int | None:
        count = 0
        while s + count < len(self.text) and self._one(self.text[s + count], p, stop):
            count += 1
        while count >= least:
            end = self._match(s + count, stop + 1)
            if end is not None:
                return end
            count -= 1
        return None

    def _shortest(self, s: int, p: int, stop: int) -> int | None:
        while True:
            end = self._match(s, stop + 1)
            if end is not None:
                return end
            if s < len(self.text) and self._one(self.text[s], p, stop):
                s += 1
            else:
                return None

    def _end(self, p: int) -> int:
        """Return where the single item at ``p`` ends."""
        if p >= len(self.pattern):
            raise ValueError("malformed pattern (missing '[' after '%f' in pattern)")
        c = self.pattern[p]
        if c == "%":
            if p + 1 >= len(self.pattern):
                raise ValueError("malformed pattern (ends with '%')")
            return p + 2
        if c == "[":
            p += 1
            if self.pattern[p : p + 1] == "^":
                p += 1
            first = True
            while first or self.pattern[p : p + 1] != "]":
                if p >= len(self.pattern):
                    raise ValueError("malformed pattern (missing ']')")
                p += 2 if self.pattern[p] == "%" else 1
                first = False
            return p + 1
        return p + 1

    def _one(self, c: str, p: int, stop: int) -> bool:
        """Return whether a character is of the item from ``p`` to ``stop``."""
        item = self.pattern[p]
        if item == ".":
            return True
        if item == "%":
            return _in_class(c, self.pattern[p + 1])
        if item == "[":
            return self._in_set(c, p + 1, stop - 1)
        return item == c

    def _in_set(self, c: str, p: int, last: int) -> bool:
        is_in = True
        if self.pattern[p] == "^":
            is_in = False
            p += 1
        while p < last:
            item = self.pattern[p]
            if item == "%":
                if _in_class(c, self.pattern[p + 1]):
                    return is_in
                p += 2
            elif p + 2 < last and self.pattern[p + 1] == "-":
                if item <= c <= self.pattern[p + 2]:
                    return is_in
                p += 3
            else:
                if item == c:
                    return is_in
                p += 1
        return not is_in


def _in_class(c: str, name: str) -> bool:
    members = _CLASSES.get(name.lower())
    if members is None:
        return c == name
    return (c in members) == name.islower()
