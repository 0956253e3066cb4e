"""Operators, conditions and text put together."""

from __future__ import annotations

import re

from compat.port.know.types import FLOATING, Type
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.tables import Tables
from compat.port.write.values import NONE


class Operators(Tables):
    """What an operator becomes depends on the types of its operands."""

    def unary(self, node: s.Unary) -> Code:
        if node.operator == "not":
            return code.negated(self.truth(node.operand))
        kind = self.types.owner(node.operand)
        operand = self.value(node.operand)
        if node.operator == "#":
            return self.length(operand, kind, node)
        if kind.is_string:
            return Code(f"-{code.call('lua.tonumber', operand)}", code.UNARY)
        is_node = kind.only("module")  # nngraph's -nn.Identity()
        if isinstance(node.operand, s.Constant) or kind.is_number or kind.is_tensor or is_node:
            return Code(f"-{operand.at(code.UNARY)}", code.UNARY)
        self.resolve("open")
        return Code(f"-{operand.at(code.UNARY)}", code.UNARY)

    def length(self, operand: Code, kind: Type, node: s.Unary) -> Code:
        """``#``."""
        self.resolve(self.how(node.operand) if kind.atoms else "open")
        if kind.is_tensor:
            return Code(f"{operand.atom}.size()")
        if kind.is_string or kind.only("sizes", "string"):
            return code.call("len", operand)
        if kind.only("table", "nil") and kind.shape is not None and kind.shape.is_list:
            return code.call("len", operand)
        if not kind.atoms:
            self.mark(f"what {s.describe(node.operand)} is, is not known", "lengths")
        return code.call("lua.length", operand)

    def binary(self, node: s.Binary) -> Code:
        operator = node.operator
        if operator == "and" or operator == "or":
            return self.logic(node)
        if operator == "..":
            return self.concatenation(node)
        if operator in ("==", "~="):
            return self.equality(node)
        left, right = self.types.type(node.left), self.types.type(node.right)
        a, b = self.value(node.left), self.value(node.right)
        if operator in ("<", ">", "<=", ">="):
            a = self.dims_beside(node.left, operator, node.right) or a
            return code.binary(a, operator, b)
        a, b = self.dims(node.left) or a, self.dims(node.right) or b
        return self.arithmetic(operator, a, b, left, right, node)

    def arithmetic(
        self, operator: str, a: Code, b: Code, left: Type, right: Type, node: s.Binary
    ) -> Code:
        """``+ - * / % ^``."""
        known = bool(left.atoms and right.atoms)
        self.resolve("open" if not known else self.how(node.left))
        if left.only("pointer") or (operator == "-" and right.only("module")):
            return code.binary(a, operator, b)  # the second is nngraph's x - nn.Tanh()
        if left.is_number and right.is_number:
            zero = isinstance(node.right, s.Constant) and node.right.value == 0
            if operator in "/%" and zero:
                return code.call("lua.divided" if operator == "/" else "lua.modulo", a, b)
            if operator == "^":
                return code.binary(a, "**", b)
            return code.binary(a, operator, b)
        is_floating = all(
            not k.is_tensor or k.dtypes <= FLOATING | {"?", "Default"} for k in (left, right)
        )
        if left.is_tensor and right.is_tensor and is_floating:
            if operator in "+-":
                return code.binary(a, operator, self.fit(b, node.right, node.left) or b)
            if operator == "*" and left.dims == {1} and right.dims == {1}:
                return Code(f"({code.binary(a, '@', b)}).item()")
            if operator == "*" and left.dims == {2} and right.dims <= {1, 2}:
                return code.binary(a, "@", b)
        one_tensor = left.is_tensor != right.is_tensor
        keeps = operator in "+-*" or (operator == "/" and left.is_tensor)
        if one_tensor and is_floating and keeps and (left.is_number or right.is_number):
            return code.binary(a, operator, b)
        one_number = left.is_number != right.is_number
        unknown = right if left.is_number else left
        # Of a number and a tensor it is the same.
        if (
            one_number
            and operator in "+-*"
            and not unknown.is_known
            and not (unknown.atoms & {"string", "table"})
        ):
            return code.binary(a, operator, b)
        names = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "^": "pow"}
        if not known and operator in "+-" and not (left.may("string") and left.atoms):
            return code.binary(a, operator, b)
        if not known:
            either = node.left if not left.atoms else node.right
            self.mark(f"what {s.describe(either)} is, is not known", "operators")
        return code.call(f"lua.{names[operator]}", a, b)

    def equality(self, node: s.Binary) -> Code:
        """``==`` and ``~=``."""
        positive = node.operator == "=="
        left, right = node.left, node.right
        if positive and self.types.is_tested_list(node):
            call = left if isinstance(left, s.Call) else right
            assert isinstance(call, s.Call)
            return code.call("isinstance", self.value(call.arguments[0]), "list")
        if isinstance(left, s.Constant) and not isinstance(right, s.Constant):
            left, right = right, left
        kind, other = self.types.type(left), self.types.type(right)
        memories = [self.memory(left), self.memory(right)]
        if memories[0] is not None and memories[1] is not None:
            return code.binary(memories[0], "==" if positive else "!=", memories[1])
        names = [n for n in (left, right) if self.types.dotted(n) is not None]
        gave = [n for n in names if isinstance(n, s.Name) and n.variable in self.types.metatables]
        if len(names) == 2 and len(gave) == 1:
            self.mark("in Lua a class and its metatable are two tables", "classes")
        given = self.is_given(left)
        if given is not None and isinstance(right, s.Constant) and right.value is None:
            return code.negated(given) if positive else given
        a, b = self.value(left), self.value(right)
        if isinstance(right, s.Constant) and right.value is None:
            a = self.parameters_or_nil(left) or a
        a = self.dims_beside(left, "==", right) or a
        if isinstance(right, s.Constant) and (
            right.value is None or right.value is True or right.value is False
        ):
            return code.binary(a, "is" if positive else "is not", b)
        plain = {"int", "float", "number", "string", "nil"}
        if kind.only(*plain) or other.only(*plain - {"nil"}):
            if kind.may("tensor", "mask") and not isinstance(right, s.Constant) and not kind.atoms:
                self.resolve("open")
                equal = code.call("lua.equal", a, b)
                return equal if positive else code.negated(equal)
            return code.binary(a, "==" if positive else "!=", b)
        self.resolve(self.how(left) if kind.atoms and other.atoms else "open")
        if kind.atoms and other.atoms and kind.only("boolean") and other.only("boolean"):
            return code.binary(a, "==" if positive else "!=", b)
        same = {"tensor", "table", "module", "function", "nil", "options"}
        if kind.is_tensor and other.is_tensor and (kind.buffer or other.buffer):
            equal = code.call("lua.same", a, b)
            return equal if positive else code.negated(equal)
        if kind.only(*same) and other.only(*same) and not self.has_meta(kind):
            return code.binary(a, "is" if positive else "is not", b)
        equal = code.call("lua.equal", a, b)
        return equal if positive else code.negated(equal)

    def parameters_or_nil(self, node: s.Node) -> Code | None:
        """``module:parameters()`` where it matters whether there are any."""
        if not isinstance(node, s.Call) or node.method != "parameters":
            return None
        if not self.types.type(node.function).only("module"):
            return None
        return code.call("lua.parameters", self.prefix(node.function))

    def is_given(self, node: s.Node) -> Code | None:
        """Whether the command line has ``arg[1]``; None for anything else."""
        if not isinstance(node, s.Index) or self.types.dotted(node.object) != "arg":
            return None
        number = s.constant(node.key)
        if not isinstance(number, int) or number < 1:
            return None
        return Code(f"len(sys.argv) > {number}", code.COMPARE)

    def dims_beside(self, node: s.Node, operator: str, other: s.Node) -> Code | None:
        """``x:dim()`` compared with a number, of an empty tensor 0 in Torch7 and 1 in PyTorch."""
        made = self.dims(node)
        number = s.constant(other)
        if made is None or not isinstance(number, (int, float)):
            return None
        if number == 0:
            return Code(f"{made.text.removesuffix('.dim()')}.numel()")
        return made if number > 1 or operator in (">", "<=") else None

    def memory(self, node: s.Node) -> Code | None:
        """Where a tensor's memory is, for ``x:storage()``; None for anything else."""
        if not isinstance(node, s.Call) or node.method != "storage":
            return None
        if not self.types.type(node.function).is_tensor:
            return None
        return Code(f"{self.prefix(node.function).atom}.untyped_storage().data_ptr()")

    def has_meta(self, kind: Type) -> bool:
        """Whether its tables may have metatables."""
        return kind.shape is not None and "meta" in kind.shape.uses

    def logic(self, node: s.Binary) -> Code:
        """``and`` and ``or``."""
        cases = self.cases(node) if node.operator == "or" else []
        if cases:
            made = self.value(node.right)
            for condition, chosen in reversed(cases):
                made = code.ternary(self.value(chosen), self.truth(condition), made)
            return made
        kind = self.types.type(node.left)
        if kind.only("boolean") and self.types.type(node.right).only("boolean"):
            return code.binary(self.value(node.left), node.operator, self.value(node.right))
        is_past = self._may_be_past(node.left)
        left, right = self.value(node.left), self.value(node.right)
        if is_past and isinstance(node.left, s.Index):
            left = self.index(node.left, is_test=True)
        simple = isinstance(node.left, (s.Name, s.Constant)) or (
            isinstance(node.left, s.Index) and isinstance(node.left.object, s.Name)
        )
        # A run that has seen no nil does not say that there is none: a default stays.
        is_certain = not isinstance(node.left, (s.Name, s.Index))
        if not kind.may("nil", "boolean") and is_certain:
            return left if node.operator == "or" else right
        if kind.atoms - {"nil"} and not kind.may("boolean") and simple and not is_past:
            given = self.is_given(node.left)
            if given is not None:
                left = Code(left.text.partition(" if ")[0])
            test = given or code.binary(left, "is not", NONE)
            if node.operator == "or":
                return code.ternary(left, test, right)
            return code.ternary(right, test, NONE)
        if kind.only("boolean", "nil") and kind.may("boolean") and node.operator == "or":
            return code.binary(left, "or", right)
        if kind.only("boolean"):
            return code.binary(left, "and", right)
        name = "lua.either" if node.operator == "or" else "lua.both"
        return (
            code.call(name, left, f"lambda: {right}")
            if not is_cheap(right)
            else code.call(name, left, right)
        )

    def cases(self, node: s.Binary) -> list[tuple[s.Node, s.Node]]:
        """The conditions and values of ``a and x or b and y or z``; none for anything else."""
        operands: list[s.Node] = []
        left: s.Node = node
        while isinstance(left, s.Binary) and left.operator == "or":
            operands.insert(0, left.right)
            left = left.left
        found = []
        for case in [left, *operands[:-1]]:
            case = case.inner if isinstance(case, s.Paren) else case
            if not isinstance(case, s.Binary) or case.operator != "and":
                return []
            if self.types.type(case.right).may("nil", "boolean"):
                return []
            found.append((case.left, case.right))
        return found

    def truth(self, node: s.Node) -> Code:
        """An expression as a condition: neither nil nor false."""
        if isinstance(node, s.Paren):
            return self.truth(node.inner)
        if isinstance(node, s.Unary) and node.operator == "not":
            return code.negated(self.truth(node.operand))
        if isinstance(node, s.Binary):
            if node.operator in ("and", "or"):
                return code.binary(self.truth(node.left), node.operator, self.truth(node.right))
            if node.operator in ("==", "~=", "<", ">", "<=", ">="):
                return self.value(node)
        if isinstance(node, s.Constant):
            return Code(repr(node.value is not None and node.value is not False))
        parameters = self.parameters_or_nil(node)
        if parameters is not None:
            return code.binary(parameters, "is not", NONE)
        if (given := self.is_given(node)) is not None:
            return given
        condition = self.condition(node) if isinstance(node, s.Call) else None
        if condition is not None:
            return condition
        kind = self.types.type(node)
        if isinstance(node, s.Index) and (kind.may("nil") or self._may_be_past(node)):
            made = self.index(node, is_test=True)
        else:
            made = self.value(node)
        if kind.only("boolean", "nil") and "boolean" in kind.atoms:
            return made
        if kind.only("nil"):  # no more is known of it
            own = self.types.of(node.variable).atoms if isinstance(node, s.Name) else set()
            if own - {"nil"} and "boolean" not in own:
                return code.binary(made, "is not", NONE)
            return code.call("lua.truth", made)
        if kind.atoms and not kind.may("boolean"):
            return code.binary(made, "is not", NONE)
        if not kind.atoms:
            self.resolve("open")
        return code.call("lua.truth", made)

    def _may_be_past(self, node: s.Node) -> bool:
        """Whether an entry may be past the end of its list: no run has shown that it is there."""
        if not isinstance(node, s.Index) or self.types.was_seen(node):
            return False
        kind = self.types.type(node.object)
        is_list = kind.only("table", "nil") and kind.shape is not None and kind.shape.is_list
        return is_list and self.types.dotted(node.object) != "arg"

    def concatenation(self, node: s.Binary) -> Code:
        """``..``: an f-string."""
        return self.formatted(_put_together(node))

    def formatted(self, parts: list[s.Node], separator: str = "") -> Code:
        """An f-string of expressions, as Lua's ``tostring`` shows them."""
        kinds = [self.types.type(p) for p in parts]
        constant = any(isinstance(p, s.Constant) for p in parts)
        if len(parts) == 2 and all(k.is_string for k in kinds) and not (separator or constant):
            return code.binary(self.value(parts[0]), "+", self.value(parts[1]))
        pieces: list[str | tuple[str, str]] = []
        for i, whole in enumerate(parts):
            if i and separator:
                pieces.append(separator)
            for part in _put_together(whole):
                if isinstance(part, s.Constant) and isinstance(part.value, str):
                    pieces.append(code.text_of(part.value))
                else:
                    pieces.append(self.shown(part, self.types.type(part)))
        return code.f_string(pieces)

    def shown(self, node: s.Node, kind: Type) -> tuple[str, str]:
        """An expression in the braces of an f-string, and its format."""
        made = self.value(node)
        text = f"({made})" if made.level <= code.LAMBDA else made.text
        if re.search(r"\.get\([^()]*\)$", text):  # it may be missing
            return f"lua.tostring({text})", ""
        if self.may_be_sizes(node):
            return f"lua.tostring({text})", ""
        if kind.is_string or kind.is_int:
            return text, ""
        if kind.is_number:
            return text, ".14g"
        return f"lua.tostring({text})", ""

    def may_be_sizes(self, node: s.Node) -> bool:
        """Whether it is ``#x`` of what may be a tensor."""
        if not isinstance(node, s.Unary) or node.operator != "#":
            return False
        return self.types.type(node.operand).may("tensor")


def is_cheap(made: Code) -> bool:
    """Whether an expression may be computed though nobody needs it."""
    return "(" not in made.text and "[" not in made.text


def _put_together(node: s.Node) -> list[s.Node]:
    """The operands of ``a .. b .. c``."""
    if isinstance(node, s.Binary) and node.operator == "..":
        return [*_put_together(node.left), *_put_together(node.right)]
    return [node]
