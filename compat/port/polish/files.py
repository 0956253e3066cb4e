"""Files that are closed where they are opened."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compat.port.polish.names import is_captured, is_mentioned, mentions
from compat.port.polish.source import Change, Edit, Scope, Source

_OPENS = {"lua.open", "lua.must_open", "hdf5.open"}


def closed(source: Source) -> Iterator[Change]:
    """``f = open(…)``, statements, ``f.close()`` as a ``with`` block."""
    for node in source.all(ast.Assign):
        call = node.value
        if not isinstance(call, ast.Call) or source.of(call.func) not in _OPENS:
            continue
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Name):
            continue
        name = target.id
        if is_captured(source, source.scope(node), name):
            continue
        after = source.after(node)
        close = next((s for s in after if source.of(s) == f"{name}.close()"), None)
        if close is None or source.is_commented(node):
            continue
        at = after.index(close)
        inside, behind = after[:at], after[at + 1 :]
        if not inside or _is_kept(source, inside, name) or _is_used(behind, name):
            continue
        later = {n for n in mentions(source.scope(node), name) if isinstance(n.ctx, ast.Load)
                 and source.start(n) > source.end(close)}  # fmt: skip
        if later - {n for s in behind for n in ast.walk(s)}:
            continue
        text = source.between(source.end(node), source.start(close))
        if '"""' in text:
            continue
        indented = text.replace("\n", "\n    ").rstrip()
        yield [
            source.replaced(node, f"with {source.of(call)} as {name}:"),
            Edit(source.end(node), source.start(close), indented),
            Edit(source.start(close), source.end(close), ""),
        ]


def lines(source: Source) -> Iterator[Change]:
    """``while True: x = f.read()``, ``if x is None: break`` as ``for x in f.lines()``."""
    for node in source.all(ast.While):
        if len(node.body) < 3 or source.of(node.test) != "True":
            continue
        read, test = node.body[:2]
        parts = re.fullmatch(r"(\w+) = (\w+)\.read\((\"\*l(ine)?\")?\)", source.of(read))
        ending = "" if parts is None else rf"if {parts[1]} is None:\s+break"
        if parts is None or not re.fullmatch(ending, source.of(test)):
            continue
        name, file = parts[1], parts[2]
        scope, rest = source.scope(node), node.body[2:]
        outside = set(mentions(scope, name)) - {n for s in node.body for n in mentions(s, name)}
        is_seen = is_captured(source, scope, name) or any(
            isinstance(n.ctx, ast.Load) for n in outside
        )
        is_noted = source.is_commented(read) or source.is_commented(test)
        if is_seen or is_noted or is_mentioned(rest, file) or not _is_opened(source, scope, file):
            continue
        yield [
            Edit(source.start(node), source.end(node.test), f"for {name} in {file}.lines()"),
            source.removed(read),
            source.removed(test),
        ]


def _is_opened(source: Source, scope: Scope, name: str) -> bool:
    """Return whether a name of a scope stands for what ``io.open`` gives, and nothing else."""
    if is_captured(source, scope, name):
        return False
    sets = [n for n in mentions(scope, name) if isinstance(n.ctx, ast.Store)]
    makers = [source.parent(n) for n in sets]
    made = [
        m.context_expr if isinstance(m, ast.withitem) else getattr(m, "value", None) for m in makers
    ]
    opens = (source.of(m.func) in _OPENS - {"hdf5.open"} for m in made if isinstance(m, ast.Call))
    return bool(made) and sum(opens) == len(made)


def _is_used(statements: list[ast.stmt], name: str) -> bool:
    """Return whether a name is read again before it is another file's."""
    first = next((s for s in statements if is_mentioned(s, name)), None)
    if first is None:
        return False
    sets = isinstance(first, ast.Assign) and len(mentions(first, name)) == 1
    return not (sets and isinstance(mentions(first, name)[0].ctx, ast.Store))


def _is_kept(source: Source, statements: list[ast.stmt], name: str) -> bool:
    """Return whether ``statements`` do anything with a file but call its methods."""
    for use in (n for s in statements for n in mentions(s, name)):
        method = source.parent(use)
        if not isinstance(method, ast.Attribute) or method.attr == "close":
            return True
        call = source.parent(method)
        if not isinstance(call, ast.Call) or call.func is not method:
            return True
    return False
