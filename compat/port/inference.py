"""What each expression of a program may be, from its constants, constructors and calls.

Variables, fields and functions gather the types of all that is put into them, again and again until
nothing is new. What a trace has seen of an expression is believed before that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from compat.port import lapp, results
from compat.port import syntax as s
from compat.port.scopes import PACKAGES, Scopes, Variable
from compat.port.types import Signature, Table, Type, seen, tensor

_ROUNDS = 12
_OF_LISTS = {"ipairs", "table.concat", "table.sort", "unpack", "table.remove", "table.getn"}
_BUFFERS = {"output", "gradInput"}


@dataclass(eq=False)
class Class:
    """A class of the script's: of ``torch.class``, or a table with ``__index`` and methods."""

    name: str  # in Lua, with the package
    variable: Variable | None
    parent: str | None
    is_torch: bool
    node: s.Node
    module: str = ""  # of the file that makes it
    holder: s.Node | None = None  # the table that gets it
    methods: dict[str, s.Define] = field(default_factory=dict)
    members: Table = field(default_factory=Table)
    instance: Table = field(default_factory=Table)

    def __post_init__(self) -> None:
        self.instance.klass = self
        self.members.klass = self

    def method(self, name: str, classes: Mapping[str, Class]) -> s.Define | None:
        """A method, its own or inherited."""
        klass: Class | None = self
        while klass is not None:
            if name in klass.methods:
                return klass.methods[name]
            klass = classes.get(klass.parent or "")
        return None

    @property
    def object(self) -> Type:
        """The type of its objects."""
        made = Type("object", table=self.instance)
        made.classes = {self.name}
        return made


@dataclass(eq=False)
class File:
    """A Lua file of the program."""

    path: str  # as given
    module: str  # its name for Python's import
    block: s.Block
    scopes: Scopes
    source: bytes
    value: Type = field(default_factory=Type)  # what it returns


