"""Entries of lists that are there when they are assigned to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.files import File
from compat.port.know.form.shapes import length_of
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def overwritten(file: File, types: Inference) -> set[s.Node]:
    """Return the keys of targets ``t[k]`` for which ``t`` has ``k``.

    A loop goes through ``t`` and ``k`` is its key, ``t[k]`` is computed with, or a run saw it be
    there at an earlier assignment to the same.
    """
    loops = {key: over for node in s.walk(file.block) for key, over in _keys(node, types)}
    found: set[s.Node] = set()
    seen: set[tuple[object, str]] = set()
    for function in [
        file.block,
        *(n.body for n in s.walk(file.block) if isinstance(n, s.Function)),
    ]:
        for target, value in _assigned(function):
            name = s.describe(target)
            if "…" in name:
                continue
            key = target.key
            if types.facts.get((file.path, key.start, -key.end)) == ["over"]:
                seen.add((function, name))
            over = None
            if isinstance(key, s.Name) and len(key.variable.writes) == 1:
                over = loops.get(key.variable)
            is_there = (function, name) in seen or _computes_with(value, name)
            if is_there or over == s.describe(target.object):
                found.add(key)
    return found


def _assigned(block: s.Block) -> list[tuple[s.Index, s.Node]]:
    nodes = [n for n in s.walk(block) if isinstance(n, s.Assign)]
    pairs = [
        (t, n.values[min(i, len(n.values) - 1)]) for n in nodes for i, t in enumerate(n.targets)
    ]
    return sorted(((t, v) for t, v in pairs if isinstance(t, s.Index)), key=lambda p: p[0].start)


def _computes_with(value: s.Node, name: str) -> bool:
    """Return whether nil under a name would be an error: ``name + 1``, ``name:clone()``."""
    if isinstance(value, s.Binary) and value.operator in {*"+-*/%^", ".."}:
        parts = [value.left, value.right]
    elif isinstance(value, s.Call) and value.method is not None:
        parts = [value.function]
    else:
        return False
    return any(s.describe(part) == name or _computes_with(part, name) for part in parts)


def _keys(node: s.Node, types: Inference) -> list[tuple[object, str]]:
    """Return a loop's variable that is a key of a table, and the table."""
    if isinstance(node, s.ForEach) and len(node.values) == 1:
        call = node.values[0]
        path = types.dotted(call.function) if isinstance(call, s.Call) else None
        if path in ("pairs", "ipairs") and isinstance(call, s.Call) and call.arguments:
            return [(node.names[0].variable, s.describe(call.arguments[0]))]
    if isinstance(node, s.ForRange):
        low, high = node.first, node.last
        if s.is_negative(node.step):
            low, high = high, low
        length = length_of(high)
        if length is not None and s.constant(low) == 1:
            return [(node.name.variable, s.describe(length))]
    return []
