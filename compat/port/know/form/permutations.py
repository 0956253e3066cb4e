"""Permutations that are nothing but indices.

``torch.randperm`` gives floating point numbers in Lua. Where a script only counts them or looks
things up by them, whole numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


# What gives a part of a permutation, or the same numbers again.
_PARTS = {"narrow", "sub", "clone"}


def orders(block: s.Block, known: Inference) -> Iterator[s.Call]:
    """Yield the calls of ``torch.randperm`` in a block that give such ones."""
    parents = {child: node for node in s.walk(block) for child in node.children()}
    calls = {
        node
        for node in s.walk(block)
        if isinstance(node, s.Call) and known.dotted(node.function) == "torch.randperm"
    }
    yield from (call for call in calls if _is_index(call, calls, parents))


def _is_index(node: s.Node, calls: set[s.Call], parents: Mapping[s.Node, s.Node]) -> bool:
    """Return whether an expression, a permutation or a part of one, gives indices alone."""
    parent = parents.get(node)
    if isinstance(parent, s.Call) and node is parent.function and parent.method in _PARTS:
        return _is_index(parent, calls, parents)
    put = next((n for n, value in s.assigned(parent) if value is node), None) if parent else None
    if not isinstance(put, s.Name):
        is_changed = parent in getattr(parents.get(parent or node), "targets", ())
        return _only_looks_up(node, parent) and not is_changed
    places = [(name, parents.get(name, name)) for name, _ in put.variable.writes]
    places = [(n, made) for n, made in places if not isinstance(made, s.Local) or made.values]
    given = [value for n, made in places for target, value in s.assigned(made) if target is n]
    is_told = len(given) == len(places) and (given == [node] or calls.issuperset(given))
    return is_told and all(_is_index(read, calls, parents) for read, _ in put.variable.reads)


def _only_looks_up(node: s.Node, parent: s.Node | None) -> bool:
    """Return whether an expression gives indices, sizes, or tensors of whole numbers."""
    if isinstance(parent, s.Index):
        return node is parent.object and not isinstance(parent.key, s.Table)
    if isinstance(parent, s.Unary):
        return parent.operator == "#"
    if not isinstance(parent, s.Call) or parent.method is None:
        return False
    if node is parent.function:
        return parent.method in {"long", "size", "nElement", "numel"}
    return parent.method == "index" and parent.arguments[-1] is node
