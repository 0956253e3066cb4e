"""Lua's arithmetic: quotients and roots give infinities and nan where Python raises."""

from __future__ import annotations

import math


def divide(a: float, b: float) -> float:
    """``a / b``."""
    if b == 0:
        if a == 0 or math.isnan(a):
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)
    return a / b


def sqrt(a: float) -> float:
    """Return the square root, nan for negative numbers."""
    return math.sqrt(a) if a >= 0 else math.nan
