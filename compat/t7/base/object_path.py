"""Format the place of an object inside a file as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SHOWN = 12
_LONGEST = 40


def describe(labels: Sequence[Any]) -> str:
    """Return ``model.modules[3].weight`` for the labels ``model``, ``modules``, 3, ``weight``.

    A very long path is cut in the middle, a very long label at its end.
    """
    left_out = len(labels) - 2 * _SHOWN
    if left_out <= 0:
        return joined([part(label) for label in labels])
    ends = [*map(part, labels[:_SHOWN])], [*map(part, labels[-_SHOWN:])]
    return _with_gap(*ends, left_out)


def joined(parts: Sequence[str]) -> str:
    """Do the same for labels that are already formatted by ``part``."""
    left_out = len(parts) - 2 * _SHOWN
    if left_out <= 0:
        return "".join(parts).removeprefix(".")
    return _with_gap(parts[:_SHOWN], parts[-_SHOWN:], left_out)


def _with_gap(first: Sequence[str], last: Sequence[str], left_out: int) -> str:
    return "".join([*first, f" …{left_out} more… ", *last]).removeprefix(".")


def part(label: Any) -> str:
    """Return the text that a label adds to a path."""
    if isinstance(label, str):
        if (len(label) <= _LONGEST and label.isidentifier()) or label == "<key>":
            return f".{label}"
        return f"[{label[:_LONGEST]!r}]"
    if isinstance(label, (bool, int, float)):
        return f"[{label}]"
    if isinstance(label, bytes):
        return f"[{label[:_LONGEST]!r}]"
    return f"[<{type(label).__name__}>]"