class Inference:
    """The types of a program's files; ``facts`` is what a trace saw at each (file, place)."""

    def __init__(
        self, files: list[File], facts: Mapping[tuple[str, int, int], list[str]] | None = None
    ) -> None:
        self.files, self.facts = files, facts or {}
        self.classes: dict[str, Class] = {}
        self.aliases: dict[Variable, str] = {}
        self.variables: dict[Variable, Type] = {}
        self.file = files[0]
        self._function: Signature | None = None
        self.by_function: dict[s.Function, Signature] = {}
        self.changed = True
        self._command_line: Table | None = None
        self._seen_tables: dict[s.Node, Table] = {}
        self._is_settled = False
        # Whether a file is loaded whose name is computed.
        self.loads_by_name = any(map(_loads_by_name, (f.block for f in files)))
        self._guessed: set[Type] = set()
        for file in files:
            self.file = file
            self._find_aliases(file)
        for file in files:
            self.file = file
            self._find_namespaces(file)
            self._find_classes(file.block)
        self._settle()
        for _ in range(6):
            if not self._guess():
                break
            self._settle()
        self._is_settled = True
        self._settle()

    def _settle(self) -> None:
        """Go through all files until nothing is new."""
        for _ in range(_ROUNDS):
            self.changed = False
            for file in self.files:
                self.file = file
                self._returns = [Signature(results=[file.value])]
                self._block(file.block)
            if not self.changed:
                break

    def _guess(self) -> bool:
        """Take variables that nothing is known of for what only one thing has methods of."""
        found = False
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                if isinstance(node, s.Call) and node.method is not None:
                    target = node.function
                    kind = results.owner_of(node.method, len(node.arguments))
                elif isinstance(node, s.Index) and isinstance(node.key, s.Constant):
                    target, kind = node.object, results.owner_of_field(node.key.value)
                else:
                    continue
                own = self._stored(target) if kind is not None else None
                if kind is not None and own is not None and not self.type(target).atoms:
                    self._take(own, kind)
                    found = True
        return found or self._guess_loaded() or self._guess_layers() or self._guess_namesakes()

    def _guess_namesakes(self) -> bool:
        """Take parameters that no call gives for what all other variables of their name are."""
        known: dict[str, list[Type]] = {}
        for variable, kind in self.variables.items():
            if kind.is_known and len(kind.atoms - {"nil"}) == 1:
                known.setdefault(variable.id, []).append(kind)
        found = False
        for variable, kind in list(self.variables.items()):
            others = known.get(variable.id, [])
            if kind.atoms or not variable.is_parameter or not others:
                continue
            atoms = {frozenset(other.atoms - {"nil"}) for other in others}
            shapes = {id(other.shape) for other in others}
            if len(atoms) == 1 and (len(shapes) == 1 or not others[0].atoms & {"table", "object"}):
                guess = Type(*others[0].atoms - {"nil"}, table=others[0].table)
                for other in others:
                    guess.dims |= other.dims
                    guess.dtypes |= other.dtypes
                    guess.classes |= other.classes
                self._take(kind, guess)
                found = True
        return found

    def _take(self, unknown: Type, guess: Type) -> None:
        unknown.join(guess)
        self._guessed.add(unknown)

    def _guess_layers(self) -> bool:
        """Take what layers of the script's are given for tensors."""
        found = False
        for klass in self.classes.values():
            for name in ("updateOutput", "updateGradInput", "accGradParameters", "forward"):
                define = klass.methods.get(name)
                if define is None or not klass.parent:
                    continue
                for parameter in define.function.parameters[1:3]:
                    kind = self.of(parameter.variable)
                    if not kind.atoms:
                        self._take(kind, tensor())
                        found = True
        return found

    def _guess_loaded(self) -> bool:
        """Take what is loaded from files, and read by name, for tables."""
        found = False
        for file in self.files:
            self.file = file
            for node in s.walk(file.block):
                if not isinstance(node, s.Index):
                    continue
                kind = self._stored(node.object)
                if kind is None or kind.classes != {"loaded"}:
                    continue
                if not kind.atoms:
                    is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
                    keys = {"name" if is_word else "list"}
                    self._take(kind, Type("table", table=Table(keys=keys, uses={"loaded"})))
                    found = True
                inner = self._stored(node)
                if inner is not None and not inner.atoms and not inner.classes:
                    inner.classes.add("loaded")
                    found = True
        return found

    def _stored(self, node: s.Node) -> Type | None:
        """Where the type of a variable or field is kept."""
        if isinstance(node, s.Name):
            return self.of(node.variable)
        if isinstance(node, s.Index):
            owner = self._stored(node.object)
            shape = owner.shape if owner is not None else None
            if shape is None:
                return None
            is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
            return shape.name(str(node.key.value)) if is_word else shape.items  # type: ignore[attr-defined]
        return None

    # Names --------------------------------------------------------------------------------------

    def _find_aliases(self, file: File) -> None:
        """Variables that only name a package: ``local optim = require 'optim'``."""
        for node in s.walk(file.block):
            if isinstance(node, s.Local) and len(node.names) == 2 and (path := tried(node)):
                if path in PACKAGES:
                    self.aliases[node.names[1].variable] = path
                continue
            if isinstance(node, s.Local) and len(node.names) == len(node.values):
                targets: Sequence[s.Node] = node.names
            elif isinstance(node, s.Assign) and len(node.targets) == len(node.values):
                targets = node.targets
            else:
                continue
            pairs = zip(targets, node.values, strict=True)
            for name, value in pairs:
                if isinstance(name, s.Name) and len(name.variable.writes) == 1:
                    path = required(value)
                    if path not in PACKAGES:
                        path = self.dotted(value)
                    if path is not None and (path in PACKAGES or "." in path):
                        self.aliases[name.variable] = path

    def dotted(self, node: s.Node) -> str | None:
        """``torch.cmul`` for an expression that names a function or package; else None."""
        if isinstance(node, s.Name):
            variable = node.variable
            if variable in self.aliases:
                return self.aliases[variable]
            return node.id if variable.is_global and not variable.writes else None
        if isinstance(node, s.Index) and isinstance(node.key, s.Constant):
            path = self.dotted(node.object)
            if path in self.classes:
                return None  # a field of a class of the script's
            if path is not None and path.split(".")[0] in PACKAGES and is_name(node.key.value):
                return f"{path}.{node.key.value}"
        if (path := required(node)) in PACKAGES:
            return path
        return None

    def _find_classes(self, block: s.Block) -> None:
        for statement in block.statements:
            self._find_class(statement)
            for child in statement.children():
                if isinstance(child, s.Block):
                    self._find_classes(child)
            if isinstance(statement, s.Define) and isinstance(statement.target, s.Index):
                klass = self.class_of(statement.target.object)
                key = statement.target.key
                if klass is not None and isinstance(key, s.Constant):
                    klass.methods[str(key.value)] = statement
                    is_method = statement.is_method or is_self(statement.function)
                    if is_method:
                        name = statement.function.parameters[0]
                        self.of(name.variable).join(klass.object)

    def _find_namespaces(self, file: File) -> None:
        """Tables that only hold functions: ``local M = {}``, ``function M.f() … end``."""
        empty = {}
        for node in file.block.statements:
            if isinstance(node, (s.Local, s.Assign)) and len(node.values) == 1:
                target = node.names[0] if isinstance(node, s.Local) else node.targets[0]
                value = node.values[0]
                is_empty = isinstance(value, s.Table) and not value.fields
                if isinstance(target, s.Name) and is_empty and len(target.variable.writes) == 1:
                    empty[target.variable] = node
            elif isinstance(node, s.Define) and isinstance(node.target, s.Index):
                owner = node.target.object
                if isinstance(owner, s.Name) and owner.variable in empty:
                    made = empty.pop(owner.variable)
                    if not self._is_data(file.block, owner.variable):
                        self._add_class(owner, made)

    def _is_data(self, block: s.Block, variable: Variable) -> bool:
        """Whether a table has entries under numbers or computed keys, or methods of its own."""
        for node in s.walk(block):
            if isinstance(node, s.Index):
                owner = node.object
                is_word = isinstance(node.key, s.Constant) and isinstance(node.key.value, str)
                if isinstance(owner, s.Name) and owner.variable is variable and not is_word:
                    return True
            elif isinstance(node, s.Define) and node.is_method and isinstance(node.target, s.Index):
                owner = node.target.object
                if isinstance(owner, s.Name) and owner.variable is variable:
                    return not any(
                        isinstance(n, s.Index)
                        and isinstance(n.key, s.Constant)
                        and n.key.value == "__index"
                        for n in s.walk(block)
                    )
        return False

    def _add_class(self, owner: s.Name, node: s.Node) -> None:
        made = Class(owner.id, owner.variable, None, False, node, self.file.module)
        self.classes[f"{owner.id}@{self.file.path}"] = made
        self.of(owner.variable).join(self._class_type(made))

    def _find_class(self, node: s.Statement) -> None:
        call: s.Node | None = None
        names: list[s.Node] = []
        if isinstance(node, s.Do):
            call = node.call
        elif isinstance(node, s.Local):
            call, names = node.values[0] if node.values else None, list(node.names)
        elif isinstance(node, s.Assign):
            call, names = node.values[0], node.targets
        if isinstance(call, s.Call) and call.method is None and call.arguments:
            first = call.arguments[0]
            if self.dotted(call.function) in ("torch.class", "class"):
                if not isinstance(first, s.Constant) or not isinstance(first.value, str):
                    return
                parent = call.arguments[1] if len(call.arguments) > 1 else None
                parent_name = parent.value if isinstance(parent, s.Constant) else None
                variable = names[0].variable if names and isinstance(names[0], s.Name) else None
                made = Class(first.value, variable, parent_name, True, node, self.file.module)  # type: ignore[arg-type]
                self.classes[made.name] = made
                if variable is not None:
                    self.of(variable).join(self._class_type(made))
                made.holder = next((a for a in call.arguments[1:] if isinstance(a, s.Name)), None)
                if len(names) > 1 and isinstance(names[1], s.Name) and parent_name:
                    self.aliases[names[1].variable] = str(parent_name)
                return
        # X.__index = X
        if (
            isinstance(node, s.Assign)
            and isinstance(node.targets[0], s.Index)
            and isinstance(node.targets[0].key, s.Constant)
            and node.targets[0].key.value == "__index"
            and isinstance(owner := node.targets[0].object, s.Name)
            and isinstance(node.values[0], s.Name)
            and node.values[0].variable is owner.variable
            and len(owner.variable.writes) == 1
        ) and f"{owner.id}@{self.file.path}" not in self.classes:
            self._add_class(owner, node)

    def _class_type(self, klass: Class) -> Type:
        made = Type("class", table=klass.members)
        made.classes = {klass.name}
        return made

    def class_of(self, node: s.Node) -> Class | None:
        """The class that an expression names."""
        if isinstance(node, s.Name):
            table = self.variables.get(node.variable)
            if table is not None and "class" in table.atoms and table.shape is not None:
                found: Class | None = table.shape.klass
                return found
        path = self.dotted(node)
        return self.classes.get(path) if path else None

    # Types --------------------------------------------------------------------------------------

    def of(self, variable: Variable) -> Type:
        """The type of a variable."""
        return self.variables.setdefault(variable, Type())

    def _join(self, target: Type, new: Type) -> None:
        self.changed |= target.join(new)
        # What is unknown when all is settled stays a possibility.
        is_unknown = not new.atoms and "loaded" not in new.classes
        if self._is_settled and is_unknown and not target.open and target not in self._guessed:
            target.open = self.changed = True

    def type(self, node: s.Node) -> Type:
        """The type of an expression, its first value."""
        own = self._type(node)
        facts = self.facts.get((self.file.path, node.start, node.end))
        if facts and not isinstance(node, (s.Constant, s.Table, s.Function)):
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

    def _seen_table(self, node: s.Node, facts: list[str]) -> Table:
        """What a run saw of tables that come from elsewhere."""
        found = self._seen_tables.get(node)
        if found is None:
            found = self._seen_tables[node] = Table()
        for fact in facts:
            if fact in ("list", "dict", "mixed", "sparse"):
                found.root().keys.add({"list": "list", "dict": "name"}.get(fact, "other"))
        return found

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
            believed.atoms = (believed.atoms - {"table"}) | (
                own.atoms & {"options", "class", "module", "object"}
            )
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
            return self.of(node.variable)
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
                kind = self.type(node.operand)
                if kind.shape is not None and not kind.shape.klass:
                    kind.shape.uses.add("length")
                return Type("sizes") if kind.is_tensor else Type("int")
            return self._arithmetic("-", Type("int"), self.type(node.operand))
        if isinstance(node, s.Binary):
            return self._binary(node)
        return Type()

    def signature(self, node: s.Function) -> Signature:
        """What a function takes and gives."""
        found = self.by_function.get(node)
        if found is None:
            found = self.by_function[node] = Signature(nodes=[node])
            for i in range(len(node.parameters)):
                found.parameter(i)
        return found

    def _binary(self, node: s.Binary) -> Type:
        operator = node.operator
        left, right = self.type(node.left), self.type(node.right)
        if operator in ("==", "~=", "<", ">", "<=", ">="):
            return Type("boolean")
        if operator == "..":
            return Type("string")
        if operator == "and":
            if left.only("nil"):
                return left
            joined = Type()
            joined.join(right)
            if left.may("nil", "boolean"):
                joined.atoms |= left.atoms & {"nil", "boolean"}
            return joined
        if operator == "or":
            joined = left.without("nil")
            copy = Type()
            copy.join(joined)
            copy.join(right)
            return copy if left.atoms or right.atoms else Type()
        return self._arithmetic(operator, left, right)

    def _arithmetic(self, operator: str, left: Type, right: Type) -> Type:
        if left.only("pointer"):
            return left
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

    def _table(self, node: s.Table) -> Type:
        table: Table | None = getattr(node, "shape", None)
        if table is None:
            table = node.shape = Table(made=[node])  # type: ignore[attr-defined]
            table.always = {str(f.key.value) for f in node.fields if isinstance(f.key, s.Constant)}
        root = table.root()
        for i, entry in enumerate(node.fields):
            if entry.key is None:
                root.keys.add("next")
                if i == len(node.fields) - 1 and is_open(entry.value):
                    for kind in self.all_results(entry.value):
                        self._join(root.items, kind)
                else:
                    self._join(root.items, self.type(entry.value))
            else:
                self._store(root, entry.key, self.type(entry.value))
        return Type("table", table=table)

    def _store(self, table: Table, key: s.Node, value: Type) -> None:
        table = table.root()
        before = len(table.keys)
        if isinstance(key, s.Constant) and isinstance(key.value, str):
            table.keys.add("name")
            self._join(table.name(key.value), value)
            if table.klass is not None and table is not table.klass.members.root():
                self._inherit(table.klass, key.value)
        else:
            kind = self.type(key)
            self._join(table.key, kind)
            if kind.is_number:
                write = self.facts.get((self.file.path, key.start, -key.end))
                if write and "sparse" in write:
                    table.uses.add("sparse")
                if isinstance(key, s.Constant) and isinstance(key.value, (int, float)):
                    if key.value < 1:
                        table.keys.add("other")
                    elif table.is_list or not table.keys:
                        table.keys.add("int")
                else:
                    table.keys.add("int")
                if "float" in kind.atoms:
                    pass
            elif kind.is_string:
                table.keys.add("name")
                table.uses.add("dynamic")
            elif kind.atoms:
                table.keys.add("other")
            self._join(table.items, value)
        if value.only("nil"):
            table.uses.add("deleted")
        self.changed |= len(table.keys) != before

    def _index(self, node: s.Index) -> Type:
        path = self.dotted(node)
        if path is not None and path.split(".")[0] in PACKAGES:
            if path in self.classes:
                return self._class_type(self.classes[path])
            return results.constant(path)
        owner, key = self.type(node.object), self.type(node.key)
        name = node.key.value if isinstance(node.key, s.Constant) else None
        if owner.is_tensor and name == "new":
            made = Type("function", function=Signature(results=[tensor(owner.dtypes)], counts={1}))
            return made
        if owner.is_tensor:
            element = _element(owner, node.key, key, self)
            element.buffer |= owner.buffer
            return element
        if owner.only("sizes"):
            return Type("int")
        if owner.only("storage", "pointer"):
            return Type("number")
        if owner.only("module") and isinstance(name, str):
            return results.field(owner, name)
        if owner.shape is not None:
            shape = owner.shape
            klass = shape.klass
            if klass is not None and isinstance(name, str):
                define = klass.method(name, self.classes)
                if define is not None:
                    return Type("function", function=self.signature(define.function))
                if shape is not klass.members.root():
                    self._inherit(klass, name)
            if isinstance(name, str) and shape.klass is None:
                if "options" in owner.atoms:
                    return shape.name(name)
                kind = shape.name(name)
                if kind.atoms or "dynamic" not in shape.uses:
                    return kind
                return shape.items
            if isinstance(name, str):
                kind = shape.name(name)
                if not kind.atoms and klass is not None and klass.parent:
                    return results.field(Type("module"), name) if name not in _BUFFERS else tensor()
                return kind
            if key.is_number and not isinstance(node.key, s.Constant):
                shape.uses.add("by number")
            if key.is_string:
                return _any_entry(shape)
            return shape.items
        entry = Type()
        entry.buffer = owner.buffer
        return entry

    # Calls --------------------------------------------------------------------------------------

    def all_results(self, node: s.Node) -> list[Type]:
        """The types of all values of a call or ``...``."""
        if isinstance(node, s.Call):
            return self.results(node)
        if isinstance(node, s.Vararg):
            return [Type()]
        return [self.type(node)]

    def results(self, node: s.Call) -> list[Type]:
        """The types of what a call gives; one at least, which is ``nil`` where there is none."""
        arguments = [self.type(a) for a in node.arguments]
        if node.method is None:
            path = self.dotted(node.function)
            if path is not None:
                klass = self.classes.get(path)
                if klass is not None:
                    return self._construct(klass, arguments)
                known = self._library(path, node, arguments)
                if known is not None:
                    return known
            callee = self.type(node.function)
            if "class" in callee.atoms and callee.shape is not None and callee.shape.klass:
                return self._construct(callee.shape.klass, arguments)
            if callee.only("module"):  # nngraph: nn.Linear(2, 3)(x)
                return [Type("module")]
            klass = self._seen_class(self.facts.get((self.file.path, node.start, node.end), []))
            if callee.signature is None and klass is not None:
                return self._construct(klass, arguments)
            return self._call(callee.signature, arguments)
        owner = self.type(node.function)
        if node.method == "option" and owner.only("module") and len(node.arguments) > 1:
            self._option(node)
        if node.method == "parse" and owner.only("module"):
            return [Type("options", table=self._options(node))]
        if owner.is_tensor or owner.only("mask"):
            found = results.tensor_method(owner, node, arguments)
            if node.method in ("resize", "resizeAs", "set"):
                self._reshaped(node.function, found[0])
            return found
        if owner.is_string:
            return self._library(f"string.{node.method}", node, [owner, *arguments]) or [Type()]
        if owner.only("module"):
            if node.method in ("apply", "replace") and arguments and arguments[0].signature:
                self._join(arguments[0].signature.parameter(0), Type("module"))
                arguments[0].signature.calls.add(1)
            return results.module_method(owner, node.method, arguments)
        if owner.only("sizes"):
            sizes = Type("table", table=Table(keys={"list"}, items=Type("int")))
            return [sizes if node.method == "totable" else Type("int")]
        if owner.only("storage") and node.method == "size":
            return [Type("int")]
        if owner.only("file"):
            return results.file_method(node)
        if owner.shape is not None:
            klass = owner.shape.klass
            inherited = klass.method(node.method, self.classes) if klass is not None else None
            if inherited is not None:
                signature = self.signature(inherited.function)
                return self._call(signature, [owner, *arguments])
            kind = owner.shape.name(node.method)
            return self._call(kind.signature, [owner, *arguments])
        return [Type()]

    def _reshaped(self, node: s.Node, new: Type) -> None:
        """Note that a variable's tensor has another number of dimensions from here on."""
        own = self._stored(node)
        if own is not None and own.is_tensor and new.is_tensor:
            self._join(own, new)

    def _lapp(self, text: s.Node) -> Type:
        """The options that a text for lapp declares."""
        if self._command_line is None:
            self._command_line = Table(uses={"options"})
            if isinstance(text, s.Constant) and isinstance(text.value, str):
                for option in [o for found in lapp.declared(text.value) for o in found]:
                    kind = Type("number") if option.default is None else constant(option.default)
                    self._command_line.name(option.name).join(kind)
                    self._command_line.always.add(option.name)
        return Type("options", table=self._command_line)

    def _options(self, node: s.Call) -> Table:
        """The options of a command line: all of a program are one."""
        if self._command_line is None:
            self._command_line = Table(uses={"options"})
        return self._command_line

    def _option(self, node: s.Call) -> None:
        name, default = node.arguments[:2]
        if isinstance(name, s.Constant) and isinstance(name.value, str):
            kind = self.type(default)
            self._options(node).always.add(name.value.lstrip("-"))
            self._join(self._options(node).name(name.value.lstrip("-")), kind)

    def _inherit(self, klass: Class, name: str) -> None:
        """A field is the same in a class and in those that it derives from."""
        parent = self.classes.get(klass.parent or "")
        while parent is not None:
            own, theirs = klass.instance.name(name), parent.instance.name(name)
            self._join(own, theirs)
            self._join(theirs, own)
            parent = self.classes.get(parent.parent or "")

    def _construct(self, klass: Class, arguments: list[Type]) -> list[Type]:
        define = klass.method("__init", self.classes)
        if define is not None:
            self._call(self.signature(define.function), [klass.object, *arguments])
        return [klass.object]

    def _call(self, signature: Signature | None, arguments: list[Type]) -> list[Type]:
        if signature is None:
            for kind in arguments:
                if kind.signature is not None:
                    kind.signature.escapes = True
            return [Type()]
        signature = signature.root()
        signature.calls.add(len(arguments))
        for i, kind in enumerate(arguments):
            self._join(signature.parameter(i), kind)
        count = signature.count
        if count == 0:
            return [Type("nil")]
        return signature.results or [Type()]

    def _library(self, path: str, node: s.Call, arguments: list[Type]) -> list[Type] | None:
        if path == "setmetatable" and len(node.arguments) == 2:
            klass = self.class_of(node.arguments[1])
            target = arguments[0]
            if klass is not None and target.shape is not None:
                if target.shape.klass is not klass:
                    target.shape.unify(klass.instance)
                    klass.instance.root().klass = klass
                    self.changed = True
                return [klass.object]
            if target.shape is not None:
                target.shape.uses.add("meta")
            return [target]
        if path == "torch.class" and isinstance(node.arguments[0], s.Constant):
            klass = self.classes.get(str(node.arguments[0].value))
            holder = self.type(klass.holder).shape if klass is not None and klass.holder else None
            if klass is not None and holder is not None:
                name = s.Constant(klass.name.rpartition(".")[2])
                self._store(holder, name, self._class_type(klass))
        if path == "torch.setmetatable" and node.arguments:
            if isinstance(node.arguments[0], s.Name):
                self._join(self.of(node.arguments[0].variable), Type("module"))
            return [Type("module")]
        if path in ("table.insert",) and arguments and arguments[0].shape is not None:
            arguments[0].shape.uses.add("append")
            self._join(arguments[0].shape.items, arguments[-1])
        shape = arguments[0].shape if arguments else None
        if path in _OF_LISTS and shape is not None and shape.klass is None:
            shape.uses.add("ipairs")
        if path in ("table.remove", "unpack", "table.unpack") and arguments:
            return [shape.items if shape is not None else Type()]
        if path == "require" or path in ("dofile", "paths.dofile"):
            return [self._required(node)]
        if path in ("lapp", "pl.lapp") and node.arguments:
            return [self._lapp(node.arguments[0])]
        if path in ("assert",):
            return [arguments[0].without("nil"), *arguments[1:]] if arguments else [Type()]
        if path in ("pcall", "xpcall") and arguments and arguments[0].signature is not None:
            rest = arguments[1:] if path == "pcall" else []
            given = self._call(arguments[0].signature, rest)
            return [Type("boolean"), Type(), *given[1:]]  # or the error
        for kind in arguments:
            if kind.signature is not None and not kind.signature.escapes:
                kind.signature.escapes = True
        if path.startswith("torch.") and arguments and arguments[0].is_tensor:
            found = results.torch_rule(path[6:], arguments)
            if found is not None and found[1]:
                self._reshaped(node.arguments[0], tensor())
        if path.startswith("optim.") and len(arguments) > 1 and arguments[0].signature:
            self._join(arguments[0].signature.parameter(0), tensor())
            arguments[0].signature.calls.add(1)
        return results.function(path, node, arguments)

    def _required(self, node: s.Call) -> Type:
        file = self.file_of(node)
        return file.value if file is not None else Type()

    def file_of(self, node: s.Node) -> File | None:
        """The file of the program that a ``require`` or ``dofile`` names."""
        if not isinstance(node, s.Call) or not node.arguments:
            return None
        name = node.arguments[0]
        if not isinstance(name, s.Constant) or not isinstance(name.value, str):
            return None
        wanted = name.value.removesuffix(".lua").removeprefix("./").replace(".", "/")
        for file in self.files:
            own = file.path.removesuffix(".lua").replace(".", "/")
            if own == wanted or own.endswith(f"/{wanted}") or own.endswith(f"{wanted}/init"):
                return file
        return None

    # Statements ---------------------------------------------------------------------------------

    def _block(self, block: s.Block) -> None:
        for statement in block.statements:
            self._statement(statement)

    def _statement(self, node: s.Statement) -> None:
        if isinstance(node, s.Local):
            for name, kind in zip(
                node.names, self._spread(node.values, len(node.names)), strict=False
            ):
                self._join(self.of(name.variable), kind)
        elif isinstance(node, s.Assign):
            kinds = self._spread(node.values, len(node.targets))
            for target, kind in zip(node.targets, kinds, strict=False):
                self._assign(target, kind)
        elif isinstance(node, s.Define):
            kind = Type("function", function=self.signature(node.function))
            self._assign(node.target, kind)
        elif isinstance(node, s.Do):
            self.all_results(node.call)
        elif isinstance(node, s.Return):
            self._return(node)
        elif isinstance(node, s.ForRange):
            first = self.type(node.first)
            self.type(node.last)
            step = self.type(node.step) if node.step is not None else Type("int")
            is_int = first.is_int and step.is_int
            self._join(self.of(node.name.variable), Type("int" if is_int else "number"))
        elif isinstance(node, s.ForEach):
            kinds = self.loop_types(node)
            for name, kind in zip(node.names, kinds, strict=False):
                self._join(self.of(name.variable), kind)
        for child in node.children():
            self._inside(child)

    def _inside(self, node: s.Node) -> None:
        """Blocks and functions below an expression or statement."""
        if isinstance(node, s.Block):
            self._block(node)
        elif isinstance(node, s.Function):
            self._body(node)
        else:
            if isinstance(node, (s.Index, s.Call, s.Binary, s.Unary, s.Table)):
                pass
            for child in node.children():
                self._inside(child)

    def _body(self, node: s.Function) -> None:
        signature = self.signature(node).root()
        for i, name in enumerate(node.parameters):
            given = signature.parameter(i)
            if given.atoms or given.open:  # else no call in the program gives it
                self._join(self.of(name.variable), given)
        self._returns.append(signature)
        self._block(node.body)
        self._returns.pop()
        if not signature.counts:
            signature.counts.add(0)
        elif _may_end(node.body):
            self._join(signature.result(0), Type("nil"))

    def _return(self, node: s.Return) -> None:
        signature = self._returns[-1].root()
        kinds = [self.type(v) for v in node.values[:-1]]
        count: int | None = len(node.values)
        if node.values:
            last = node.values[-1]
            kinds += self.all_results(last)
            if is_open(last):
                extra = self.count(last)
                count = None if extra is None else len(node.values) - 1 + extra
        before = len(signature.counts)
        signature.counts.add(-1 if count is None else count)
        self.changed |= before != len(signature.counts)
        for i, kind in enumerate(kinds):
            self._join(signature.result(i), kind)

    def count(self, node: s.Node) -> int | None:
        """How many values an expression at the end of a list gives; None if that is open."""
        if not is_open(node):
            return 1
        if isinstance(node, s.Vararg):
            return None
        assert isinstance(node, s.Call)
        seen_counts = self.facts.get((self.file.path, -node.start, node.end))
        known = self._count(node)
        if known is None and seen_counts and len(seen_counts) == 1:
            return int(seen_counts[0])
        return known

    def _count(self, node: s.Call) -> int | None:
        path = self.dotted(node.function) if node.method is None else None
        if path is not None:
            if path in self.classes:
                return 1
            if path in ("pcall", "xpcall", "unpack", "table.unpack", "select", "assert"):
                return None
            found = results.count(path, node)
            if found is not None:
                return found
        if node.method is None:
            callee = self.type(node.function)
            if callee.atoms & {"class", "module"}:
                return 1
            signature = callee.signature
            if signature is not None and (signature.nodes or signature.counts):
                return signature.count
            return None
        owner = self.type(node.function)
        if owner.is_tensor or owner.only("mask"):
            found = len(self.results(node))
            return (
                None if found == 1 and node.method in results.SEVERAL and node.arguments else found
            )
        if owner.is_string:
            return results.count(f"string.{node.method}", node)
        if owner.only("module"):
            return results.module_count(node.method)
        if owner.shape is not None and owner.shape.klass is not None:
            define = owner.shape.klass.method(node.method, self.classes)
            if define is not None:
                return self.signature(define.function).root().count
        if owner.shape is not None:
            signature = owner.shape.name(node.method).signature
            if signature is not None and signature.nodes:
                return signature.count
        if owner.only("sizes", "storage"):
            return 1
        return None

    def _spread(self, values: list[s.Node], count: int) -> list[Type]:
        """The types of so many values of a list of expressions."""
        kinds = [self.type(v) for v in values[:-1]]
        if values:
            kinds += (
                self.all_results(values[-1]) if is_open(values[-1]) else [self.type(values[-1])]
            )
        is_known = not values or not is_open(values[-1])
        missing = count - len(kinds)
        return kinds + [Type("nil") if is_known else Type() for _ in range(missing)]

    def _assign(self, target: s.Node, kind: Type) -> None:
        if isinstance(target, s.Name):
            self._join(self.of(target.variable), kind)
            return
        assert isinstance(target, s.Index)
        owner = self.type(target.object)
        if owner.shape is not None:
            self._store(owner.shape, target.key, kind)

    def loop_types(self, node: s.ForEach) -> list[Type]:
        """The types of the names of ``for … in``."""
        call = node.values[0]
        if isinstance(call, s.Call) and len(node.values) == 1:
            path = self.dotted(call.function) if call.method is None else None
            if path in ("ipairs", "pairs") and call.arguments:
                kind = self.type(call.arguments[0])
                shape = kind.shape
                if kind.only("sizes"):
                    return [Type("int"), Type("int")]
                if shape is None:
                    return [Type("int") if path == "ipairs" else Type(), Type()]
                shape.uses.add(path)
                if path == "ipairs":
                    return [Type("int"), shape.items]
                key, value = Type(), Type()
                key.join(shape.key)
                value.join(_any_entry(shape))
                if shape.names:
                    key.join(Type("string"))
                if "next" in shape.keys:
                    key.join(Type("int"))
                return [key, value]
            if path == "string.gmatch" or call.method == "gmatch":
                return [Type("string") for _ in node.names]
            if call.method == "lines" or path == "io.lines":
                return [Type("string")]
            if path in ("paths.files", "paths.iterfiles", "paths.iterdirs", "paths.dir", "lfs.dir"):
                return [Type("string")]
        kinds = self._spread(node.values, 3)
        step = kinds[0].signature
        if step is not None:
            found = self._call(step, kinds[1:3])
            names = found[: len(node.names)] + [Type() for _ in node.names[len(found) :]]
            return [kind.without("nil") if i == 0 else kind for i, kind in enumerate(names)]
        return [Type() for _ in node.names]


