"""Penlight's ``lapp``: options as their help says them."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Any

from compat.cmdline import Options

_OPTION = re.compile(r"\s*(?:-(\w)\s*,?\s*)?--([\w-]+)|\s*-(\w)\b")
_ARGUMENT = re.compile(r"\s*<([\w-]+)>")


class Option:
    """An option: its names, its type and what it is when it is not given."""

    def __init__(self, name: str, short: str | None, default: Any, kind: str) -> None:
        self.name, self.short, self.default, self.kind = name, short, default, kind


def declared(text: str) -> tuple[list[Option], list[Option]]:
    """Return the options and the arguments of a help text."""
    options, arguments = [], []
    for line in text.splitlines():
        match = _OPTION.match(line)
        if match:
            name, short = match[2] or match[3], match[1] or match[3]
            options.append(_read(name, short, line[match.end() :]))
        elif found := _ARGUMENT.match(line):
            arguments.append(_read(found[1], None, line[found.end() :]))
    return options, arguments


def _read(name: str, short: str | None, rest: str) -> Option:
    name = name.replace("-", "_")
    match = re.match(r"\s*\(([^)]*)\)", rest)
    said = match[1].strip() if match else ""
    found = re.match(r"(?:(\w+)\s+)?default\s+(.*)", said)
    kind = said if not found else found[1] or ""
    if not found:
        return Option(name, short, None if kind else False, kind or "boolean")
    value = found[2].strip()
    if value[:1] in "\"'":
        return Option(name, short, value[1:-1], kind or "string")
    if value in ("true", "false") and kind in ("", "boolean"):
        return Option(name, short, value == "true", "boolean")
    try:
        number: Any = float(value)
    except ValueError:
        return Option(name, short, value, kind or "string")
    return Option(name, short, int(number) if number.is_integer() else number, "number")


def lapp(text: str, words: Sequence[str] | None = None) -> Options:
    """Return the options that the command line gives, under their long names.

    Args:
        text: the help, which declares them.
        words: the command line; ``sys.argv[1:]`` if not given.
    """
    options, arguments = declared(text)
    left = list(sys.argv[1:] if words is None else words)
    found = Options((o.name, o.default) for o in options)
    named = {f"{dashes}{o.name}": o for o in options for dashes in ("-", "--")}
    named |= {f"-{o.short}": o for o in options if o.short}
    waiting = iter(arguments)
    while left:
        word = left.pop(0)
        name, equals, given = word.partition("=")
        option = named.get(name.replace("_", "-")) or named.get(name)
        if option is None and word[:2] in named:  # -abc is -a -b -c, -n5 is -n 5
            option, name = named[word[:2]], word[:2]
            is_flag = option.kind == "boolean"
            left.insert(0, f"-{word[2:]}" if is_flag else word[2:].removeprefix("="))
            equals = ""
        if option is None and word.startswith("-") and len(word) > 1:
            sys.exit(f"unknown option {word}\n\n{text}")
        option = option or next(waiting, None)
        if option is None:
            sys.exit(f"too many arguments: {word}\n\n{text}")
        if option.kind == "boolean":
            found[option.name] = given == "true" if equals else not option.default
            continue
        value = given if equals else left.pop(0) if name.startswith("-") and left else word
        found[option.name] = _converted(option, value)
    return found


def _converted(option: Option, value: str) -> Any:
    if option.kind not in ("number", "integer"):
        return value
    try:
        number = float(value)
    except ValueError:
        sys.exit(f"{option.name}: unable to convert to number: {value}")
    return int(number) if number.is_integer() else number
