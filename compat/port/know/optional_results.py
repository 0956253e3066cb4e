"""The results of functions that depend on whether an argument is given.

``if t == nil then return list end; return {[t] = list}``: a call without ``t`` gives a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.form.shapes import may_end
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference
    from compat.port.know.structures import Signature


def returns(known: Inference, function: s.Function) -> tuple[int, dict[s.Return, bool]]:
    """Return the place of the parameter that decides what a function gives, and its returns: True
    of those that are reached only if it is nil, False of those if it is not.
    """
    found = known.decided.get(function)
    if found is None:
        found = known.decided[function] = _returns(known, function)
    return found


def _returns(known: Inference, function: s.Function) -> tuple[int, dict[s.Return, bool]]:
    names = [p.variable for p in function.parameters]
    for place, node in enumerate(function.body.statements, 1):
        condition, body = node.clauses[0] if isinstance(node, s.If) else (None, s.Block([]))
        own, is_nil = _tested(condition) if condition is not None else (None, False)
        if not isinstance(node, s.If) or own not in names or own in known.clues.sources:
            continue
        behind = [inner for _, inner in node.clauses[1:]]
        if not may_end(body):
            behind.append(s.Block(function.body.statements[place:]))
        found = dict.fromkeys(_inside(body), is_nil)
        others = {n: not is_nil for inner in behind for n in _inside(inner)}
        if found and others:
            return names.index(own), found | others
    return 0, {}


def _inside(block: s.Node) -> list[s.Return]:
    """Return the returns in a block that are its function's."""
    if isinstance(block, s.Function):
        return []
    found = [block] if isinstance(block, s.Return) else []
    return found + [n for child in block.children() for n in _inside(child)]


def _tested(node: s.Node) -> tuple[object, bool]:
    """Return the variable that a condition asks of, and whether it is true of nil."""
    if isinstance(node, s.Unary) and node.operator == "not":
        return getattr(node.operand, "variable", None), True
    if isinstance(node, s.Binary) and node.operator in ("==", "~=") and s.is_nil(node.right):
        return getattr(node.left, "variable", None), node.operator == "=="
    return getattr(node, "variable", None), False


def note(known: Inference, signature: Signature, node: s.Return, i: int, kind: Type) -> bool:
    """Note a table that is a result in some calls; returns whether it is one."""
    function = signature.nodes[0] if len(signature.nodes) == 1 else None
    shape = kind.shape
    if function is None or shape is None or shape.klass is not None:
        return False
    is_nil = returns(known, function)[1].get(node)
    if is_nil is None:
        return False
    signature.result(i)  # has all else that it gives there
    known.join(signature.apart[is_nil, i], kind)
    return True


def results(known: Inference, signature: Signature, arguments: list[Type], i: int) -> Type:
    """Return a result of a call as far as the argument decides on it."""
    place, _ = returns(known, signature.nodes[0])
    given = arguments[place] if place < len(arguments) else Type(Kind.NIL)
    may_be = [True, False]
    if given.only(Kind.NIL):
        may_be = [True]
    elif not (given.may_be_nil or Kind.BOOLEAN in given.atoms) and (
        given.is_known or not known.is_settled
    ):
        may_be = [False]
    made = Type()
    for is_nil in may_be:
        found = signature.apart[is_nil, i]
        made.join(found)
        made.open |= known.is_settled and not found.atoms
    return made
