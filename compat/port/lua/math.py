"""Python's ``math``, whose functions give what Lua's do where Python raises: nan and infinities."""

from __future__ import annotations

import functools
from collections.abc import Callable
from math import *  # noqa: F403
from math import acos as _acos
from math import asin as _asin
from math import ceil as _ceil
from math import exp as _exp
from math import floor as _floor
from math import fmod as _fmod
from math import inf, nan
from math import log as _log
from math import log10 as _log10
from math import sqrt as _sqrt


def _given(function: Callable[..., float], *args: float) -> float:
    try:
        return function(*args)
    except OverflowError:
        return inf
    except ValueError:
        return -inf if args[0] == 0 and function in (_log, _log10) else nan


acos, asin, exp, fmod, log, log10, sqrt = (
    functools.partial(_given, f) for f in (_acos, _asin, _exp, _fmod, _log, _log10, _sqrt)
)


def _whole(function: Callable[[float], int], x: float) -> float:
    return function(x) if abs(x) < inf else x


ceil, floor = (functools.partial(_whole, f) for f in (_ceil, _floor))  # type: ignore[assignment]
