"""Inference over a program's files, repeated until nothing new is found.

An ``Inference`` holds it; how each kind of syntax adds to it say the functions that ``registry``
has, in the files beside this one.
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from compat.port.know import (
    calls,
    causes,
    classes,
    counts,
    entries,
    guesses,
    library_calls,
    names,
    prototypes,
    saved,
    seen,
    statements,
    values,
)
from compat.port.know.appended import appended, begun_late
from compat.port.know.cuts import cut
from compat.port.know.file_names import loads_by_name, of_no_name
from compat.port.know.files import Class, File
from compat.port.know.narrowing import Test, behind_tests, filled, given, narrowed, present
from compat.port.know.permutations import orders
from compat.port.know.scopes import Variable
from compat.port.know.shapes import calls as calls_in
from compat.port.know.shapes import (
    compared,
    deep_copies,
    defaulted,
    followed,
    functions_in,
    given_names,
    last_added,
    may_end,
    passed_past,
    set_names,
    sources,
    tested,
    tested_calls,
    tested_later,
)
from compat.port.know.structures import Signature, Table
from compat.port.know.types import Kind, Type
from compat.port.library import nets
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
        tests: where tests have told what a variable is, or is not; ``lengths``: how long.
            ``behind_tests``: where it, or a field, is that alone.
        sources: what is put into variables.
        orders: permutations that are indices.
        is_settled: all has been gone through; what is still unknown stays so.
        loads_by_name: whether a file is loaded whose name is computed; ``of_no_name``: files of
            which nothing is written.
        loads_files: whether the program loads ``.t7`` files.
        set_somewhere: the names of fields that something is put into; ``given_names``: what a
            function is given; ``made_names``: those that tables are made with.
        may_be_float: whether tensors of the default type may be FloatTensors.
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
    may_be_outside = entries.may_be_outside
    is_past = entries.is_past
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
    results = calls.results
    all_results = calls.all_results
    call = calls.call
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
    block = statements.block
    loop_types = statements.loop_types
    cause = causes.cause

    def __init__(
        self, files: list[File], facts: Mapping[tuple[str, int, int], list[str]] | None = None
    ) -> None:
        self.files, self.facts = files, facts or {}
        self.file = files[0]
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
        self.own_fields = Table()  # what the program puts into objects of compat's
        self.tested_tables: dict[Variable, Table] = {}
        self.is_settled = False
        self.is_told = False  # all that the code says of itself
        self.loads_by_name = any(map(loads_by_name, (f.block for f in files)))
        self.of_no_name = of_no_name(files)
        self.loads_files = self.may_be_float = self.makes_other_ranks = False
        self.set_somewhere = {name for f in files for name in set_names(f.block)}
        self.given_names = {name for f in files for name in given_names(f.block)}
        made = (node for f in files for node in s.walk(f.block) if isinstance(node, s.Table))
        self.made_names = {s.constant(field.key) for table in made for field in table.fields}
        self.tests: dict[s.Name, list[Test]] = {}
        self.lengths: dict[s.Name, int] = {}
        self.ranks: dict[s.Name, int] = {}
        self.behind_tests: dict[s.Node, Kind] = {}
        self.guessed: set[Type] = set()
        self.guessed_nodes: dict[s.Node, Type] = {}
        self.orders: set[s.Call] = set()
        self.told: set[causes.Cause] = {causes.OF_PACKAGE}
        self.sources: dict[Variable, list[s.Node]] = {}
        self.inserts: Counter[Variable] = Counter()  # the places where it gets one entry more
        self.nil_at_times: set[s.Vararg] = set()  # ``...`` that a function gives nil for
        self.returns: list[tuple[Signature, set[int]]] = []  # of the functions around
        self.appended: set[s.Name] = set()  # keys that a loop fills a new table with
        self.begun_late: set[s.Node] = set()  # the same, not the first one first
        self.given_owner: set[object] = set()  # f of ``x.f(x, …)``
        self.own_methods: dict[object, list[s.Function]] = {}  # in tables and classes, by name
        self.firsts: dict[Variable, int] = {}  # the least that loops count
        self.lasts: dict[Variable, int] = {}  # and to
        self.counting: set[Type] = set()  # of what loops count, from what is not yet known
        self.falling: set[Variable] = set()  # what loops count down to 1
        self.cutting: set[Variable] = set()  # what loops count that take the end of a list away
        self.copied: set[Variable] = set()  # names and values of loops that copy entries
        self.filled: set[s.Call] = set()  # of functions of lists, where the length was looked at
        self.given: dict[s.Node, s.Node] = {}  # values that variables without one got before
        self.present: set[s.Name] = set()  # variables behind tests of whether they are there
        self.conditions: set[s.Node] = set()  # entries that may be missing
        self.defaulted: set[s.Node] = set()  # what stands before ``or``
        self.saved: dict[s.Node, list[saved.Saved]] = {}  # what loads give back
        self.given_tables: dict[s.Node, Table] = {}  # of fields of compat's
        self.loaded_tables: dict[Table, Table] = {}  # by the tables that are saved
        self.deep_copies: dict[s.Node, s.Node] = {}
        self.looked_up: dict[s.Node, Type] | None = None  # while nothing changes
        self.parts: dict[s.Node, list[s.Block | s.Function]] = {}  # of statements
        self.compared: set[s.Node] = set()  # with ==, where it may be missing, too
        self.passed_past: set[s.Node] = set()  # keys that may be past the end
        self.last_added: set[s.Call] = set()  # the last modules of nets
        self.followed: set[s.Node] = set()  # entries and results that have methods or entries

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
        for variable, value in sources(block):
            self.sources.setdefault(variable, []).append(value)
            kept = value.variable if isinstance(value, s.Name) else None  # local old = print
            if kept is not None and kept.is_global and kept.writes and FUNCTIONS.all(kept.id):
                self.of(kept).join(_lua_s_function())
        self.orders |= set(orders(block, self))
        for call in calls_in(block):
            path = self.dotted(call.function)
            self.loads_files |= path == "torch.load" or call.method == "readObject"
            self.makes_other_ranks |= path == "loadcaffe.load"
            given_to = call.arguments[0] if call.arguments else None
            if path == "table.insert" and isinstance(given_to, s.Name):
                self.inserts[given_to.variable] += 1
            called, first = call.function, [s.describe(node) for node in call.arguments[:1]]
            if isinstance(called, s.Index) and first == [s.describe(called.object)]:
                self.given_owner.add(s.constant(called.key))
            if path == "torch.setdefaulttensortype" and call.arguments:
                self.may_be_float |= s.constant(call.arguments[0]) != "torch.DoubleTensor"
        tests, lengths, ranks = narrowed(block)
        self.tests |= tests
        self.lengths |= lengths
        self.ranks |= ranks
        self.behind_tests |= behind_tests(block)
        self.appended |= set(appended(block))
        self.begun_late |= set(begun_late(block))
        self.filled |= set(filled(block))
        self.followed |= set(followed(block))
        self.last_added |= last_added(block)
        self.passed_past |= set(passed_past(block))
        self.present |= present(block)
        self.given |= given(block)
        self.compared |= compared(block)
        self.deep_copies |= deep_copies(block)
        self.defaulted |= {left for left, _ in defaulted(block)}
        self.conditions |= {*tested(block), *tested_later(block), *tested_calls(block)}
        for name, function in functions_in(block):
            self.own_methods.setdefault(name, []).append(function)
        for node in s.walk(block):
            if isinstance(node, s.Index):
                is_of_nn = self.dotted(node.object) in ("nn", "cudnn")
                self.makes_other_ranks |= not nets.keeps_ranks(s.constant(node.key), is_of_nn)
            if isinstance(node, s.ForRange):
                least = node.last if s.is_negative(node.step) else node.first
                if s.is_negative(least) or isinstance(s.constant(least), int):
                    self.firsts[node.name.variable] = s.constant(least) or 0  # or below
                if isinstance(last := s.constant(node.last), int) and node.step is None:
                    self.lasts[node.name.variable] = last
                if s.is_negative(node.step) and s.constant(node.last) == 1:
                    self.falling.add(node.name.variable)
                if cut(node) is not None:
                    self.cutting.add(node.name.variable)

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
            if not self.changed:
                break


def _lua_s_function() -> Type:
    """Return the type of a function that gives any number of anything."""
    result = Type()
    result.open = True
    return Type(Kind.FUNCTION, function=Signature(results=[result], by_node={None: {-1}}))
