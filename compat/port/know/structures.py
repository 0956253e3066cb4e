"""The facts about tables and functions that meet in one variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s

# A parameter, its entry under the name that another has, or what methods make of it that keep its
# form: ``x:float()``.
Origin = tuple[int, int | s.Call | None]


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
    names: defaultdict[str, Type] = field(default_factory=lambda: defaultdict(Type))
    items: Type = field(default_factory=Type)  # of the other keys
    # What stands under each number that is written; see ``keeps_places``.
    places: defaultdict[int, Type] = field(default_factory=lambda: defaultdict(Type))
    key: Type = field(default_factory=Type)
    always: set[str] = field(default_factory=set)  # fields that each has from its beginning
    at_times: set[str] = field(default_factory=set)  # fields that one of them has from then on
    made: list[Any] = field(default_factory=list)  # the nodes that make one
    more: dict[Any, int] = field(default_factory=dict)  # what the calls at their ends give
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
        are_told = all(table.made or "loaded" in table.uses for table in (a, b))
        b.into = a
        a.keys |= b.keys
        a.uses |= b.uses
        a.always = a.always & b.always if are_told else a.always | b.always
        a.at_times |= b.at_times
        a.made += b.made
        a.more |= b.more
        a.constants |= b.constants
        a.leaps |= b.leaps
        a.klass = a.klass or b.klass
        for name, kind in b.names.items():
            a.name(name).join(kind)
        for number, kind in b.places.items():
            a.places[number].join(kind)
        a.items.join(b.items)
        a.key.join(b.key)
        a.meta.join(b.meta)

    def name(self, name: str) -> Type:
        """Return the type of a field."""
        return self.root().names[name]

    @property
    def keeps_places(self) -> bool:
        """Whether entries are put under numbers that are written, and stay there: each place has
        its own kind.
        """
        root = self.root()
        others = {"append", "filled", "computed", "list", "loaded", "given", "cut", "moved"}
        return bool(root.made) and not (root.uses & others or root.keys & {"list", "other"})

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
            if isinstance(last, s.Call) and node not in self.more:
                return None
            values = [f.value for f in node.fields]
            while values and s.is_nil(values[-1]):
                values.pop()
            more = self.more[node] - 1 if isinstance(last, s.Call) else 0
            lengths.append(len(values) + more - isinstance(last, s.Vararg))
        if len(self.made) == 1 and isinstance(last, s.Vararg) and self.keeps_places:
            while (own := self.places.get(lengths[0] + 1)) and own.atoms and not own.may_be_nil:
                lengths[0] += 1  # each call gives it
        return min(lengths)

    @property
    def length(self) -> int | None:
        """The number of entries that each list has, none left out; None if that may differ."""
        is_whole = self.is_list and self.keeps_places and not self.uses & {"deleted", "shorter"}
        found = self._shortest() if is_whole else None
        is_told = found is not None and self.places.keys() == {*range(1, found + 1)}
        return found if is_told and not any(k.may_be_nil for k in self.places.values()) else None

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
    def is_grown(self) -> bool:
        """Whether it is a list that gets more entries."""
        return self.is_list and bool(self.keys & {"int", "next"} or "append" in self.uses)

    @property
    def is_dict(self) -> bool:
        """Whether a dict of Python holds it."""
        return not self.is_list and self.klass is None


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
    # Tables that are results where a parameter is nil (True), and where it is not.
    apart: dict[tuple[bool, int], Type] = field(default_factory=lambda: defaultdict(Type))
    by_node: dict[Any, set[int]] = field(default_factory=dict)  # counts; -1: any; None: Lua's
    nodes: list[Any] = field(default_factory=list)
    calls: set[int] = field(default_factory=set)  # how many arguments it is called with
    escapes: bool = False
    is_hook: bool = False  # called by nn, with all the arguments that it has for such a method
    is_tried: bool = False  # called by pcall, which gives on what it gives
    makes_tensors: bool = False  # ``x.new`` of a tensor
    is_job: bool = False  # called when a thread has done its work, in any order
    gets_more: bool = False  # than it has names for, at times
    gets_nil: bool = False  # for ``...``, at times
    gets_any: bool = False  # for ``...``: any number of anything
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
        for flag in (
            *("escapes", "gets_any", "gets_more", "gets_nil", "is_hook", "is_job", "is_tried"),
            "spreads",
        ):
            setattr(a, flag, getattr(a, flag) or getattr(b, flag))
        for i, kind in enumerate(b.parameters):
            a.parameter(i).join(kind)
        for i, kind in enumerate(b.results):
            a.result(i).join(kind)
            a.origins[i] |= b.origins[i]
            a.other[i].join(b.other[i] if b.origins[i] else kind)
        for one in (a, b):  # of several, nothing decides
            for (_, i), kind in one.apart.items():
                a.result(i).join(kind)
        a.apart.clear()

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
