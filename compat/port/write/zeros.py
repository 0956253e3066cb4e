"""Divisors that may be zero: Lua gives inf or nan then, and Python an error."""

from __future__ import annotations

from compat.port.read import syntax as s
from compat.port.write.draft import Draft


def may_be_zero(node: s.Node, draft: Draft) -> bool:
    """Return whether the program says that a number is zero at times.

    It does of ``#t``, a quotient that is rounded down, and of what it sets to 0 somewhere; so does
    a run that saw 0 there.
    """
    if (draft.file.path, -node.start, -node.end) in draft.types.facts:
        return True
    if isinstance(node, s.Unary):
        return draft.types.type(node).zero or may_be_zero(node.operand, draft)
    if isinstance(node, s.Binary) and node.operator == "*":
        return may_be_zero(node.left, draft) or may_be_zero(node.right, draft)
    return draft.types.type(node).zero or _is_rounded_quotient(node)


def _is_rounded_quotient(node: s.Node) -> bool:
    if not isinstance(node, s.Call) or s.describe(node.function) != "math.floor":
        return False
    given = node.arguments[0] if len(node.arguments) == 1 else None
    return isinstance(given, s.Binary) and given.operator == "/"
