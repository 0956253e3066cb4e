"""Functions of numbers that a template cannot say."""

from __future__ import annotations

from collections.abc import Callable

from compat.port.library.packages import package
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.zeros import may_be_zero


def floor(node: s.Call, draft: Draft) -> Code | None:
    """``math.floor``: of a division of ints it is ``//``."""
    argument = node.arguments[0]
    kind = draft.types.type(argument)
    if kind.is_tensor:
        return code.call(f"{package('math', draft)}.floor", draft.value(argument))
    if kind.is_string:
        return code.call("math.floor", code.call("float", draft.value(argument)))
    inner = argument.inner if isinstance(argument, s.Paren) else argument
    if isinstance(inner, s.Binary) and inner.operator == "/":
        a, b = draft.value(inner.left), draft.value(inner.right)
        if (
            draft.types.type(inner.left).is_int
            and draft.types.type(inner.right).is_int
            and not may_be_zero(inner.right, draft)
        ):
            return code.binary(a, "//", b)
    return code.call("math.floor", draft.value(argument))


def extreme(function: str) -> Callable[[s.Call, Draft], Code]:
    """``math.max`` and ``math.min``: of one value, Python's take what they go through."""

    def rule(node: s.Call, draft: Draft) -> Code:
        made = draft.arguments(node)
        if len(made) == 1:
            return (
                made[0]
                if not made[0].text.startswith("*")
                else code.call(function, made[0].text[1:])
            )
        if len(made) == 2 and made[1].text.startswith("*"):
            return code.call(function, f"[{made[0]}, {made[1]}]")
        return code.call(function, *made)

    return rule


def pow_(node: s.Call, draft: Draft) -> Code | None:
    """``math.pow``."""
    return code.binary(draft.value(node.arguments[0]), "**", draft.value(node.arguments[1]))
