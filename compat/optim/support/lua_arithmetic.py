"""Lua's arithmetic: quotients and roots are infinite or nan where Python raises an error."""

from __future__ import annotations

import math


def divide(a: float, b: float) -> float:
    """Return ``a / b``; an infinity or nan if ``b`` is 0."""
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def sqrt(a: float) -> float:
    """Return the square root, nan for negative numbers."""
    return math.sqrt(a) if a >= 0 else math.nan
