"""Functions of numbers that a template cannot say."""

from __future__ import annotations

from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft


def floor(node: s.Call, draft: Draft) -> Code | None:
    """``math.floor``: of a division of ints it is ``//``."""
    argument = node.arguments[0]
    kind = draft.types.type(argument)
    if kind.is_tensor:
        return code.call('lua.package("math").floor', draft.value(argument))
    inner = argument.inner if isinstance(argument, s.Paren) else argument
    if isinstance(inner, s.Binary) and inner.operator == "/":
        a, b = draft.value(inner.left), draft.value(inner.right)
        zero = isinstance(inner.right, s.Constant) and inner.right.value == 0
        if (
            draft.types.type(inner.left).is_int
            and draft.types.type(inner.right).is_int
            and not zero
        ):
            return code.binary(a, "//", b)
    return code.call("math.floor", draft.value(argument))


def pow_(node: s.Call, draft: Draft) -> Code | None:
    """``math.pow``."""
    return code.binary(draft.value(node.arguments[0]), "**", draft.value(node.arguments[1]))
