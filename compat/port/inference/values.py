"""The types of expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

from compat.port import results
from compat.port import syntax as s
from compat.port.inference.files import Class
from compat.port.inference.names import Names
from compat.port.inference.shapes import constant, counts_up, is_open
from compat.port.inference.tests import LEAVES, tested
from compat.port.scopes import PACKAGES, FunctionScope, Variable
from compat.port.types import Signature, Table, Type, seen, tensor

_BUFFERS = {"output", "gradInput"}


class Values(Names, ABC):
    """What expressions may be; ``Calls`` adds those that call."""

    facts: Mapping[tuple[str, int, int], list[str]]
    by_function: dict[s.Function, Signature]
    changed: bool
    _guessed: set[Type]
    _is_settled: bool
    _seen_tables: dict[s.Node, Table]
    _tested_tables: dict[Variable, Table]

    @abstractmethod
    def results(self, node: s.Call) -> list[Type]:
        """The types of what a call gives."""

    @abstractmethod
    def _call(self, signature: Signature | None, arguments: list[Type]) -> list[Type]:
        """The types of what a function gives for arguments of these types."""

    @abstractmethod
    def spread_out(self, node: s.Node) -> None:
        """Note that all results of a call count."""

    @abstractmethod
    def all_results(self, node: s.Node) -> list[Type]:
        """The types of all values of a call or ``...``."""

    def _stored(self, node: s.Node) -> Type | None:
        """Where the type of a variable or field is kept."""
        if isinstance(node, s.Name):
            return self.of(node.variable)
        if isinstance(node, s.Index):
            owner = self._stored(node.object)
            shape = owner.shape if owner is not None else None
            if shape is None:
                return None
            word = node.key.value if isinstance(node.key, s.Constant) else None
            return shape.name(word) if isinstance(word, str) else shape.items
        return None

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

    def owner(self, node: s.Node) -> Type:
        """The type of what has a method or length: where it is nil, Lua would fail, too."""
        kind = self.type(node)
        return kind.without("nil") if kind.atoms - {"nil"} else kind

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
            chosen = node.left.inner if isinstance(node.left, s.Paren) else node.left
            if isinstance(chosen, s.Binary) and chosen.operator == "and":
                left = self.type(chosen.right)  # what is false is not what it gives
            joined = left.without("nil")
            copy = Type()
            copy.join(joined)
            copy.join(right)
            return copy if left.atoms or right.atoms else Type()
        return self._arithmetic(operator, left, right)

    def _arithmetic(self, operator: str, left: Type, right: Type) -> Type:
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

    def _table(self, node: s.Table) -> Type:
        table: Table | None = node.shape
        if table is None:
            table = node.shape = Table(made=[node])
            table.always = {str(f.key.value) for f in node.fields if isinstance(f.key, s.Constant)}
        root = table.root()
        for i, entry in enumerate(node.fields):
            if entry.key is None:
                root.keys.add("next")
                if i == len(node.fields) - 1 and is_open(entry.value):
                    self.spread_out(entry.value)
                    for kind in self.all_results(entry.value):
                        self._join(root.items, kind)
                else:
                    self._join(root.items, self.type(entry.value))
            else:
                self._store(root, entry.key, self.type(entry.value))
        keys = [f.key.value for f in node.fields if isinstance(f.key, s.Constant)]
        if any(isinstance(k, (int, float)) for k in keys) and not counts_up(node):
            root.uses.add("sparse")
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
            if self._is_next(key, table):
                table.uses.add("append")
            self._join(table.key, kind)
            if kind.is_number and self._in_any_order(key):
                table.uses.add("sparse")
            if kind.is_number:
                write = self.facts.get((self.file.path, key.start, -key.end))
                if write and "sparse" in write:
                    table.uses.add("sparse")
                if key in self.appended and "nil" not in value.atoms:
                    table.uses.add("filled")
                elif isinstance(key, s.Constant) and isinstance(key.value, (int, float)):
                    if key.value < 1:
                        table.keys.add("other")
                    elif table.is_list or not table.keys:
                        table.keys.add("int")
                else:
                    table.keys.add("int")
            elif kind.is_string:
                table.keys.add("name")
                table.uses.add("dynamic")
            elif kind.atoms:
                table.keys.add("other")
            self._join(table.items, value)
        if value.only("nil"):
            table.uses.add("deleted")
        self.changed |= len(table.keys) != before

    def _is_next(self, key: s.Node, table: Table) -> bool:
        """Whether a key is ``#t + 1`` of the table itself."""
        if not isinstance(key, s.Binary) or key.operator != "+":
            return False
        is_one = isinstance(key.right, s.Constant) and key.right.value == 1
        length = key.left if isinstance(key.left, s.Unary) and key.left.operator == "#" else None
        return is_one and length is not None and self.type(length.operand).shape is table

    def _in_any_order(self, key: s.Node) -> bool:
        """Whether entries are written by functions that are called later, in any order."""
        if not isinstance(key, s.Name) or key.variable.scope is None:
            return False
        scope: FunctionScope = key.variable.scope
        if key.variable.is_parameter and scope.node is not None:
            return self.signature(scope.node).root().is_job
        return any(read is key and where is not scope for read, where in key.variable.reads)

    def _index(self, node: s.Index) -> Type:
        path = self.dotted(node)
        if path is not None and self.names_package(path):
            if path in self.classes:
                return self._class_type(self.classes[path])
            return results.constant(path)
        owner, key = self.type(node.object), self.type(node.key)
        name = node.key.value if isinstance(node.key, s.Constant) else None
        if owner.is_tensor and name == "new":
            made = Type(
                "function", function=Signature(results=[tensor(owner.dtypes)], by_node={None: {1}})
            )
            return made
        if owner.is_tensor:
            element = _element(owner, node.key, key, self)
            if not element.atoms and key.is_number and node in self.followed:
                element = tensor(owner.dtypes)
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
            if shape.klass is None:
                return self.entry(owner, shape, node.key)
            if isinstance(name, str):
                kind = shape.name(name)
                if not kind.atoms and klass is not None and klass.parent and klass.is_torch:
                    return results.field(Type("module"), name) if name not in _BUFFERS else tensor()
                return kind
            return self._own_entry(shape, node.key)
        entry = Type()
        entry.buffer = owner.buffer
        return entry

    def entry(self, owner: Type, shape: Table, key: s.Node) -> Type:
        """What is under a key of a table, or what its metatable's ``__index`` has for it."""
        own = self._own_entry(shape, key)
        other = shape.event("__index")
        name = key.value if isinstance(key, s.Constant) else None
        is_set = isinstance(name, str) and bool(own.atoms - {"nil"})
        if not other.atoms or name in shape.root().always or (is_set and other.signature):
            return own
        joined = Type()
        joined.join(own.without("nil"))
        if other.signature is not None:
            joined.join(self._call(other.signature, [owner, self.type(key)])[0])
        elif other.shape is not None and other.shape is not shape:
            joined.join(self.entry(other, other.shape, key))
        return joined

    def _own_entry(self, shape: Table, key: s.Node) -> Type:
        """What is under a key of a table."""
        kind = self.type(key)
        name = key.value if isinstance(key, s.Constant) else None
        if isinstance(name, str):
            found = shape.name(name)
            is_fixed = shape.is_options or shape.klass is not None
            is_name = found.atoms or "dynamic" not in shape.uses or is_fixed
            return found if is_name else shape.items
        if kind.is_number and not isinstance(key, s.Constant):
            shape.uses.add("by number")
        return _any_entry(shape) if kind.is_string else shape.items

    def _inherit(self, klass: Class, name: str) -> None:
        """A field is the same in a class and in those that it derives from."""
        parent = self.classes.get(klass.parent or "")
        while parent is not None:
            own, theirs = klass.instance.name(name), parent.instance.name(name)
            self._join(own, theirs)
            self._join(theirs, own)
            parent = self.classes.get(parent.parent or "")


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


def _element(owner: Type, key: s.Node, kind: Type, types: Values) -> Type:
    """What ``x[key]`` of a tensor is."""
    if not owner.dims:  # not yet known
        return Type()
    if isinstance(key, s.Table):
        taken = sum(1 for f in key.fields if types.type(f.value).is_number)
        if taken == len(key.fields) and -1 in owner.dims:
            return Type()
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
