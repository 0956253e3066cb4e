"""Breaks lines of Python as ``ruff format`` does."""

from __future__ import annotations

import re
from collections.abc import Iterable

from compat.terminal import printable

WIDTH = 88
_CLOSING = {"(": ")", "[": "]", "{": "}"}


def docstring(doc: list[str], indent: int = 0) -> list[str]:
    """Return the lines of a docstring, with quotes and backslashes in the text escaped."""
    space = " " * indent
    first, *rest = [_quoted(line) for line in doc] or [""]
    if not doc:
        return []
    if not rest:
        return [f'{space}"""{first}"""']
    return [f'{space}"""{first}', *(space + line if line else "" for line in rest), f'{space}"""']


def _quoted(line: str) -> str:
    line = printable(line.replace("\\", "\\\\"))
    return line.replace('"', '\\"') if '""' in line or line.endswith('"') else line


def lines(text: str, indent: int = 0) -> list[str]:
    """Return a statement at an indentation, in one line if it fits."""
    space = " " * indent
    if len(space + text) <= WIDTH:
        return [space + text]
    found = _brackets(text.partition(" -> ")[0] if text.startswith("def ") else text)
    if found is None:
        return [space + text]
    first, last = found
    head, body, tail = text[: first + 1], text[first + 1 : last], text[last:]
    inner = indent + 4
    parts = _split(body)
    joined = ", ".join(parts)
    if len(joined) + inner <= WIDTH and not head.startswith("def "):
        middle = [" " * inner + joined]
        if len(parts) == 1 and body.rstrip().endswith(","):
            middle[0] += ","
    elif len(joined) + inner <= WIDTH:
        middle = [" " * inner + joined]
    elif len(parts) == 1 and not body.rstrip().endswith(","):
        middle = lines(parts[0], inner)
    else:
        middle = []
        for part in parts:
            broken = lines(part, inner) if len(part) + inner + 1 > WIDTH else [" " * inner + part]
            broken[-1] += ","
            middle += broken
    return [space + head, *middle, space + tail]


def _brackets(text: str) -> tuple[int, int] | None:
    """Return the places of a line's last non-empty brackets."""
    best, stack = None, []
    for place, letter in enumerate(text):
        if letter in _CLOSING:
            stack.append(place)
        elif letter in _CLOSING.values():
            first = stack.pop()
            if not stack and place > first + 1:
                best = (first, place)
    return best


def _split(text: str) -> list[str]:
    """Split a text at the commas outside brackets."""
    parts, depth, begin = [], 0, 0
    for place, letter in enumerate(text):
        if letter in _CLOSING:
            depth += 1
        elif letter in _CLOSING.values():
            depth -= 1
        elif letter == "," and not depth:
            parts.append(text[begin:place].strip())
            begin = place + 1
    rest = text[begin:].strip()
    return [*parts, rest] if rest else parts


def snake(name: str) -> str:
    """Return a class's name as the name of a variable."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


class Names:
    """The names of one namespace; each is given once."""

    def __init__(self, *taken: str) -> None:
        self._taken = set(taken)

    def new(self, wished: str) -> str:
        """Return the wished name, with the next free number appended if it is taken."""
        name, count = wished, 1
        while name in self._taken:
            count += 1
            name = f"{wished}{count}"
        self._taken.add(name)
        return name

    def free(self, names: Iterable[str]) -> None:
        """Make names available again."""
        self._taken.difference_update(names)

    @property
    def taken(self) -> set[str]:
        """The names given so far."""
        return set(self._taken)
