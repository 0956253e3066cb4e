"""Functions of a later Lua that a program brings along, and that drafts have: ``table.pack =
table.pack or function(...) … end``.
"""

from __future__ import annotations

from compat.port.read import syntax as s

_FUNCTIONS = {"table.pack", "table.unpack"}


def leave_out_functions(block: s.Block) -> None:
    """Leave out what only runs where Lua has none of these functions."""
    for part in s.walk(block):
        if isinstance(part, s.Block):
            part.statements = [node for node in part.statements if not _brings(node)]


def _brings(node: s.Statement) -> bool:
    """Return whether all that a statement does is to make one of them, if there is none."""
    if isinstance(node, s.If) and len(node.clauses) == 1:
        test, body = node.clauses[0]
        return _lacking(test) in _FUNCTIONS and len(body.statements) == 1
    if not isinstance(node, s.Assign) or len(node.targets) != 1 or len(node.values) != 1:
        return False
    name, value = s.describe(node.targets[0]), node.values[0]
    if not isinstance(value, s.Binary) or value.operator != "or":
        return False
    return name in _FUNCTIONS and s.describe(value.left) == name


def _lacking(test: s.Node | None) -> str:
    """Return what ``not table.pack`` and ``table.pack == nil`` ask for."""
    if isinstance(test, s.Unary) and test.operator == "not":
        return s.describe(test.operand)
    if isinstance(test, s.Binary) and test.operator == "==" and s.is_nil(test.right):
        return s.describe(test.left)
    return ""
