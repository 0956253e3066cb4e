"""Loops over indices that are loops over what is there."""

from __future__ import annotations

import ast
import builtins
import keyword
from collections.abc import Iterator

import torch

from compat.port.polish.names import is_captured, is_mentioned, is_plain, mentions, outlives, own
from compat.port.polish.source import Change, Edit, Source
from compat.port.write.python_names import TAKEN

# What is called in these loops and changes no list.
_FUNCTIONS = {"print", "len", "str", "int", "float", "format", "min", "max", "abs", "isinstance",
              "getattr", "range", "RuntimeError"}  # fmt: skip
_MODULES = {"math", "torch", "random", "image", "os", "cutorch"}
_HELPERS = {"format", "text", "tostring", "tonumber", "print", "add", "sub", "mul", "div", "item",
            "type_name", "typename", "equal", "truth", "split", "write", "pointer"}  # fmt: skip
_METHODS = {"append", "items", "values", "join", "split", "get", "strip",
            *dir(torch.Tensor)} - {"apply_", "map_"}  # fmt: skip


def from_zero(source: Source) -> Iterator[Change]:
    """``for i in range(1, n + 1): f(i - 1)`` as ``for i in range(n): f(i)``."""
    for node in source.all(ast.For):
        call, index = node.iter, node.target
        if not isinstance(index, ast.Name) or node.orelse or not isinstance(call, ast.Call):
            continue
        if source.of(call.func) != "range" or list(map(source.of, call.args[:-1])) != ["1"]:
            continue
        uses = mentions(node.body, index.id)
        places = [source.parent(use) for use in uses]
        is_place = all(
            isinstance(place, ast.BinOp) and source.of(place) == f"{index.id} - 1"
            for place in places
        )
        if not (uses and is_place) or outlives(source, node):
            continue
        count, last = counted(source, call), call.args[-1]
        if count is None and isinstance(last, ast.Constant):
            over = str(last.value - 1) if type(last.value) is int else ""
        else:
            over = source.of(count) if count is not None else ""
        if over:
            head = Edit(source.start(call.args[0]), source.end(last), over)
            yield [head, *(_without_parentheses(source, place, index.id) for place in places)]


def _without_parentheses(source: Source, node: ast.AST, name: str) -> Edit:
    """Return the edit that writes a name for a part, and for the parentheses of an operand."""
    edit = source.replaced(node, name)
    around = source.between(edit.start - 1, edit.start) + source.between(edit.end, edit.end + 1)
    is_operand = isinstance(source.parent(node), (ast.BinOp, ast.UnaryOp)) and around == "()"
    return Edit(edit.start - is_operand, edit.end + is_operand, name)


def entries(source: Source) -> Iterator[Change]:
    """``for i in range(len(x)): f(x[i])`` as ``for one in x: f(one)``, or with ``enumerate``."""
    changed: set[ast.AST] = set()  # loops inside take no name before those around have theirs
    for node in source.all(ast.For):
        made = _over(source, node)
        if made is None or not isinstance(node.target, ast.Name) or node.orelse or node in changed:
            continue
        table, start = made
        index = node.target.id
        place = index if start == 0 else f"{index} - 1"
        scope = source.scope(node)
        if isinstance(scope, ast.ClassDef):
            continue
        text = source.of(table)
        inside = [n for s in node.body for n in ast.walk(s)]
        same = [
            n for n in inside if isinstance(n, (ast.Name, ast.Attribute)) and source.of(n) == text
        ]
        owners = [source.parent(n) for n in same]
        reads = [
            n
            for n in owners
            if isinstance(n, ast.Subscript)
            and isinstance(n.ctx, ast.Load)
            and source.of(n) == f"{text}[{place}]"
        ]
        uses = [n for n in inside if isinstance(n, ast.Name) and n.id == index]
        if not reads or len(reads) < len(same) or any(isinstance(n.ctx, ast.Store) for n in uses):
            continue
        if _may_change(node, table) or outlives(source, node):
            continue
        name = _named(source, node, text)
        if name is None:
            continue
        edits = [source.replaced(n, name) for n in reads]
        if len(uses) == len(reads):
            head = [source.replaced(node.target, name), source.replaced(node.iter, text)]
        else:
            over = f"enumerate({text}, 1)" if start else f"enumerate({text})"
            head = [source.replaced(node.target, f"{index}, {name}"),
                    source.replaced(node.iter, over)]  # fmt: skip
        changed.update(inside)
        yield [*head, *edits]


def unnumbered(source: Source) -> Iterator[Change]:
    """``for i, x in enumerate(y, 1): f(x)`` as ``for x in y: f(x)``."""
    for node in source.all(ast.For):
        call, target = node.iter, node.target
        if not isinstance(call, ast.Call) or source.of(call.func) != "enumerate":
            continue
        index, one = target.elts if isinstance(target, ast.Tuple) else (None, None)
        if not isinstance(index, ast.Name) or one is None or is_mentioned(node.body, index.id):
            continue
        if not outlives(source, node, index.id):
            over = source.replaced(call, source.of(call.args[0]))
            yield [source.replaced(target, source.of(one)), over]


