"""Functions of numbers, lists and results that the table cannot say."""

from __future__ import annotations

from dataclasses import replace

from compat.port.know.types import Kind
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.places import place
from compat.port.write.zeros import may_be_zero


def floor(node: s.Call, draft: Draft) -> Code | None:
    """``math.floor`` of a division of ints is ``//``."""
    inner = node.arguments[0]
    if not isinstance(inner, s.Binary) or inner.operator != "/":
        return None
    are_ints = all(draft.types.type(part).is_int for part in (inner.left, inner.right))
    if not are_ints or may_be_zero(inner.right, draft):
        return None
    return code.binary(draft.value(inner.left), "//", draft.value(inner.right))


def power(node: s.Call, draft: Draft) -> Code | None:
    """``math.pow`` is ``^``."""
    return draft.value(s.Binary("^", *node.arguments)) if len(node.arguments) == 2 else None


def extreme(node: s.Call, draft: Draft) -> Code | None:
    """``math.max`` and ``math.min``: of one value, Python's take what they go through, and of two
    the first if one is nan, where Lua's take the second.
    """
    function = (draft.types.dotted(node.function) or "").removeprefix("math.")
    made = draft.arguments(node)
    if len(made) == 1:
        is_open = made[0].text.startswith("*")
        return code.call(function, made[0].text[1:]) if is_open else made[0]
    is_open = len(made) == 2 and made[1].text.startswith("*")
    are_ints = all(draft.types.type(argument).is_int for argument in node.arguments)
    has_calls = any(isinstance(n, s.Call) for a in node.arguments for n in s.walk(a))
    if len(made) == 2 and not (is_open or are_ints or has_calls):
        return code.call(function, made[1], made[0])
    return code.call(function, f"[{made[0]}, {made[1]}]") if is_open else None


def insert(node: s.Call, draft: Draft) -> Code | None:
    """``table.insert`` at a place that may be behind the end, where Python's would not leave it, or
    of what may be nil, which is no entry.
    """
    is_placed = len(node.arguments) == 3 and s.constant(node.arguments[1]) != 1
    if not is_placed and not draft.types.may_be_nil(node.arguments[-1]):
        return None
    return code.call("lua.insert", *draft.arguments(node))


def remove(node: s.Call, draft: Draft) -> Code | None:
    """``table.remove`` from a list that is not empty."""
    kind = draft.types.type(node.arguments[0])
    if not kind.is_list():
        return None
    owner = draft.value(node.arguments[0])
    if Kind.NIL in draft.types.type(node).atoms:
        return None
    last = [] if len(node.arguments) == 1 else [place(node.arguments[1], draft)]
    made = code.call(f"{owner.atom}.pop", *last)
    if draft.types.was_seen(node) or node in draft.types.clues.filled:
        return made
    if draft.asked is node or last or "(" in owner.text:
        return None
    made = code.ternary(made, owner, Code("None"))
    return replace(made, every=f"lua.removed({owner})")


def select(node: s.Call, draft: Draft) -> Code | None:
    """``select('#', …)``, and ``select(2, f())`` where it is known how many there are."""
    first, *rest = node.arguments
    is_vararg = len(rest) == 1 and isinstance(rest[0], s.Vararg)
    if isinstance(first, s.Constant) and first.value == "#":
        if is_vararg:
            return code.call("len", draft.any(rest[0]).text[1:])
        return code.call("len", f"({', '.join(map(str, draft.values(rest)))},)" if rest else "()")
    chosen = draft.types.selected(node)
    if chosen is None:
        return None
    inner, number = chosen
    made = draft.any(inner)
    every = made.every or (made.atom if made.spread not in (0, 1, None) else "")
    if not every:
        return None
    one = Code(f"{every}[{number - 1}]")
    if made.pair and number == 2:
        one = code.binary(Code(f"{made.pair}[1]"), "+", Code("1"))
    return one if draft.types.count(node) == 1 else replace(one, every=f"{every}[{number - 1}:]")


def type_(node: s.Call, draft: Draft) -> Code | None:
    """``torch.type`` of a module of nn's."""
    kind = draft.types.type(node.arguments[0])
    is_module = kind.only(Kind.MODULE) and all(name.startswith("nn.") for name in kind.classes)
    is_module = is_module and bool(kind.classes)
    return code.call("torch7.type", *draft.arguments(node)) if is_module else None


def rawequal(node: s.Call, _draft: Draft) -> Code | None:
    """``rawequal``: Torch7's ``contiguous`` gives another object, PyTorch's the tensor itself."""
    is_new = any(isinstance(a, s.Call) and a.method == "contiguous" for a in node.arguments)
    return Code("False") if is_new else None


def exit_(node: s.Call, _draft: Draft) -> Code | None:
    """``os.exit(false)``, whose status is 1."""
    given = [a.value for a in node.arguments[:1] if isinstance(a, s.Constant)]
    return Code(f"sys.exit({int(not given[0])})") if given and isinstance(given[0], bool) else None
