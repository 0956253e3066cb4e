"""Expressions of Lua in Python."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from compat.port import code, library
from compat.port import syntax as s
from compat.port.code import Code
from compat.port.inference import Inference, counts_up, is_open
from compat.port.results import FLOATING, METHODS, WITH_TOTAL, kind_of
from compat.port.scopes import PACKAGES, FunctionScope, python_name
from compat.port.types import Table, Type

_METHODS_OF_DICT = set(dir(dict))
NONE = Code("None")


class Expressions(ABC):
    """What an expression becomes; ``Draft`` adds the statements."""

    types: Inference
    scope: FunctionScope
    _is_prefix = False

    # What Draft has

    @abstractmethod
    def mark(self, reason: str, anchor: str) -> None:
        """Note that something stayed open in this statement."""

    @abstractmethod
    def resolve(self, how: str) -> None:
        """Count a place whose meaning depends on types."""

    @abstractmethod
    def function(self, node: s.Function, name: str) -> Code:
        """A function as an expression."""

    @abstractmethod
    def imported(self, node: s.Call) -> Code:
        """``require`` or ``dofile`` of a file of the program."""

    @abstractmethod
    def name_of(self, node: s.Name) -> str:
        """A variable in Python."""

    def how(self, node: s.Node) -> str:
        """How the type of an expression is known."""
        return "run" if self.types.was_seen(node) else "code"

    # Values

    def value(self, node: s.Node, hint: str = "f") -> Code:
        """An expression as one value."""
        made = self.any(node, hint)
        if made.counts:
            return Code(f"{made.atom}[0]")
        if made.is_mask:
            return Code(f"{made.atom}.byte()")
        if made.spread == 1:
            return made
        if made.text.startswith("*"):
            return first_of(made)
        if made.spread is None:
            return code.call("lua.first", made)
        if made.spread == 0:
            return made
        return Code(f"{made.atom}[0]")

    def prefix(self, node: s.Node) -> Code:
        """A value that something follows: where it is missing, Lua would fail, too."""
        if isinstance(node, s.Index):
            self._is_prefix = True
        return self.value(node)

    def values(self, nodes: list[s.Node], hint: str = "f") -> list[Code]:
        """A list of expressions, of which the last may be several values (with a star)."""
        made = [self.value(n, hint) for n in nodes[:-1]]
        if nodes:
            last = nodes[-1]
            made += self.spread(self.any(last, hint)) if is_open(last) else [self.value(last, hint)]
        return made

    def spread(self, made: Code) -> list[Code]:
        """All values of an expression, to stand in an argument list."""
        if made.tells:
            self.tell()
        if made.counts:
            return [Code(f"*lua.counted({made})")]
        if made.is_mask:
            return [Code(f"{made.atom}.byte()")]
        if made.every:
            return [Code(f"*{made.every}")]
        if made.spread == 1:
            return [made]
        if made.text.startswith("*"):
            return [made]
        if made.spread is None:
            return [Code(f"*lua.values({made})")]
        return [Code(f"*{made.at(code.UNARY)}" if made.spread else f"*({made} or ())")]

    def tell(self) -> None:
        """Mark a statement that uses the text of an error."""
        self.mark("the text of this error is Python's", "errors")

    def any(self, node: s.Node, hint: str = "f") -> Code:
        """An expression, whatever it stands for."""
        if isinstance(node, s.Constant):
            return self.constant(node)
        if isinstance(node, s.Paren):
            return self.value(node.inner, hint)
        if isinstance(node, s.Name):
            return self.variable(node)
        if isinstance(node, s.Index):
            return self.index(node)
        if isinstance(node, s.Call):
            return self.call(node)
        if isinstance(node, s.Function):
            return self.function(node, hint)
        if isinstance(node, s.Table):
            return self.table(node, hint)
        if isinstance(node, s.Unary):
            return self.unary(node)
        if isinstance(node, s.Binary):
            return self.binary(node)
        assert isinstance(node, s.Vararg)
        is_file = self.scope.node is None
        return Code("*sys.argv[1:]" if is_file else "*args", spread=None)

    def constant(self, node: s.Constant) -> Code:
        value = node.value
        if isinstance(value, str):
            return code.string(value)
        if isinstance(value, float):
            text = repr(value)
            return Code("math.inf" if text == "inf" else text)
        return Code(repr(value))

    def variable(self, node: s.Name) -> Code:
        path = self.types.dotted(node)
        if path is not None:
            return self.path(path, node)
        return Code(self.name_of(node))

    def path(self, path: str, node: s.Node) -> Code:
        """A function or package as a value."""
        klass = self.types.classes.get(path)
        if klass is not None:
            return Code(self.class_name(klass))
        return library.value(path, self)

    def class_name(self, klass: Any) -> str:
        """What a class of the script's is called; one of another file is imported."""
        name = self.class_in_its_file(klass)
        if klass.module == self.types.file.module:
            return name
        # There it may be called ``layer``, as the classes of other files.
        plain = python_name(klass.name.split(".")[-1])
        self.bring(klass.module, name, plain)
        return plain

    @abstractmethod
    def bring(self, module: str, name: str, known_as: str) -> None:
        """Import a name from another file of the program."""

    def class_in_its_file(self, klass: Any) -> str:
        if klass.variable is not None and not klass.variable.is_global:
            return str(klass.variable.python)
        return python_name(klass.name.split(".")[-1])

    # Operators

    def unary(self, node: s.Unary) -> Code:
        if node.operator == "not":
            return code.negated(self.truth(node.operand))
        kind = self.types.type(node.operand)
        operand = self.value(node.operand)
        if node.operator == "#":
            return self.length(operand, kind, node)
        if kind.is_string:
            return Code(f"-{code.call('lua.tonumber', operand)}", code.UNARY)
        if isinstance(node.operand, s.Constant) or kind.is_number or kind.is_tensor:
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
            self.mark(f"what {describe(node.operand)} is, is not known", "lengths")
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
        if left.only("pointer"):
            return code.binary(a, operator, b)
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
                return code.binary(a, operator, b)
            if operator == "*" and left.dims == {1} and right.dims == {1}:
                return Code(f"({code.binary(a, '@', b)}).item()")
            if operator == "*" and left.dims == {2} and right.dims <= {1, 2}:
                return code.binary(a, "@", b)
        one_tensor = left.is_tensor != right.is_tensor
        keeps = operator in "+-*" or (operator == "/" and left.is_tensor)
        if one_tensor and is_floating and keeps and (left.is_number or right.is_number):
            return code.binary(a, operator, b)
        one_number = left.is_number != right.is_number and not known
        if one_number and operator == "*":  # of a number and a tensor it is the same
            return code.binary(a, operator, b)
        names = {"+": "add", "-": "sub", "*": "mul", "/": "div", "%": "mod", "^": "pow"}
        if not known and operator in "+-" and not (left.may("string") and left.atoms):
            return code.binary(a, operator, b)
        if not known:
            either = node.left if not left.atoms else node.right
            self.mark(f"what {describe(either)} is, is not known", "operators")
        return code.call(f"lua.{names[operator]}", a, b)

    def equality(self, node: s.Binary) -> Code:
        """``==`` and ``~=``."""
        positive = node.operator == "=="
        left, right = node.left, node.right
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

    def dims(self, node: s.Node) -> Code | None:
        """``x:dim()`` where nobody minds that Torch7's empty tensor has none; else None."""
        if not isinstance(node, s.Call) or node.method not in ("dim", "nDimension"):
            return None
        if node.arguments or not self.types.type(node.function).is_tensor:
            return None
        return Code(f"{self.prefix(node.function).atom}.dim()")

    def dims_beside(self, node: s.Node, operator: str, other: s.Node) -> Code | None:
        """``x:dim()`` compared with a number, of an empty tensor 0 in Torch7 and 1 in PyTorch."""
        made = self.dims(node)
        number = other.value if isinstance(other, s.Constant) else None
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

    def concatenation(self, node: s.Binary) -> Code:
        """``..``: an f-string."""
        parts: list[s.Node] = []
        waiting: list[s.Node] = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part, s.Binary) and part.operator == "..":
                waiting += [part.right, part.left]
            else:
                parts.append(part)
        return self.formatted(parts)

    def formatted(self, parts: list[s.Node], separator: str = "") -> Code:
        """An f-string of expressions, as Lua's ``tostring`` shows them."""
        kinds = [self.types.type(p) for p in parts]
        constant = any(isinstance(p, s.Constant) for p in parts)
        if len(parts) == 2 and all(k.is_string for k in kinds) and not (separator or constant):
            return code.binary(self.value(parts[0]), "+", self.value(parts[1]))
        pieces: list[str | tuple[str, str]] = []
        for i, (part, kind) in enumerate(zip(parts, kinds, strict=True)):
            if i and separator:
                pieces.append(separator)
            if isinstance(part, s.Constant) and isinstance(part.value, str):
                pieces.append(code.text_of(part.value))
            else:
                pieces.append(self.shown(part, kind))
        return code.f_string(pieces)

    def shown(self, node: s.Node, kind: Type) -> tuple[str, str]:
        """An expression in the braces of an f-string, and its format."""
        made = self.value(node)
        text = f"({made})" if made.level <= code.LAMBDA else made.text
        if re.search(r"\.get\([^()]*\)$", text):  # it may be missing
            return f"lua.tostring({text})", ""
        if kind.is_string or kind.is_int:
            return text, ""
        if kind.is_number:
            return text, ".14g"
        return f"lua.tostring({text})", ""

    def logic(self, node: s.Binary) -> Code:
        """``and`` and ``or``."""
        if (
            node.operator == "or"
            and isinstance(node.left, s.Binary)
            and node.left.operator == "and"
        ):
            condition, chosen, other = node.left.left, node.left.right, node.right
            if not self.types.type(chosen).may("nil", "boolean"):
                return code.ternary(self.value(chosen), self.truth(condition), self.value(other))
        kind = self.types.type(node.left)
        if kind.only("boolean") and self.types.type(node.right).only("boolean"):
            return code.binary(self.value(node.left), node.operator, self.value(node.right))
        left, right = self.value(node.left), self.value(node.right)
        simple = isinstance(node.left, (s.Name, s.Constant)) or (
            isinstance(node.left, s.Index) and isinstance(node.left.object, s.Name)
        )
        # A run that has seen no nil does not say that there is none: a default stays.
        is_certain = not isinstance(node.left, (s.Name, s.Index))
        if not kind.may("nil", "boolean") and is_certain:
            return left if node.operator == "or" else right
        if kind.atoms - {"nil"} and not kind.may("boolean") and simple:
            test = code.binary(left, "is not", NONE)
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
        condition = library.condition(node, self) if isinstance(node, s.Call) else None
        if condition is not None:
            return condition
        kind = self.types.type(node)
        if isinstance(node, s.Index) and kind.may("nil"):
            made = self.index(node, is_test=True)
        else:
            made = self.value(node)
        if kind.only("boolean", "nil") and "boolean" in kind.atoms:
            return made
        if kind.only("nil"):  # no more is known of it
            return code.call("lua.truth", made)
        if kind.atoms and not kind.may("boolean"):
            return code.binary(made, "is not", NONE)
        if not kind.atoms:
            self.resolve("open")
        return code.call("lua.truth", made)

    # Tables

    def table(self, node: s.Table, hint: str = "t") -> Code:
        """``{…}``."""
        shape = node.shape.root()
        if shape.klass is not None:
            named = [
                f"{f.key.value}={self.value(f.value)}"
                for f in node.fields
                if isinstance(f.key, s.Constant)
            ]
            return code.call(self.class_name(shape.klass), *named)
        if "meta" in shape.uses:
            return code.call("lua.Table", *([self.items(node, shape, hint)] if node.fields else []))
        if not node.fields:
            return Code("[]" if shape.is_list else "{}")
        if shape.is_list and (all(f.key is None for f in node.fields) or counts_up(node)):
            return self.bracketed("[", node, [f.value for f in node.fields], "]", hint)
        return self.items(node, shape, hint)

    def items(self, node: s.Table, shape: Table, hint: str) -> Code:
        """A dict."""
        items = []
        number = 0
        for i, entry in enumerate(node.fields):
            if entry.key is None:
                number += 1
                if i == len(node.fields) - 1 and is_open(entry.value):
                    made = self.any(entry.value, hint)
                    if made.spread != 1:
                        values = ", ".join(map(str, self.spread(made)))
                        items.append(f"**lua.numbered({number}, {values})")
                        continue
                value = self.value(entry.value, hint)
                if value.text != "None":
                    items.append(f"{number}: {value}")
            else:
                key = self.value(entry.key)
                name = key.text.strip('"') if key.text.startswith('"') else hint
                value = self.value(entry.value, name if name.isidentifier() else hint)
                if value.text == "None" and shape.names:
                    continue
                items.append(f"{key}: {value}")
        return Code(f"{{{self.with_comments(node, items)}}}")

    def bracketed(
        self, left: str, node: s.Table, values: list[s.Node], right: str, hint: str
    ) -> Code:
        items = [str(v) for v in self.values(values, hint)]
        return Code(f"{left}{self.with_comments(node, items)}{right}")

    def with_comments(self, node: s.Table, items: list[str]) -> str:
        """Entries behind commas, each on its own line where there are comments between them."""
        if len(items) != len(node.fields) or not any(f.comments for f in node.fields):
            return ", ".join(items)
        lines = []
        for entry, item in zip(node.fields, items, strict=True):
            lines += [*entry.comments, f"{item},"]
        return "\n" + "\n".join(lines) + "\n"

    def index(self, node: s.Index, is_test: bool = False) -> Code:
        """``object[key]``."""
        is_prefix, self._is_prefix = self._is_prefix, False
        path = self.types.dotted(node)
        if path is not None and path.split(".")[0] in PACKAGES:
            return self.path(path, node)
        klass = self.types.class_of(node.object)
        name = node.key.value if isinstance(node.key, s.Constant) else None
        kind = self.types.type(node.object)
        if kind.only("nil"):
            kind = Type()  # it is not always
        if self.types.dotted(node.object) == "arg" and not is_test:
            return Code(f"sys.argv[{self.value(node.key)}]")
        owner = self.prefix(node.object)
        self.resolve(self.how(node.object) if kind.atoms else "open")
        if kind.only("package"):
            package = library.package(str(self.types.dotted(node.object)))
            return code.call("getattr", package, self.value(node.key))
        if kind.only("object") and kind.shape is None:  # a table with a metatable
            return code.call("lua.index", owner, self.value(node.key))
        if name == "__typename":
            return code.call("lua.typename", owner)
        if klass is not None or kind.only("object", "class", "nil"):
            return self.attribute(owner, node, is_test)
        if kind.only("options"):
            if isinstance(name, str) and name.isidentifier() and name not in _METHODS_OF_DICT:
                return self.option(owner, name, node, is_test)
            return Code(f"{owner.atom}.get({self.value(node.key)})")
        if kind.is_tensor and name == "new":
            return code.call("lua.maker", owner)
        if kind.is_tensor and self.types.type(node.key).is_string:  # a method
            return code.call("lua.index", owner, self.value(node.key))
        if kind.is_tensor:
            return self.element(owner, node, kind)
        if kind.only("sizes"):
            return Code(f"{owner.atom}[{code.shifted(self.value(node.key))}]")
        if kind.only("pointer"):
            return Code(f"{owner.atom}[{self.value(node.key)}]")
        if kind.only("module", "nil"):
            return self.of_module(owner, node, is_test)
        if kind.only("table", "nil") and kind.shape is not None:
            return self.of_table(owner, node, kind, is_test, is_prefix)
        if kind.only("table", "options", "nil") and kind.shape is not None and kind.shape.is_dict:
            return Code(f"{owner.atom}.get({self.value(node.key)})")
        if kind.atoms and not kind.may("table", "tensor", "module", "options"):
            return code.call("lua.index", owner, self.value(node.key))
        self.mark(f"what {describe(node.object)} is, is not known", "indices")
        return code.call("lua.index", owner, self.value(node.key))

    def option(self, owner: Code, name: str, node: s.Index, is_test: bool) -> Code:
        attribute = python_attribute(name)
        kind = self.types.type(node)
        shape = self.types.type(node.object).shape
        is_declared = shape is None or name in shape.always or not shape.always
        if is_test or not is_declared or (self.types.was_seen(node) and "nil" in kind.atoms):
            return Code(f'{owner.atom}.get("{name}")')
        return Code(f"{owner.atom}.{attribute}")

    def attribute(self, owner: Code, node: s.Index, is_test: bool = False) -> Code:
        name = node.key.value if isinstance(node.key, s.Constant) else None
        if isinstance(name, str) and name.isidentifier():
            return Code(f"{owner.atom}.{method_name(name)}")
        return code.call("lua.index", owner, self.value(node.key))

    def of_module(self, owner: Code, node: s.Index, is_test: bool) -> Code:
        name = node.key.value if isinstance(node.key, s.Constant) else None
        if isinstance(name, str) and name.isidentifier():
            kind = self.types.type(node)
            if is_test or (self.types.was_seen(node) and "nil" in kind.atoms):
                return Code(f'getattr({owner}, "{python_attribute(name)}", None)')
            made = f"{owner.atom}.{python_attribute(name)}"
            # Lua's function takes the object as its first argument.
            return Code(f"{made}.__func__" if name in METHODS else made)
        return code.call("lua.index", owner, self.value(node.key))

    def of_table(
        self, owner: Code, node: s.Index, kind: Type, is_test: bool, is_prefix: bool = False
    ) -> Code:
        """``t[key]`` of a list or dict."""
        shape = kind.shape
        assert shape is not None
        key_kind = self.types.type(node.key)
        result = self.types.type(node)
        was_seen = self.types.was_seen(node)
        may_miss = not is_prefix and ("nil" in result.atoms if was_seen else is_test)
        if "meta" in shape.uses:
            return code.call("lua.index", owner, self.value(node.key))
        if shape.is_list and key_kind.is_number:
            if is_length_of(node.key, node.object):
                return (
                    Code(f"{owner.atom}[-1]")
                    if not may_miss
                    else code.call("lua.index", owner, self.value(node.key))
                )
            if may_miss:
                return code.call("lua.index", owner, self.value(node.key))
            return Code(f"{owner.atom}[{self.place(node.key)}]")
        key = self.value(node.key)
        if shape.is_list:
            return code.call("lua.index", owner, key)
        name = node.key.value if isinstance(node.key, s.Constant) else None
        certain = isinstance(name, str) and name in shape.always and "deleted" not in shape.uses
        if is_prefix or (was_seen and not may_miss) or (certain and not is_test):
            return Code(f"{owner.atom}[{key}]")
        return Code(f"{owner.atom}.get({key})")

    def whole(self, node: s.Node) -> Code:
        """A number where PyTorch takes ints only."""
        made = self.value(node)
        kind = self.types.type(node)
        return made if kind.is_int or not kind.is_number else code.call("int", made)

    def place(self, key: s.Node) -> Code:
        """A key as an index from 0."""
        if isinstance(key, s.Name) and key.variable.zero_based:
            return Code(self.name_of(key))
        kind = self.types.type(key)
        made = self.dims(key) or self.value(key)
        if not kind.is_int and not made.text.isdigit():
            return code.call("int", code.shifted(made))
        return code.shifted(made)

    def element(self, owner: Code, node: s.Index, kind: Type) -> Code:
        """``x[key]`` of a tensor, as a value."""
        made, is_number = self.selection(owner, node.key, kind)
        result = self.types.type(node)
        if is_number or (is_number is None and result.is_number):
            return Code(f"{made.atom}.item()")
        if is_number is None and not result.is_tensor:
            self.mark(f"whether {describe(node)} is a number is not known", "views")
            return code.call("lua.item", made)
        return made

    def selection(self, owner: Code, key: s.Node, kind: Type) -> tuple[Code, bool | None]:
        """``x[key]``, and whether that is one number (None: not known)."""
        key_kind = self.types.type(key)
        if isinstance(key, s.Table):
            return self.slices(owner, key, kind)
        if key_kind.is_number:
            number = (
                True if kind.dims == {1} else None if -1 in kind.dims or 1 in kind.dims else False
            )
            return Code(f"{owner.atom}[{self.place(key)}]"), number
        if key_kind.only("mask", "tensor"):
            return Code(f"{owner.atom}[{self.mask(key)}]"), False
        if key_kind.only("sizes", "storage"):
            return Code(f"{owner.atom}[tuple(i - 1 for i in {self.value(key)})]"), True
        self.mark(f"what {describe(key)} is, is not known", "indices")
        return code.call("lua.index", owner, self.value(key)), False

    def mask(self, key: s.Node) -> Code:
        """A tensor that selects."""
        made = self.any(key)
        return Code(made.text, made.level) if made.is_mask else Code(f"{made.atom}.bool()")

    def slices(self, owner: Code, key: s.Table, kind: Type) -> tuple[Code, bool | None]:
        """``x[{{a, b}, i}]``."""
        parts = []
        taken = 0
        for entry in key.fields:
            value = entry.value
            if isinstance(value, s.Table):
                ends = [f.value for f in value.fields]
                if not ends:
                    parts.append(":")
                elif len(ends) == 1:
                    last = self.value(ends[0])
                    first = self.place(ends[0])
                    end = "" if last.text == "-1" else str(self.end(ends[0]))
                    parts.append(code.sliced(str(first), end))
                else:
                    first = self.place(ends[0])
                    beginning = "" if first.text == "0" else str(first)
                    parts.append(code.sliced(beginning, str(self.end(ends[1]))))
            elif self.types.type(value).is_number:
                parts.append(str(self.place(value)))
                taken += 1
            else:
                self.mark(f"what {describe(value)} is, is not known", "indices")
                return code.call("lua.index", owner, self.table(key)), None
        if not parts:
            return owner, False
        while len(parts) > 1 and parts[-1] == ":":
            parts.pop()
        is_number = None if -1 in kind.dims else kind.dims == {taken}
        if taken == 0:
            is_number = False
        return Code(f"{owner.atom}[{', '.join(parts)}]"), is_number

    def end(self, node: s.Node) -> Code:
        """The last index of a slice, which Python's slices stop before."""
        made = self.value(node)
        if made.text == "-1":
            return Code("")
        if re.fullmatch(r"-\d+", made.text):
            return Code(str(int(made.text) + 1))
        if isinstance(node, s.Name) and node.variable.zero_based:
            return code.shifted(Code(self.name_of(node)), 1)
        kind = self.types.type(node)
        return made if kind.is_int or made.text.isdigit() else code.call("int", made)

    # Calls

    def call(self, node: s.Call) -> Code:
        """A call, whose results may be any number."""
        if node.method is not None:
            return library.method(node, self)
        if node.arguments and is_open(node.arguments[-1]) and self.types.takes_all(node):
            self.note_results(node.arguments[-1])
        path = self.types.dotted(node.function)
        if path is not None:
            klass = self.types.classes.get(path)
            if klass is None:
                return library.function(path, node, self)
            return code.call(self.class_name(klass), *self.arguments(node))
        if (
            isinstance(node.function, s.Name)
            and self.types.file_of(node) is not None
            and node.function.id in ("require", "dofile")
        ):
            return self.imported(node)
        kind = self.types.type(node.function)
        function = self.prefix(node.function)
        if kind.only("table") and self.has_meta(kind):
            return Code(code.call("lua.call", function, *self.arguments(node)).text, spread=None)
        made = code.call(function.atom, *self.fitting(node, kind))
        return Code(made.text, spread=self.types.count(node) if not kind.only("class") else 1)

    def arguments(self, node: s.Call) -> list[Code]:
        """The arguments of a call."""
        names = [
            "feval" if (self.types.dotted(node.function) or "").startswith("optim.") else "f"
            for _ in node.arguments
        ]
        made: list[Code] = []
        for i, argument in enumerate(node.arguments):
            if i == len(node.arguments) - 1 and is_open(argument):
                made += self.spread(self.any(argument, names[i]))
            else:
                made.append(self.value(argument, names[i]))
        return made

    def fitting(self, node: s.Call, kind: Type) -> list[Code]:
        """The arguments of a call of a function: of the last call's results as many as it takes."""
        made = self.arguments(node)
        last = node.arguments[-1] if node.arguments else None
        nodes = kind.signature.nodes if kind.only("function") and kind.signature else []
        taken = {-1 if n.is_vararg else len(n.parameters) for n in nodes}
        if isinstance(last, s.Call) and len(taken) == 1 and made[-1].text.startswith("*"):
            left = taken.pop() - len(made) + 1
            if left >= 0 and self.types.count(last) != left:
                inner = made[-1].text[1:].removeprefix("lua.values(")
                inner = inner[:-1] if inner != made[-1].text[1:] else inner
                made[-1] = Code(f"*lua.adjust({inner}, {left})")
        return made

    def note_results(self, node: s.Node) -> None:
        """Mark a call of Torch7's whose results count, and that gives more or fewer in Lua."""
        given = self.types.count(node)
        if given is None or not isinstance(node, s.Call):
            return
        seen = self.types.facts.get((self.types.file.path, -node.start, node.end), [])
        if self.types.called(node) is not None or all(int(count) == given for count in seen):
            owner = self.types.type(node.function)
            gives_two = owner.classes & WITH_TOTAL and node.method in ("forward", "updateOutput")
            if node.method is None or not owner.only("module") or not gives_two:
                return
            seen = ["2"]
        counts = " or ".join(sorted(seen))
        self.mark(f"{describe(node)} gives {counts} results in Lua, here {given}", "results")

    def kinds(self, nodes: list[s.Node]) -> str:
        """The letters of the types of arguments."""
        return "".join(kind_of(self.types.type(n)) for n in nodes)


