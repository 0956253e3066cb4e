"""``and``, ``or`` and conditions."""

from __future__ import annotations

import ast
import functools
from itertools import zip_longest

from compat.lua_tables import attribute
from compat.port.know.inference import Inference
from compat.port.know.types import NUMBERS, Kind
from compat.port.library import compat_names, strings
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import NONE, Draft
from compat.port.write.tables import index, made_nil, may_lack
from compat.port.write.text import may_be_nil


def logic(node: s.Binary, draft: Draft) -> Code:
    """``and`` and ``or``."""
    if node.operator == "or" and (chosen := _chosen_always(node.left, draft)) is not None:
        node = s.Binary("or", chosen, node.right)
    cases = cases_of(node, draft) if node.operator == "or" else []
    if cases:
        made = draft.value(node.right)
        for condition, chosen in reversed(cases):
            made = code.ternary(draft.value(chosen), truth(condition, draft), made)
        return made
    kind = draft.types.type(node.left)
    if kind.only(Kind.BOOLEAN) and draft.types.type(node.right).only(Kind.BOOLEAN):
        return code.binary(draft.value(node.left), node.operator, draft.value(node.right))
    is_past = _may_miss(node.left, draft)
    left, right = draft.value(node.left), draft.value(node.right)
    if is_past and isinstance(node.left, s.Index):
        left = index(node.left, draft, is_test=True)
    is_field = isinstance(node.left, s.Index) and isinstance(node.left.object, s.Name)
    simple = isinstance(node.left, (s.Name, s.Constant)) or is_field
    simple = simple and not left.text.startswith("lua.")
    # A run that has seen no nil does not say that there is none: a default stays.
    if not kind.may(Kind.NIL, Kind.BOOLEAN) and _is_certain(node.left, draft):
        if node.operator == "or":
            return left
        if not any(isinstance(part, s.Call) for part in s.walk(node.left)):
            return right
    if left.text == "None":
        return right if node.operator == "or" else left
    is_nil = node.operator == "or" and right.text == "None"  # which false becomes, too
    if is_nil and kind.is_known and not kind.may(Kind.BOOLEAN):
        return left
    may_have = node.operator == "or" and code.is_cheap(right) and _looks_up(left)
    if may_have and _holds_no_none(node.left, draft):
        return Code(f"{left.text[:-1]}, {right})")
    if node.operator == "or" and code.is_cheap(right) and isinstance(node.left, s.Binary):
        inside = _within(node.left, node.right, draft)
        if inside is not None and "lua." not in inside.text:
            return inside
    given = is_given(node.left, draft)
    is_there = kind.atoms - {Kind.NIL} and not kind.may(Kind.BOOLEAN)
    if given is not None or (is_there and simple and not is_past):
        if given is not None:
            left = Code(left.text.partition(" if ")[0])
        test = given or code.binary(left, "is not", NONE)
        if node.operator == "or":
            return code.ternary(left, test, right)
        return code.ternary(right, test, NONE)
    if not _may_be_anything(node.left, draft):
        if kind.only(Kind.BOOLEAN, Kind.NIL) and kind.may(Kind.BOOLEAN) and node.operator == "or":
            return code.binary(left, "or", right)
        if kind.only(Kind.BOOLEAN):
            return code.binary(left, "and", right)
    name = "lua.either" if node.operator == "or" else "lua.both"
    return (
        code.call(name, left, f"lambda: {right}")
        if not code.is_cheap(right)
        else code.call(name, left, right)
    )


def _within(node: s.Binary, default: s.Node, draft: Draft) -> Code | None:
    """Return ``a and b or c`` as ``(b or c) if a else c``."""
    if node.operator != "and":
        return None
    made = logic(s.Binary("or", node.right, default), draft)
    return code.ternary(made, truth(node.left, draft), draft.value(default))


def _looks_up(made: Code) -> bool:
    """Return whether an expression is ``d.get(key)``."""
    tree = ast.parse(made.text, mode="eval").body
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Attribute):
        return False
    return tree.func.attr == "get" and len(tree.args) == 1


