"""The types of expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod

from compat.port.know.entries import Entries
from compat.port.know.scopes import PACKAGES
from compat.port.know.shapes import constant
from compat.port.know.types import Type, tensor
from compat.port.library import results
from compat.port.read import syntax as s

_EVENTS = {
    **{"+": "__add", "-": "__sub", "*": "__mul", "/": "__div", "%": "__mod", "^": "__pow"},
    "..": "__concat",
}


class Values(Entries, ABC):
    """What expressions may be; ``Calls`` adds those that call."""

    guessed_nodes: dict[s.Node, Type]

    @abstractmethod
    def results(self, node: s.Call) -> list[Type]:
        """The types of what a call gives."""

    def type(self, node: s.Node) -> Type:
        """The type of an expression, its first value."""
        own = self._type(node)
        if not own.atoms and node in self.guessed_nodes:
            own = own.joined(self.guessed_nodes[node])
        facts = self.facts.get((self.file.path, node.start, node.end))
        is_test = isinstance(node, s.Call) and own.only("boolean")  # Lua gives more than true
        if facts and not is_test and not isinstance(node, (s.Constant, s.Table, s.Function)):
            own = self._believed(own, facts)
            if "table" in own.atoms and own.table is None and not own.atoms & {"object", "class"}:
                own.table = self._seen_table(node, facts)
                own.table.root().items.buffer |= own.buffer
        shape = own.shape
        if shape is not None and shape.klass is not None and "table" in own.atoms:
            own = own.without("table")
            own.atoms.add("class" if shape is shape.klass.members.root() else "object")
        if shape is not None and "options" in shape.uses and "table" in own.atoms:
            own = own.without("table")
            own.atoms.add("options")
        return own

    def owner(self, node: s.Node) -> Type:
        """The type of what has a method or length: where it is nil, Lua would fail, too."""
        kind = self.type(node)
        return kind.without("nil") if kind.atoms - {"nil"} else kind

    def _type(self, node: s.Node) -> Type:
        if isinstance(node, s.Constant):
            return constant(node.value)
        if isinstance(node, s.Paren):
            return self.type(node.inner)
        if isinstance(node, s.Name):
            path = self.dotted(node)
            if path in PACKAGES:
                return Type("package")
            if path == "arg":
                return results.constant(path)
            if path is not None and path in self.classes:
                return self._class_type(self.classes[path])
            own = self.of(node.variable)
            return self._tested(node, own) if node in self.tests else own
        if isinstance(node, s.Function):
            return Type("function", function=self.signature(node))
        if isinstance(node, s.Table):
            return self._table(node)
        if isinstance(node, s.Index):
            return self._index(node)
        if isinstance(node, s.Call):
            return self.results(node)[0]
        if isinstance(node, s.Unary):
            self.type(node.operand)
            if node.operator == "not":
                return Type("boolean")
            if node.operator == "#":
                kind = self.owner(node.operand)
                if kind.shape is not None and not kind.shape.klass:
                    kind.shape.uses.add("length")
                return Type("sizes") if kind.is_tensor else Type("int")
            return self._arithmetic("-", Type("int"), self.type(node.operand))
        if isinstance(node, s.Binary):
            return self._binary(node)
        return Type()

    def _binary(self, node: s.Binary) -> Type:
        operator = node.operator
        left, right = self.type(node.left), self.type(node.right)
        if operator in ("==", "~=", "<", ">", "<=", ">="):
            return Type("boolean")
        if operator == "..":
            return Type("string") if self.operator_of("..", left, right) is None else Type()
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
                left = self.type(chosen.right)  # what is false is not what it gives
            joined = left.without("nil")
            copy = Type()
            copy.join(joined)
            copy.join(right)
            if self._is_settled and not left.atoms and isinstance(chosen, s.Call):
                copy.open = True  # a default tells what a name is, not what a function gives
            return copy if left.atoms or right.atoms else Type()
        return self._arithmetic(operator, left, right)

    def operator_of(self, operator: str, *operands: Type) -> s.Define | None:
        """The method of a class of the script's that an operator calls."""
        for kind in operands:
            klass = kind.shape.klass if kind.only("object") and kind.shape is not None else None
            if klass is not None:
                define = klass.method(_EVENTS[operator], self.classes)
                if define is not None:
                    found: s.Define = define
                    return found
        return None

    def _arithmetic(self, operator: str, left: Type, right: Type) -> Type:
        define = self.operator_of(operator, left, right)
        if define is not None:
            signature = self.signature(define.function)
            for i, kind in enumerate((left, right)[: len(define.function.parameters)]):
                self._join(signature.parameter(i), kind)
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