def named_at_once(source: Source) -> Iterator[Change]:
    """``for x in y: z = x`` as ``for z in y``."""
    for node in source.all(ast.For):
        first, *others = node.body
        if not isinstance(first, ast.Assign) or not others or len(first.targets) > 1:
            continue
        name, value = first.targets[0], first.value
        if not isinstance(name, ast.Name) or not isinstance(value, ast.Name):
            continue
        uses = mentions(source.scope(node), value.id)
        bound = [use for use in uses if isinstance(use.ctx, ast.Store)]
        is_own = len(uses) == 2 and len(bound) == 1 and bound[0] in ast.walk(node.target)
        is_own &= not is_mentioned([node.target, node.iter], name.id)
        if is_own and not is_captured(source, source.scope(node), value.id):
            yield [source.replaced(bound[0], name.id), source.removed(first)]


def counted(source: Source, over: ast.expr) -> ast.expr | None:
    """Return the ``n`` of ``range(1, n + 1)``."""
    if not isinstance(over, ast.Call) or source.of(over.func) != "range" or len(over.args) != 2:
        return None
    last = over.args[1]
    is_next = isinstance(last, ast.BinOp) and source.of(last).endswith(" + 1")
    if source.of(over.args[0]) != "1" or not is_next:
        return None
    assert isinstance(last, ast.BinOp)
    return last.left if isinstance(last.op, ast.Add) else None


def _over(source: Source, node: ast.For) -> tuple[ast.expr, int] | None:
    """Return the list whose indices a loop runs over, and the first of them."""
    call, count = node.iter, counted(source, node.iter)
    start = 0 if count is None else 1
    if count is None and isinstance(call, ast.Call) and source.of(call.func) == "range":
        count = call.args[0] if len(call.args) == 1 else None
    if not isinstance(count, ast.Call) or source.of(count.func) != "len":
        return None
    return (count.args[0], start) if is_plain(count.args[0]) else None


def _may_change(node: ast.For, table: ast.expr) -> bool:
    """Return whether the body may change the list, which other names may stand for, too."""
    owner = {n.id for n in ast.walk(table) if isinstance(n, ast.Name)}
    for part in (n for s in node.body for n in ast.walk(s)):
        if isinstance(part, ast.Name) and part.id in owner and isinstance(part.ctx, ast.Store):
            return True
        if isinstance(part, (ast.Subscript, ast.Attribute)) and not isinstance(part.ctx, ast.Load):
            if isinstance(part, ast.Subscript):
                return True
            if isinstance(table, ast.Attribute) and part.attr == table.attr:
                return True
        if isinstance(part, (ast.FunctionDef, ast.Lambda, ast.Delete)):
            return True
        if isinstance(part, ast.Call) and not _is_harmless(part):
            return True
    return False


def _is_harmless(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _FUNCTIONS
    if not isinstance(function, ast.Attribute):
        return False
    owner = function.value
    if isinstance(owner, ast.Name) and owner.id == "lua":
        return function.attr in _HELPERS
    if isinstance(owner, ast.Name) and owner.id in _MODULES:
        return True
    return function.attr in _METHODS


def _named(source: Source, node: ast.For, text: str) -> str | None:
    """Return a name for one of these that means nothing else where the loop is."""
    many = text.split(".")[-1]
    if not many.isidentifier():
        return None
    one = many[:-3] + "y" if many.endswith("ies") else many[:-1] if many.endswith("s") else ""
    if many.endswith(("sses", "xes")):
        one = many[:-2]
    one = "" if one.endswith("_") else one
    taken = TAKEN | set(dir(builtins))
    names = (
        n for n in (one, f"one_{one}" if one else "", "entry") if len(n) > 2 and n not in taken
    )
    return next((n for n in names if not keyword.iskeyword(n) and _is_free(source, node, n)), None)


def _is_free(source: Source, node: ast.For, name: str) -> bool:
    """Return whether a name stands nowhere in a scope but in other loops, each of which sets it."""
    scope = source.scope(node)
    told = {getattr(n, key, None) for n in own(scope) for key in ("arg", "name", "asname")}
    if name in told or is_captured(source, scope, name):
        return False
    inside = set(ast.walk(node))
    for use in mentions(scope, name):
        loop: ast.AST = use
        while not (isinstance(loop, ast.For) and mentions(loop.target, name)):
            if loop is scope:
                return False
            loop = source.parent(loop)
        if source.scope(use) is scope and (loop in inside or node in ast.walk(loop)):
            return False
    return True
