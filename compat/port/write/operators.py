"""Operators of numbers and texts, and comparisons."""

from __future__ import annotations

import re

from compat.port.know.types import FLOATING, NUMBERS, Kind, Type
from compat.port.library import rules, strings
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft, expression
from compat.port.write.logic import is_given, logic, tested, truth
from compat.port.write.places import dims
from compat.port.write.tables import index, may_lack
from compat.port.write.text import concatenation
from compat.port.write.zeros import may_be_zero

_PYTHON = {"^": "**"}


@expression(s.Unary)
def unary(node: s.Unary, draft: Draft, _hint: str) -> Code:
    """``-x``, ``#x``, ``not x``."""
    if node.operator == "not":
        return code.negated(truth(node.operand, draft))
    kind = draft.types.owner(node.operand)
    if node.operator == "#":
        return length(draft.prefix(node.operand), kind, node, draft)
    operand = draft.prefix(node.operand)
    if kind.is_string:
        operand = code.call("lua.tonumber", operand)
    elif not (kind.is_number or kind.is_tensor or kind.only(Kind.MODULE)):
        draft.page.resolve("open")
    return Code(f"-{operand.at(code.UNARY)}", code.UNARY)


def dimensions(node: s.Node, draft: Draft) -> Code | None:
    """``#x:size()`` of a tensor that may be empty: it has no dimensions then."""
    if not isinstance(node, s.Call) or node.method != "size" or node.arguments:
        return None
    kind = draft.types.owner(node.function)
    may_be_empty = kind.is_tensor and kind.dims & {-1, 0}
    return code.call("lua.dim", draft.value(node.function)) if may_be_empty else None


def length(operand: Code, kind: Type, node: s.Unary, draft: Draft) -> Code:
    """``#``."""
    draft.page.resolve(draft.how(node.operand) if kind.atoms else "open")
    if kind.is_tensor:
        return Code(f"{operand.atom}.size()")
    if (sized := dimensions(node.operand, draft)) is not None:
        return sized
    if kind.is_string or kind.only(Kind.SIZES, Kind.STRING):
        return code.call("len", operand)
    if kind.is_list(Kind.NIL) and kind.shape and kind.shape.uses & {"nil inside", "trimmed"}:
        draft.page.mark("Lua's # may end at a nil in a table", "lengths")
    if kind.is_list(Kind.NIL) and kind.shape and "nil at its end" not in kind.shape.uses:
        return code.call("len", operand)
    if kind.only(Kind.MODULE) or kind.is_lua_s:
        return code.call("len", operand)
    if not kind.atoms:
        draft.unknown(node.operand, "lengths")
    return code.call("lua.length", operand)


@expression(s.Binary)
def binary(node: s.Binary, draft: Draft, _hint: str) -> Code:
    """``a + b``, ``a .. b``, ``a == b``, ``a and b``."""
    operator = node.operator
    if operator == "and" or operator == "or":
        return logic(node, draft)
    if operator == "..":
        return concatenation(node, draft)
    if operator in ("==", "~="):
        return equality(node, draft)
    left, right = draft.types.owner(node.left), draft.types.owner(node.right)
    if operator in ("<", ">", "<=", ">="):
        a, b = draft.prefix(node.left), draft.prefix(node.right)
        a = dims_beside(node.left, operator, node.right, draft) or a
        return code.binary(a, operator, b)
    a = dims(node.left, draft) or draft.prefix(node.left)
    b = dims(node.right, draft) or draft.prefix(node.right)
    a, b = rules.dense(a, node.left, draft), rules.dense(b, node.right, draft)
    return arithmetic(operator, a, b, left, right, node, draft)


