"""Python's ``math``, whose functions give what Lua's do where Python raises: nan and infinities."""

from __future__ import annotations

import functools
import math
from typing import Any

from compat.port.lua.numbers import divided


def _given(name: str, *args: float) -> float:
    try:
        found: float = getattr(math, name)(*args)
    except OverflowError:
        return math.inf
    except ValueError:
        return -math.inf if args[0] == 0 and name in ("log", "log10") else math.nan
    return found


acos, asin, cos, exp, log10, sin, sqrt, tan = (
    functools.partial(_given, name)
    for name in ("acos", "asin", "cos", "exp", "log10", "sin", "sqrt", "tan")
)


def fmod(x: float, y: float) -> float:
    """``math.fmod``, of ints an int."""
    found = _given("fmod", x, y)
    are_ints = isinstance(x, int) and isinstance(y, int)
    return int(found) if are_ints and math.isfinite(found) else found


def log(x: float, base: float | None = None) -> float:
    """``math.log``: a quotient of two logarithms, as Lua's."""
    return _given("log", x) if base is None else divided(_given("log", x), _given("log", base))


def floor(x: float) -> float:
    """``math.floor``, of infinities and nan, too."""
    return math.floor(x) if abs(x) < math.inf else x


def ceil(x: float) -> float:
    """``math.ceil``, of infinities and nan, too."""
    return math.ceil(x) if abs(x) < math.inf else x


def __getattr__(name: str) -> Any:
    return getattr(math, name)
