"""Torch7's functions of plain numbers: ``torch.cos(0.5)``, ``torch.pow(2, 0.5)``.

They compute as Torch7's C code does: the argument is rounded to the default tensor type, the C
library computes in double precision, and the result is rounded again. Where the C library gives an
infinity or no number, they do too, instead of raising as ``math`` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import torch

from compat.checks import check_number

Unary: TypeAlias = Callable[[float], float]


def _rounded(x: float) -> float:
    """Round to the default tensor type."""
    return torch.tensor(x, dtype=torch.float64).to(torch.get_default_dtype()).item()


def _number(x: object, argument: str, name: str) -> float:
    if isinstance(x, torch.Tensor):
        raise TypeError(
            f"{argument} is a tensor; a number is accepted: torch.{name} of PyTorch takes tensors"
        )
    check_number(x, argument)
    return _rounded(float(x))  # type: ignore[arg-type]


def _unary(name: str, function: Unary, at_poles: Unary = lambda x: math.nan) -> Unary:
    """Make the function ``torch.NAME`` of a number.

    Args:
        function: computes in double precision; it may raise ValueError outside its domain.
        at_poles: the C library's result where ``function`` raises ValueError.
    """

    def of_number(x: float) -> float:
        x = _number(x, "x", name)
        try:
            return _rounded(function(x))
        except ValueError:
            return at_poles(x)
        except OverflowError:  # sinh alone overflows to both sides
            return math.copysign(math.inf, x) if name == "sinh" else math.inf

    of_number.__name__ = of_number.__qualname__ = name
    of_number.__doc__ = f"Compute ``{name}`` of a number in the default tensor type."
    return of_number


def _whole(function: Callable[[float], int]) -> Unary:
    """Leave infinities and NaN as they are, and keep the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if math.isfinite(x) else x


def _half_away(x: float) -> int:
    whole = math.trunc(x)
    return whole + int(math.copysign(1, x)) if math.fabs(x - whole) >= 0.5 else whole


def _fraction(x: float) -> float:
    return math.nan if math.isinf(x) else x - math.trunc(x) if math.isfinite(x) else x


def _inverse_root(x: float) -> float:
    return 1 / math.sqrt(x) if x else math.inf


def _sigmoid(x: float) -> float:
    # Python's exp raises where C's is infinite.
    return 0.0 if x < -709 else 1 / (1 + math.exp(-x))


abs = _unary("abs", math.fabs)
acos = _unary("acos", math.acos)
asin = _unary("asin", math.asin)
atan = _unary("atan", math.atan)
ceil = _unary("ceil", _whole(math.ceil))
cos = _unary("cos", math.cos)
cosh = _unary("cosh", math.cosh)
exp = _unary("exp", math.exp)
floor = _unary("floor", _whole(math.floor))
frac = _unary("frac", _fraction)
log = _unary("log", math.log, lambda x: math.nan if x else -math.inf)
log1p = _unary("log1p", math.log1p, lambda x: math.nan if x != -1 else -math.inf)
round = _unary("round", _whole(_half_away))
rsqrt = _unary("rsqrt", _inverse_root)
sigmoid = _unary("sigmoid", _sigmoid)
sin = _unary("sin", math.sin)
sinh = _unary("sinh", math.sinh)
sqrt = _unary("sqrt", math.sqrt)
tan = _unary("tan", math.tan)
tanh = _unary("tanh", math.tanh)
trunc = _unary("trunc", _whole(math.trunc))


def atan2(y: float, x: float) -> float:
    """Compute the angle of the point (x, y) in the default tensor type, in radians."""
    return _rounded(math.atan2(_number(y, "y", "atan2"), _number(x, "x", "atan2")))


def pow(x: float, y: float) -> float:
    """Compute ``x`` to the power of ``y`` in the default tensor type."""
    x, y = _number(x, "x", "pow"), _number(y, "y", "pow")
    is_odd = y % 2 == 1
    try:
        return _rounded(math.pow(x, y))
    except OverflowError:
        return -math.inf if x < 0 and is_odd else math.inf
    except ValueError:  # a negative number to a fraction, or 0 to a negative number
        return math.nan if x else math.copysign(math.inf, x) if is_odd else math.inf
