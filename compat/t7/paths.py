"""The place of an object within what is read or written, as text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_SHOWN = 12


def describe(labels: Iterable[Any]) -> str:
    """``model.modules[3].weight`` of the labels ``model``, ``modules``, 3, ``weight``.

    ``None`` stands for a step that is not part of the path.  Of a very long path both ends are
    shown.
    """
    parts = [_part(label) for label in labels if label is not None]
    if len(parts) > 2 * _SHOWN:
        left_out = len(parts) - 2 * _SHOWN
        parts[_SHOWN:-_SHOWN] = [f" …{left_out} more… "]
    return "".join(parts).removeprefix(".")


def _part(label: Any) -> str:
    if isinstance(label, str):
        if label.isidentifier() or label == "<key>":
            return f".{label}"
        return f"[{label[:40]!r}]"
    if isinstance(label, (bool, int, float)):
        return f"[{label}]"
    if isinstance(label, bytes):
        return f"[{label[:40]!r}]"
    return f"[<{type(label).__name__}>]"
