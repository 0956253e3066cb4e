"""Inference over a program's files, repeated until nothing new is found.

An ``Inference`` holds it; how each kind of syntax adds to it say the functions that ``registry``
has, in the files beside this one.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping

from compat.port.know import (
    arguments,
    calls,
    causes,
    classes,
    counts,
    entries,
    guesses,
    keys,
    library_calls,
    names,
    prototypes,
    saved,
    seen,
    statements,
    values,
)
from compat.port.know.files import Class, File
from compat.port.know.form import set_fields
from compat.port.know.form.clues import Clues
from compat.port.know.form.existing_entries import overwritten
from compat.port.know.form.shapes import calls as calls_in
from compat.port.know.form.shapes import may_end, sources
from compat.port.know.scopes import Variable
from compat.port.know.structures import Signature, Table
from compat.port.know.types import Kind, Type
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.read import syntax as s

_ROUNDS = 12
_GUESSES = 16


class Inference:
    """The types of a program's files.

    Attributes:
        files: those of the program; ``file`` is the one that is looked at.
        facts: what a trace saw at each (file, place).
        classes: those of the script's, by name.
        aliases: variables that only name a package, and its name.
        either: variables that hold a table or what is in it.
        absent: packages that files ask for and nobody has. ``brought``: those that texts name.
        replaced: functions of packages for which the program has its own.
        metatables: variables that ``torch.class`` gave.
        prototypes: tables whose objects are given methods.
        variables: the type of each.
        namesakes: variables that are known by what else has their name.
        guessed_nodes: what expressions are taken for that are no variable or field.
        told: the causes that drafts have marks for.
        clues: what single places say by their form.
        is_settled: all has been gone through; what is still unknown stays so.
    """

    # What there is to ask, each from the file that knows it.
    dotted = names.dotted
    class_of_nn = names.class_of_nn
    names_package = names.names_package
    class_of = names.class_of
    class_named = names.class_named
    is_never_loaded = names.is_never_loaded
    classes_of = names.classes_of
    classes_of_others = names.classes_of_others
    class_type = names.class_type
    of = names.of
    file_of = names.file_of
    files_like = names.files_like
    was_seen = seen.was_seen
    is_whole = seen.is_whole
    may_be_nil = seen.may_be_nil
    is_tested_list = seen.is_tested_list
    seen_class = seen.seen_class
    seen_table = seen.seen_table
    believed = seen.believed
    tested = seen.tested
    stored = entries.stored
    join = entries.join
    store = entries.store
    signature = entries.signature
    entry = entries.entry
    is_constructor = entries.is_constructor
    may_be_outside = keys.may_be_outside
    is_past = keys.is_past
    holds = set_fields.holds
    is_set_before = set_fields.is_set_before
    type = values.type_of
    owner = values.owner
    indexed = values.indexed
    of_tensors = values.of_tensors
    owner_of_method = values.owner_of_method
    told_by = values.told_by
    is_of_layers = values.is_of_layers
    keeps_ranks = values.keeps_ranks
    original = values.original
    operator_of = values.operator_of
    is_layer = values.is_layer
    makes_node = values.makes_node
    as_of_nn = values.as_of_nn
    results = calls.results
    all_results = calls.all_results
    call = calls.call
    rest = arguments.rest
    given_away = arguments.given_away
    declares = library_calls.declares
    make_object = library_calls.make_object
    construct = calls.construct
    called = calls.called
    methods = calls.methods
    takes_all = calls.takes_all
    spread_out = calls.spread_out
    count = counts.count
    known_count = counts.known_count
    own_count = counts.own_count
    put_instead = counts.put_instead
    selected = counts.selected
    block = statements.block
    loop_types = statements.loop_types
    cause = causes.cause

    def __init__(
        self, files: list[File], facts: Mapping[tuple[str, int, int], list[str]] | None = None
    ) -> None:
        self.files, self.facts = files, facts or {}
        self.file = files[0]
        self.clues = Clues(files)
        self.classes: dict[str, Class] = {}
        # What classes derive from, and the call that says nothing else.
        self.derived: dict[Variable, tuple[str, s.Node | None]] = {}
        self.aliases: dict[Variable, str] = {}
        self.alias_paths: dict[Variable, list[str]] = {}  # of those that may name a package
        self.absent: set[str] = set()
        self.either: set[Variable] = set()
        self.brought: set[str] = set()
        self.replaced: dict[str, list[s.Node]] = {}  # what the program puts into packages
        self.metatables: set[Variable] = set()
        self.prototypes: set[Variable] = set()
        # Tables whose entries are copied into others, and the names of these.
        self.mixins: dict[Variable, set[object]] = {}
        self.variables: defaultdict[Variable, Type] = defaultdict(Type)
        self.namesakes: set[Variable] = set()
        self.by_function: dict[s.Function, Signature] = {}
        self.originals: dict[s.Node, Signature] = {}  # of Python's functions, as values
        self.changed = True
        self.given_metatables: dict[s.Node, Type] = {}
        self.become: dict[Variable, Class] = {}  # what is given to setmetatable, and the class
        self.command_line: Table | None = None
        self.declared: dict[str, set[str]] = {}  # the options that each file declares
        self.may_be_given: set[str] = set()  # files that declare some where there are none
        self.seen_tables: dict[s.Node, Table] = {}
        self.raised = Type()  # the tables that the program gives ``error``
        self.own_fields = Table()  # what the program puts into objects of compat's
        self.tested_tables: dict[Variable, Table] = {}
        self.is_settled = False
        self.is_told = False  # all that the code says of itself
        self.guessed: set[Type] = set()
        self.guessed_nodes: dict[s.Node, Type] = {}
        self.told: set[causes.Cause] = {causes.OF_PACKAGE}
        self.nil_at_times: set[s.Vararg] = set()  # ``...`` that a function gives nil for
        self.returns: list[tuple[Signature, set[int]]] = []  # of the functions around
        self.overwritten: set[s.Node] = set()  # keys of entries that are there when they are set
        # The parameters that decide what functions give, and where.
        self.decided: dict[s.Function, tuple[int, dict[s.Return, bool]]] = {}
        self.given_on: dict[s.Function, dict[s.Call, Variable]] = {}  # to their parameters
        self.by_site: dict[s.Call, list[Type]] = {}  # what these calls give
        self.inner_calls: dict[s.Call, list[Type]] = {}  # of the call that is looked at
        self.calls_around = 0
        self.given_owner: set[object] = set()  # f of ``x.f(x, …)``
        self.counting: set[Type] = set()  # of what loops count, from what is not yet known
        self.with_places: set[Table] = set()  # lists of which entries are asked for one by one
        self.copied: set[Variable] = set()  # names and values of loops that copy entries
        self.saved: dict[s.Node, list[saved.Saved]] = {}  # what loads give back
        self.given_tables: dict[s.Node, Table] = {}  # of fields of compat's
        self.loaded_tables: dict[Table, Table] = {}  # by the tables that are saved
        self.looked_up: dict[s.Node, Type] | None = None  # while nothing changes
        self.parts: dict[s.Node, list[s.Block | s.Function]] = {}  # of statements

    def infer(self) -> Inference:
        """Tell the types; where that fails, ``file`` is the one that it had come to."""
        for file in self._each_file():
            names.find_aliases(self, file)
        for file in self._each_file():
            names.find_replaced(self, file)  # by the names of packages, or by aliases
        self.aliases.clear()
        self.alias_paths.clear()
        for file in self._each_file():
            names.find_absent(self, file)
            names.find_either(self, file)
            names.find_aliases(self, file)
        prototypes.find_prototypes(self)
        for file in self._loaded_first(self.files, set()):
            self.file = file
            classes.find_namespaces(self, file)
            classes.find_classes(self, file)
        for file in self._each_file():
            self._look_at(file.block)
            self.overwritten |= overwritten(file, self)
        if self.facts:
            seen.note_sorted(self)
        self._settle()
        self.is_told = True
        self._settle()
        self._guess()
        self.is_settled = True
        self._settle()
        guesses.end(self)
        self._settle()
        self._guess()
        return self

    @functools.cached_property
    def _trees(self) -> list[list[s.Node]]:
        return [[*s.walk(file.block)] for file in self.files]

    def nodes(self) -> Iterator[s.Node]:
        """Yield all nodes of the program; ``file`` is the file that each stands in."""
        for file, nodes in zip(self.files, self._trees, strict=True):
            self.file = file
            yield from nodes

    @functools.cached_property
    def makers(self) -> dict[str, s.Table]:
        """The constructors of tables, by their places as a run tells them."""
        tables = (node for node in self.nodes() if isinstance(node, s.Table) and node.end)
        file = self.file
        found = {f"{self.file.path} {node.start}": node for node in tables}
        self.file = file
        return found

    def _guess(self) -> None:
        for _ in range(_GUESSES):
            if not guesses.guess(self):
                break
            self._settle()

    def _each_file(self) -> Iterator[File]:
        for file in self.files:
            self.file = file
            yield file

    def _loaded_first(self, files: list[File], done: set[File]) -> Iterator[File]:
        """Yield files behind those that they load."""
        for file in files:
            if file not in done:
                done.add(file)
                loads = [other for other in self.files if other.path in file.loads.values()]
                yield from self._loaded_first(loads, done)
                yield file

    def _look_at(self, block: s.Block) -> None:
        """Take what single places of a file say by their form."""
        self.clues.look_at(block, self)
        for _, value in sources(block):
            kept = value.variable if isinstance(value, s.Name) else None  # local old = print
            if kept is not None and kept.is_global and kept.writes and FUNCTIONS.all(kept.id):
                self.of(kept).join(_lua_s_function())
        for call in calls_in(block):
            called, first = call.function, [s.describe(node) for node in call.arguments[:1]]
            if isinstance(called, s.Index) and first == [s.describe(called.object)]:
                self.given_owner.add(s.constant(called.key))

    def _settle(self) -> None:
        """Go through all files until nothing is new."""
        for _ in range(_ROUNDS):
            self.changed = False
            for file in self._each_file():
                self.returns = [(file.gives, set())]
                self.block(file.block)
                if self.returns[0][1] and may_end(file.block):
                    self.returns[0][1].add(0)
                    self.join(file.gives.result(0), Type(Kind.NIL))
                file.gives.by_node[file.block] = self.returns[0][1] or {0}
            classes.lists_of_layers(self)
            kept = {table for table in self.with_places if table.keeps_places}
            self.changed |= kept != self.with_places
            self.with_places = kept
            if not self.changed:
                break


def _lua_s_function() -> Type:
    """Return the type of a function that gives any number of anything."""
    result = Type()
    result.open = True
    return Type(Kind.FUNCTION, function=Signature(results=[result], by_node={None: {-1}}))
