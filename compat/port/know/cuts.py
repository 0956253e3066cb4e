"""Loops that take the end of a list away."""

from __future__ import annotations

from compat.port.read import syntax as s


def cut(node: s.Node) -> s.Node | None:
    """Return the list whose end a loop takes away: ``for i = #x + 1, #t do t[i] = nil end``."""
    if not isinstance(node, s.ForRange) or node.step is not None or len(node.body.statements) != 1:
        return None
    only, last = node.body.statements[0], node.last
    target = only.targets[0] if isinstance(only, s.Assign) and len(only.targets) == 1 else None
    if not isinstance(target, s.Index) or not isinstance(last, s.Unary) or last.operator != "#":
        return None
    assert isinstance(only, s.Assign)
    is_nil = [isinstance(v, s.Constant) and v.value is None for v in only.values] == [True]
    is_own = isinstance(target.key, s.Name) and target.key.variable is node.name.variable
    is_same = s.describe(target.object) == s.describe(last.operand) and "(" not in s.describe(last)
    first: s.Node = node.first
    length: s.Node | None = None
    if isinstance(first, s.Binary) and first.operator == "+":  # after as many as ``#x``
        length, first = first.left, first.right
    behind = length is None or (isinstance(length, s.Unary) and length.operator == "#")
    start = s.constant(first) if behind else None
    is_place = isinstance(start, int) and start >= 1
    return target.object if is_nil and is_own and is_same and is_place else None