def required(node: s.Node | None) -> str | None:
    """The name in ``require 'name'``."""
    if (
        isinstance(node, s.Call)
        and node.method is None
        and isinstance(node.function, s.Name)
        and node.function.id == "require"
        and node.arguments
        and isinstance(node.arguments[0], s.Constant)
    ):
        value = node.arguments[0].value
        return value if isinstance(value, str) else None
    return None


def tried(node: s.Local) -> str | None:
    """The name in ``local ok, package = pcall(require, 'name')``."""
    call = node.values[0] if len(node.values) == 1 else None
    if (
        isinstance(call, s.Call)
        and isinstance(call.function, s.Name)
        and call.function.id == "pcall"
        and len(call.arguments) == 2
        and isinstance(call.arguments[0], s.Name)
        and call.arguments[0].id == "require"
        and isinstance(call.arguments[1], s.Constant)
    ):
        return str(call.arguments[1].value)
    return None


def is_self(function: s.Function) -> bool:
    """Whether its first parameter is called self."""
    return bool(function.parameters) and function.parameters[0].id == "self"


def is_name(value: Any) -> bool:
    """Whether it can stand behind a dot."""
    return isinstance(value, str) and value.isidentifier()


def is_open(node: s.Node) -> bool:
    """Whether an expression may give any number of values at the end of a list."""
    return isinstance(node, (s.Call, s.Vararg))


