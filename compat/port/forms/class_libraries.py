"""Classes that a package in Lua makes, classic or middleclass: read as those of ``torch.class``."""

from __future__ import annotations

from collections.abc import Iterator

from compat.port.know.files import File
from compat.port.know.form.file_names import required
from compat.port.know.form.shapes import assigned
from compat.port.read import syntax as s

# What they call a constructor.
_CONSTRUCTORS = {"classic": "_init", "middleclass": "initialize"}
# What only says that a wrong program fails earlier.
_CHECKS = {"strict", "mustHave", "final"}
# What is asked of classes and objects, and classes of Python have not.
_OF_OBJECTS = {"class", "classIs", "isInstanceOf"}
_ASKED = {
    *_OF_OBJECTS,
    *("parent", "super", "name", "include", "methods", "allMethods", "hash"),
    *("isClassOf", "isSubclassOf", "abstract", "instantiate", "subclass"),
    *("allocate", "subclasses", "includes", "__index", "__newindex"),
}


def without_class_libraries(files: list[File]) -> list[File]:
    """Read the classes of each such package that the program takes nothing else from, and return
    the files that are left: not those of the package.
    """
    for name, constructor in _CONSTRUCTORS.items():
        own = _files_of(name, files)
        library = _Library(name, [file for file in files if file not in own])
        if library.variables and library.is_plain():
            library.read(constructor)
            files = library.files
    return files


def _files_of(name: str, files: list[File]) -> list[File]:
    """Return the files of a package, and what they load."""
    first = {path for f in files for text, path in f.loads.items() if text.split(".")[0] == name}
    own = [file for file in files if file.path in first]
    for file in own:
        own += [f for f in files if f.path in file.loads.values() and f not in own]
    return own


