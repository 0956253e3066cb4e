"""Loops that take the end of a list away."""

from __future__ import annotations

from compat.port.know.form.shapes import is_same, length_of
from compat.port.read import syntax as s


def cut(node: s.Node) -> s.Node | None:
    """Return the list whose end a loop takes away: ``for i = #x + 1, #t do t[i] = nil end``."""
    if not isinstance(node, s.ForRange) or node.step is not None or len(node.body.statements) != 1:
        return None
    target, value = s.single(node.body.statements[0]) or (None, None)
    if not isinstance(target, s.Index) or not is_same(length_of(node.last), target.object):
        return None
    is_own = isinstance(target.key, s.Name) and target.key.variable is node.name.variable
    first: s.Node = node.first
    length: s.Node | None = None
    if isinstance(first, s.Binary) and first.operator == "+":  # after as many as ``#x``
        length, first = first.left, first.right
    start = s.constant(first) if length is None or length_of(length) is not None else None
    is_place = isinstance(start, int) and start >= 1
    return target.object if s.is_nil(value) and is_own and is_place else None
