"""The types that a value may have, as far as they are known."""

from __future__ import annotations

from collections.abc import Iterable, Set
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from compat.port.know.structures import Signature, Table


class Kind(str, Enum):
    """The kind of a value. Its text is its name in traces and in the tables of results."""

    NIL = "nil"
    BOOLEAN = "boolean"
    INT = "int"  # an int in Python
    FLOAT = "float"
    NUMBER = "number"  # an int or a float
    STRING = "string"
    TENSOR = "tensor"
    SIZES = "sizes"
    STORAGE = "storage"
    POINTER = "pointer"
    TABLE = "table"
    OPTIONS = "options"  # of a command line
    FUNCTION = "function"
    CLASS = "class"
    OBJECT = "object"  # of a class of the script's
    MODULE = "module"  # an object of compat's
    PACKAGE = "package"
    FILE = "file"
    LUA = "lua"  # an object that the Lua runtime has


NUMBERS = frozenset({Kind.INT, Kind.FLOAT, Kind.NUMBER})
FROM_LUA = "of Lua's functions"  # the class of what these give: Python's own, or a table of Lua's
OF_LUA = "package of Lua"  # the class of what ``require`` gives that only the Lua runtime has
# What Torch7 computes with; other types of tensors have whole numbers.
FLOATING = frozenset({"Double", "Float", "Half"})


