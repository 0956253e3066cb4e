"""One value and several, constants, variables and indices."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from compat.port.know.inference import Inference
from compat.port.know.scopes import FunctionScope
from compat.port.know.shapes import is_open
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.python_names import python_name

NONE = Code("None")


class Values(ABC):
    """What an expression becomes, as far as it depends on nothing but how many values it gives."""

    types: Inference
    scope: FunctionScope
    statement: s.Node | None = None  # the call whose results nobody takes
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

    @abstractmethod
    def bring(self, module: str, name: str, known_as: str) -> None:
        """Import a name from another file of the program."""

    # What the classes below have

    @abstractmethod
    def unary(self, node: s.Unary) -> Code:
        """``-x``, ``#x``, ``not x``."""

    @abstractmethod
    def binary(self, node: s.Binary) -> Code:
        """``a + b``, ``a .. b``, ``a == b``, ``a and b``."""

    @abstractmethod
    def table(self, node: s.Table, hint: str = "t") -> Code:
        """``{…}``."""

    @abstractmethod
    def index(self, node: s.Index, is_test: bool = False) -> Code:
        """``object[key]``."""

    @abstractmethod
    def call(self, node: s.Call) -> Code:
        """A call, whose results may be any number."""

    @abstractmethod
    def condition(self, node: s.Call) -> Code | None:
        """A call as a condition, where that says more than its value."""

    @abstractmethod
    def fit(self, made: Code, node: s.Node, like: s.Node) -> Code | None:
        """A tensor in the shape of another; None if it is known to have it."""

    @abstractmethod
    def formatted(self, parts: list[s.Node], separator: str = "") -> Code:
        """An f-string of expressions, as Lua's ``tostring`` shows them."""

    @abstractmethod
    def may_be_sizes(self, node: s.Node) -> bool:
        """Whether it is ``#x`` of what may be a tensor."""

    @abstractmethod
    def path(self, path: str) -> Code:
        """A function or package as a value."""

    # Values

    def how(self, node: s.Node) -> str:
        """How the type of an expression is known."""
        return "run" if self.types.was_seen(node) else "code"

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
            is_always = isinstance(node, s.Call) and self.types.known_count(node) == 0
            return made if is_always else code.call("lua.first", made)
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

    def arguments(self, node: s.Call) -> list[Code]:
        """The arguments of a call."""
        is_optim = (self.types.dotted(node.function) or "").startswith("optim.")
        return self.values(node.arguments, "feval" if is_optim else "f")

    def spread(self, made: Code) -> list[Code]:
        """All values of an expression, to stand in an argument list."""
        if made.tells:
            self.tell()
        if made.counts:
            return [Code(f"*lua.counted({made})")]
        if made.is_mask:
            return [Code(f"{made.atom}.byte()")]
        if made.every.startswith("("):
            return [Code(made.every[1:-1])]
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
            return self.path(path)
        return Code(self.name_of(node))

    def class_name(self, klass: Any) -> str:
        """What a class of the script's is called; one of another file is imported."""
        name = self.class_in_its_file(klass)
        if klass.module == self.types.file.module:
            return name
        # There it may be called ``layer``, as the classes of other files.
        plain = python_name(klass.name.split(".")[-1])
        self.bring(klass.module, name, plain)
        return plain

    def class_in_its_file(self, klass: Any) -> str:
        if klass.variable is not None and not klass.variable.is_global:
            return str(klass.variable.python)
        return python_name(klass.name.split(".")[-1])

    # Numbers, and masks

    def mask(self, key: s.Node) -> Code:
        """A tensor that selects."""
        made = self.any(key)
        return Code(made.text, made.level) if made.is_mask else Code(f"{made.atom}.bool()")

    def place(self, key: s.Node) -> Code:
        """A key as an index from 0."""
        if isinstance(key, s.Name) and key.variable.zero_based:
            return Code(self.name_of(key))
        made = self.dims(key) or self.value(key)
        if not self.types.is_whole(key) and not made.text.isdigit():
            return code.call("int", code.shifted(made))
        return code.shifted(made)

    def end(self, node: s.Node) -> Code:
        """The last index of a slice, which Python's slices stop before."""
        made = self.value(node)
        if made.text == "-1":
            return Code("")
        if re.fullmatch(r"-\d+", made.text):
            return Code(str(int(made.text) + 1))
        if isinstance(node, s.Name) and node.variable.zero_based:
            return code.shifted(Code(self.name_of(node)), 1)
        is_whole = self.types.is_whole(node) or made.text.isdigit()
        return made if is_whole else code.call("int", made)

    def whole(self, node: s.Node) -> Code:
        """A number where PyTorch takes ints only."""
        made = self.value(node)
        kind = self.types.type(node)
        if not kind.is_number or self.types.is_whole(node):
            return made
        return code.call("int", made)

    def dims(self, node: s.Node) -> Code | None:
        """``x:dim()`` where nobody minds that Torch7's empty tensor has none; else None."""
        if not isinstance(node, s.Call) or node.method not in ("dim", "nDimension"):
            return None
        if node.arguments or not self.types.type(node.function).is_tensor:
            return None
        return Code(f"{self.prefix(node.function).atom}.dim()")


def first_of(made: Code) -> Code:
    """The first of several values, ``*values``; None if there is none."""
    inner = made.text[1:]
    return code.call("lua.first", inner) if inner == "args" else Code(f"next(iter({inner}), None)")