def _holds_no_none(node: s.Node, draft: Draft) -> bool:
    """Return whether what ``d.get(key)`` looks in has neither None nor False for a value."""
    kind = draft.types.type(node)
    if isinstance(node, s.Call):
        return draft.types.dotted(node.function) == "os.getenv"
    if not isinstance(node, s.Index) or not kind.atoms - {Kind.NIL} or kind.may(Kind.BOOLEAN):
        return False
    owner = draft.types.type(node.object)
    return owner.only(Kind.TABLE) and s.constant(node.key) not in made_nil(owner, draft)


def _is_certain(node: s.Node, draft: Draft) -> bool:
    """Return whether an expression gives what the code says: no variable, no default that is one,
    nothing that a run has seen.
    """
    if isinstance(node, s.Binary) and node.operator in ("and", "or"):
        sides = (node.right,) if node.operator == "or" else (node.left, node.right)
        return all(_is_certain(side, draft) for side in sides)
    return not isinstance(node, (s.Name, s.Index)) and not draft.types.was_seen(node)


def _chosen_always(node: s.Node, draft: Draft) -> s.Node | None:
    """``x`` of ``arg and x``."""
    if isinstance(node, s.Binary) and node.operator == "and":
        return node.right if _is_always_there(node.left, draft) else None
    return None


def _is_always_there(node: s.Node, draft: Draft) -> bool:
    return isinstance(node, s.Name) and draft.types.dotted(node) == "arg"


def _may_be_anything(node: s.Node, draft: Draft) -> bool:
    """Return whether nothing is known of what an expression gives, or a part of ``and`` and
    ``or``.
    """
    if isinstance(node, s.Binary) and node.operator in ("and", "or"):
        return _may_be_anything(node.left, draft) or _may_be_anything(node.right, draft)
    return not draft.types.type(node).atoms


def cases_of(node: s.Binary, draft: Draft) -> list[tuple[s.Node, s.Node]]:
    """Return the conditions and values of ``a and x or b and y or z``; none for anything else."""
    operands: list[s.Node] = []
    left: s.Node = node
    while isinstance(left, s.Binary) and left.operator == "or":
        operands.insert(0, left.right)
        left = left.left
    found = []
    for case in [left, *operands[:-1]]:
        if not isinstance(case, s.Binary) or case.operator != "and":
            return []
        kind = draft.types.type(case.right)
        own = s.describe(case.left)
        is_tested = own == s.describe(case.right) and "…" not in own
        may_fail = kind.may(Kind.NIL, Kind.BOOLEAN) or (
            isinstance(case.right, s.Index)
            and may_be_nil(case.right, draft.value(case.right), draft)
        )
        may_fail &= not is_tested and not _is_of_tensor(case.right, draft)
        if may_fail and not _is_computed(case.right):
            return []
        found.append((case.left, case.right))
    return found


def _is_of_tensor(node: s.Node, draft: Draft) -> bool:
    return isinstance(node, s.Index) and draft.types.type(node.object).is_tensor


def _is_computed(node: s.Node) -> bool:
    """Return whether an expression gives neither nil nor false, whatever its operands are."""
    if isinstance(node, s.Constant):
        return node.value is not None and node.value is not False
    if isinstance(node, s.Unary):
        return node.operator != "not"
    if isinstance(node, s.Binary):
        return node.operator in ("+", "-", "*", "/", "%", "^", "..")
    return isinstance(node, (s.Table, s.Function))