def _any_entry(shape: Table) -> Type:
    """What any entry of a table may be; different functions stay different."""
    kinds = [shape.items, *shape.names.values()]
    signatures = {id(k.signature): k.signature for k in kinds if k.signature is not None}
    joined = Type()
    for kind in kinds:
        joined.join(kind if len(signatures) < 2 else kind.without_function())
    if len(signatures) > 1:
        for signature in signatures.values():
            signature.escapes = True
    return joined


def _loads_by_name(block: s.Block) -> bool:
    """Whether a file is loaded whose name is computed."""
    for node in calls(block):
        function = node.function
        name = getattr(function, "id", "")
        if isinstance(function, s.Index) and isinstance(function.key, s.Constant):
            name = function.key.value
        is_computed = bool(node.arguments) and not isinstance(node.arguments[0], s.Constant)
        if name in ("require", "dofile") and is_computed:
            return True
    return False


def _may_end(block: s.Block) -> bool:
    """Whether a function may come to the end of its block without a ``return``."""
    last = block.statements[-1] if block.statements else None
    if isinstance(last, s.If):
        bodies = [body for _, body in last.clauses]
        return last.clauses[-1][0] is not None or any(map(_may_end, bodies))
    if isinstance(last, s.Scope):
        return _may_end(last.body)
    if isinstance(last, s.While):
        return not (isinstance(last.condition, s.Constant) and last.condition.value is True)
    is_error = (
        isinstance(last, s.Do)
        and isinstance(last.call, s.Call)
        and isinstance(last.call.function, s.Name)
        and last.call.function.id in ("error", "assert")
    )
    return not isinstance(last, (s.Return, s.Repeat)) and not is_error


def constant(value: Any) -> Type:
    """The type of a constant."""
    if value is None:
        return Type("nil")
    if isinstance(value, bool):
        return Type("boolean")
    return Type({int: "int", float: "float", str: "string"}[type(value)])


def _element(owner: Type, key: s.Node, kind: Type, inference: Inference) -> Type:
    """What ``x[key]`` of a tensor is."""
    if isinstance(key, s.Table):
        taken = sum(1 for f in key.fields if inference.type(f.value).is_number)
        dims = {d - taken if d >= 0 else -1 for d in owner.dims}
        if dims == {0}:
            return Type("float")
        return tensor(owner.dtypes, dims) if 0 not in dims else Type()
    if kind.only("tensor", "mask"):
        return tensor(owner.dtypes, [1])
    if kind.is_number:
        if owner.dims == {1}:
            return Type("float" if not owner.dtypes <= results.WHOLE else "int")
        if -1 in owner.dims or 1 in owner.dims:
            return Type()
        return tensor(owner.dtypes, [d - 1 for d in owner.dims])
    return Type()


def calls(block: s.Block) -> Iterator[s.Call]:
    """All calls in a block."""
    return (node for node in s.walk(block) if isinstance(node, s.Call))
