"""All files of a program, until nothing is new."""

from __future__ import annotations

from collections.abc import Mapping

from compat.port.know.files import Class, File
from compat.port.know.guesses import OF_PACKAGE, Guesses
from compat.port.know.narrowing import filled, narrowed
from compat.port.know.permutations import orders
from compat.port.know.scopes import Variable
from compat.port.know.shapes import appended, calls, followed, loads_by_name, sources
from compat.port.know.types import Signature, Table, Type
from compat.port.read import syntax as s

_ROUNDS = 12


class Inference(Guesses):
    """The types of a program's files; ``facts`` is what a trace saw at each (file, place)."""

    def __init__(
        self, files: list[File], facts: Mapping[tuple[str, int, int], list[str]] | None = None
    ) -> None:
        self.files, self.facts = files, facts or {}
        self.classes: dict[str, Class] = {}
        self._derived = {}
        self.aliases: dict[Variable, str] = {}
        self.absent, self.replaced = set(), set()
        self.metatables: set[Variable] = set()
        self.variables: dict[Variable, Type] = {}
        self.namesakes: set[Variable] = set()
        self.file = files[0]
        self.by_function: dict[s.Function, Signature] = {}
        self.changed = True
        self._command_line: Table | None = None
        self._seen_tables: dict[s.Node, Table] = {}
        self._is_settled = False
        # Whether a file is loaded whose name is computed.
        self.loads_by_name = any(map(loads_by_name, (f.block for f in files)))
        self.loads_files = False
        self.tests, self.lengths = {}, {}
        self._tested_tables: dict[Variable, Table] = {}
        self._guessed: set[Type] = set()
        self._alias_paths: dict[Variable, list[str]] = {}
        self.guessed_nodes: dict[s.Node, Type] = {}
        self.orders, self.told = set(), {OF_PACKAGE}
        self.sources = {}

    def infer(self) -> Inference:
        """Tell the types; where that fails, ``file`` is the one that it had come to."""
        for file in self.files:
            self.file = file
            self._find_replaced(file)
        for file in self.files:
            self.file = file
            self._find_aliases(file)
            self._find_absent(file)
        for file in self.files:
            self.file = file
            self._find_namespaces(file)
            self._find_classes(file)
        for file in self.files:
            for variable, value in sources(file.block):
                self.sources.setdefault(variable, []).append(value)
        for file in self.files:
            self.file = file
            self.orders |= set(orders(file.block, self))
            self.loads_files |= any(
                self.dotted(call.function) == "torch.load" for call in calls(file.block)
            )
            kinds, lengths = narrowed(file.block)
            self.tests |= kinds
            self.lengths |= lengths
        self.appended = {key for f in self.files for key in appended(f.block)}
        self.firsts = {
            node.name.variable: s.constant(node.first)
            for f in self.files
            for node in s.walk(f.block)
            if isinstance(node, s.ForRange) and isinstance(s.constant(node.first), int)
        }
        self.filled = {call for f in self.files for call in filled(f.block)}
        self.followed = {entry for f in self.files for entry in followed(f.block)}
        self._settle()
        for _ in range(6):
            if not self._guess():
                break
            self._settle()
        self._is_settled = True
        self._settle()
        return self

    def _settle(self) -> None:
        """Go through all files until nothing is new."""
        for _ in range(_ROUNDS):
            self.changed = False
            for file in self.files:
                self.file = file
                self._returns = [(Signature(results=[file.value]), set())]
                self._block(file.block)
            if not self.changed:
                break
