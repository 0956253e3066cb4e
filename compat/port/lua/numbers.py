"""Arithmetic on what may be a number, a string, a tensor or a table."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch

from compat.port.lua.runtime import call_operator
from compat.port.lua.tables import metamethod
from compat.port.lua.text import Error
from compat.port.lua.values import first

_range = range


def range(first: float, last: float, step: float = 1) -> Iterator[Any]:
    """Yield the numbers of ``for i = first, last, step``."""
    first, last, step = (tonumber(n) if isinstance(n, str) else n for n in (first, last, step))
    for name, value in (("initial value", first), ("limit", last), ("step", step)):
        if not isinstance(value, (int, float)):
            raise Error(f"'for' {name} must be a number", True)
    if isinstance(first, int) and isinstance(step, int) and math.isfinite(last):
        yield from _range(
            first, (math.floor(last) + 1) if step > 0 else (math.ceil(last) - 1), step
        )
        return
    at = first
    while at <= last if step > 0 else at >= last:
        yield int(at) if isinstance(at, float) and at.is_integer() else at
        at += step


def divided(a: Any, b: Any) -> Any:
    """``a / b`` of numbers, by zero too."""
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1, b)


def modulo(a: Any, b: Any) -> Any:
    """``a % b`` of numbers, of zero too; rounded as Lua's ``a - floor(a / b) * b``."""
    if b == 0:
        return math.nan
    return a % b if b % 1 == 0 else a - a / b // 1 * b


def power(a: Any, b: Any) -> Any:
    """``a ^ b`` of numbers, of negative ones, too."""
    try:
        found = a**b
        if isinstance(found, int):
            float(found)  # is there a number as large?
    except (OverflowError, ZeroDivisionError):
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    return math.nan if isinstance(found, complex) else found


_EVENTS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%", "pow": "^"}


def _arithmetic(name: str, a: Any, b: Any) -> Any:
    for operand in (a, b):
        handler = metamethod(operand, f"__{name}")
        if handler is not None:
            return first(handler(a, b))
    if isinstance(a, torch.Tensor) or isinstance(b, torch.Tensor):
        return call_operator(_EVENTS[name], a, b)
    if isinstance(a, str):
        a = _number(a)
    if isinstance(b, str):
        b = _number(b)
    return _OPERATORS[name](a, b)


def _number(text: str) -> Any:
    found = tonumber(text)
    if found is None:
        raise TypeError("attempt to perform arithmetic on a string value")
    return found


_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": divided, "mod": modulo,
    "pow": power,
}  # fmt: skip


add, sub_, mul, div, mod, pow = (functools.partial(_arithmetic, n) for n in _EVENTS)


def tonumber(value: Any, base: int | None = None, *_: Any) -> Any:
    """``tonumber``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if base not in (None, 10):
        try:
            return None if "_" in str(value) else int(str(value), int(base))
        except ValueError:
            return None
    if isinstance(value, (int, float)):
        return value
    text = value.strip()
    if re.fullmatch(r"[-+]?[0-9]+", text):
        return int(text) or (-0.0 if text[0] == "-" else 0)
    if re.fullmatch(r"[-+]?0([xX][0-9a-fA-F]+|[bB][01]+)", text):
        return int(text, 0)
    if re.fullmatch(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", text):
        return float(text)
    hexadecimal = r"[-+]?0[xX](?=\.?[0-9a-fA-F])[0-9a-fA-F]*\.?[0-9a-fA-F]*([pP][-+]?[0-9]+)?"
    if re.fullmatch(hexadecimal, text):
        return float.fromhex(text)
    return float(text) if re.fullmatch(r"[-+]?(inf|infinity|nan)", text.lower()) else None


def modf(x: float) -> tuple[float, float]:
    """``math.modf``."""
    fraction, whole = math.modf(x)
    is_int = math.isfinite(whole) and str(whole) != "-0.0"
    return int(whole) if is_int else whole, fraction
