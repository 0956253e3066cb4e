"""The keys of tables: where there may be nothing under them, and in which order they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.form.shapes import next_of
from compat.port.know.scopes import FunctionScope
from compat.port.know.structures import Table
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


def is_next(known: Inference, key: s.Node, table: Table) -> bool:
    """Return whether a key is ``#t + 1`` of the table itself."""
    own = next_of(key)
    return own is not None and known.type(own).shape is table


def in_any_order(known: Inference, key: s.Node) -> bool:
    """Return whether entries are written by functions that are called later, in any order."""
    if not isinstance(key, s.Name) or key.variable.scope is None:
        return False
    scope: FunctionScope = key.variable.scope
    if key.variable.is_parameter and scope.node is not None:
        return known.signature(scope.node).root().is_job
    return any(read is key and where is not scope for read, where in key.variable.reads)


def is_shuffled(known: Inference, key: s.Node) -> bool:
    """Return whether a key is an entry of a permutation."""
    order = key.object if isinstance(key, s.Index) else None
    given = known.clues.sources.get(order.variable, []) if isinstance(order, s.Name) else []
    return any(value in known.clues.orders for value in given)


def may_be_outside(known: Inference, key: s.Node) -> bool:
    """Return whether a key may be below 1: ``i - 1``, but not of a loop that begins later; or
    past the end where that is no error.
    """
    if key in known.clues.passed_past:
        return True
    if isinstance(key, s.Constant):
        return isinstance(key.value, int) and key.value < 1
    if isinstance(key, s.Name):
        return known.clues.firsts.get(key.variable, 1) < 1
    if not isinstance(key, s.Binary) or key.operator != "-":
        return s.is_negative(key)
    less = s.constant(key.right)
    return isinstance(less, int) and less >= _least(known, key.left)


def _least(known: Inference, node: s.Node) -> int:
    """Return the least that an index may be that something is taken off: of loops the first."""
    if isinstance(node, s.Name):
        return known.clues.firsts.get(node.variable, 1)
    parts = (node.left, node.right) if isinstance(node, s.Binary) and node.operator == "*" else ()
    times = next((s.constant(p) for p in parts if isinstance(s.constant(p), int)), 1)
    own = next((p for p in parts if isinstance(p, s.Name)), None)
    return 1 if own is None else times * _least(known, own)


def may_miss(known: Inference, shape: Table, key: s.Node) -> bool:
    """Return whether there may be nothing under a key that is no name."""
    if known.holds(shape, key):
        return False
    if known.may_be_outside(key) and not shape.has(s.constant(key)):
        return True
    is_computed = shape.is_dict and not isinstance(key, s.Constant) and bool(shape.made)
    return known.is_settled and (is_computed or known.is_past(key, shape))


def is_past(known: Inference, key: s.Node, shape: Table) -> bool:
    """Return whether a key, or the last of a loop, is past the end of a list."""
    name, more = key, 0
    if isinstance(key, s.Binary) and key.operator == "+" and isinstance(s.constant(key.right), int):
        name, more = key.left, s.constant(key.right)
    last = known.clues.lasts.get(name.variable) if isinstance(name, s.Name) else s.constant(name)
    return isinstance(last, int) and shape.is_past(last + more)
