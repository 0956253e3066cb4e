"""The place of an object within what is read or written, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_SHOWN = 12
_LONGEST = 40


def describe(labels: Sequence[Any]) -> str:
    """``model.modules[3].weight`` of the labels ``model``, ``modules``, 3, ``weight``.

    Of a very long path both ends are shown, of a very long label the start.
    """
    left_out = len(labels) - 2 * _SHOWN
    if left_out <= 0:
        return joined([part(label) for label in labels])
    ends = [*map(part, labels[:_SHOWN])], [*map(part, labels[-_SHOWN:])]
    return _with_gap(*ends, left_out)


def joined(parts: Sequence[str]) -> str:
    """``describe`` of labels of which each is a ``part`` already."""
    left_out = len(parts) - 2 * _SHOWN
    if left_out <= 0:
        return "".join(parts).removeprefix(".")
    return _with_gap(parts[:_SHOWN], parts[-_SHOWN:], left_out)


def _with_gap(first: Sequence[str], last: Sequence[str], left_out: int) -> str:
    return "".join([*first, f" …{left_out} more… ", *last]).removeprefix(".")


def part(label: Any) -> str:
    """Return what a label adds to the path."""
    if isinstance(label, str):
        if (len(label) <= _LONGEST and label.isidentifier()) or label == "<key>":
            return f".{label}"
        return f"[{label[:_LONGEST]!r}]"
    if isinstance(label, (bool, int, float)):
        return f"[{label}]"
    if isinstance(label, bytes):
        return f"[{label[:_LONGEST]!r}]"
    return f"[<{type(label).__name__}>]"
