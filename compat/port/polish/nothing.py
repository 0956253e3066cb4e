"""Parts that say nothing: ``x = lua.nil`` before somebody sets it, ``a = a``, ``f"{str(x)}"``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compat.port.polish.names import Use, first_use, is_captured, is_mentioned, mentions, own
from compat.port.polish.source import Change, Edit, Source


def declared(source: Source) -> Iterator[Change]:
    """``x = None`` only where somebody may read ``x`` before it is set."""
    for node in source.all(ast.Assign):
        is_told = source.of(node.value) == "None"  # nil, which may end the use of something
        if not is_told and source.of(node.value) != "lua.nil":
            continue
        names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        seen = [
            name
            for name in names
            if _is_seen(source, node, name) or (is_told and not _is_set_next(source, node, name))
        ]
        if is_told and (len(seen) == len(names) or len(names) < len(node.targets)):
            continue
        if seen or len(source.block(node)) == 1:
            yield [source.replaced(node, " = ".join([*(seen or names), "None"]))]
        else:
            yield [source.removed(node)]


def itself(source: Source) -> Iterator[Change]:
    """Nothing for ``a, b = a, b``, which names what was imported by these names."""
    for node in source.all(ast.Assign):
        names = [n for n in ast.walk(node) if not isinstance(n, (ast.Assign, ast.expr_context))]
        is_plain = all(isinstance(n, (ast.Name, ast.Tuple)) for n in names)
        is_same = len(node.targets) == 1 and source.of(node.targets[0]) == source.of(node.value)
        if is_plain and is_same and len(source.block(node)) > 1 and not source.is_commented(node):
            yield [source.removed(node)]


def shown_again(source: Source) -> Iterator[Change]:
    """``str(x)`` for ``f"{str(x)}"``."""
    inside = {n for whole in source.all(ast.FormattedValue) for n in ast.walk(whole)}
    for node in source.all(ast.JoinedStr):
        only = node.values[0] if len(node.values) == 1 else None
        text = source.of(node) if node not in inside else ""  # those inside have no place of theirs
        inner = text.removeprefix('f"{').removesuffix('}"')
        if not isinstance(only, ast.FormattedValue) or only.format_spec or only.conversion != -1:
            continue
        called = ast.unparse(only.value.func) if isinstance(only.value, ast.Call) else ""
        if len(inner) == len(text) - 5 and (called in _TEXTS or called.endswith("'.join")):
            yield [source.replaced(node, inner)]


def inherited(source: Source) -> Iterator[Change]:
    """No ``__init__`` that does no more than the one of the class above."""
    for node in source.all(ast.FunctionDef):
        if node.name != "__init__" or [source.of(s) for s in node.body] != ["super().__init__()"]:
            continue
        is_plain = ast.unparse(node.args) == "self" and not node.decorator_list
        is_plain &= len(source.block(node)) > 1
        if is_plain and not (source.is_commented(node) or node.lineno - 1 in source.comments):
            yield [source.removed(node)]


def line_end(source: Source) -> Iterator[Change]:
    """``print`` writes the end of a line that the text has and ``end=""`` leaves out."""
    for call in source.all(ast.Call):
        only = call.args[0] if source.of(call.func) == "print" and len(call.args) == 1 else None
        silent = [
            k for k in call.keywords if k.arg in ("end", "sep") and source.of(k.value) == '""'
        ]
        if not isinstance(only, (ast.Constant, ast.JoinedStr)) or "end" not in {
            k.arg for k in silent
        }:
            continue
        text, end = source.of(only), source.end(only)
        if not re.search(r"(?<!\\)(\\\\)*\\n[\"']$", text):
            continue
        is_empty = len(text.lstrip("f")) == 4
        if is_empty and len(silent) < len(call.keywords):
            continue
        parts = [only, *call.keywords]
        gone = [Edit(source.end(parts[i]), source.end(k), "") for i, k in enumerate(call.keywords)
                if k in silent]  # fmt: skip
        yield [Edit(source.start(only), end, "") if is_empty else Edit(end - 3, end - 1, ""), *gone]


_TEXTS = {"str", "lua.text", "lua.tostring", "lua.format"}  # what they give


def _is_set_next(source: Source, node: ast.Assign, name: str) -> bool:
    """Return whether a variable of this scope has no value yet, and every way from here sets it."""
    scope = source.scope(node)
    before = (n for n in mentions(scope, name) if source.start(n) < source.start(node))
    declared = (n for n in own(scope) if isinstance(n, (ast.Global, ast.Nonlocal)))
    is_own = not any(before) and not any(name in n.names for n in declared)
    return is_own and first_use(source.after(node), name) is Use.SETS


def _is_seen(source: Source, node: ast.Assign, name: str) -> bool:
    scope = source.scope(node)
    after = source.after(node)
    if isinstance(scope, ast.ClassDef) or name in source.hidden:
        return True
    use = first_use(after, name)
    if is_captured(source, scope, name):
        # Functions further down see what it is then.
        first = next((s for s in after if is_mentioned(s, name)), None)
        if first is None or use is not Use.SETS or first_use([first], name) is not Use.SETS:
            return True
        return any(
            isinstance(n, (ast.FunctionDef, ast.Lambda, ast.ClassDef))
            and is_mentioned(n, name)
            and source.start(n) < source.end(first)
            for n in ast.walk(scope)
            if n is not scope
        )
    if use in (Use.SETS, Use.LEAVES):
        return False
    if use is Use.READS or isinstance(scope, ast.Module):
        return True
    inside = {m for s in after for m in mentions(s, name)}
    return any(isinstance(m.ctx, ast.Load) and m not in inside for m in mentions(scope, name))
