"""The files and classes of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from compat.port.know.form.shapes import set_names
from compat.port.know.scopes import Scopes, Variable
from compat.port.know.structures import Signature, Table
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

GETTER = "__getitem__"  # the method that gives what no field or method is called
_MAKES = re.compile("_*(init|new|create|reset|build|load)", re.IGNORECASE)


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
    deriving: s.Node | None = None  # the call of setmetatable that names its parent
    inherits_all: bool = False  # metamethods and a constructor, too
    methods: dict[str, s.Define] = field(default_factory=dict)
    members: Table = field(default_factory=Table)
    instance: Table = field(default_factory=Table)

    def __post_init__(self) -> None:
        self.instance.klass = self
        self.members.klass = self

    def method(self, name: str, classes: Mapping[str, Class]) -> s.Define | None:
        """Return a method, its own or inherited."""
        found = (klass.methods.get(name) for klass in self.line(classes))
        return next(filter(None, found), None)

    def line(self, classes: Mapping[str, Class]) -> Iterator[Class]:
        """Yield the class and those of the script's that it derives from."""
        klass: Class | None = self
        while klass is not None:
            yield klass
            klass = classes.get(klass.parent or "")

    def bases(self, classes: Mapping[str, Class]) -> list[Class]:
        """Return the classes of the script's that it derives from, the nearest first."""
        return [*self.line(classes)][1:]

    def top(self, classes: Mapping[str, Class]) -> Class:
        """Return the last of its line: its parent is of a package, if it has one."""
        *_, last = self.line(classes)
        return last

    def is_layer(self, classes: Mapping[str, Class]) -> bool:
        """Return whether it derives from a class of a package, at last."""
        top = self.top(classes)
        return top.is_torch and top.parent is not None

    def sets_first(self, name: str, classes: Mapping[str, Class]) -> bool:
        """Return whether what makes an object, a function of the class's or a method such as
        init, sets a field of this name.
        """
        return any(
            name in set_names(define.function.body)
            for klass in self.line(classes)
            for method, define in klass.methods.items()
            if not define.is_method or _MAKES.match(method)
        )

    @property
    def object(self) -> Type:
        """The type of its objects."""
        made = Type(Kind.OBJECT, table=self.instance)
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
    gives: Signature = field(default_factory=Signature)  # what it returns
    is_script: bool = False  # it starts a program; scripts do not share global variables
    loads: dict[str, str] = field(default_factory=dict)  # names in require and dofile, and paths
    is_opaque: bool = False  # it has no draft, and what it says is not known
    class_calls: set[s.Node] = field(default_factory=set)  # of packages that make classes

    @property
    def value(self) -> Type:
        """The type of what it returns, the first if that is several values."""
        return self.gives.result(0)

    @property
    def gives_several(self) -> bool:
        """Whether it returns several values, of which ``require`` gives the first."""
        return max(self.gives.counts, default=0) > 1

    def shares_with(self, other: File) -> bool:
        """Return whether both may be parts of one program."""
        return self is other or not (self.is_script and other.is_script)
