"""Files that are closed where they are opened."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compat.port.polish.names import is_captured, is_mentioned, mentions
from compat.port.polish.source import Change, Edit, Source

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
