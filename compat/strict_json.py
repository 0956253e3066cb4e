"""JSON that every program reads: numbers that JSON does not have are strings."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(value: Any, indent: int | None = None) -> str:
    """``json.dumps`` with ``"nan"``, ``"inf"`` and ``"-inf"`` for such numbers.

    What JSON has no form for, as bytes, is its ``repr``.
    """
    return json.dumps(_finite(value), indent=indent, default=repr, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, (list, tuple)) else value
