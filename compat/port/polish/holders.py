"""Tables that hold what a file defines, and give it: ``local M = {}``, ``return M.Loader``."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import Any

from compat.port.polish.modules import bound, imports, is_export
from compat.port.polish.source import Change, Edit, Source

_EXPORTS = "exports"


def without_holders(
    texts: Mapping[str, str], gives: Mapping[str, str | None], computed: Collection[str]
) -> tuple[dict[str, str], dict[str, str | None]]:
    """Return the files of a program, by the names of their modules, without such tables, and the
    names under which they then have what they return.

    Args:
        gives: the names under which they have it.
        computed: those that may be loaded by a computed name, of which all have ``exports``.
    """
    made, given = dict(texts), dict(gives)
    for module in texts:
        made[module] = _without(Source(made[module]), made.values(), module, gives[module])
        source = Source(made[module])
        exported = [n for n in source.tree.body if isinstance(n, ast.Assign) and is_export(n)]
        own = source.of(exported[0].value) if len(exported) == 1 else ""
        if given[module] != _EXPORTS or not _is_defined(source, own):
            continue
        given[module] = own
        for other, text in made.items():
            if f"from {module} import {_EXPORTS}" in text:
                importer = Source(text)
                found = [node for _, node in imports(importer, module, _EXPORTS)]
                made[other] = importer.edited([_named(importer, node, own) for node in found])
        is_named = any(f'"{module}"' in text for text in made.values())
        if module not in computed and not is_named:
            made[module] = source.edited([source.removed(exported[0])])
    return made, given


def _without(source: Source, texts: Collection[str], module: str, given: str | None) -> str:
    """Return a file without its first table of what it defines."""
    for node in source.tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Name) or source.of(node).partition(" = ")[2] != "{}":
            continue
        is_taken = any(f"from {module} import {target.id}" in text for text in texts)
        change = [] if is_taken or target.id == given else _change(source, target)
        if change:
            return source.edited([*change, source.removed(node)])
    return source.text


def _change(source: Source, table: ast.Name) -> Change:
    """Return the edits that name what a table holds; none, if it holds or does anything else."""
    if source.hidden or [name for name, _ in bound(source, set())].count(table.id) != 1:
        return []
    held: dict[str, str] = {}
    edits: Change = []
    reads: list[tuple[ast.AST, str]] = []
    for use in (node for node in source.all(ast.Name) if node.id == table.id and node is not table):
        entry, key = _entry(source, use)
        above = None if entry is None else source.parent(entry)
        if entry is None or key is None:
            return []
        if isinstance(entry, ast.Subscript) and not isinstance(entry.ctx, ast.Load):
            is_first = isinstance(above, ast.Assign) and key not in held
            own = source.of(above.value) if isinstance(above, ast.Assign) else ""
            if not (is_first and above in source.tree.body and _is_defined(source, own)):
                return []
            held[key] = own
            edits.append(source.removed(above))
        else:
            reads.append((entry, key))
    if not held or not all(key in held for _, key in reads):
        return []
    return [*edits, *(source.replaced(entry, held[key]) for entry, key in reads)]


def _entry(source: Source, use: ast.Name) -> tuple[ast.Subscript | ast.Call | None, Any]:
    """Return ``t["name"]`` or ``t.get("name")`` around a table, and the name."""
    above = source.parent(use)
    if isinstance(above, ast.Subscript):
        key = above.slice
        return above, key.value if isinstance(key, ast.Constant) else None
    call = source.parent(above)
    if isinstance(call, ast.Call) and isinstance(above, ast.Attribute) and above.attr == "get":
        values = [one.value for one in call.args if isinstance(one, ast.Constant)]
        return call, values[0] if len(values) == 1 == len(call.args) else None
    return None, None


def _is_defined(source: Source, name: str) -> bool:
    """Return whether a name is one class or function of a file, and nothing else anywhere."""
    defined = [n for n in source.tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))]
    count = [word for word, _ in bound(source, set())].count(name)
    return count == 1 and any(node.name == name for node in defined)


def _named(source: Source, node: ast.ImportFrom, name: str) -> Edit:
    known_as = node.names[0].asname or _EXPORTS
    alias = "" if known_as == name else f" as {known_as}"
    return source.replaced(node, f"from {node.module} import {name}{alias}")
