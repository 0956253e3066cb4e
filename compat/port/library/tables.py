"""Functions of tables and of lists of values."""

from __future__ import annotations

from dataclasses import replace

from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import place


def concat(node: s.Call, draft: Draft) -> Code | None:
    """``table.concat`` of a list of strings or ints."""
    kind = draft.types.type(node.arguments[0])
    if len(node.arguments) > 2 or kind.shape is None or not kind.shape.is_list:
        return None
    if not kind.only(Kind.TABLE):
        return None
    items = kind.shape.items
    glue = draft.value(node.arguments[1]) if len(node.arguments) > 1 else Code('""')
    if not draft.types.type(node.arguments[-1]).is_string and len(node.arguments) > 1:
        return None
    owner = draft.value(node.arguments[0])
    if items.is_string:
        return code.call(f"{glue.atom}.join", owner)
    if items.is_int:
        return code.call(f"{glue.atom}.join", f"map(str, {owner})")
    return None


def insert(node: s.Call, draft: Draft) -> Code | None:
    """``table.insert`` into a list."""
    kind = draft.types.type(node.arguments[0])
    if not kind.only(Kind.TABLE) or kind.shape is None or not kind.shape.is_list:
        return None
    owner = draft.value(node.arguments[0])
    if len(node.arguments) == 2:
        return code.call(f"{owner.atom}.append", draft.value(node.arguments[1]))
    where = place(node.arguments[1], draft)
    return code.call(f"{owner.atom}.insert", where, draft.value(node.arguments[2]))


def insert_values(node: s.Call, draft: Draft) -> Code | None:
    """``tablex.insertvalues`` of a list, behind another."""
    owner, *values = map(draft.types.type, node.arguments)
    lists = [kind.only(Kind.TABLE) and kind.shape is not None for kind in (owner, *values)]
    if len(node.arguments) != 2 or not all(lists):
        return None
    if not all(kind.shape is not None and kind.shape.is_list for kind in (owner, *values)):
        return None
    own, more = map(draft.value, node.arguments)
    return code.call(f"{own.atom}.extend", more)


def remove(node: s.Call, draft: Draft) -> Code | None:
    """``table.remove`` from a list that is not empty."""
    kind = draft.types.type(node.arguments[0])
    if not kind.only(Kind.TABLE) or kind.shape is None or not kind.shape.is_list:
        return None
    owner = draft.value(node.arguments[0])
    if Kind.NIL in draft.types.type(node).atoms:
        return None
    last = [] if len(node.arguments) == 1 else [place(node.arguments[1], draft)]
    made = code.call(f"{owner.atom}.pop", *last)
    if draft.types.was_seen(node) or node in draft.types.filled:
        return made
    if draft.asked is node or last or "(" in owner.text:
        return None
    made = code.ternary(made, owner, Code("None"))
    return replace(made, every=f"lua.removed({owner})")


def sort(node: s.Call, draft: Draft) -> Code | None:
    """``table.sort`` of numbers or strings."""
    kind = draft.types.type(node.arguments[0])
    shape = kind.shape
    if len(node.arguments) == 1 and shape is not None and shape.is_list:
        items = shape.items
        if items.is_number or items.is_string:
            return code.call(f"{draft.value(node.arguments[0]).atom}.sort")
    return None


def unpack(node: s.Call, draft: Draft) -> Code | None:
    """``unpack`` of a whole list."""
    kind = draft.types.type(node.arguments[0])
    if len(node.arguments) == 1 and kind.only(Kind.TABLE) and kind.shape and kind.shape.is_list:
        return Code(f"*{draft.value(node.arguments[0]).atom}", code.UNARY, spread=None)
    return None


def next_(node: s.Call, draft: Draft) -> Code:
    """``next``: a key and its value; behind the last one nil, where somebody counts."""
    given = ", ".join(map(str, draft.arguments(node)))
    return Code(f"lua.next({given})", spread=2, every=f"lua.entry_after({given})")


def select(node: s.Call, draft: Draft) -> Code | None:
    """``select('#', …)``."""
    first, *rest = node.arguments
    is_vararg = len(rest) == 1 and isinstance(rest[0], s.Vararg)
    if isinstance(first, s.Constant) and first.value == "#":
        if is_vararg:
            return code.call("len", draft.any(rest[0]).text[1:])
        return code.call("len", f"({', '.join(map(str, draft.values(rest)))},)" if rest else "()")
    return None


def rawequal(node: s.Call, _draft: Draft) -> Code | None:
    """``rawequal``: Torch7's ``contiguous`` gives another object, PyTorch's the tensor itself."""
    is_new = any(isinstance(a, s.Call) and a.method == "contiguous" for a in node.arguments)
    return Code("False") if is_new else None
