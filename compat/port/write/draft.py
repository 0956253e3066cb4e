"""A whole file of Python."""

from __future__ import annotations

import re

from compat.port.know.existing_entries import overwritten
from compat.port.know.files import Class, File
from compat.port.know.flattened_again import flattened_again
from compat.port.know.inference import Inference
from compat.port.know.kept_results import carried
from compat.port.know.loop_variables import box
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.read import syntax as s
from compat.port.write import layout
from compat.port.write.heads import head
from compat.port.write.statements import Statements
from compat.port.write.writer import Line, Report


class Draft(Statements):
    """The Python of one file."""

    def __init__(self, file: File, types: Inference, shared: set[Variable]) -> None:
        self.file, self.types, self.shared = file, types, shared
        self._carried = carried(file, types)
        self._overwritten = overwritten(file, types)
        self._flattened_again = flattened_again(file, types)
        box(file, types)
        types.file = file
        self.scope: FunctionScope = file.scopes.file
        self.report = Report()
        self.lines: list[Line] = []
        self.indent = 0
        self._marks: list[tuple[str, str]] = []
        self._line = 0
        self._functions: dict[FunctionScope, set[str]] = {}
        self._hoisted: set[s.Statement] = set()
        self._loops: list[dict[str, s.Node | None]] = []
        self._class: Class | None = None
        self._effects: set[str] = set()
        self._result_count = 0
        self._is_open = False
        self.exports: str | None = None
        self.sets_default = False
        self._is_seeded = self._has_nn = False
        self._modules: set[str] = set()
        self._loaded: list[str] = []

    def text(self) -> str:
        """The whole file."""
        first = self.file.block.statements[0] if self.file.block.statements else None
        leading = [] if first is None else first.before
        if first is not None and not (None in leading and leading.index(None) < len(leading) - 1):
            first.before = []
        elif first is not None:
            cut = leading.index(None)
            first.before, leading = leading[cut + 1 :], leading[:cut]
        if self.sets_default:
            self.write('torch7.setdefaulttensortype("torch.DoubleTensor")', "as in Lua")
        self._first_values()
        self.body(self.file.block)
        if any(re.search(r"\blua\.(method|torch|package)\b", n.text) for n in self.lines):
            start = Line(0, "lua.start()", "for what only Torch7 has")
            self.lines.insert(1 if self.sets_default else 0, start)
        text = layout.arranged([(n.indent, n.text, n.comment) for n in self.lines])
        comments = "\n".join(line for line in leading if line is not None).rstrip("#\n ")
        comments = f"{comments}\n\n" if comments else ""
        return comments + head(text, self._effects, self._modules | self.loads()) + text

    def _is_set_first(self, variable: Variable) -> bool:
        """Whether the file itself sets a variable, and before it reads it."""
        own = self.file.scopes.file
        writes = [name.line for name, where in variable.writes if where is own]
        reads = [name.line for name, where in variable.reads if where is own]
        functions = [line for line in writes if line in self._defined(variable)]
        return bool(writes) and (bool(functions) or min(reads, default=1 << 60) > min(writes))

    def _defined(self, variable: Variable) -> set[int]:
        """The lines with functions of a name: ``function f() … f() … end`` sets it first."""
        defines = (n for n in self.file.block.statements if isinstance(n, s.Define))
        return {n.target.line for n in defines if n.target in {w for w, _ in variable.writes}}

    def _first_values(self) -> None:
        """Global variables that are read before the file sets them are nil until then."""
        late = [
            self._global_name(v)
            for v in self.file.scopes.written_globals
            if v not in self.shared
            and v.reads
            and v not in self.types.aliases
            and not self._is_set_first(v)
        ]
        if late:
            self.write(f"{' = '.join(sorted(late))} = None")
