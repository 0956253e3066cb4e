"""Lists and dicts that are filled right after they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compat.port.polish.loops import counted
from compat.port.polish.names import calls, is_captured, is_mentioned, is_plain, mentions, outlives
from compat.port.polish.source import Change, Edit, Source


def filled(source: Source) -> Iterator[Change]:
    """``d = {}; d["a"] = 1`` as ``d = {"a": 1}``; so lists with ``append``."""
    for node in source.all(ast.Assign):
        if not isinstance(node.value, (ast.Dict, ast.List)) or len(node.targets) > 1:
            continue
        target, made = node.targets[0], node.value
        if not isinstance(target, ast.Name) or isinstance(source.scope(node), ast.ClassDef):
            continue
        keys = made.keys if isinstance(made, ast.Dict) else []
        known = {key.value if isinstance(key, ast.Constant) else None for key in keys}
        is_seen = is_captured(source, source.scope(node), target.id)
        edits: Change = []
        last: ast.stmt = node
        end = source.end(made) - 1
        for statement in source.after(node):
            entry = _put(statement, target.id, made)
            if entry is None or is_mentioned(entry, target.id) or (is_seen and calls(entry)):
                break
            key = entry[0] if len(entry) == 2 else None
            if key is not None:
                if not isinstance(key, ast.Constant) or {key.value, None} & known:
                    break
                known.add(key.value)
            if isinstance(entry[-1], ast.Starred):
                break
            edits.append(Edit(end, end, "") if not edits else Edit(end, end, ","))
            text = ": ".join(map(source.of, entry))
            edits.append(Edit(source.start(statement), source.end(statement), text))
            end = source.end(statement)
            last = statement
        if edits:
            inner = source.between(source.start(made) + 1, source.end(made) - 1).rstrip()
            comma = "," if inner and not inner.endswith(",") else ""
            edits[0] = Edit(source.end(made) - 1, source.end(made), comma)
            closing = "}" if isinstance(made, ast.Dict) else "]"
            behind = source.comment_end(last)
            comma = "," if behind > end else ""
            yield [*edits, Edit(end, end, comma), Edit(behind, behind, f"\n{closing}")]


def _put(node: ast.stmt, name: str, made: ast.expr) -> list[ast.expr] | None:
    """Return what a statement puts into the table of a name: a value, or a key and a value."""
    if isinstance(made, ast.List):
        found = _append(node)
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        target = node.targets[0]
        is_slice = any(isinstance(n, ast.Slice) for n in ast.walk(target.slice))
        is_one = len(node.targets) == 1 and not is_slice
        found = (target.value, [target.slice, node.value]) if is_one else None
    else:
        return None
    is_own = found is not None and isinstance(found[0], ast.Name) and found[0].id == name
    return found[1] if found is not None and is_own else None


def _append(node: ast.stmt) -> tuple[ast.expr, list[ast.expr]] | None:
    """Return the list that a statement appends to, and what it appends."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "append":
        return None
    return (function.value, call.args) if len(call.args) == 1 else None


def comprehensions(source: Source) -> Iterator[Change]:
    """``for x in y: z.append(f(x))`` as ``z = [f(x) for x in y]``; so dicts."""
    for node in source.all(ast.For):
        block = source.block(node)
        if node.orelse or len(node.body) != 1 or source.is_commented(node):
            continue
        if isinstance(source.scope(node), ast.ClassDef):
            continue
        only = node.body[0]
        condition = None
        if isinstance(only, ast.If) and len(only.body) == 1 and not only.orelse:
            condition, only = only.test, only.body[0]
        made = _start(source, block, node, only)
        if made is None:
            continue
        start, name, entry = made
        parts = [*entry, node.iter, *([condition] if condition is not None else [])]
        if is_mentioned(parts, name) or outlives(source, node):
            continue
        if any(isinstance(n, (ast.Lambda, ast.Starred, ast.NamedExpr)) for p in parts
               for n in ast.walk(p)):  # fmt: skip
            continue
        if calls(parts) and is_captured(source, source.scope(node), name):
            continue
        if len(entry) == 2 and all(map(calls, entry)):
            continue
        text = _comprehension(source, node, entry, condition)
        yield [source.removed(start), source.replaced(node, f"{name} = {text}")]


