"""Comparing what a Lua script prints with what Lua Torch7 printed."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)(?![\w])")


def plain(text: str, script: str) -> str:
    """Without what may differ: folders, addresses, lines of Torch7's own files, stacks."""
    text = re.sub(r"(?<![\w.])/?(?:[\w.@+-]+/)+([\w.-]+\.(?:lua|c|cpp|h)\b)", r"\1", text)
    text = re.sub(r"\s+at [\w-]+\.(?:c|cpp|h):\d+", "", text)
    text = re.sub(r"0x[0-9a-fA-F]{4,}", "0xADDR", text)
    text = re.sub(r"program started on [^\]\n]*", "program started on DATE", text)
    text = re.sub(r"^luajit: ", "", text, flags=re.M)
    text = re.sub(
        r"\b([\w-]+)\.lua:(\d+):",
        lambda m: m.group(0) if m.group(1) == script else f"{m.group(1)}.lua:N:",
        text,
    )
    lines, in_stack = [], False
    for line in text.split("\n"):
        if "stack traceback:" in line:
            in_stack = True
            line = line[: line.index("stack traceback:")].rstrip()
            if not line:
                continue
        elif in_stack and (line.startswith("\t") or not line.strip()):
            continue
        else:
            in_stack = False
        lines.append(line.rstrip())
    return "\n".join(lines).rstrip()


def _unit(number: str) -> float:
    digits, _, exponent = number.lower().partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def _near(expected: str, got: str) -> bool:
    if "nan" in expected:
        return "nan" in got
    a, b = float(expected), float(got)
    if a == b:
        return True
    whole = not re.search(r"[.eE]", expected + got)
    return not whole and abs(a - b) <= 1.0001 * max(_unit(expected), _unit(got))


def same_line(expected: str, got: str) -> bool:
    """Equal up to blanks and one unit of the last digit of fractions."""
    shapes = [re.sub(r"\s+", " ", _NUMBER.sub("#", line)).strip() for line in (expected, got)]
    numbers = [_NUMBER.findall(line) for line in (expected, got)]
    return (
        shapes[0] == shapes[1]
        and len(numbers[0]) == len(numbers[1])
        and all(_near(a, b) for a, b in zip(*numbers, strict=True))
    )


def differences(expected: str, got: str, script: str) -> list[str]:
    """The lines that differ, as ``line 3: 'expected' / 'got'``."""
    ours, theirs = plain(got, script).split("\n"), plain(expected, script).split("\n")
    found = [
        f"line {i}: {a!r} / {b!r}"
        for i, (a, b) in enumerate(zip(theirs, ours, strict=False), 1)
        if not same_line(a, b)
    ]
    if len(ours) != len(theirs):
        found.append(f"{len(theirs)} lines / {len(ours)} lines")
    return found
