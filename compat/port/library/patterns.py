"""Lua's patterns as regular expressions of Python, where both find the same in every text."""

from __future__ import annotations

import re
from typing import NamedTuple

# What Lua's classes hold in the C locale, for a set; (?a) keeps \s to ASCII.
_CLASSES = {
    "a": "A-Za-z",
    "c": r"\x00-\x1f\x7f",
    "d": "0-9",
    "l": "a-z",
    "p": r"!-/:-@\[-`{-~",
    "s": r"\s",
    "u": "A-Z",
    "w": "A-Za-z0-9",
    "x": "A-Fa-f0-9",
}
_PIECE = re.compile(
    r"""(?P<bracket>\((?!\))|\))
    | (?P<set>\[\^?(?:%.|[^%])(?:%.|[^\]%])*\])(?P<many>[*+?-]?)
    | (?P<one>%[^bf1-9]|[^%\[()])(?P<times>[*+?-]?)""",
    re.VERBOSE | re.DOTALL,
)


class Regex(NamedTuple):
    """A regular expression.

    Attributes:
        flags: what stands before it.
        body: it.
        groups: its number of groups.
        nullable: it may find empty texts; Lua and Python then go on differently.
    """

    flags: str
    body: str
    groups: int
    nullable: bool

    @property
    def text(self) -> str:
        """All of it."""
        return self.flags + self.body

    @property
    def literal(self) -> str:
        """All of it as Python's source."""
        return _raw(self.text)

    @property
    def bare(self) -> str:
        """As Python's source, without a group around all, which is what is found without it."""
        is_all = self.groups == 1 and self.body[0] == "(" and self.body[-1] == ")"
        return _raw(self.flags + self.body[1:-1]) if is_all else self.literal

    def replacement(self, new: str) -> str | None:
        """Return a text that Lua puts in place of what is found, as Python's source; None if Python
        cannot.
        """
        if not re.fullmatch(r"(?:[^%\\]|%%|%[0-9](?![0-9]))*", new) or not new.isprintable():
            return None
        if any(int(n) > max(self.groups, 1) for n in re.findall("%([0-9])", new.replace("%%", ""))):
            return None

        def part(found: re.Match[str]) -> str:
            whole = found[1] == "0" or not self.groups
            return "%" if found[1] == "%" else r"\g<0>" if whole else rf"\{found[1]}"

        made = re.sub("%(.)", part, new)
        return _raw(made)


def _raw(text: str) -> str:
    quote = "'" if '"' in text else '"'
    return "r" * ("\\" in text) + quote + text + quote


def plain(pattern: str) -> str | None:
    """Return the text that a pattern stands for, if it is nothing but text."""
    is_text = re.fullmatch(r"(?:%[^a-zA-Z0-9]|[^$^*+?.()\[\]%-])*", pattern)
    return re.sub("%(.)", r"\1", pattern, flags=re.S) if is_text else None


def regex(pattern: str) -> Regex | None:
    """Return the expression that finds what a pattern finds; None: Python has none.

    Lua counts bytes, Python letters. What matches any byte matches whole letters only as a run
    that ends where ASCII or nothing follows.
    """
    if not pattern.isascii() or ("'" in pattern and '"' in pattern) or "\0" in pattern:
        return None
    body = pattern.removeprefix("^")
    made, at = "^" if body != pattern else "", 0
    nullable, open_run, is_any = True, False, False
    while at < len(body):
        if body[at:] == "$":
            made, at = rf"{made}\Z", at + 1
            break
        piece = _PIECE.match(body, at)
        if piece is None:
            return None
        at = piece.end()
        if piece["bracket"]:
            made += piece["bracket"]
            continue
        part = _set(piece["set"]) if piece["set"] else _one(piece["one"])
        if part is None:
            return None
        text, takes_all = part
        is_any = is_any or text == "."
        times = piece["many"] if piece["set"] else piece["times"]
        if takes_all and (open_run or times not in ("*", "+", "-")):
            return None
        is_needed = times in ("", "+")
        open_run = takes_all or (open_run and not is_needed)
        nullable = nullable and not is_needed
        made += text + ("*?" if times == "-" else times)
    try:
        groups = re.compile(made).groups
    except re.error:
        return None
    flags = "a" * (r"\s" in made.lower()) + "s" * is_any
    return Regex(f"(?{flags})" * bool(flags), made, groups, nullable)


def _one(text: str) -> tuple[str, bool] | None:
    """Return a class or a letter, and whether it matches each byte that is no ASCII."""
    if text == ".":
        return ".", True
    if len(text) == 1 or not text[1].isalnum():
        return _escaped(text[-1]), False
    inner = _CLASSES.get(text[1].lower())
    if inner is None:
        return None
    if text[1].isupper():
        return (r"\S" if inner == r"\s" else f"[^{inner}]"), True
    return (inner if inner == r"\s" else f"[{inner}]"), False


def _set(text: str) -> tuple[str, bool] | None:
    """Return a set, and whether it matches each byte that is no ASCII."""
    is_not = text.startswith("[^")
    inner = ""
    for part in re.findall(r"%.|[^%]-.|.", text[1 + is_not : -1], re.DOTALL):
        if part[0] == "%" and part[1:].isalnum():
            if part[1] not in _CLASSES:  # a number, or what a class leaves out
                return None
            inner += _CLASSES[part[1]]
        elif len(part) == 3:
            if part[2] == "%" or part[0] > part[2]:
                return None
            inner += f"{_in_set(part[0])}-{_in_set(part[2])}"
        else:
            inner += _in_set(part[-1])
    if is_not:
        return (r"\S" if inner == r"\s" else f"[^{inner}]"), True
    return f"[{inner}]", False


def _escaped(letter: str) -> str:
    return _special(f"\\{letter}") if letter in r"\.^$*+?{}[]()|" else _special(letter)


def _in_set(letter: str) -> str:
    return f"\\{letter}" if letter in r"\]^-[&~|" else _special(letter)


def _special(text: str) -> str:
    """Return text with the letters that do not show as escapes."""
    return text if text.isprintable() else repr(text[-1])[1:-1]