def truth(node: s.Node, draft: Draft) -> Code:
    """Return an expression as a condition: neither nil nor false."""
    if isinstance(node, s.Unary) and node.operator == "not":
        return code.negated(truth(node.operand, draft))
    if isinstance(node, s.Binary):
        if node.operator in ("and", "or"):
            if node.operator == "and" and (chosen := _chosen_always(node, draft)) is not None:
                return truth(chosen, draft)
            return code.binary(truth(node.left, draft), node.operator, truth(node.right, draft))
        if node.operator in ("==", "~=", "<", ">", "<=", ">="):
            return draft.value(node)
    if isinstance(node, s.Constant):
        return Code(repr(node.value is not None and node.value is not False))
    if _is_always_there(node, draft):
        return Code("True")
    if isinstance(node, s.Name) and draft.types.is_never_loaded(draft.types.dotted(node) or ""):
        return Code("False")
    if (given := is_given(node, draft)) is not None:
        return given
    if (condition := strings.condition(node, draft)) is not None:
        return condition
    kind = draft.types.type(node)
    made = tested(node, draft)
    if made.text == "None":  # of a global that nothing sets
        return Code("False")
    if made.text.startswith("getattr(") and _is_method(node, draft):
        return Code(f"has{made.text[3:].removesuffix(', None)')})")
    if kind.only(Kind.BOOLEAN, Kind.NIL) and Kind.BOOLEAN in kind.atoms:
        return made
    if kind.only(Kind.NIL):  # no more is known of it
        own = draft.types.of(node.variable).atoms if isinstance(node, s.Name) else set()
        if own - {Kind.NIL} and Kind.BOOLEAN not in own:
            return code.binary(made, "is not", NONE)
        return code.call("lua.truth", made)
    if kind.atoms and not kind.may(Kind.BOOLEAN):
        return code.binary(made, "is not", NONE)
    if kind.is_known and not kind.may(Kind.TENSOR, Kind.OBJECT, Kind.LUA, *NUMBERS):
        return code.binary(made, "not in", Code("(None, False)"))  # 0 is equal to False
    if not kind.atoms:
        draft.page.resolve("open")
    return code.call("lua.truth", made)


def _is_method(node: s.Node, draft: Draft) -> bool:
    """Return whether a layer's field is a method, if it is there."""
    if not isinstance(node, s.Index) or not draft.types.indexed(node).only(Kind.MODULE):
        return False
    name, field = str(s.constant(node.key)), attribute(str(s.constant(node.key)))
    called, others = _called_and_set(draft.types)
    is_known = name in called or compat_names.is_field(field)
    return is_known and not {name, _ANY} & others and not compat_names.is_value(field)


_ANY = ""  # of a layer's field whose name is computed


@functools.lru_cache(maxsize=1)
def _called_and_set(known: Inference) -> tuple[set[str], set[str]]:
    """Return the names of methods that a program calls, and of fields that it sets to something
    that is no function.
    """
    called: set[str] = set()
    others: set[str] = set()
    for node in (part for file in known.files for part in s.walk(file.block)):
        if isinstance(node, s.Call) and node.method is not None:
            called.add(node.method)
        if isinstance(node, s.Call) and known.dotted(node.function) == "rawset":
            others.add(_ANY)
        if isinstance(node, s.Assign):
            for target, value in zip_longest(node.targets, node.values[: len(node.targets)]):
                if isinstance(target, s.Index) and not isinstance(value, s.Function):
                    name = s.constant(target.key)
                    is_any = name is None and Kind.MODULE in known.indexed(target).atoms
                    # What copies an object, copy[k] = v, gives it what another has by its name.
                    is_any &= value is not None and Kind.BOOLEAN in known.type(value).atoms
                    others.add(_ANY if is_any else str(name))
    return called, others


def tested(node: s.Node, draft: Draft) -> Code:
    """Return an expression that is asked for whether it is there."""
    kind = draft.types.type(node)
    if isinstance(node, s.Index) and (kind.may(Kind.NIL) or _may_miss(node, draft)):
        return index(node, draft, is_test=True)
    return draft.value(node)


def _may_miss(node: s.Node, draft: Draft) -> bool:
    """Return whether a layer may not have a field, or an entry may be past the end of its list."""
    if not isinstance(node, s.Index):
        return False
    if may_lack(node, draft):
        return True
    is_list = draft.types.type(node.object).is_list(Kind.NIL)
    return is_list and draft.types.dotted(node.object) != "arg"


def is_given(node: s.Node, draft: Draft) -> Code | None:
    """Return whether the command line has ``arg[1]``; None for anything else."""
    if not isinstance(node, s.Index) or draft.types.dotted(node.object) != "arg":
        return None
    number = s.constant(node.key)
    if not isinstance(number, int) or number < 1:
        return None
    return Code(f"len(sys.argv) > {number}", code.COMPARE)