def arithmetic(
    operator: str, a: Code, b: Code, left: Type, right: Type, node: s.Binary, draft: Draft
) -> Code:
    """``+ - * / % ^``."""
    known = bool(left.atoms and right.atoms)
    draft.page.resolve("open" if not known else draft.how(node.left))
    if left.only(Kind.POINTER) or (operator == "-" and draft.types.is_layer(right)):
        return code.binary(a, operator, b)  # the second is nngraph's x - nn.Tanh()
    if draft.types.operator_of(operator, left, right) is not None:
        return code.binary(a, _PYTHON.get(operator, operator), b)
    if left.is_number and right.is_number:
        if operator == "%" and (rounded := _in_floats(a, node)) is not None:
            made = code.binary(rounded, "%", b)
            return code.call("int", made) if left.is_int else made
        is_inexact = operator == "%" and right.only(Kind.FLOAT)
        if is_inexact or (operator in "/%" and may_be_zero(node.right, draft)):
            return code.call("lua.divided" if operator == "/" else "lua.modulo", a, b)
        if operator == "^":  # of a negative one Python gives a complex number
            base = s.constant(node.left)
            is_real = right.is_int or (isinstance(base, (int, float)) and base > 0)
            if may_be_zero(node.left, draft):  # an error of a negative exponent
                is_real = isinstance(s.constant(node.right), int)
            return code.binary(a, "**", b) if is_real else code.call("lua.pow", a, b)
        return code.binary(a, operator, b)
    is_floating = all(
        not k.is_tensor or k.dtypes <= FLOATING | {"?", "Default"} for k in (left, right)
    )
    if left.is_tensor and right.is_tensor and is_floating:
        if operator in "+-":
            return code.binary(a, operator, rules.fit(b, node.right, node.left, draft) or b)
        if operator == "*" and left.dims == {1} and right.dims == {1}:
            return Code(f"({code.binary(a, '@', b)}).item()")
        if operator == "*" and left.dims == {2} and right.dims <= {1, 2}:
            return code.binary(a, "@", b)
    one_number = left.is_number != right.is_number
    keeps = operator in "+-*" or (operator == "/" and left.is_tensor)
    if one_number and left.is_tensor != right.is_tensor and is_floating and keeps:
        return code.binary(a, operator, b)
    unknown = right if left.is_number else left
    # Of a number and a tensor it is the same.
    is_either = one_number and not (unknown.is_known or unknown.atoms & {Kind.STRING, Kind.TABLE})
    if is_either and operator in "+-*":
        return code.binary(a, operator, b)
    names = {"+": "add", "-": "sub_", "*": "mul", "/": "div", "%": "mod", "^": "pow"}
    is_sum = operator in "+-" and not (left.may(Kind.STRING) and left.atoms)
    is_thin = left.thin or right.thin  # its sum with a vector is a matrix in PyTorch
    if not known and is_sum and not is_thin:
        return code.binary(a, operator, b)
    if not known and not is_sum:
        either = node.left if not left.atoms else node.right
        draft.unknown(either, "operators")
    return code.call(f"lua.{names[operator]}", a, b)


def _in_floats(made: Code, node: s.Binary) -> Code | None:
    """Return ``x * 1103515245 + 1`` of ``(x * 1103515245 + 1) % 2^31`` with ``1103515245.0``: the
    product may be beyond 2^53, where Lua rounds. None: it is not, as far as constants tell.
    """
    right = node.right
    base, power = s.constant(right), 1
    if isinstance(right, s.Binary) and right.operator == "^":
        base, power = s.constant(right.left), s.constant(right.right)
    products = [n for n in s.walk(node.left) if isinstance(n, s.Binary) and n.operator == "*"]
    for factor in (s.constant(side) for n in products for side in (n.left, n.right)):
        are_ints = all(isinstance(number, int) for number in (factor, base, power))
        if are_ints and factor * base**power > 2**53:
            return Code(re.sub(rf"\b{factor}\b", f"{factor}.0", made.text), made.level)
    return None


def equality(node: s.Binary, draft: Draft) -> Code:
    """``==`` and ``~=``."""
    positive = node.operator == "=="
    left, right = node.left, node.right
    if positive and draft.types.is_tested_list(node):
        call = left if isinstance(left, s.Call) else right
        assert isinstance(call, s.Call)
        only = call.arguments[0]
        return code.call("isinstance", draft.value(only), _kinds_of_list(only, draft))
    if isinstance(left, s.Constant) and not isinstance(right, s.Constant):
        left, right = right, left
    if (test := _type_test(left, s.constant(right), draft)) is not None:
        return test if positive else code.negated(test)
    kind, other = draft.types.type(left), draft.types.type(right)
    memories = [memory(left, draft), memory(right, draft)]
    if memories[0] is not None and memories[1] is not None:
        return code.binary(memories[0], "==" if positive else "!=", memories[1])
    names = [n for n in (left, right) if draft.types.dotted(n) is not None]
    gave = [n for n in names if isinstance(n, s.Name) and n.variable in draft.types.metatables]
    if len(names) == 2 and len(gave) == 1:
        return Code("False" if positive else "True")  # in Lua a class and its metatable are two
    nothing = s.is_nil(right)
    given = (is_given(left, draft) or strings.found(left, draft)) if nothing else None
    if given is not None:
        return code.negated(given) if positive else given
    a, b = (
        index(n, draft, is_test=True)
        if isinstance(n, s.Index) and may_lack(n, draft)
        else draft.value(n)
        for n in (left, right)
    )
    if nothing:
        a = tested(left, draft)
    a = dims_beside(left, "==", right, draft) or a

    def by(function: str) -> Code:
        equal = code.call(function, a, b)
        return equal if positive else code.negated(equal)

    if nothing or isinstance(s.constant(right), bool):
        return _identity(node, a, b)
    if _mixes(kind, other) or _mixes(other, kind):  # in Python False is 0
        return by("lua.equal")
    plain = {Kind.INT, Kind.FLOAT, Kind.NUMBER, Kind.STRING, Kind.NIL}
    is_plain = kind.only(*plain) or other.only(*plain - {Kind.NIL})
    if Kind.TENSOR in kind.atoms | other.atoms:
        is_plain = False  # in Lua a tensor is no number; PyTorch compares each element
    if is_plain and (kind.atoms or isinstance(right, s.Constant)):
        return code.binary(a, "==" if positive else "!=", b)
    draft.page.resolve(draft.how(left) if kind.atoms and other.atoms else "open")
    if kind.only(Kind.BOOLEAN) and other.only(Kind.BOOLEAN):
        return code.binary(a, "==" if positive else "!=", b)
    if kind.is_tensor and other.is_tensor and (kind.buffer or other.buffer):
        return by("lua.same")
    same = {Kind.TENSOR, Kind.TABLE, Kind.MODULE, Kind.FUNCTION, Kind.NIL, Kind.OPTIONS}
    if kind.only(*same) and other.only(*same) and not kind.has_meta:
        return _identity(node, a, b)
    return by("lua.equal")


