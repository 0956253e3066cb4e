"""Settings that become global variables: ``for k, v in pairs(opt) do _G[k] = v end``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compat.port.know.form.shapes import is_name
from compat.port.read import syntax as s


def set_globals(blocks: Sequence[s.Block]) -> None:
    """Write it as ``rate = opt.rate`` and so on, for each setting that the program has a name
    for.
    """
    nodes = [node for block in blocks for node in s.walk(block)]
    if not any(isinstance(node, s.Name) and node.id == "_G" for node in nodes):
        return
    read = {node.id for node in nodes if isinstance(node, s.Name)}
    for inner in [node for node in nodes if isinstance(node, s.Block)]:
        for loop in [n for n in inner.statements if isinstance(n, s.ForEach)]:
            table = _table(loop)
            if table is not None and (names := dict.fromkeys(_names(table, nodes))):
                at = inner.statements.index(loop)
                made = [_assignment(name, table, loop) for name in names if name in read]
                if made:
                    made[0].before, made[-1].after = loop.before, loop.after
                    inner.statements[at : at + 1] = made


def _table(loop: s.ForEach) -> s.Name | None:
    """Return the table whose entries a loop makes global variables."""
    call = loop.values[0]
    given = call.arguments if isinstance(call, s.Call) else []
    if not isinstance(call, s.Call) or s.describe(call.function) != "pairs" or len(given) != 1:
        return None
    found = s.single(loop.body.statements[0]) if len(loop.body.statements) == 1 else None
    target, value = found or (None, None)
    if not isinstance(target, s.Index) or not isinstance(value, s.Name):
        return None
    names = [s.describe(target.key), value.id]
    is_global = s.describe(target.object) == "_G" and names == [name.id for name in loop.names]
    return given[0] if is_global and isinstance(given[0], s.Name) else None


def _names(table: s.Name, nodes: Sequence[s.Node]) -> Iterator[str]:
    """Yield the settings of a table that is written there, or that the command line gives, and
    those that are put into it before the loop.
    """
    assigned = [pair for node in nodes for pair in s.assigned(node)]
    put = [value for target, value in assigned if getattr(target, "id", None) == table.id]
    if len(put) != 1:
        return
    entries = (t for t, _ in assigned if isinstance(t, s.Index) and t.start < table.start)
    fields = [t for t in entries if s.describe(t.object) == table.id]
    only = put[0]
    if isinstance(only, s.Table):
        keys = [s.constant(entry.key) if entry.key is not None else None for entry in only.fields]
        if not all(map(is_name, keys)):
            return
        yield from map(str, keys)
    elif isinstance(only, s.Call) and only.method == "parse":
        calls = (node for node in nodes if isinstance(node, s.Call) and node.method == "option")
        for call in calls:
            name = s.constant(call.arguments[0]) if call.arguments else None
            if isinstance(name, str) and is_name(name.lstrip("-")):
                yield name.lstrip("-")
    yield from {str(name): 0 for f in fields if is_name(name := s.constant(f.key))}


def _assignment(name: str, table: s.Name, loop: s.ForEach) -> s.Assign:
    target = s.Name(name, is_global=True)
    made = s.Assign([target], [s.Index(s.Name(table.id), s.Constant(name))])
    s.put_at(made, loop)
    return made
