"""Fields of classes that are set right behind them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compat.port.polish.source import Change, Edit, Source


def fields(source: Source) -> Iterator[Change]:
    """``class C: …`` and ``C.n = 0`` as ``class C: n = 0 …``, up to what is no such constant: that
    may look at the class.
    """
    for node in source.all(ast.ClassDef):
        for statement in source.after(node)[:1]:
            name = _field(statement, node.name)
            if name is None or not isinstance(statement, ast.Assign):
                continue
            value = statement.value
            value = value.operand if isinstance(value, ast.UnaryOp) else value
            if isinstance(value, ast.Constant) and name[:2] != "__":
                change = _moved(source, node, statement, name)
                yield from [change] if change else []


def _field(node: ast.stmt, of: str) -> str | None:
    """Return the name of the class's field that a statement sets."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    owner = target.value if isinstance(target, ast.Attribute) else None
    is_own = isinstance(owner, ast.Name) and owner.id == of
    return target.attr if isinstance(target, ast.Attribute) and is_own else None


def _moved(source: Source, node: ast.ClassDef, statement: ast.Assign, name: str) -> Change:
    """Return the edits that move the statement, with its comments, into the class."""
    above = statement.lineno
    while source.is_comment(above - 1):
        above -= 1
    start, end = source.line(above), source.comment_end(statement)
    lines = [line.strip() for line in source.between(start, end).splitlines()]
    lines[-1] = lines[-1].removeprefix(f"{node.name}.")
    gone = Edit(start, end + 1, "")
    last = None
    for own in node.body:
        if isinstance(own, ast.FunctionDef) and own.name == name:
            return []
        if not isinstance(own, ast.Assign) or not isinstance(own.targets[0], ast.Name):
            continue
        last = own
        if own.targets[0].id == name:
            is_none = isinstance(own.value, ast.Constant) and own.value.value is None
            return [source.replaced(own.value, source.of(statement.value)), gone] if is_none else []
    first = node.body[0]
    if isinstance(first, ast.Pass):
        return [source.replaced(first, f"\n{' ' * first.col_offset}".join(lines)), gone]
    if last is None and not isinstance(first, ast.FunctionDef):
        return []
    at = source.comment_end(last) if last is not None else source.head_end(node)
    indent = "\n" + " " * (node.col_offset + 4)
    return [Edit(at, at, indent + indent.join(lines) + ("" if last is not None else "\n")), gone]
