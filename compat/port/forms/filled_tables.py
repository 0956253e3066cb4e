"""Tables that get their first entries right behind their making: ``t = {}``, ``t[1] = x``."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence

from compat.port.read import syntax as s


def fill_tables(blocks: Sequence[s.Block]) -> None:
    """Write them as ``t = {x}``."""
    for block in blocks:
        nodes = list(s.walk(block))
        last: dict[str, float] = defaultdict(int)  # the highest number that is written, of each
        for node in nodes:
            key = s.constant(node.key) if isinstance(node, s.Index) else None
            if isinstance(node, s.Index) and isinstance(key, int):
                last[s.describe(node.object)] = max(last[s.describe(node.object)], key)
        for target in [t for node in nodes if isinstance(node, s.Assign) for t in node.targets]:
            if isinstance(target, s.Index) and isinstance(target.key, (s.Name, s.Index)):
                last[s.describe(target.object)] = math.inf  # any
        for inner in [node for node in nodes if isinstance(node, s.Block)]:
            for made in [node for node in reversed(inner.statements) if _makes_empty(node)]:
                _fill(made, inner, last)


def _makes_empty(node: s.Statement) -> bool:
    _, value = s.single(node) or (None, None)
    return isinstance(value, s.Table) and not value.fields


def _fill(made: s.Statement, block: s.Block, last: dict[str, float]) -> None:
    found = s.single(made)
    assert found is not None
    table, name = found[1], s.describe(found[0])
    is_seen = not isinstance(made, s.Local)  # by functions that a value calls
    entries = list(_entries(name, block.statements[block.statements.index(made) + 1 :], is_seen))
    if "…" in name or len(entries) < last[name] or not isinstance(table, s.Table):
        return
    for entry in entries:
        value = entry.values[0]
        value = s.Paren(value) if isinstance(value, (s.Call, s.Vararg)) else value  # its first
        after = [entry.after] if entry.after else []
        table.fields.append(
            s.Field(None, value, [line for line in entry.before if line], after=after)
        )
        s.put_at(table.fields[-1], entry)
        block.statements.remove(entry)


def _entries(name: str, statements: Sequence[s.Statement], is_seen: bool) -> Iterator[s.Assign]:
    """Yield ``t[1] = …``, ``t[2] = …``, as far as they follow."""
    for number, node in enumerate(statements, 1):
        target = s.target(node)
        if not isinstance(node, s.Assign) or not isinstance(target, s.Index):
            return
        inside = list(s.walk(node.values[0]))
        is_next = s.describe(target.object) == name and s.constant(target.key) == number
        is_nil = s.is_nil(node.values[0])
        if not is_next or is_nil or any(s.describe(part) == name for part in inside):
            return
        if is_seen and any(map(_may_look, inside)):
            return
        yield node


def _may_look(node: s.Node) -> bool:
    """Return whether a call may read what else can be seen: of a function of the program, or with
    the object.
    """
    if not isinstance(node, s.Call):
        return False
    given = [*node.arguments, node.function]
    is_own = any(isinstance(part, s.Name) and part.id == "self" for part in given)
    return is_own or (node.method is None and isinstance(node.function, s.Name))
