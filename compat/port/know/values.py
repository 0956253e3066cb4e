"""The types of expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compat.port.know.registry import TYPES, expression
from compat.port.know.scopes import PACKAGES
from compat.port.know.shapes import constant
from compat.port.know.types import Type, tensor
from compat.port.library import results
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference

_EVENTS = {
    **{"+": "__add", "-": "__sub", "*": "__mul", "/": "__div", "%": "__mod", "^": "__pow"},
    "..": "__concat",
}


def believed_type(known: Inference, node: s.Node) -> Type:
    """The type of an expression, its first value."""
    own: Type = TYPES[type(node)](known, node)
    if not own.atoms and node in known.guessed_nodes:
        own = own.joined(known.guessed_nodes[node])
    facts = known.facts.get((known.file.path, node.start, node.end))
    is_test = isinstance(node, s.Call) and own.only("boolean")  # Lua gives more than true
    if facts and not is_test and not isinstance(node, (s.Constant, s.Table, s.Function)):
        own = known.believed(own, facts)
        if "table" in own.atoms and own.table is None and not own.atoms & {"object", "class"}:
            own.table = known.seen_table(node, facts)
            own.table.root().items.buffer |= own.buffer
    shape = own.shape
    if shape is not None and shape.klass is not None and "table" in own.atoms:
        own = own.without("table")
        own.atoms.add("class" if shape is shape.klass.members.root() else "object")
    if shape is not None and "options" in shape.uses and "table" in own.atoms:
        own = own.without("table")
        own.atoms.add("options")
    return own


def owner(known: Inference, node: s.Node) -> Type:
    """The type of what has a method or length: where it is nil, Lua would fail, too."""
    kind = known.type(node)
    return kind.without("nil") if kind.atoms - {"nil"} else kind


@expression(s.Constant)
def _constant(_known: Inference, node: s.Constant) -> Type:
    return constant(node.value)


@expression(s.Paren)
def _paren(known: Inference, node: s.Paren) -> Type:
    return known.type(node.inner)


@expression(s.Name)
def _name(known: Inference, node: s.Name) -> Type:
    path = known.dotted(node)
    if path in PACKAGES:
        return Type("package")
    if path == "arg":
        return results.constant(path)
    if path is not None and path in known.classes:
        return known.class_type(known.classes[path])
    own = known.of(node.variable)
    return known.tested(node, own) if node in known.tests else own


@expression(s.Function)
def _function(known: Inference, node: s.Function) -> Type:
    return Type("function", function=known.signature(node))


@expression(s.Vararg)
def _vararg(_known: Inference, _node: s.Vararg) -> Type:
    return Type()


@expression(s.Call)
def _call(known: Inference, node: s.Call) -> Type:
    return known.results(node)[0]


@expression(s.Unary)
def _unary(known: Inference, node: s.Unary) -> Type:
    operand = known.type(node.operand)
    if node.operator == "not":
        return Type("boolean")
    if node.operator == "#":
        kind = known.owner(node.operand)
        if kind.shape is not None and not kind.shape.klass:
            kind.shape.uses.add("length")
        return Type("sizes") if kind.is_tensor else Type("int")
    return _arithmetic(known, "-", Type("int"), operand)


@expression(s.Binary)
def _binary(known: Inference, node: s.Binary) -> Type:
    operator = node.operator
    left, right = known.type(node.left), known.type(node.right)
    if operator in ("==", "~=", "<", ">", "<=", ">="):
        return Type("boolean")
    if operator == "..":
        return Type("string") if known.operator_of("..", left, right) is None else Type()
    if operator == "and":
        if left.only("nil"):
            return left
        joined = Type()
        joined.join(right)
        if left.may("nil", "boolean"):
            joined.atoms |= left.atoms & {"nil", "boolean"}
        return joined
    if operator == "or":
        chosen = node.left.inner if isinstance(node.left, s.Paren) else node.left
        if isinstance(chosen, s.Binary) and chosen.operator == "and":
            left = known.type(chosen.right)  # what is false is not what it gives
        joined = left.without("nil")
        copy = Type()
        copy.join(joined)
        copy.join(right)
        if known.is_settled and not left.atoms and isinstance(chosen, s.Call):
            copy.open = True  # a default tells what a name is, not what a function gives
        return copy if left.atoms or right.atoms else Type()
    return _arithmetic(known, operator, left, right)


def operator_of(known: Inference, operator: str, *operands: Type) -> s.Define | None:
    """The method of a class of the script's that an operator calls."""
    for kind in operands:
        klass = kind.shape.klass if kind.only("object") and kind.shape is not None else None
        if klass is not None:
            define = klass.method(_EVENTS[operator], known.classes)
            if define is not None:
                found: s.Define = define
                return found
    return None


def _arithmetic(known: Inference, operator: str, left: Type, right: Type) -> Type:
    define = known.operator_of(operator, left, right)
    if define is not None:
        signature = known.signature(define.function)
        for i, kind in enumerate((left, right)[: len(define.function.parameters)]):
            known.join(signature.parameter(i), kind)
        return signature.result(0)
    if left.only("pointer"):
        return left
    if operator == "-" and right.only("module"):  # a node of nngraph's
        return Type("module")
    if left.is_tensor or right.is_tensor:
        if operator == "*" and left.is_tensor and right.is_tensor:
            dims = (left.dims, right.dims)
            if dims == ({1}, {1}):
                return Type("float")
            if -1 in left.dims or -1 in right.dims:
                return Type("tensor") if dims != ({-1}, {-1}) else Type()
            return tensor(left.dtypes, [max(right.dims)])
        one = left if left.is_tensor else right
        return tensor(one.dtypes, one.dims)
    if left.is_int and right.is_int and operator in "+-*%":
        return Type("int")
    if operator == "/" and left.is_number and right.is_number:
        return Type("float")
    if left.is_number and right.is_number:
        return Type("float" if "float" in left.atoms | right.atoms else "number")
    if not left.atoms or not right.atoms:
        return Type()
    return Type("number")
