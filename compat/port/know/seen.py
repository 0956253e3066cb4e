"""What a run saw of expressions, and what tests in the code tell of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from compat.port.know.files import Class
from compat.port.know.names import Names
from compat.port.know.narrowing import LEAVES, tested
from compat.port.know.scopes import Variable
from compat.port.know.types import Table, Type, seen, tensor
from compat.port.read import syntax as s


class Seen(Names, ABC):
    """What is believed of an expression before what its code says."""

    facts: Mapping[tuple[str, int, int], list[str]]
    changed: bool
    _seen_tables: dict[s.Node, Table]
    _tested_tables: dict[Variable, Table]

    @abstractmethod
    def type(self, node: s.Node) -> Type:
        """The type of an expression, its first value."""

    @abstractmethod
    def _type(self, node: s.Node) -> Type:
        """The same, from the code alone."""

    def is_whole(self, node: s.Node) -> bool:
        """Whether a number is an int in Python, as far as a run can tell.

        A run sees no difference between 4 and 4.0: a quotient or root is a float, and a parameter
        may be an entry of a tensor.
        """
        if isinstance(node, s.Paren):
            return self.is_whole(node.inner)
        if self.type(node).is_int:
            return True
        if isinstance(node, s.Binary) and node.operator in "+-*%":
            return self.is_whole(node.left) and self.is_whole(node.right)
        facts = self.facts.get((self.file.path, node.start, node.end))
        is_float = isinstance(node, s.Binary) or "float" in self._type(node).atoms
        is_float |= isinstance(node, s.Name) and node.variable.is_parameter
        return bool(facts) and set(facts or ()) <= {"int"} and not is_float

    def _seen_table(self, node: s.Node, facts: list[str]) -> Table:
        """What a run saw of tables that come from elsewhere."""
        found = self._seen_tables.get(node)
        if found is None:
            found = self._seen_tables[node] = Table()
        for fact in facts:
            if fact in ("list", "dict", "mixed", "sparse"):
                found.root().keys.add({"list": "list", "dict": "name"}.get(fact, "other"))
        return found

    def _tested(self, node: s.Name, own: Type) -> Type:
        """What a test leaves of a variable's possibilities."""
        answer = self.tests[node]
        left = own.atoms & LEAVES[answer]
        if answer == "table" and not left:
            return Type("table", table=self._tested_tables.setdefault(node.variable, Table()))
        if answer == "tensor" and not left:
            return tensor()
        found = own.without(*own.atoms - left) if left else Type(answer)
        found.open = False
        return found

    def is_tested_list(self, node: s.Node) -> bool:
        """Whether an expression asks whether a variable is a table, and only lists will do."""
        found = tested(node)
        shape = None if found is None else self._tested_tables.get(found[0].variable)
        return (
            found is not None and found[1] == "table" and shape is not None and shape.root().is_list
        )

    def _seen_class(self, facts: list[str]) -> Class | None:
        """The class of the program that all values were of that a run saw."""
        return self.classes.get(facts[0].removeprefix("class ")) if len(facts) == 1 else None

    def _believed(self, own: Type, facts: list[str]) -> Type:
        believed = Type()
        believed.buffer = own.buffer
        for fact in facts:
            klass = self._seen_class([fact])
            believed.join(seen(fact) if klass is None else klass.object)
        if "number" in believed.atoms and own.atoms & {"int", "float"}:
            believed.atoms |= own.atoms & {"int", "float"}
            believed.atoms -= {"number"} if "number" not in own.atoms else set()
        if own.shape is not None and "table" in believed.atoms:
            for fact in facts:
                if fact in ("list", "dict", "mixed", "sparse"):
                    kind = {"list": "list", "dict": "name"}.get(fact, "other")
                    if kind not in own.shape.keys:
                        own.shape.keys.add(kind)
                        self.changed = True
        believed.table = own.table if own.table is not None else believed.table
        believed.function = own.function
        if "object" in believed.atoms or "object" in own.atoms:
            believed.classes |= own.classes
        if "table" in believed.atoms and own.atoms & {"options", "class", "module", "object"}:
            if "options" in own.atoms or "table" not in own.atoms:
                believed.atoms.discard("table")
            believed.atoms |= own.atoms & {"options", "class", "module", "object"}
        if own.atoms & {"object", "class"}:
            believed.atoms = (believed.atoms - {"module", "other"}) | (
                own.atoms & {"object", "class"}
            )
        if own.atoms == {"mask"} and believed.atoms == {"tensor"}:
            return own
        if facts == ["object"] and "module" in own.atoms:
            return Type("module")  # of a class of the runtime's that has no name
        if "object" in believed.atoms and own.shape is not None and own.shape.klass is None:
            believed.atoms = (believed.atoms - {"object"}) | {"table"}
        if "storage" in believed.atoms and "sizes" in own.atoms:
            believed.atoms = (believed.atoms - {"storage"}) | {"sizes"}
        if "other" in believed.atoms and own.atoms & {"file", "module", "pointer"}:
            believed.atoms -= {"other"}
            believed.atoms |= own.atoms & {"file", "module", "pointer"}
        return believed

    def was_seen(self, node: s.Node) -> bool:
        """Whether a trace reached an expression."""
        return (self.file.path, node.start, node.end) in self.facts