class Type:
    """A set of possibilities, which grows as more is seen.

    No ``atoms`` at all: nothing is known. ``open``: it may also be what nobody knows. ``buffer``:
    it may be what a module's ``forward`` gave. ``strided``: a tensor that may not be contiguous.
    ``thin``: one that may have a dimension of size 1: the code says so, or a net gave it. ``deep``:
    one of two dimensions or more, where it is not known of how many. ``zero``: a number that the
    program sets to 0 somewhere. ``lacking``: it may be nil where a program gives a name or an
    argument at some places and not at others.
    """

    __slots__ = (
        "atoms", "buffer", "classes", "deep", "dims", "dtypes", "function", "is_kept", "lacking",
        "open", "parts", "strided", "table", "thin", "zero",
    )  # fmt: skip

    def __init__(self, *atoms: Kind, table: Table | None = None, function: Any = None) -> None:
        self.atoms: set[Kind] = set(atoms)
        self.dtypes: set[str] = set()
        self.dims: set[int] = set()
        self.classes: set[str] = set()
        self.is_kept = False  # of a variable, field, entry, parameter or result
        self.parts: set[Type] = set()  # of a tensor: the kept types of what it may be
        self.table = table
        self.function: Signature | None = function
        self.open = self.buffer = self.strided = self.thin = self.zero = self.lacking = False
        self.deep = False

    def join(self, other: Type) -> bool:
        """Add what ``other`` may be. Returns whether that is news."""
        before = self._extent()
        if Kind.TENSOR in other.atoms and other.dims != {0}:
            self.deep = other.deep and (self.deep or not self._is_of_sizes)
        self.open |= other.open
        self.buffer |= other.buffer
        self.strided |= other.strided
        self.thin |= other.thin
        self.zero |= other.zero
        self.lacking |= other.lacking
        self.atoms |= other.atoms
        self.dtypes |= other.dtypes
        self.dims |= other.dims
        self.classes |= other.classes
        if other.table is not None:
            if self.table is None:
                self.table = other.table
            elif self.table.is_options == other.table.is_options:
                self.table.unify(other.table)
            else:
                self.open |= self.has_meta or other.has_meta
        if other.function is not None:
            if self.function is None:
                self.function = other.function
            elif other.function.root().choices and not self.function.root().choices:
                self.function, own = other.function, self.function
                self.function.unify(own)
            else:
                self.function.unify(other.function)
        return before != self._extent()

    def _extent(self) -> tuple[int, ...]:
        """Return the sets that grow when something is added to the type."""
        return (
            len(self.atoms), len(self.dtypes), len(self.dims), len(self.classes),
            id(self.shape), id(self.signature), self.open, self.buffer, self.strided,
            self.thin, self.zero, self.lacking, self.deep,
        )  # fmt: skip

    @property
    def _is_of_sizes(self) -> bool:
        """Whether it may be a tensor that is not empty."""
        return Kind.TENSOR in self.atoms and self.dims != {0}

    @property
    def shape(self) -> Table | None:
        """The known facts about the table."""
        return None if self.table is None else self.table.root()

    @property
    def signature(self) -> Signature | None:
        """The known facts about the function."""
        return None if self.function is None else self.function.root()

    @property
    def klass(self) -> Any:
        """The class of the script's that it is, or is an object of."""
        return None if self.table is None else self.table.root().klass

    def only(self, *atoms: Kind) -> bool:
        """Return whether it is known, and one of these."""
        return self.atoms.issubset(atoms) and self.is_known

    @property
    def is_known(self) -> bool:
        """Whether its possibilities are all that there are.

        The tables that nets and Torch7's functions give are lists, whatever those of the program
        are.
        """
        if self.open or not self.atoms:
            return False
        if self.is_given_by_lua and self.atoms & {Kind.TABLE, Kind.OBJECT}:
            return False
        shape = self.shape
        if shape is None or Kind.TABLE not in self.atoms:
            return True
        is_given = self.buffer or "given" in shape.uses
        return not (is_given and (shape.is_dict or shape.is_own_meta))

    def may(self, *atoms: Kind) -> bool:
        """Return whether it may be one of these, as far as is known."""
        return not self.is_known or bool(self.atoms & set(atoms))

    @property
    def is_given_by_lua(self) -> bool:
        """Whether it may be a table of Lua's, which is none of Python's."""
        return FROM_LUA in self.classes

    @property
    def is_of_lua(self) -> bool:
        """Whether it is nothing but a package that only the Lua runtime has."""
        return self.classes == {OF_LUA} and self.atoms <= {Kind.NIL} and not self.open

    @property
    def is_lua_s(self) -> bool:
        """It is an object that the Lua runtime has."""
        return Kind.LUA in self.atoms and self.only(Kind.LUA, Kind.NIL)

    @property
    def is_number(self) -> bool:
        """It is a number."""
        return self.only(*NUMBERS)

    @property
    def is_int(self) -> bool:
        """It is an int in Python."""
        return self.only(Kind.INT)

    @property
    def is_string(self) -> bool:
        """It is a string."""
        return self.only(Kind.STRING)

    @property
    def sources(self) -> set[Type]:
        """Return the kept types that it comes from."""
        return {self} if self.is_kept else self.parts

    @property
    def ranks(self) -> set[int]:
        """Return how many dimensions it may have where it is not empty (-1: any number)."""
        return self.dims - {0} or {-1}

    @property
    def is_tensor(self) -> bool:
        """It is a tensor."""
        return self.only(Kind.TENSOR)

    def is_list(self, *others: Kind) -> bool:
        """Return whether it is a list, or one of these."""
        return self.only(Kind.TABLE, *others) and self.shape is not None and self.shape.is_list

    @property
    def has_meta(self) -> bool:
        """Whether its tables may have metatables."""
        return self.shape is not None and "meta" in self.shape.uses

    def joined(self, other: Type) -> Type:
        """Return the union of two types."""
        both = Type()
        both.join(self)
        both.join(other)
        both.parts = self.sources | other.sources
        return both

    def without(self, *atoms: Kind) -> Type:
        """Return the type without some of its possibilities."""
        copy = Type(*(self.atoms - set(atoms)), table=self.table, function=self.function)
        copy.dtypes, copy.dims, copy.classes = self.dtypes, self.dims, self.classes
        copy.open, copy.buffer, copy.parts = self.open, self.buffer, {*self.sources}
        copy.strided, copy.thin, copy.zero = self.strided, self.thin, self.zero
        copy.deep = self.deep
        copy.lacking = self.lacking and Kind.NIL not in atoms
        return copy

    def less(self, atoms: Set[Kind]) -> Type:
        """Return what is left where these are impossible; the same if that is nothing."""
        left = self.atoms - atoms
        is_less = left != self.atoms or (self.lacking and Kind.NIL in atoms)
        return self.without(*atoms) if left and is_less else self

    def close(self) -> None:
        """Have nothing unknown among the possibilities but tables of another form."""
        if self.open and self.shape is not None and self.shape.is_own_meta:
            self.shape.uses.add("foreign")
        self.open = False

    @property
    def present(self) -> Type:
        """The same where it is not nil."""
        return self.less({Kind.NIL})

    @property
    def may_be_nil(self) -> bool:
        """Whether it may be nil, as far as the program shows."""
        return self.lacking or Kind.NIL in self.atoms

    def without_function(self) -> Type:
        """Return the same, of a function not knowing which."""
        copy = self.without()
        copy.function = None
        return copy


def tensor(dtypes: Iterable[str] = (), dims: Iterable[int] = (-1,)) -> Type:
    """Return a tensor. ``dims``: 0 if it is empty, -1 any number, none while nothing is known."""
    made = Type(Kind.TENSOR)
    made.dtypes, made.dims = set(dtypes) or {"?"}, set(dims)
    return made


def of_lua(word: str = OF_LUA) -> Type:
    """Return what only the Lua runtime has, or gives."""
    made = Type()
    made.classes = {word}
    return made
