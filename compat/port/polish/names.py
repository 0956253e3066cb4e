"""The uses of names."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from enum import Enum, auto

from compat.port.polish.source import Scope, Source

_INNER = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp)
_LOADS_ALONE = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.UnaryOp, ast.Load,
                ast.USub, ast.BinOp, ast.operator)  # fmt: skip


def mentions(nodes: ast.AST | Iterable[ast.AST], name: str) -> list[ast.Name]:
    """Return where a name stands in these."""
    nodes = [nodes] if isinstance(nodes, ast.AST) else nodes
    return [n for node in nodes for n in ast.walk(node) if isinstance(n, ast.Name) and n.id == name]


def is_mentioned(nodes: ast.AST | Iterable[ast.AST], name: str) -> bool:
    """Return whether a name stands in one of these, as a function's name or parameter included."""
    nodes = [nodes] if isinstance(nodes, ast.AST) else list(nodes)
    return any(
        name in (getattr(n, "id", None), getattr(n, "arg", None), getattr(n, "name", None))
        or name in getattr(n, "names", ())
        for node in nodes
        for n in ast.walk(node)
    )


def calls(nodes: ast.AST | Iterable[ast.AST]) -> bool:
    """Return whether anything is called in these."""
    nodes = [nodes] if isinstance(nodes, ast.AST) else nodes
    return any(isinstance(n, ast.Call) for node in nodes for n in ast.walk(node))


def is_plain(node: ast.AST) -> bool:
    """Return whether an expression only reads names, fields and entries, which may be read
    twice.
    """
    return all(isinstance(n, _LOADS_ALONE) for n in ast.walk(node))


def own(scope: ast.AST, others: tuple[type[ast.AST], ...] = _INNER) -> Iterator[ast.AST]:
    """Yield the parts of a scope and, unopened, the ``others`` inside: functions and classes."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, others):
            waiting += ast.iter_child_nodes(node)


def is_captured(source: Source, scope: Scope, name: str) -> bool:
    """Return whether anybody but the scope itself may see a variable of it, or change it."""
    if isinstance(scope, ast.ClassDef) or name in source.hidden:
        return True
    declared = (n for n in ast.walk(scope) if isinstance(n, (ast.Global, ast.Nonlocal)))
    if any(name in n.names for n in declared):
        return True
    return any(
        is_mentioned(list(ast.iter_child_nodes(n)), name) and not _binds(n, name)
        for n in own(scope)
        if isinstance(n, _INNER)
    )


def _binds(node: ast.AST, name: str) -> bool:
    """Return whether a function has a variable of its own with this name."""
    if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
        return False
    defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
    if is_mentioned(defaults, name):
        return False
    if any(n.arg == name for n in ast.walk(node.args) if isinstance(n, ast.arg)):
        return True
    parts = own(node, (*_INNER, *_COMPREHENSIONS))
    names = (n for n in parts if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(n.ctx, ast.Store) for n in names)


def outlives(source: Source, node: ast.For, only: str = "") -> bool:
    """Return whether anybody may read a loop's variables behind it, or ``only`` one of them."""
    scope = source.scope(node)
    own = set(ast.walk(node))
    for name in {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}:
        if only and name != only:
            continue
        if is_captured(source, scope, name):
            return True
        for read in mentions(scope, name):
            if read in own or isinstance(read.ctx, ast.Store) or source.scope(read) is not scope:
                continue  # an inner function has its own
            if not _is_bound(source, read, name):
                return True
    return any(not isinstance(n, (ast.Name, ast.Tuple, ast.expr_context))
               for n in ast.walk(node.target))  # fmt: skip


def _is_bound(source: Source, node: ast.AST, name: str) -> bool:
    """Return whether a loop or comprehension around gives a name its value."""
    scope = source.scope(node)
    while (node := source.parent(node)) is not scope:
        targets = [node.target] if isinstance(node, ast.For) else []
        if isinstance(node, _COMPREHENSIONS):
            targets = [g.target for g in node.generators]
        if any(mentions(t, name) for t in targets):
            return True
    return False


class Use(Enum):
    """The first thing that statements do with a variable."""

    READS = auto()  # maybe, before they set it
    SETS = auto()  # on every way to their end
    LEAVES = auto()  # no way leads to their end
    OPEN = auto()


def first_use(statements: list[ast.stmt], name: str) -> Use:
    """Return what statements do first with a variable."""
    for statement in statements:
        use = _use(statement, name)
        if use is not Use.OPEN:
            return use
    return Use.OPEN


def _use(node: ast.stmt, name: str) -> Use:
    if isinstance(node, ast.If):
        ways = [first_use(node.body, name), first_use(node.orelse, name)]
        if is_mentioned(node.test, name) or Use.READS in ways:
            return Use.READS
        open_ways = [use for use in ways if use is not Use.LEAVES]
        return open_ways[0] if len({*open_ways}) == 1 else Use.OPEN if open_ways else Use.LEAVES
    if isinstance(node, (ast.For, ast.While)):
        head = [node.iter, node.target] if isinstance(node, ast.For) else [node.test]
        use = first_use(node.body, name)
        if is_mentioned(head, name) or use is Use.READS:
            return Use.READS if is_mentioned([node], name) else Use.OPEN
        endless = isinstance(node, ast.While) and isinstance(node.test, ast.Constant)
        return Use.SETS if endless and use is Use.SETS else Use.OPEN
    if isinstance(node, ast.With):
        head = [item.context_expr for item in node.items]
        return Use.READS if is_mentioned(head, name) else first_use(node.body, name)
    if isinstance(node, (ast.Break, ast.Continue)):
        return Use.READS  # somebody may read it behind the loop
    if not is_mentioned(node, name):
        return Use.LEAVES if isinstance(node, (ast.Return, ast.Raise)) else Use.OPEN
    if isinstance(node, ast.Assign):
        stores = [t for n in node.targets for t in ([n] if isinstance(n, ast.Name) else
                  n.elts if isinstance(n, ast.Tuple) else [])]  # fmt: skip
        sets = [t for t in stores if isinstance(t, ast.Name) and t.id == name]
        return Use.SETS if len(sets) == len(mentions(node, name)) > 0 else Use.READS
    return Use.READS
