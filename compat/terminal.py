"""Output on the terminal: names of files and classes cannot move its cursor or hide text.

A file is named by whoever made it, and so are the classes in it. On a terminal some characters are
commands, others turn the order of letters round. They are shown as Python would write them.
"""

from __future__ import annotations

import sys
from typing import TextIO


def printable(text: object) -> str:
    r"""``text`` in one line, with escapes such as ``\x1b`` for all that is no letter or space."""
    said = str(text)
    return said if said.isprintable() else "".join(map(_shown, said))


def printable_lines(text: object) -> str:
    """``text`` with its lines and tabs, each line as ``printable`` shows it."""
    said = str(text)
    if said.isprintable():
        return said
    return "".join(c if c in "\n\t" else _shown(c) for c in said)


def say(text: object, file: TextIO | None = None) -> None:
    """Print ``printable_lines`` of a text, by default to the standard output."""
    print(printable_lines(text), file=file)


def complain(text: object) -> None:
    """``say``, to the standard error output."""
    say(text, sys.stderr)


def _shown(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()
