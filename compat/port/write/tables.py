"""Tables, and fields of anything."""

from __future__ import annotations

from compat.port.know.shapes import counts_up, is_name, is_open
from compat.port.know.types import Table, Type
from compat.port.library import packages
from compat.port.library.results import METHODS
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.python_names import method_name, python_attribute
from compat.port.write.selections import Selections

_METHODS_OF_DICT = set(dir(dict))


class Tables(Selections):
    """What is written with braces, and what is read by a key."""

    def table(self, node: s.Table, hint: str = "t") -> Code:
        """``{…}``."""
        self.types.type(node)  # a key of what nobody knows was not looked at before
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
            values = [f.value for f in node.fields]
            while values and isinstance(values[-1], s.Constant) and values[-1].value is None:
                values.pop()  # a nil at the end is no entry
            return self.bracketed("[", node, values, "]", hint)
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
        has_comments = any(f.comments or f.after for f in node.fields)
        if len(items) != len(node.fields) or not has_comments:
            return ", ".join(items)
        lines = []
        for entry, item in zip(node.fields, items, strict=True):
            if len(entry.after) == 1 and "\n" not in item:
                lines += [*entry.comments, f"{item},  {entry.after[0]}"]
            else:
                lines += [*entry.comments, *entry.after, f"{item},"]
        return "\n" + "\n".join(lines) + "\n"

    def index(self, node: s.Index, is_test: bool = False) -> Code:
        """``object[key]``."""
        is_prefix, self._is_prefix = self._is_prefix, False
        path = self.types.dotted(node)
        if path is not None and self.types.names_package(path):
            return self.path(path)
        klass = self.types.class_of(node.object)
        name = s.constant(node.key)
        kind = self.types.type(node.object)
        if kind.only("nil"):
            kind = Type()  # it is not always
        if self.types.dotted(node.object) == "arg" and not is_test:
            made = Code(f"sys.argv[{self.value(node.key)}]")
            if self.types.was_seen(node) and "nil" not in self.types.type(node).atoms:
                return made
            return code.ternary(made, Code(f"len(sys.argv) > {self.value(node.key)}"), Code("None"))
        owner = self.prefix(node.object)
        self.resolve(self.how(node.object) if kind.atoms else "open")
        if kind.only("package"):
            package = packages.package(str(self.types.dotted(node.object)))
            return code.call("getattr", package, self.value(node.key))
        if kind.only("object") and kind.shape is None:  # a table with a metatable
            return code.call("lua.index", owner, self.value(node.key))
        if name == "__typename":
            return code.call("lua.typename", owner)
        if klass is not None or kind.only("object", "class", "nil"):
            return self.attribute(owner, node, is_test)
        if kind.only("options"):
            if is_name(name) and name not in _METHODS_OF_DICT:
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
        self.mark(f"what {s.describe(node.object)} is, is not known", "indices")
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
        name = s.constant(node.key)
        if is_name(name):
            return Code(f"{owner.atom}.{method_name(name)}")
        return code.call("lua.index", owner, self.value(node.key))

    def of_module(self, owner: Code, node: s.Index, is_test: bool) -> Code:
        name = s.constant(node.key)
        if is_name(name):
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
        if shape.is_list and "deleted" in shape.uses and not (is_prefix or was_seen):
            may_miss = True
        if shape.is_own_meta:
            return Code(f"{owner.atom}[{self.value(node.key)}]")
        if "meta" in shape.uses:
            return code.call("lua.index", owner, self.value(node.key))
        is_broken = "float" in key_kind.atoms and not self.types.was_seen(node.key)
        if shape.is_list and key_kind.is_number and is_broken:
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
        name = s.constant(node.key)
        certain = isinstance(name, str) and name in shape.always and "deleted" not in shape.uses
        if is_prefix or (was_seen and not may_miss) or (certain and not is_test):
            return Code(f"{owner.atom}[{key}]")
        return Code(f"{owner.atom}.get({key})")


def is_length_of(key: s.Node, owner: s.Node) -> bool:
    """Whether a key is ``#owner``."""
    return (
        isinstance(key, s.Unary)
        and key.operator == "#"
        and isinstance(key.operand, s.Name)
        and isinstance(owner, s.Name)
        and key.operand.variable is owner.variable
    )