class _Library:
    def __init__(self, name: str, files: list[File]) -> None:
        self.name, self.files = name, files
        made = [(node, value) for file in files for node, value in _assigned(file)]
        self.variables = {node.variable for node, value in made if required(value) == name}
        if name == "classic":  # sets a global of its name
            found = (file.scopes.globals.get(name) for file in files)
            self.variables |= {own for own in found if own is not None and not own.writes}
        self.made = {value for _, value in made if self._makes(value)}
        self.classes = {node.variable for node, value in made if value in self.made}
        self.parents = {
            node.variable: value.arguments[1]
            for node, value in made
            if value in self.made and isinstance(value, s.Call) and len(value.arguments) > 1
        }
        given = {file.path for file in files if self._gives_class(file.block)}
        for file in files:
            loads = [(node, required(value)) for node, value in _assigned(file)]
            self.classes |= {n.variable for n, name in loads if file.loads.get(name or "") in given}

    def _makes(self, node: s.Node) -> bool:
        """Return whether an expression makes a class: ``classic.class('C')``."""
        if not isinstance(node, s.Call) or node.method is not None or not node.arguments:
            return False
        function = node.function
        if not isinstance(s.constant(node.arguments[0]), str):
            return False
        if self.name == "classic":
            return self._is_entry(function, "class")
        return isinstance(function, s.Name) and function.variable in self.variables

    def _gives_class(self, block: s.Block) -> bool:
        last = block.statements[-1] if block.statements else None
        return isinstance(last, s.Return) and bool(last.values) and self._is_class(last.values[0])

    def _is_entry(self, node: s.Node, name: str) -> bool:
        owner = node.object if isinstance(node, s.Index) else None
        is_own = isinstance(owner, s.Name) and owner.variable in self.variables
        return is_own and isinstance(node, s.Index) and s.constant(node.key) == name

    def _says_nothing(self, node: s.Node) -> bool:
        """Return whether a statement loads the package or asks it to check."""
        call = node.call if isinstance(node, s.Do) else None
        if isinstance(node, (s.Local, s.Assign)) and len(node.values) == 1:
            return required(node.values[0]) == self.name
        if not isinstance(call, s.Call):
            return False
        if (required(call) or "").split(".")[0] == self.name:
            return True
        owner = call.function if call.method in _CHECKS else None
        is_check = owner is not None and self._is_class(owner)
        return is_check or self._is_entry(call.function, "strict")

    def is_plain(self) -> bool:
        """Return whether the program only makes classes with the package, and objects of them."""
        told: set[s.Node] = set()
        kinds: dict[object, set[bool]] = {}  # of what is put into classes: as static or not
        nodes = [node for file in self.files for node in s.walk(file.block)]
        for node in nodes:
            if node in self.made or (isinstance(node, s.Do) and self._says_nothing(node)):
                told.update(s.walk(node.function if isinstance(node, s.Call) else node))
            if isinstance(node, s.Index) and self._parent(node.object) is not None:
                told.add(node.object)
            for target in node.targets if isinstance(node, s.Assign) else ():
                owner = target.object if isinstance(target, s.Index) else target
                is_static = isinstance(owner, s.Index) and s.constant(owner.key) == "static"
                if isinstance(target, s.Index) and (is_static or self._is_class(owner)):
                    kinds.setdefault(s.constant(target.key), set()).add(is_static)
        if any(self._is_more(node, kinds) for node in nodes if node not in told):
            return False
        reads = (node for variable in self.variables for node, _ in variable.reads)
        return all(node in told for node in reads)

    def _is_more(self, node: s.Node, kinds: dict[object, set[bool]]) -> bool:
        """Return whether an expression asks for what classes of Python have not, or have elsewhere:
        objects see nothing that is put into classes, but for middleclass where it is not static.
        """
        if isinstance(node, s.Call) and node.method in _ASKED:
            return self._is_class(node.function) or node.method in _OF_OBJECTS
        key = s.constant(node.key) if isinstance(node, s.Index) else None
        if key == "class" and self.name == "middleclass":  # that of an object
            return True
        if not isinstance(node, s.Index) or not isinstance(node.object, s.Name):
            return False
        name = node.object
        places = kinds.get(key, set())
        is_hidden = places and name.id == "self" and (True in places or self.name == "classic")
        return len(places) > 1 or bool(is_hidden) or (key in _ASKED and self._is_class(name))

    def _parent(self, node: s.Node) -> s.Node | None:
        """Return the class that ``C.super`` is."""
        is_super = isinstance(node, s.Index) and s.constant(node.key) == "super"
        owner = node.object if is_super and isinstance(node, s.Index) else None
        return self.parents.get(owner.variable) if isinstance(owner, s.Name) else None

    def _is_class(self, node: s.Node) -> bool:
        return isinstance(node, s.Name) and node.variable in self.classes

    def read(self, constructor: str) -> None:
        """Give the constructors torch's name, and take away what says nothing."""
        for file in self.files:
            file.class_calls |= self.made
            for node in s.walk(file.block):
                if isinstance(node, s.Block):
                    self._shorten(node)
            for node in s.walk(file.block):
                if isinstance(node, s.Call) and node.method == constructor:
                    node.method = "__init"
                elif self.name == "middleclass" and isinstance(node, s.Call):
                    is_made = node.method == "new" and self._is_class(node.function)
                    node.method = None if is_made else node.method
                if not isinstance(node, s.Index):
                    continue
                if s.constant(node.key) == constructor:
                    node.key = s.Constant("__init")
                inner = node.object
                if isinstance(inner, s.Index) and s.constant(inner.key) == "static":
                    inner = inner.object
                node.object = self._parent(inner) or inner

    def _shorten(self, block: s.Block) -> None:
        for node in filter(self._says_nothing, block.statements[:]):
            s.drop(node, block)


def _assigned(file: File) -> Iterator[tuple[s.Name, s.Node]]:
    """Yield names that get a value, and the value."""
    return ((name, value) for name, value in assigned(file.block) if isinstance(name, s.Name))
