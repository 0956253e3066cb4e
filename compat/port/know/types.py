"""The types that a value may have, as far as they are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

from compat.port.read import syntax as s


class Kind(str, Enum):
    """The kind of a value. Its text is its name in traces and in the tables of results."""

    NIL = "nil"
    BOOLEAN = "boolean"
    INT = "int"  # an int in Python
    FLOAT = "float"
    NUMBER = "number"  # an int or a float
    STRING = "string"
    TENSOR = "tensor"
    MASK = "mask"  # a tensor of bools, where Torch7 has bytes
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
Origin = tuple[int, int | None]  # a parameter, or its entry under the name that another has
# What Torch7 computes with; other types of tensors have whole numbers.
FLOATING = frozenset({"Double", "Float", "Half"})


class Type:
    """A set of possibilities, which grows as more is seen.

    No ``atoms`` at all: nothing is known. ``open``: it may also be what nobody knows. ``buffer``:
    it may be what a module's ``forward`` gave. ``strided``: a tensor that may not be contiguous.
    ``thin``: one that may have a dimension of size 1: the code says so, or a net gave it. ``zero``:
    a number that the program sets to 0 somewhere. ``lacking``: it may be nil where a program gives
    a name or an argument at some places and not at others.
    """

    __slots__ = (
        "atoms", "buffer", "classes", "dims", "dtypes", "function", "is_kept", "lacking", "open",
        "parts", "strided", "table", "thin", "zero",
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

    def join(self, other: Type) -> bool:
        """Add what ``other`` may be. Returns whether that is news."""
        before = self._extent()
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
            self.thin, self.zero, self.lacking,
        )  # fmt: skip

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
        return self.is_known and self.atoms <= set(atoms)

    @property
    def is_known(self) -> bool:
        """Whether its possibilities are all that there are.

        The tables that nets and Torch7's functions give are lists, whatever those of the program
        are.
        """
        shape = self.shape
        is_given = self.buffer or (shape is not None and "given" in shape.uses)
        is_given = is_given and Kind.TABLE in self.atoms
        is_either = is_given and shape is not None and (shape.is_dict or shape.is_own_meta)
        is_lua_s = self.is_given_by_lua and self.atoms & {Kind.TABLE, Kind.OBJECT}
        return bool(self.atoms) and not self.open and not is_either and not is_lua_s

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


class _Merging:
    """Facts that may become one with others: ``into`` has them from then on."""

    into: Any = None

    def root(self: _M) -> _M:
        """Return what has the facts of all that have become one with this."""
        found = self
        while found.into is not None:
            found = found.into
        return found


_M = TypeVar("_M", bound=_Merging)


@dataclass(eq=False)
class Table(_Merging):
    """Tables that meet in one variable: how they are used, and what is in them."""

    keys: set[str] = field(default_factory=set)  # next, int, name, float, other
    uses: set[str] = field(default_factory=set)  # length, ipairs, meta, sparse, deleted, cut …
    names: dict[str, Type] = field(default_factory=dict)
    items: Type = field(default_factory=Type)  # of the other keys
    key: Type = field(default_factory=Type)
    always: set[str] = field(default_factory=set)  # fields that each has from its beginning
    at_times: set[str] = field(default_factory=set)  # fields that one of them has from then on
    made: list[Any] = field(default_factory=list)  # the nodes that make one
    constants: set[float] = field(default_factory=set)  # keys that are written as numbers
    leaps: set[float] = field(default_factory=set)  # those of which the one before came not first
    meta: Type = field(default_factory=Type)  # its metatable
    klass: Any = None
    choice: Signature = field(default_factory=lambda: Signature())  # any of its functions

    def unify(self, other: Table) -> None:
        """Have two be one.

        Objects of two classes stay two, a base class's methods take both; so do an object and a
        list, of which somebody only goes through both.
        """
        a, b = self.root(), other.root()
        if a is b or (a.klass is not None and b.klass is not None and a.klass is not b.klass):
            return
        plain = a if a.klass is None else b
        if (a.klass is None) != (b.klass is None) and (a.is_list or b.is_list or plain.made):
            return
        b.into = a
        a.keys |= b.keys
        a.uses |= b.uses
        a.always = a.always & b.always if a.made and b.made else a.always | b.always
        a.at_times |= b.at_times
        a.made += b.made
        a.constants |= b.constants
        a.leaps |= b.leaps
        a.klass = a.klass or b.klass
        for name, kind in b.names.items():
            a.name(name).join(kind)
        a.items.join(b.items)
        a.key.join(b.key)
        a.meta.join(b.meta)

    def name(self, name: str) -> Type:
        """Return the type of a field."""
        return self.root().names.setdefault(name, Type())

    @property
    def has_unknown_names(self) -> bool:
        """Whether there may be entries under names that the program does not show."""
        return bool(self.root().uses & {"loaded", "dynamic", "meta", "options"})

    def event(self, name: str) -> Type:
        """Return the type of what the metatable has for an event, such as ``__index``."""
        shape = self.root().meta.shape
        return Type() if shape is None else shape.name(name)

    @property
    def is_options(self) -> bool:
        """Whether it holds the options of a command line, which are not made by the program."""
        return "options" in self.root().uses

    @property
    def is_either(self) -> bool:
        """Whether it comes from elsewhere, a dict, or a list with other keys beside it."""
        return "either" in self.uses and not self.made

    @property
    def is_own_meta(self) -> bool:
        """Whether it is a ``lua.Table``: it has a metatable, and the program makes or loads it."""
        is_ours = self.made or "loaded" in self.uses
        return bool(is_ours) and self.uses & {"meta", "foreign"} == {"meta"}

    def is_past(self, number: int) -> bool:
        """Return whether a fixed key is past the end of a list that is made shorter, and never
        filled.
        """
        shortest = None if not self.is_list or self.keys - {"next", "list"} else self._shortest()
        return shortest is not None and number > shortest

    def has(self, number: object) -> bool:
        """Return whether each list is made with an entry under this number."""
        shortest = self._shortest()
        return isinstance(number, int) and shortest is not None and 1 <= number <= shortest

    def _shortest(self) -> int | None:
        """Return how many entries a list has at least, which grows by none but fixed keys."""
        if not self.made or self.uses & {"append", "filled", "list", "computed", "loaded", "cut"}:
            return None
        lengths = []
        for node in self.made:
            last = node.fields[-1].value if node.fields else None
            if isinstance(last, s.Call):
                return None
            values = [f.value for f in node.fields]
            while values and s.is_nil(values[-1]):
                values.pop()
            lengths.append(len(values) - isinstance(last, s.Vararg))
        return min(lengths)

    @property
    def _has_gap(self) -> bool:
        """Whether a fixed key leaves out some behind the end."""
        shortest = self._shortest() if self.leaps else None
        return shortest is not None and max(self.leaps) > shortest + 1

    @property
    def is_list(self) -> bool:
        """Whether a list of Python holds it: keys from 1 on, without holes."""
        keys = self.keys - {"empty"}
        if self.uses & {"sparse", "options", "meta"} or self.klass is not None:
            return False
        if keys & {"name", "other", "float"} or self._has_gap:
            return False
        if "filled" in self.uses and "int" not in keys and "deleted" not in self.uses:
            return True
        is_used_so = self.uses & {"ipairs", "append", "list", "from its end"}
        return bool(keys & {"next", "list"} or is_used_so)

    @property
    def is_dict(self) -> bool:
        """Whether a dict of Python holds it."""
        return not self.is_list and self.klass is None


def of_lua(word: str = OF_LUA) -> Type:
    """Return what only the Lua runtime has, or gives."""
    made = Type()
    made.classes = {word}
    return made


def list_of(kind: Type) -> Type:
    """Return a list of entries of this type."""
    return Type(Kind.TABLE, table=Table(keys={"list"}, items=kind))


@dataclass(eq=False)
class Signature(_Merging):
    """Functions that meet in one variable: what they take and give."""

    parameters: list[Type] = field(default_factory=list)
    results: list[Type] = field(default_factory=list)
    # Which parameters, or entries of one under another, each result may be; and what else.
    origins: dict[int, set[Origin]] = field(default_factory=lambda: defaultdict(set))
    other: dict[int, Type] = field(default_factory=lambda: defaultdict(Type))
    by_node: dict[Any, set[int]] = field(default_factory=dict)  # counts; -1: any; None: Lua's
    nodes: list[Any] = field(default_factory=list)
    calls: set[int] = field(default_factory=set)  # how many arguments it is called with
    escapes: bool = False
    is_hook: bool = False  # called by nn, with all the arguments that it has for such a method
    is_tried: bool = False  # called by pcall, which gives on what it gives
    makes_tensors: bool = False  # ``x.new`` of a tensor
    is_job: bool = False  # called when a thread has done its work, in any order
    gets_nil: bool = False  # for ``...``, at times
    spreads: bool = False  # whether somebody takes all results, however many there are
    choices: list[Signature] = field(default_factory=list)  # it is one of these, which stay apart
    taken: Table | None = None  # its arguments by name, if argcheck made it

    def unify(self, other: Signature) -> None:
        """Have two be one."""
        a, b = self.root(), other.root()
        if a is b:
            return
        if a.choices or b.choices:
            (a if a.choices else b).choose([a, b])
            return
        b.into = a
        a.by_node |= {node: a.by_node.get(node, set()) | b.by_node[node] for node in b.by_node}
        a.nodes += b.nodes
        a.calls |= b.calls
        a.makes_tensors &= b.makes_tensors
        for flag in ("escapes", "gets_nil", "is_hook", "is_job", "is_tried", "spreads"):
            setattr(a, flag, getattr(a, flag) or getattr(b, flag))
        for i, kind in enumerate(b.parameters):
            a.parameter(i).join(kind)
        for i, kind in enumerate(b.results):
            a.result(i).join(kind)
            a.origins[i] |= b.origins[i]
            a.other[i].join(b.other[i] if b.origins[i] else kind)

    def choose(self, others: Iterable[Signature]) -> None:
        """Add to its choices, which are functions of one kind each."""
        own = {id(known.root()): known.root() for known in self.choices}
        for other in others:
            own |= {id(one.root()): one.root() for one in other.root().choices or [other]}
        own.pop(id(self), None)
        self.choices = list(own.values())
        for one in self.choices:
            one.escapes = True

    def parameter(self, i: int) -> Type:
        """Return the type of a parameter."""
        own = self.root().parameters
        while len(own) <= i:
            own.append(Type())
        return own[i]

    def result(self, i: int) -> Type:
        """Return the type of a result."""
        own = self.root().results
        while len(own) <= i:
            own.append(Type())
        return own[i]

    @property
    def counts(self) -> set[int]:
        """The numbers of results that the functions give; -1 where that is open."""
        return {count for counts in self.root().by_node.values() for count in counts}

    @property
    def count(self) -> int | None:
        """The number of results that all of the functions give; None if that is open.

        One of the program's that gives fewer at times gives None for them, unless somebody counts.
        """
        counts, root = self.counts, self.root()
        if root.choices:
            given = {one.root().count for one in root.choices}
            is_counted = any(one.root().spreads for one in root.choices)
            if len(given) > 1:
                return 1 if given == {0, 1} and not is_counted else None
            return given.pop()
        is_counted = root.spreads or None in root.by_node
        is_counted &= len(counts) > 1 or (root.is_tried and counts == {0})
        is_open = not counts or -1 in counts or is_counted
        return None if is_open else max(counts)

    @property
    def may_give_nothing(self) -> bool:
        """Whether somebody counts its results, and there are none at times."""
        return self.count is None and 0 in self.counts