# Text ---------------------------------------------------------------------------------------------


def describe(node: s.Node) -> str:
    """An expression, to name it in a mark."""
    if isinstance(node, s.Name):
        return node.id
    if isinstance(node, s.Index):
        key = node.key
        if isinstance(key, s.Constant):
            shown = f".{key.value}" if isinstance(key.value, str) else f"[{key.value}]"
        else:
            shown = f"[{describe(key)}]"
        return f"{describe(node.object)}{shown}"
    if isinstance(node, s.Call):
        method = f":{node.method}" if node.method else ""
        return f"{describe(node.function)}{method}(…)"
    if isinstance(node, s.Constant):
        return str(node.value)
    if isinstance(node, s.Paren):
        return describe(node.inner)
    if isinstance(node, s.Binary):
        return f"{describe(node.left)} {node.operator} {describe(node.right)}"
    return "…"


def first_of(made: Code) -> Code:
    """The first of several values, ``*values``; None if there is none."""
    inner = made.text[1:]
    return code.call("lua.first", inner) if inner == "args" else Code(f"next(iter({inner}), None)")


def is_cheap(made: Code) -> bool:
    """Whether an expression may be computed though nobody needs it."""
    return "(" not in made.text and "[" not in made.text


def is_length_of(key: s.Node, owner: s.Node) -> bool:
    """Whether a key is ``#owner``."""
    return (
        isinstance(key, s.Unary)
        and key.operator == "#"
        and isinstance(key.operand, s.Name)
        and isinstance(owner, s.Name)
        and key.operand.variable is owner.variable
    )


_METAMETHODS = {
    "__init": "__init__", "__tostring": "__str__", "__tostring__": "__str__",
    "__add": "__add__", "__add__": "__add__", "__sub": "__sub__", "__sub__": "__sub__",
    "__mul": "__mul__", "__mul__": "__mul__", "__div": "__truediv__", "__div__": "__truediv__",
    "__unm": "__neg__", "__unm__": "__neg__", "__len": "__len__", "__len__": "__len__",
    "__eq": "__eq__", "__eq__": "__eq__", "__lt": "__lt__", "__lt__": "__lt__",
    "__le": "__le__", "__le__": "__le__", "__call": "__call__", "__call__": "__call__",
    "__pow": "__pow__", "__mod": "__mod__", "__concat": "__concat__",
}  # fmt: skip


def method_name(name: str) -> str:
    """A field or method of a class in Python."""
    return _METAMETHODS.get(name) or python_attribute(name)


def python_attribute(name: str) -> str:
    """A field's name in Python."""
    import keyword

    return f"{name}_" if keyword.iskeyword(name) else name
