"""Entries of lists that are there when they are assigned to."""

from __future__ import annotations

from compat.port.know.files import File
from compat.port.know.inference import Inference
from compat.port.read import syntax as s


def overwritten(file: File, types: Inference) -> set[s.Index]:
    """Return the targets ``t[k]`` for which ``t`` has ``k``.

    A loop goes through ``t`` and ``k`` is its key, or a run saw it be there at an earlier
    assignment to the same.
    """
    loops = {key: over for node in s.walk(file.block) for key, over in _keys(node, types)}
    found: set[s.Index] = set()
    seen: set[tuple[object, str]] = set()
    for function in [
        file.block,
        *(n.body for n in s.walk(file.block) if isinstance(n, s.Function)),
    ]:
        for target in _targets(function):
            name = s.describe(target)
            if "…" in name:
                continue
            key = target.key
            if types.facts.get((file.path, key.start, -key.end)) == ["over"]:
                seen.add((function, name))
            over = None
            if isinstance(key, s.Name) and len(key.variable.writes) == 1:
                over = loops.get(key.variable)
            if (function, name) in seen or over == s.describe(target.object):
                found.add(target)
    return found


def _targets(block: s.Block) -> list[s.Index]:
    assigned = [n for n in s.walk(block) if isinstance(n, s.Assign)]
    targets = [t for n in assigned for t in n.targets if isinstance(t, s.Index)]
    return sorted(targets, key=lambda t: t.start)


def _keys(node: s.Node, types: Inference) -> list[tuple[object, str]]:
    """Return a loop's variable that is a key of a table, and the table."""
    if isinstance(node, s.ForEach) and len(node.values) == 1:
        call = node.values[0]
        path = types.dotted(call.function) if isinstance(call, s.Call) else None
        if path in ("pairs", "ipairs") and isinstance(call, s.Call) and call.arguments:
            return [(node.names[0].variable, s.describe(call.arguments[0]))]
    if isinstance(node, s.ForRange) and isinstance(node.last, s.Unary):
        starts = isinstance(node.first, s.Constant) and node.first.value == 1
        if node.last.operator == "#" and starts and node.step is None:
            return [(node.name.variable, s.describe(node.last.operand))]
    return []
