"""The lines of a draft, with their comments and marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from compat.port.know.files import Class, File
from compat.port.know.scopes import FunctionScope, Variable
from compat.port.library import packages
from compat.port.read import syntax as s
from compat.port.write.expressions import Expressions
from compat.port.write.python_names import python_name

GUIDE = "docs/porting.md"


@dataclass
class Line:
    """A line of the draft."""

    indent: int
    text: str
    comment: str | None = None
    source: int = 0


@dataclass
class Report:
    """What was open in a draft, and what it was resolved by."""

    sites: Counter[str] = field(default_factory=Counter)
    marks: list[tuple[int, str, str]] = field(default_factory=list)  # line in Lua, reason, anchor


class Writer(Expressions):
    """What writes the lines of one file."""

    file: File
    shared: set[Variable]
    report: Report
    lines: list[Line]
    indent: int
    exports: str | None
    _marks: list[tuple[str, str]]
    _line: int
    _hoisted: set[s.Statement]
    _loops: list[dict[str, s.Node | None]]  # their labels, with what ``until`` asks
    _class: Class | None
    _effects: set[str]
    _modules: set[str]
    _loaded: list[str]  # files that are loaded for what they do
    _functions: dict[FunctionScope, set[str]]  # that expressions have become, by where they are
    _result_count: int
    _is_open: bool  # whether a function gives any number of results
    _is_seeded: bool
    _has_nn: bool
    _carried: dict[s.Assign, str]
    _flattened_again: set[s.Call]
    _overwritten: set[s.Index]

    def write(self, text: str, comment: str | None = None) -> None:
        self.lines.append(Line(self.indent, text, comment, self._line))

    @contextmanager
    def indented(self) -> Iterator[None]:
        self.indent += 1
        before = len(self.lines)
        yield
        if not any(line.text and not line.text.startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.indent -= 1

    def mark(self, reason: str, anchor: str) -> None:
        unset = [r.removesuffix("is set nowhere") for r, _ in self._marks if "is set nowhere" in r]
        told = any(re.match(rf"what {re.escape(name.strip())}\b", reason) for name in unset)
        if not told and (reason, anchor) not in self._marks:
            self._marks.append((reason, anchor))

    def resolve(self, how: str) -> None:
        self.report.sites[how] += 1

    def body(self, block: s.Block) -> None:
        """The statements of a block."""
        for statement in block.statements:
            if statement in self._hoisted:
                continue
            self._comments(statement.before)
            self._line = statement.line
            start = len(self.lines)
            marks, self._marks = self._marks, []
            getattr(self, f"_{type(statement).__name__.lower()}")(statement)
            if self._marks:
                own = (k for k in range(start, len(self.lines)) if self._is_own(self.lines[k]))
                at = next(own, start)
                self.lines[at:at] = self._shown_marks()
            self._marks = marks
            if statement.after:
                self._comment_after(statement, statement.after, start)
        self._comments(block.ending)

    def _comment_after(self, node: s.Statement, comment: str, start: int) -> None:
        """A comment that follows a statement, whose lines begin at ``start``."""
        has_body = isinstance(
            node, (s.If, s.While, s.ForEach, s.ForRange, s.Define, s.Scope, s.Repeat)
        )
        is_flat = b"\n" not in self.file.source[node.start : node.end]
        own = [line for line in self.lines[start:] if self._is_own(line) and line.text[0] != "#"]
        if own and has_body and is_flat:
            line = own[0]
        elif own and not has_body:
            is_function = is_flat and own[0].text.startswith("def ")
            line = own[0] if is_function or self.lines[-1].comment else self.lines[-1]
        else:
            self.write(comment)
            return
        if line.comment is None:
            line.comment = comment.lstrip("# ")
        else:
            self.write(comment)

    def _is_own(self, line: Line) -> bool:
        """Whether a line is of the block that is being written, not of one inside it."""
        return line.indent == self.indent and bool(line.text.strip())

    def _shown_marks(self) -> list[Line]:
        """The marks of a statement, those of one kind together."""
        shown = []
        for anchor in dict.fromkeys(a for _, a in self._marks):
            reasons = [r for r, a in self._marks if a == anchor]
            unknown = [r[5:-17] for r in reasons if re.fullmatch("what .* is, is not known", r)]
            others = [r for r in reasons if not re.fullmatch("what .* is, is not known", r)]
            if len(unknown) > 1:
                unknown = [", ".join(unknown[:4]) + (" …" if len(unknown) > 4 else "")]
                others.insert(0, f"what these are is not known: {unknown[0]}")
            elif unknown:
                others.insert(0, f"what {unknown[0]} is, is not known")
            reason = "; ".join(others)
            self.report.marks.append((self._line, reason, anchor))
            text = f"# port: {reason} [{GUIDE}#port-{anchor}]"
            shown.append(Line(self.indent, text, None, self._line))
        return shown

    def _comments(self, lines: list[str | None]) -> None:
        for line in lines:
            if line is None:
                if self.lines and self.lines[-1].text:
                    self.write("")
            else:
                self.write(line)

    def _declared(self, node: s.Name) -> str:
        name = str(node.variable.python)
        if (
            not node.variable.reads
            and len(node.variable.writes) == 1
            and self.scope is not self.file.scopes.file
            and not name.startswith("_")
        ):
            return f"_{name}"
        return name

    def name_of(self, node: s.Name) -> str:
        variable: Variable = node.variable
        if variable.is_global:
            name = python_name(variable.id)
            if not variable.writes and not any(
                k.variable is None and k.name.split(".")[-1] == variable.id
                for k in self.types.classes.values()
            ):
                return str(packages.value(variable.id, self))
            return f"shared.{name}" if variable in self.shared else name
        if (
            not variable.reads
            and len(variable.writes) == 1
            and variable.scope is not self.file.scopes.file
        ):
            return self._declared(node)
        return f"{variable.python}.value" if variable.boxed else variable.python

    def box(self, names: Sequence[s.Name]) -> None:
        """After variables were declared: have each turn of the loop its own."""
        for name in names:
            if name.variable.boxed:
                python = name.variable.python
                self.write(f"{python} = lua.Box({python})", "each turn has its own")

    def _visible(self) -> set[Variable]:
        found: set[Variable] = set()
        scope: FunctionScope | None = self.scope
        while scope is not None:
            found |= set(scope.variables)
            scope = scope.parent
        return found

    def _effect(self, name: str) -> None:
        self._effects.add(name)

    def _global_name(self, variable: Variable) -> str:
        return python_name(variable.id)
