"""Clues: what the form of single places of a program says, before anything is inferred."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from compat.port.know.files import File
from compat.port.know.form import past_ends, shapes
from compat.port.know.form.appended import appended, begun_late
from compat.port.know.form.cuts import cut
from compat.port.know.form.file_names import computed, of_no_name
from compat.port.know.form.late_globals import early_reads
from compat.port.know.form.narrowing import (
    Test,
    behind_tests,
    class_tests,
    filled,
    given,
    narrowed,
    present,
)
from compat.port.know.form.permutations import orders
from compat.port.know.form.set_fields import set_before
from compat.port.know.scopes import Variable
from compat.port.know.types import Kind
from compat.port.library import nets
from compat.port.read import syntax as s

if TYPE_CHECKING:
    from compat.port.know.inference import Inference


class Clues:
    """The clues that the places of a program's files give by their form.

    Attributes:
        sources: what is put into variables; ``given``: what those got before that are declared
            without a value. ``inserts``: the places where a list gets one entry more.
        class_tests: the classes of Torch7's that tests have told.
        tests: where tests have told what a variable is, or is not; ``lengths``: how long it is;
            ``ranks``: how many dimensions it has. ``behind_tests``: where it, or a field, is that
            kind alone. ``present``: variables behind tests of whether they are there.
        conditions: entries that may be missing; ``defaulted``: what stands before ``or``;
            ``compared``: with ``==``, where it may be missing, too.
        appended: keys that a loop fills a new table with; ``begun_late``: not the first one first.
        filled: calls of functions of lists, where the length was looked at; ``passed_past``: keys
            that may be past the end.
        set_before: the keys of fields that are there, as they have been set or tested.
        early_reads: where functions read global variables that may not have been set yet.
        followed: entries and results that have methods or entries.
        last_added: the last modules of nets.
        forwarding: functions that give ``...`` on as the last arguments of calls.
        around: the functions of which ``...`` is the rest.
        deep_copies: calls that copy a table with all in it, and the table.
        orders: permutations that are indices.
        firsts: the least that loops count; ``lasts``: and to. ``falling``: what they count down to
            1; ``cutting``: what loops count that take the end of a list away.
        own_methods: functions in tables and classes, by name.
        set_somewhere: the names of fields that something is put into; ``given_names``: what a
            function is given; ``made_names``: those that tables are made with.
        computed: the files that a computed name may mean; ``of_no_name``: those of which nothing
            is written. ``loads_files``: whether the program loads ``.t7`` files.
        may_be_float: whether tensors of the default type may be FloatTensors.
        makes_other_ranks: whether layers may give tensors of another number of dimensions.
    """

    def __init__(self, files: Sequence[File]) -> None:
        self.sources: defaultdict[Variable, list[s.Node]] = defaultdict(list)
        self.given: dict[s.Node, s.Node] = {}
        self.inserts: Counter[Variable] = Counter()
        self.class_tests: dict[s.Name, set[str]] = {}
        self.tests: dict[s.Name, list[Test]] = {}
        self.lengths: dict[s.Name, int] = {}
        self.ranks: dict[s.Name, int] = {}
        self.behind_tests: dict[s.Node, Kind] = {}
        self.present: set[s.Name] = set()
        self.conditions: set[s.Node] = set()
        self.defaulted: set[s.Node] = set()
        self.compared: set[s.Node] = set()
        self.appended: set[s.Name] = set()
        self.begun_late: set[s.Node] = set()
        self.filled: set[s.Call] = set()
        self.passed_past: set[s.Node] = set()
        self.followed: set[s.Node] = set()
        self.last_added: set[s.Call] = set()
        self.forwarding: set[s.Function] = set()
        self.around: dict[s.Vararg, s.Function] = {}
        self.deep_copies: dict[s.Node, s.Node] = {}
        self.orders: set[s.Call] = set()
        self.firsts: dict[Variable, int] = {}
        self.lasts: dict[Variable, int] = {}
        self.falling: set[Variable] = set()
        self.cutting: set[Variable] = set()
        self.own_methods: defaultdict[object, list[s.Function]] = defaultdict(list)
        blocks = [file.block for file in files]
        self.set_somewhere = {name for block in blocks for name in shapes.set_names(block)}
        self.given_names = {name for block in blocks for name in shapes.given_names(block)}
        made = (n for block in blocks for n in s.walk(block) if isinstance(n, s.Table))
        self.made_names = {s.constant(field.key) for table in made for field in table.fields}
        self.set_before = set(set_before(files))
        self.early_reads = early_reads(files)
        self.computed = computed(files)
        self.of_no_name = of_no_name(files)
        self.loads_files = self.may_be_float = self.makes_other_ranks = False

    def put_into(self, node: s.Node) -> list[s.Node]:
        """Return what is put into a variable; another expression stands for itself."""
        return self.sources.get(node.variable, []) if isinstance(node, s.Name) else [node]

    def look_at(self, block: s.Block, known: Inference) -> None:
        """Take what a file says."""
        for variable, value in shapes.sources(block):
            self.sources[variable].append(value)
        self.class_tests |= class_tests(block)
        tests, lengths, ranks = narrowed(block)
        self.tests |= tests
        self.lengths |= lengths
        self.ranks |= ranks
        self.behind_tests |= behind_tests(block)
        self.appended |= set(appended(block))
        self.begun_late |= set(begun_late(block))
        self.filled |= set(filled(block))
        self.followed |= set(shapes.followed(block))
        self.last_added |= shapes.last_added(block)
        self.forwarding |= set(shapes.forwarding(block))
        self.passed_past |= set(past_ends.passed_past(block))
        self.present |= present(block)
        self.given |= given(block)
        self.compared |= shapes.compared(block)
        self.deep_copies |= shapes.deep_copies(block)
        self.defaulted |= {left for left, _ in shapes.defaulted(block)}
        self.conditions |= {*shapes.tested(block), *shapes.tested_later(block)}
        self.conditions |= set(shapes.tested_calls(block))
        self.orders |= set(orders(block, known))
        for name, function in shapes.functions_in(block):
            self.own_methods[name].append(function)
        for node in s.walk(block):
            if isinstance(node, s.Function) and node.is_vararg:  # those inside come later
                self.around |= {n: node for n in s.walk(node) if isinstance(n, s.Vararg)}
            elif isinstance(node, s.Call):
                self._look_at_call(node, known)
            elif isinstance(node, s.Index):
                is_of_nn = known.dotted(node.object) in ("nn", "cudnn")
                self.makes_other_ranks |= not nets.keeps_ranks(s.constant(node.key), is_of_nn)
            elif isinstance(node, s.ForRange):
                self._look_at_loop(node)

    def _look_at_call(self, call: s.Call, known: Inference) -> None:
        path = known.dotted(call.function)
        first = call.arguments[0] if call.arguments else None
        self.loads_files |= path == "torch.load" or call.method == "readObject"
        self.makes_other_ranks |= path == "loadcaffe.load"
        if path == "table.insert" and isinstance(first, s.Name):
            self.inserts[first.variable] += 1
        if path == "torch.setdefaulttensortype" and first is not None:
            self.may_be_float |= s.constant(first) != "torch.DoubleTensor"

    def _look_at_loop(self, loop: s.ForRange) -> None:
        variable = loop.name.variable
        is_down = s.is_negative(loop.step)
        least = loop.last if is_down else loop.first
        if s.is_negative(least) or isinstance(s.constant(least), int):
            self.firsts[variable] = s.constant(least) or 0  # or below
        if isinstance(last := s.constant(loop.last), int) and loop.step is None:
            self.lasts[variable] = last
        if is_down and s.constant(loop.last) == 1:
            self.falling.add(variable)
        if cut(loop) is not None:
            self.cutting.add(variable)
