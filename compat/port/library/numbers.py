"""Functions of numbers that a template cannot say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code

if TYPE_CHECKING:
    from compat.port.write.values import Values


def floor(node: s.Call, ex: Values) -> Code | None:
    """``math.floor``: of a division of ints it is ``//``."""
    argument = node.arguments[0]
    kind = ex.types.type(argument)
    if kind.is_tensor:
        return code.call('lua.package("math").floor', ex.value(argument))
    inner = argument.inner if isinstance(argument, s.Paren) else argument
    if isinstance(inner, s.Binary) and inner.operator == "/":
        a, b = ex.value(inner.left), ex.value(inner.right)
        zero = isinstance(inner.right, s.Constant) and inner.right.value == 0
        if ex.types.type(inner.left).is_int and ex.types.type(inner.right).is_int and not zero:
            return code.binary(a, "//", b)
    return code.call("math.floor", ex.value(argument))


def pow_(node: s.Call, ex: Values) -> Code | None:
    """``math.pow``."""
    return code.binary(ex.value(node.arguments[0]), "**", ex.value(node.arguments[1]))