_PLAIN = {Kind.NIL, Kind.STRING, Kind.BOOLEAN, Kind.TABLE, Kind.TENSOR, *NUMBERS}


def _type_test(call: s.Node, name: object, draft: Draft) -> Code | None:
    """``type(x) == 'string'``, where Python can ask the same."""
    path = draft.types.dotted(call.function) if isinstance(call, s.Call) else None
    if not isinstance(call, s.Call) or path not in ("type", "torch.type"):
        return None
    if call.method is not None or len(call.arguments) != 1 or not isinstance(name, str):
        return None
    kind, subject = draft.types.type(call.arguments[0]), tested(call.arguments[0], draft)
    if path == "torch.type" and name.startswith("nn."):
        return code.binary(code.call("torch7.type", subject), "==", Code(f'"{name}"'))
    python = {"string": "str", "boolean": "bool"}.get(name)
    if name == "number" and kind.is_known and Kind.BOOLEAN not in kind.atoms:
        python = "(int, float)"
    is_plain = kind.is_known and kind.atoms <= _PLAIN and not kind.has_meta
    if name == "table" and is_plain and kind.shape is not None and kind.shape.klass is None:
        only = call.arguments[0]
        python = _kinds_of_list(only, draft) if kind.shape.is_list else "(list, dict)"
    return None if python is None else code.call("isinstance", subject, python)


def _kinds_of_list(node: s.Node, draft: Draft) -> str:
    """Return what a list may be in Python: one that a run saw may be written as a dict, beside
    tables that are none.
    """
    return "(list, dict)" if draft.how(node) == "run" else "list"


def _identity(node: s.Binary, a: Code, b: Code) -> Code:
    """Return ``a is b``; linters make ``==`` of it beside a literal, which compares contents."""
    if any(_is_literal(part) for part in (node.left, node.right)):
        equal = code.call("lua.equal", a, b)
        return equal if node.operator == "==" else code.negated(equal)
    return code.binary(a, "is" if node.operator == "==" else "is not", b)


def _is_literal(node: s.Node) -> bool:
    if isinstance(node, s.Constant):
        return isinstance(node.value, (int, float, str)) and not isinstance(node.value, bool)
    return isinstance(node, s.Table)


def _mixes(kind: Type, other: Type) -> bool:
    """Return whether a boolean may meet a number."""
    return Kind.BOOLEAN in kind.atoms and bool(other.atoms & NUMBERS)


def dims_beside(node: s.Node, operator: str, other: s.Node, draft: Draft) -> Code | None:
    """``x:dim()`` compared with a number, of an empty tensor 0 in Torch7 and 1 in PyTorch."""
    made = dims(node, draft)
    number = s.constant(other)
    if made is None or not isinstance(number, (int, float)):
        return None
    if number == 0:
        return Code(f"{made.text.removesuffix('.dim()')}.numel()")
    return made if number > 1 or operator in (">", "<=") else None


def memory(node: s.Node, draft: Draft) -> Code | None:
    """Return where a tensor's memory is, for ``x:storage()``; None for anything else."""
    if not isinstance(node, s.Call) or node.method != "storage":
        return None
    if not draft.types.type(node.function).is_tensor:
        return None
    return Code(f"{draft.prefix(node.function).atom}.untyped_storage().data_ptr()")
