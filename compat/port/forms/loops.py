"""Loops over entries: ``for k, v in next, t do`` is ``for k, v in pairs(t) do``."""

from __future__ import annotations

from compat.port.read import syntax as s


def use_pairs(block: s.Block) -> None:
    """Write them with ``pairs``, where ``next`` is Lua's, and no metatable has an own ``pairs``."""
    nodes = list(s.walk(block))
    if any(isinstance(n, s.Constant) and n.value == "__pairs" for n in nodes):
        return
    loops = [n for n in nodes if isinstance(n, s.ForEach) and _goes_through_all(n.values)]
    used = {id(loop.values[0]) for loop in loops}
    used |= {id(node.function) for node in nodes if isinstance(node, s.Call)}
    if all(id(n) in used for n in nodes if isinstance(n, s.Name) and n.id == "next"):
        for loop in loops:
            call = s.Call(s.Name("pairs"), [loop.values[1]], None)
            s.put_at(call, loop.values[0])
            loop.values = [call]


def _goes_through_all(values: list[s.Node]) -> bool:
    is_next = isinstance(values[0], s.Name) and values[0].id == "next"
    return is_next and len(values) > 1 and all(map(s.is_nil, values[2:]))
