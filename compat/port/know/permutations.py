"""Permutations that are nothing but indices.

``torch.randperm`` gives floating point numbers in Lua. Where a script only counts them or looks
things up by them, whole numbers do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from compat.port.know.scopes import Variable
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def orders(block: s.Block, known: Inference) -> Iterator[s.Call]:
    """Yield the calls of ``torch.randperm`` in a block that give such ones."""
    parents = {child: node for node in s.walk(block) for child in node.children()}
    for node in s.walk(block):
        if not isinstance(node, s.Call) or node.method is not None:
            continue
        if known.dotted(node.function) != "torch.randperm":
            continue
        variable = _variable(node, parents.get(node))
        is_index = variable is not None and all(
            _only_looks_up(read, parents.get(read)) for read, _ in variable.reads
        )
        if is_index or _only_looks_up(node, parents.get(node)):
            yield node


def _variable(call: s.Call, parent: s.Node | None) -> Variable | None:
    """Return the variable that nothing but a call is put into."""
    if not isinstance(parent, s.Local) or call not in parent.values:
        return None
    place = parent.values.index(call)
    if place >= len(parent.names):
        return None
    variable: Variable = parent.names[place].variable
    return variable if len(variable.writes) == 1 else None


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
