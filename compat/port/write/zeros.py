"""Divisors that may be zero: Lua gives inf or nan then, and Python an error."""

from __future__ import annotations

import functools

from compat.port.know.scopes import Variable
from compat.port.read import syntax as s
from compat.port.write.draft import Draft


def may_be_zero(node: s.Node, draft: Draft) -> bool:
    """Return whether the program says that a number is zero at times.

    It does of 0 itself, of ``#t``, of a quotient that is rounded down, and of a variable or field
    that it sets to 0 somewhere.
    """
    if isinstance(node, s.Paren):
        return may_be_zero(node.inner, draft)
    if isinstance(node, s.Unary):
        return node.operator == "#" or may_be_zero(node.operand, draft)
    if isinstance(node, s.Name):
        return node.variable in _zeros(draft.file.block)[0]
    if isinstance(node, s.Index):
        return "…" not in s.describe(node) and s.describe(node) in _zeros(draft.file.block)[1]
    if isinstance(node, s.Binary) and node.operator == "*":
        return may_be_zero(node.left, draft) or may_be_zero(node.right, draft)
    return _is_zero(node) or _is_rounded_quotient(node)


def _is_rounded_quotient(node: s.Node) -> bool:
    if not isinstance(node, s.Call) or s.describe(node.function) != "math.floor":
        return False
    given = node.arguments[0] if len(node.arguments) == 1 else None
    return isinstance(given, s.Binary) and given.operator == "/"


def _is_zero(node: s.Node) -> bool:
    return isinstance(node, s.Constant) and type(node.value) in (int, float) and node.value == 0


@functools.lru_cache(maxsize=1)
def _zeros(block: s.Block) -> tuple[set[Variable], set[str]]:
    """Return the variables and fields of a file that are set to 0 at one place."""
    variables: set[Variable] = set()
    fields: set[str] = set()
    for node in s.walk(block):
        if isinstance(node, (s.Local, s.Assign)):
            targets = node.names if isinstance(node, s.Local) else node.targets
            for target, value in zip(targets, node.values, strict=False):
                if isinstance(target, s.Name) and _is_zero(value):
                    variables.add(target.variable)
                elif _is_zero(value):
                    fields.add(s.describe(target))
        if isinstance(node, s.ForRange) and _spans_zero(node):
            variables.add(node.name.variable)
    return variables, fields


def _spans_zero(node: s.ForRange) -> bool:
    """Return whether a loop begins at a constant that is 0 or below."""
    first = node.first.operand if isinstance(node.first, s.Unary) else node.first
    return isinstance(first, s.Constant) and (first is not node.first or _is_zero(first))
