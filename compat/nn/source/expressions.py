"""Writes calls of torch functions as idiomatic Python expressions."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch.nn import functional

from compat.nn.source.layers import simple
from compat.nn.source.program import Hole, Value, Weight

ATOM, UNARY, PRODUCT, SUM, COMPARISON = 9, 7, 6, 5, 3


class Text(NamedTuple):
    """The text of an expression and the precedence of its outermost operator."""

    text: str
    level: int = ATOM
    # Of a sequence that is stacked: the list of its steps.
    steps: str = ""

    def within(self, level: int) -> str:
        """Return the expression as an operand at this precedence level, in brackets if needed."""
        return self.text if self.level >= level else f"({self.text})"


_BINARY = {
    **{"add": ("+", SUM), "__radd__": ("+", SUM), "sub": ("-", SUM), "__rsub__": ("-", SUM)},
    **{"mul": ("*", PRODUCT), "__rmul__": ("*", PRODUCT), "div": ("/", PRODUCT)},
    **{"__rtruediv__": ("/", PRODUCT), "true_divide": ("/", PRODUCT), "floordiv": ("//", PRODUCT)},
    **{"matmul": ("@", PRODUCT), "__matmul__": ("@", PRODUCT), "__eq__": ("==", COMPARISON)},
    **{"__ne__": ("!=", COMPARISON), "eq": ("==", COMPARISON), "ne": ("!=", COMPARISON)},
    **{"gt": (">", COMPARISON), "lt": ("<", COMPARISON), "ge": (">=", COMPARISON)},
    **{"le": ("<=", COMPARISON), "__or__": ("|", 4), "__and__": ("&", 4)},
}
_UNARY = {"neg": "-", "__invert__": "~", "__neg__": "-"}
Write = Callable[[Any], Text]


def call(function: str, arguments: tuple[Any, ...], keywords: dict[str, Any], write: Write) -> Text:
    """Return the expression for a call of a torch function.

    Args:
        function: its full name.
        arguments, keywords: the arguments of the call.
        write: writes values, weights and arguments of the class.
    """
    module, _, name = function.rpartition(".")
    if module in ("torch.Tensor", "operator"):
        if not keywords and len(arguments) == 2 and name in _BINARY:
            return _binary(name, arguments, write)
        if len(arguments) == 1 and name in _UNARY:
            return Text(_UNARY[name] + constant(arguments[0], write).within(UNARY), UNARY)
        listed = arguments and constant(arguments[0], write).steps
        if name == "unbind" and listed and len(arguments) == 1:
            return Text(listed)
        if name == "__getitem__" and listed and isinstance(arguments[1], int):
            return Text(f"{listed}[{arguments[1]}]")
        if name == "__getitem__":
            index = _index(arguments[1], write)
            return Text(f"{constant(arguments[0], write).within(ATOM)}[{index}]")
        if name == "pow" or name == "__pow__":
            base, exponent = (constant(a, write).within(8) for a in arguments)
            space = "" if _is_simple(base) and _is_simple(exponent) else " "
            return Text(f"{base}{space}**{space}{exponent}", 8)
        owner = constant(arguments[0], write).within(ATOM)
        return Text(f"{owner}.{name}({_listed(_spread(name, arguments[1:]), keywords, write)})")
    if "functional" in module or module.endswith("_nn"):  # where PyTorch has some of these
        module = "functional"
        usual = _defaults(name)
        keywords = {key: v for key, v in keywords.items() if not _is_usual(v, usual.get(key, ...))}
    return Text(f"{module}.{name}({_listed(arguments, keywords, write)})")


@functools.cache
def _defaults(name: str) -> dict[str, Any]:
    """Return the default arguments of a function of ``torch.nn.functional``."""
    try:
        parameters = inspect.signature(getattr(functional, name)).parameters
    except (AttributeError, ValueError):  # those of C have no signature
        return {}
    return {key: parameter.default for key, parameter in parameters.items()}


def _is_usual(value: Any, usual: Any) -> bool:
    return type(value) is type(usual) and value == usual


def _binary(name: str, arguments: tuple[Any, ...], write: Write) -> Text:
    sign, level = _BINARY[name]
    one, other = arguments
    if name in ("__rsub__", "__rtruediv__"):
        one, other = other, one
    if name == "add" and isinstance(other, (int, float)) and other < 0:
        sign, other = "-", -other
    left, right = constant(one, write), constant(other, write)
    above = level + (sign in "-/@//")
    if isinstance(one, (int, float)) and sign == "+" and name == "__radd__":
        left, right = right, left
    if sign == "*" and isinstance(other, (int, float)):
        left, right = right, left
    return Text(f"{left.within(level)} {sign} {right.within(above)}", level)


def _is_simple(text: str) -> bool:
    """Return whether an operand of ``**`` is a name or a number and needs no spaces."""
    return re.fullmatch(r"-?[\w.]+", text) is not None


_SPREAD = {"reshape", "view", "expand", "permute", "repeat", "new_zeros"}


def _spread(name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Spread a tuple of sizes into separate arguments."""
    if name in _SPREAD and len(arguments) == 1 and type(arguments[0]) in (list, tuple):
        return tuple(arguments[0]) or arguments
    return arguments


def _listed(arguments: tuple[Any, ...], keywords: dict[str, Any], write: Write) -> str:
    parts = [constant(argument, write).text for argument in arguments]
    parts += [f"{name}={constant(value, write).text}" for name, value in keywords.items()]
    return ", ".join(parts)


def _index(index: Any, write: Write) -> str:
    if type(index) is tuple:
        return ", ".join(_index(part, write) for part in index)
    if isinstance(index, slice):
        ends = [
            "" if part is None else constant(part, write).text for part in (index.start, index.stop)
        ]
        step = "" if index.step is None else f":{constant(index.step, write).text}"
        return ":".join(ends) + step
    return "..." if index is Ellipsis else constant(index, write).text


def constant(value: Any, write: Write) -> Text:
    """Return any value as an expression."""
    if isinstance(value, (Value, Weight, Hole)):
        return write(value)
    if isinstance(value, torch.device):
        return write(value)
    if isinstance(value, torch.dtype):
        return Text(str(value))
    if isinstance(value, torch.Tensor):
        return Text(f"torch.empty({', '.join(map(str, value.shape))})")
    if type(value) in (tuple, list):
        parts = [constant(part, write).text for part in value]
        if len(parts) == 1 and type(value) is tuple:
            parts.append("")
            return Text(f"({parts[0]},)")
        opening, closing = "()" if type(value) is tuple else "[]"
        return Text(opening + ", ".join(parts) + closing)
    if isinstance(value, (bool, str)) or value is None:
        return Text(repr(value).replace("'", '"'))
    if isinstance(value, float):
        value = simple(value)
        if value in (float("inf"), float("-inf")) or value != value:
            return Text(f'float("{value}")')
    return Text(repr(value), UNARY if isinstance(value, (int, float)) and value < 0 else ATOM)
