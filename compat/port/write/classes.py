"""Classes, with all their methods."""

from __future__ import annotations

from typing import Any

from compat.port.know.files import Class
from compat.port.know.scopes import Variable
from compat.port.know.shapes import is_name, is_self, tested
from compat.port.library import packages
from compat.port.read import syntax as s
from compat.port.write.code import Code
from compat.port.write.functions import Functions
from compat.port.write.python_names import is_metamethod, method_name, python_attribute

# What nn calls methods of layers with at most.
_GIVEN = {"accGradParameters": 3, "backward": 3, "accUpdateGradParameters": 3, "type": 2}


class Classes(Functions):
    """What defines classes."""

    def _class_made(self, node: s.Statement) -> Class | None:
        """The class that a statement makes."""
        table = self._names(node) if isinstance(node, (s.Local, s.Assign)) else None
        for klass in self.types.classes.values():
            is_table = table is not None and not klass.is_torch and klass.variable is table
            if klass.node is node or is_table:
                return klass
        return None

    def _is_deriving(self, node: s.Node) -> bool:
        """Whether a call only says what a class derives from."""
        return any(klass.deriving is node for klass in self.types.classes.values())

    def _names(self, node: s.Local | s.Assign) -> Variable | None:
        target = node.names[0] if isinstance(node, s.Local) else node.targets[0]
        value = node.values[0] if node.values else None
        if not isinstance(target, s.Name) or value is None:
            return None
        if not isinstance(value, s.Table) and not self._is_deriving(value):
            return None
        found: Variable = target.variable
        return found

    def _class_statement(self, klass: Class) -> None:
        """A class with all its methods."""
        name = self.class_name(klass)
        base = "lua.Object"
        typename = f', typename="{klass.name}"' if klass.is_torch else ""
        if klass.parent:
            parent = self.types.classes.get(klass.parent)
            base = self.class_name(parent) if parent is not None else klass.parent
            package, _, inner = klass.parent.partition(".")
            if parent is None and not packages.has(package, inner):
                self.mark(f"{klass.parent} is a class of no file of this program", "classes")
        self.write(f"class {name}({base}{typename}):")
        outer, self._class = self._class, klass
        with self.indented():
            by_number = self._dict_fields(klass)
            if by_number:
                names = ", ".join(f'"{name}"' for name in by_number)
                comma = "," if len(by_number) == 1 else ""
                self.write(f"dict_fields = ({names}{comma})", "lists in files, if from 1 to n")
            missing = sorted(self._missing_at_first(klass))
            for field in missing:
                self.write(f"{python_attribute(field)} = None")
            for number, (method, define) in enumerate(klass.methods.items()):
                if number or by_number or missing:
                    self.write("")
                self._hoisted.add(define)
                self._comments([c for c in define.before if c is not None])
                self._method(method, define, klass)
        self._class = outer
        if klass.holder is not None:
            plain = klass.name.rpartition(".")[2]
            self._store_code(s.Index(klass.holder, s.Constant(plain)), Code(name))
        if (
            klass.variable is not None
            and klass.variable.is_global
            and klass.variable in self.shared
        ):
            self.write(f"shared.{name} = {name}")

    def _dict_fields(self, klass: Class) -> list[str]:
        """Fields that are dicts with numbers for keys, of a class that may be loaded from files."""
        if not klass.is_torch or not self.types.loads_files:
            return []
        found = set()
        for node in s.walk(self.file.block):
            if not isinstance(node, s.Index) or not isinstance(node.key, s.Constant):
                continue
            owner = self.types.type(node.object)
            if owner.shape is None or owner.shape.klass is not klass:
                continue
            kind = self.types.type(node)
            shape = kind.shape if kind.only("table", "nil") else None
            if shape is not None and shape.is_dict and shape.keys & {"int", "list", "other"}:
                found.add(str(node.key.value))
        return sorted(found)

    def _missing_at_first(self, klass: Class) -> set[str]:
        """The fields that the program asks for before they are set; in Lua they are nil then.

        Objects of classes that derive from no layer give None for any.
        """
        base = klass
        while base.parent in self.types.classes:
            base = self.types.classes[base.parent]
        if base.parent is None:
            return set()
        package, _, name = base.parent.partition(".")
        above = packages.found(package, name) if packages.has(package, name) else None
        return {
            str(index.key.value)
            for index in tested(self.file.block)
            if isinstance(index.key, s.Constant)
            and is_name(index.key.value)
            and self._is_of(index.object, klass)
            and not _has_field(above, str(index.key.value))
            and index.key.value not in klass.methods
            and not self._is_set_at_first(str(index.key.value), klass)
        }

    def _is_of(self, node: s.Node, klass: Class) -> bool:
        """Whether an expression is an object of the class."""
        kind = self.types.type(node)
        return kind.only("object") and kind.shape is not None and kind.shape.klass is klass

    def _is_set_at_first(self, name: str, klass: Class) -> bool:
        """Whether the constructor sets a field whatever happens, before it looks at it."""
        define = klass.method("__init", self.types.classes)
        if define is None:
            return False
        for statement in define.function.body.statements:
            fields = [n for n in s.walk(statement) if isinstance(n, s.Index)]
            own = [n for n in fields if isinstance(n.key, s.Constant) and n.key.value == name]
            if own:
                return isinstance(statement, s.Assign) and own == [
                    t for t in statement.targets if t in own
                ]
        return False

    def _method_name(self, name: str, klass: Class) -> str:
        """A method's name in Python; containers show their modules by ``repr``."""
        first = klass
        while first.parent in self.types.classes:
            first = self.types.classes[first.parent]
        made = method_name(name)
        return "__repr__" if made == "__str__" and first.parent else made

    def _method(self, method: str, define: s.Define, klass: Class) -> None:
        function = define.function
        if klass.parent and len(function.parameters) < _GIVEN.get(method, 0):
            self.types.signature(function).root().is_hook = True
        name = self._method_name(method, klass)
        if define.is_method or is_self(function) or is_metamethod(method):
            self._define_function(name, function)
        else:
            self._define_function(name, function, "staticmethod")


def _has_field(cls: Any, name: str) -> bool:
    """Whether objects of a class, if one is known, have a field of that name from the beginning."""
    told = (name in vars(base).get("__annotations__", ()) for base in getattr(cls, "__mro__", ()))
    return hasattr(cls, name) or any(told)
