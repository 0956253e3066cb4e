"""What the names of a program stand for: packages, classes, files."""

from __future__ import annotations

from collections.abc import Sequence

from compat.port.know.files import Class, File
from compat.port.know.scopes import KNOWN, PACKAGES, Variable
from compat.port.know.shapes import defined, is_name, is_self, places_like, required, tried
from compat.port.know.types import Type
from compat.port.read import syntax as s
from compat.port.write.python_names import is_metamethod

# What later Lua has in a package: ``local unpack = unpack or table.unpack``.
_OF_LUA_51 = {"unpack", "loadstring"}
# What Lua calls with two objects of a class.
_OF_TWO = {"__add", "__sub", "__eq", "__lt", "__le"}


class Names:
    """The names of a program."""

    files: list[File]
    file: File  # that is looked at
    classes: dict[str, Class]
    aliases: dict[Variable, str]
    _alias_paths: dict[Variable, list[str]]  # what is put into those that may name a package
    replaced: set[str]  # functions of packages for which the program has its own
    absent: set[str]  # packages that files ask for and nobody has
    metatables: set[Variable]  # what torch.class gave
    variables: dict[Variable, Type]
    _derived: dict[Variable, tuple[str, s.Node]]  # classes and what they derive from
    followed: set[s.Index]  # entries that have methods or entries themselves
    firsts: dict[Variable, int]  # what loops count from
    told: set[tuple[Variable | None, str]]  # causes that drafts have marks for
    sources: dict[Variable, list[s.Node]]  # what is put into variables
    filled: set[s.Call]  # of functions of lists, where the length was looked at
    appended: set[s.Name]  # keys that a loop fills a new table with
    orders: set[s.Call]  # permutations that are indices
    tests: dict[s.Name, str]  # where a test has told what a variable is,
    lengths: dict[s.Name, int]  # and how long
    namesakes: set[Variable]  # known by what else has their name

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
                if isinstance(value, s.Binary) and self.dotted(value.left) in _OF_LUA_51:
                    value = value.left
                if isinstance(name, s.Name):
                    self._note_alias(name.variable, value)

    def _find_replaced(self, file: File) -> None:
        """Functions of packages that the program sets: ``function nn.Linear:reset() … end``."""
        for node in s.walk(file.block):
            targets = [node.target] if isinstance(node, s.Define) else []
            targets = node.targets if isinstance(node, s.Assign) else targets
            found = (self.dotted(target) for target in targets if isinstance(target, s.Index))
            self.replaced |= {path for path in found if path is not None}

    def _note_alias(self, variable: Variable, value: s.Node) -> None:
        """Note what is put into a variable: it names a package if all that is, is this one."""
        if self.file_of(value) is not None:  # the program's own ``utils``
            return
        path = (required(value) or "").removeprefix("pl.")
        if path not in PACKAGES | {"lapp"}:
            path = self.dotted(value) or ""
        if path not in PACKAGES | _OF_LUA_51 | {"lapp"} and "." not in path:
            return
        if path in self.replaced:  # it is what was there before
            return
        same = self._alias_paths.setdefault(variable, [])
        same.append(path)
        if len(same) == len(variable.writes) and len(set(same)) == 1:
            self.aliases[variable] = path

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
            if path is not None and self.names_package(path) and is_name(node.key.value):
                # Package rnn has its own of some of nn's functions.
                return f"{path}.{node.key.value}".replace("nn.rnn.recursive", "nn.utils.recursive")
        if (path := required(node)) in PACKAGES and self.file_of(node) is None:
            return path
        return None

    def names_package(self, path: str) -> bool:
        """Whether a path begins with the name of a package."""
        head = path.split(".")[0]
        return head in PACKAGES or head in self.absent

    def _find_absent(self, file: File) -> None:
        """Packages that are neither part of the program nor known: ``require 'cltorch'``."""
        for node in s.walk(file.block):
            name = tried(node) if isinstance(node, s.Local) else required(node)
            if name is None or name in KNOWN or not is_name(name):
                continue
            if name not in file.loads:
                self.absent.add(name)

    def _find_classes(self, file: File) -> None:
        """Classes, and their methods: the first of a name that stands in the class's own block."""
        for block in [n for n in s.walk(file.block) if isinstance(n, s.Block)]:
            for statement in block.statements:
                self._find_class(statement)
            own = set(block.statements)
            for i, statement in enumerate(block.statements):
                found = defined(statement)
                if found is None:
                    continue
                define, owner, name = found
                klass = self.class_of(owner)
                if klass is None or klass.node not in own:
                    continue
                if name not in klass.methods and name != "__index":
                    block.statements[i] = klass.methods[name] = define
                    self._give_self(name, define, klass)

    def _give_self(self, name: str, define: s.Define, klass: Class) -> None:
        """Note that a method's first parameter, an operator's both, are objects of its class."""
        is_method = define.is_method or is_self(define.function) or is_metamethod(name)
        parameters = define.function.parameters
        for parameter in parameters if name in _OF_TWO else parameters[: int(is_method)]:
            self.of(parameter.variable).join(klass.object)

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
        made.parent, made.deriving = self._derived.get(owner.variable, (None, None))
        self.classes[f"{owner.id}@{self.file.path}:{owner.variable.declared_at}"] = made
        self.of(owner.variable).join(self._class_type(made))

    def _find_parent(self, target: s.Node | None, call: s.Node | None) -> None:
        """``B = setmetatable({}, {__index = A})`` and its kin: B derives from the class A."""
        if not isinstance(call, s.Call) or self.dotted(call.function) != "setmetatable":
            return
        if len(call.arguments) != 2:
            return
        table, parent = call.arguments
        if isinstance(parent, s.Table) and len(parent.fields) == 1:
            key = parent.fields[0].key
            is_index = isinstance(key, s.Constant) and key.value == "__index"
            parent = parent.fields[0].value if is_index else parent
        base = self.class_of(parent)
        name = table if isinstance(table, s.Name) else target
        is_empty = isinstance(table, s.Table) and not table.fields
        if base is None or not isinstance(name, s.Name) or not (table is name or is_empty):
            return
        known = self.class_of(name)
        if known is base:
            return
        key_of_base = next(key for key, klass in self.classes.items() if klass is base)
        self._derived[name.variable] = key_of_base, call
        if known is not None and known.parent is None:
            known.parent, known.deriving = self._derived[name.variable]

    def _find_class(self, node: s.Statement) -> None:
        call: s.Node | None = None
        names: list[s.Node] = []
        if isinstance(node, s.Do):
            call = node.call
        elif isinstance(node, s.Local):
            call, names = node.values[0] if node.values else None, list(node.names)
        elif isinstance(node, s.Assign):
            call, names = node.values[0], node.targets
        self._find_parent(names[0] if len(names) == 1 else None, call)
        if isinstance(call, s.Call) and call.method is None and call.arguments:
            first = call.arguments[0]
            if self.dotted(call.function) in ("torch.class", "class"):
                if not isinstance(first, s.Constant) or not isinstance(first.value, str):
                    return
                parent = call.arguments[1] if len(call.arguments) > 1 else None
                parent_name = s.constant(parent)
                if not isinstance(parent_name, str):
                    parent_name = None
                variable = names[0].variable if names and isinstance(names[0], s.Name) else None
                made = Class(first.value, variable, parent_name, True, node, self.file.module)
                self.classes[self._key(made)] = made
                if variable is not None:
                    self.of(variable).join(self._class_type(made))
                made.holder = next((a for a in call.arguments[1:] if isinstance(a, s.Name)), None)
                self.metatables |= {n.variable for n in names if isinstance(n, s.Name)}
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
            and not owner.variable.is_parameter  # a prototype, of which objects are made
        ) and all(klass.variable is not owner.variable for klass in self.classes.values()):
            self._add_class(owner, node)

    def _key(self, made: Class) -> str:
        """The name of a class, or where several files have one of the name, with the file."""
        return f"{made.name}@{self.file.path}" if made.name in self.classes else made.name

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

    def of(self, variable: Variable) -> Type:
        """The type of a variable."""
        return self.variables.setdefault(variable, Type())

    def file_of(self, node: s.Node) -> File | None:
        """The file of the program that a ``require`` or ``dofile`` names."""
        if not isinstance(node, s.Call) or not node.arguments:
            return None
        # ``torch.include('package', 'part.lua')`` names the package first
        is_included = self.dotted(node.function) == "torch.include"
        name = node.arguments[-1 if is_included else 0]
        if not isinstance(name, s.Constant) or not isinstance(name.value, str):
            return None
        path = self.file.loads.get(name.value)
        return next((file for file in self.files if file.path == path), None)

    def files_like(self, node: s.Call) -> list[File]:
        """The files that ``dofile('models/' .. name)`` may mean."""
        paths = [file.path for file in self.files]
        return (
            [self.files[i] for i in places_like(node.arguments[0], paths)] if node.arguments else []
        )