def extended(source: Source) -> Iterator[Change]:
    """``for x in y: z.append(x)`` as ``z.extend(y)``."""
    for node in source.all(ast.For):
        found = _append(node.body[0]) if len(node.body) == 1 and not node.orelse else None
        if found is None or source.of(found[1][0]) != source.of(node.target):
            continue
        owner = found[0]
        names = {n.id for n in ast.walk(owner) if isinstance(n, ast.Name)}
        is_own = not any(is_mentioned(node.iter, name) for name in names) and is_plain(owner)
        is_plain_order = not calls(node.iter) or _is_new(source, node, owner)
        if is_own and is_plain_order and not (source.is_commented(node) or outlives(source, node)):
            yield [source.replaced(node, f"{source.of(owner)}.extend({source.of(node.iter)})")]


def _is_new(source: Source, node: ast.For, owner: ast.expr) -> bool:
    """Return whether nobody but a scope has a list: no call can give it or take it."""
    scope = source.scope(node)
    if not isinstance(owner, ast.Name) or is_captured(source, scope, owner.id):
        return False
    before = [n for n in mentions(scope, owner.id) if source.start(n) < source.start(node)]
    return bool(before) and all(_value_of(source, use) == "[]" for use in before)


def _value_of(source: Source, target: ast.Name) -> str:
    """Return what an assignment gives a name: nothing where it is none, or of another form."""
    statement = source.parent(target)
    if not isinstance(statement, ast.Tuple):
        return source.of(statement.value) if isinstance(statement, ast.Assign) else ""
    place, statement = statement.elts.index(target), source.parent(statement)
    values = statement.value if isinstance(statement, ast.Assign) else None
    return source.of(values.elts[place]) if isinstance(values, ast.Tuple) else ""


def in_order(source: Source) -> Iterator[Change]:
    """``x = list(y)``, ``x.sort()`` as ``x = sorted(y)``; so comprehensions."""
    for node in source.all(ast.Assign):
        following = source.after(node)[:1]
        call = following[0].value if following and isinstance(following[0], ast.Expr) else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        name, made = source.of(call.func.value), node.value
        is_own = [source.of(target) for target in node.targets] == [name]
        if not is_own or call.func.attr != "sort" or source.is_commented(following[0]):
            continue
        more = [*map(source.of, [*call.args, *call.keywords])]
        inner = ""
        if isinstance(made, ast.ListComp):
            inner = source.of(made)[1:-1] if not more else source.of(made)
        elif isinstance(made, ast.Call) and source.of(made.func) == "list" and made.args:
            inner = source.of(made.args[0])
        if inner and "#" not in source.between(source.end(node), source.start(following[0])):
            text = f"sorted({', '.join([inner, *more])})"
            yield [source.replaced(made, text), source.removed(following[0])]


def _comprehension(
    source: Source, node: ast.For, entry: list[ast.expr], condition: ast.expr | None
) -> str:
    target, over = source.of(node.target), source.of(node.iter)
    count = counted(source, node.iter)
    if count is not None and not is_mentioned([*entry, *filter(None, [condition])], target):
        target, over = "_", f"range({source.of(count)})"
    if condition is None and [source.of(e) for e in entry] == [target]:
        return over if over.startswith("re.findall(") else f"list({over})"
    if condition is None and f"({', '.join(source.of(e) for e in entry)})" in (
        f"({target})", target,
    ):  # fmt: skip
        return f"dict({over})"
    value = ": ".join(
        f"({source.of(e)})" if isinstance(e, ast.Tuple) else source.of(e) for e in entry
    )
    asked = f" if {source.of(condition)}" if condition is not None else ""
    if isinstance(condition, ast.IfExp):
        asked = f" if ({source.of(condition)})"
    left, right = "[]" if len(entry) == 1 else "{}"
    return f"{left}{value} for {target} in {over}{asked}{right}"


def _start(
    source: Source, block: list[ast.stmt], node: ast.For, only: ast.stmt
) -> tuple[ast.Assign, str, list[ast.expr]] | None:
    """Return the empty table that a loop fills, its name, and what the loop puts there.

    That is a value, or a key and a value.
    """
    between: list[ast.stmt] = []
    for before in reversed(block[: block.index(node)]):
        if isinstance(before, ast.Assign) and len(before.targets) == 1:
            target, made = before.targets[0], before.value
            empty = isinstance(made, (ast.List, ast.Dict)) and not ast.unparse(made).strip("[]{}")
            if isinstance(target, ast.Name) and empty:
                entry = _put(only, target.id, made)
                if entry is not None:
                    seen = is_captured(source, source.scope(node), target.id) and calls(between)
                    if seen or is_mentioned(between, target.id):
                        return None
                    return before, target.id, entry
        if not isinstance(before, (ast.Assign, ast.AugAssign, ast.Expr)):
            return None
        between.append(before)
    return None
