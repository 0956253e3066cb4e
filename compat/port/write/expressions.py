"""Calls, and with them all expressions."""

from __future__ import annotations

from dataclasses import replace

from compat.port.know.shapes import is_open
from compat.port.know.types import Type
from compat.port.library import functions, methods, packages, rules, strings, tensors
from compat.port.library.results import WITH_TOTAL, kind_of
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.operators import Operators


class Expressions(Operators):
    """What an expression becomes; ``Draft`` adds the statements."""

    def call(self, node: s.Call) -> Code:
        """A call, whose results may be any number."""
        if node.method is not None:
            return methods.method(node, self)
        if node.arguments and is_open(node.arguments[-1]) and self.types.takes_all(node):
            self.note_results(node.arguments[-1])
        if (made := self._new_tensor(node)) is not None:
            return made
        path = self.types.dotted(node.function)
        if path is not None:
            klass = self.types.classes.get(path)
            if klass is None:
                return functions.function(path, node, self)
            return code.call(self.class_name(klass), *self.arguments(node))
        if (
            isinstance(node.function, s.Name)
            and self.types.file_of(node) is not None
            and node.function.id in ("require", "dofile")
        ):
            return self.imported(node)
        static = self.of_tensors(node.function)
        if static is not None:
            return functions.function(static, node, self)
        kind = self.types.type(node.function)
        function = self.prefix(node.function)
        if kind.only("table", "class") and self.has_meta(kind):
            made = code.call("lua.call", function, *self.arguments(node))
            return Code(made.text, spread=self.types.count(node))
        made = code.call(function.atom, *self.fitting(node, kind))
        return Code(made.text, spread=self.types.count(node) if not kind.only("class") else 1)

    def _new_tensor(self, node: s.Call) -> Code | None:
        """``x.new(2, 3)``, which is ``x:new(2, 3)``."""
        function = node.function
        if not isinstance(function, s.Index) or s.constant(function.key) != "new":
            return None
        if not self.types.type(function.object).is_tensor:
            return None
        return methods.method(replace(node, function=function.object, method="new"), self)

    def path(self, path: str) -> Code:
        """A function or package as a value."""
        klass = self.types.classes.get(path)
        if klass is not None:
            return Code(self.class_name(klass))
        return packages.value(path, self)

    def fit(self, made: Code, node: s.Node, like: s.Node) -> Code | None:
        """A tensor in the shape of another; None if it is known to have it."""
        return rules.fit(made, node, like, self)

    def of_tensors(self, function: s.Node) -> str | None:
        """``torch.name`` for ``x.name``, a method of a tensor that is called as a function."""
        if not isinstance(function, s.Index) or not isinstance(function.key, s.Constant):
            return None
        name = function.key.value
        is_tensor = self.types.type(function.object).is_tensor
        return f"torch.{name}" if is_tensor and name in tensors.names("functions") else None

    def condition(self, node: s.Call) -> Code | None:
        """A call as a condition, where that says more than its value."""
        return strings.condition(node, self)

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
        self.mark(f"{s.describe(node)} gives {counts} results in Lua, here {given}", "results")

    def kinds(self, nodes: list[s.Node]) -> str:
        """The letters of the types of arguments."""
        return "".join(kind_of(self.types.type(n)) for n in nodes)
