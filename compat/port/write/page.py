"""The lines of a draft, with their comments and marks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from compat.port.read import syntax as s
from compat.port.write.layout import WIDTH

GUIDE = "docs/porting.md"

# Marked where they are met first in a file.
_ONCE = {"packages", "globals", "flat", "attempts"}
_WITH_BODY = (s.If, s.While, s.ForEach, s.ForRange, s.Define, s.Scope, s.Repeat)


@dataclass
class Line:
    """A line of the draft."""

    indent: int
    text: str
    comment: str | None = None
    source: int = 0


@dataclass
class Report:
    """The questions that were open in a draft, and what answered them."""

    sites: Counter[str] = field(default_factory=Counter)
    marks: list[tuple[int, str, str]] = field(default_factory=list)  # line in Lua, reason, anchor


class Page:
    """The lines of a file that are written so far; ``line`` is the statement's place in Lua."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.report = Report()
        self.lines: list[Line] = []
        self.indent = 0
        self.line = 0
        self.marks: list[tuple[str, str]] = []  # of the statement, which will stand above it
        self.told: set[str] = set()
        self.later: dict[int, list[tuple[str, str]]] = {}  # of others, by their lines

    def write(self, text: str, comment: str | None = None) -> None:
        """Add a line."""
        self.lines.append(Line(self.indent, text.rstrip(), comment, self.line))

    def write_rows(self, before: str, names: list[str], between: str, after: str = "") -> None:
        """Add lines ``before a, b after`` that are no longer than lines may be."""
        row: list[str] = []
        for name in names:
            text = f"{before}{between.join([*row, name])}{after}"
            if row and 4 * self.indent + len(text) > WIDTH:
                self.write(f"{before}{between.join(row)}{after}")
                row = []
            row.append(name)
        if row:
            self.write(f"{before}{between.join(row)}{after}")

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Write a block, which is ``pass`` if nothing is written in it."""
        self.indent += 1
        before = len(self.lines)
        yield
        if not any(line.text and not line.text.startswith("#") for line in self.lines[before:]):
            self.write("pass")
        self.indent -= 1

    def mark(self, reason: str, anchor: str, line: int | None = None) -> None:
        """Note that something stayed open in this statement, or in the one at ``line`` of Lua."""
        if anchor in _ONCE:
            cause = re.sub(r"^(\w+)\.\S+ is Lua's own", r"\1 is Lua's own", reason)
            if cause in self.told:
                return
            self.told.add(cause)
        if line is not None and line != self.line:
            self.later.setdefault(line, []).append((reason, anchor))
            return
        unset = [r.removesuffix("is set nowhere") for r, _ in self.marks if "is set nowhere" in r]
        told = any(re.match(rf"what {re.escape(name.strip())}\b", reason) for name in unset)
        if not told and (reason, anchor) not in self.marks:
            self.marks.append((reason, anchor))

    def resolve(self, how: str) -> None:
        """Count a place whose meaning depends on types."""
        self.report.sites[how] += 1

    @contextmanager
    def statement(self, node: s.Statement) -> Iterator[None]:
        """Write a statement, with its comments, and its marks above its first line."""
        self.comments(node.before)
        self.line = node.line
        start = len(self.lines)
        marks, self.marks = self.marks, []
        yield
        if self.marks:
            own = (k for k in range(start, len(self.lines)) if self._is_own(self.lines[k]))
            at = next(own, start)
            self.lines[at:at] = self.shown_marks()
        self.marks = marks
        if node.after:
            self._comment_after(node, node.after, start)

    def comments(self, lines: list[str | None]) -> None:
        """Write lines of comments; None is a blank one."""
        for line in lines:
            if line is not None:
                self.write(line)
            elif self.lines and self.lines[-1].text:
                self.write("")

    def _comment_after(self, node: s.Statement, comment: str, start: int) -> None:
        """Write a comment that follows a statement, whose lines begin at ``start``."""
        has_body = isinstance(node, _WITH_BODY)
        is_flat = b"\n" not in self.source[node.start : node.end]
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
        """Return whether a line is of the block that is being written, not of one inside it."""
        return line.indent == self.indent and bool(line.text.strip())

    def place_later(self) -> None:
        """Put the marks of other statements than the one that found them above theirs."""
        for number, marks in sorted(self.later.items()):
            written = {n.source for n in self.lines if n.text and n.source <= number}
            line = max(written, default=0)
            at = next((k for k, n in enumerate(self.lines) if n.source == line and n.text), 0)
            self.line, self.indent = number, self.lines[at].indent
            while at and self.lines[at - 1].text.startswith("@"):
                at -= 1
            self.lines[at:at] = self.shown_marks(marks)

    def shown_marks(self, marks: list[tuple[str, str]] | None = None) -> list[Line]:
        """Return the marks of a statement, those of one kind together."""
        shown = []
        marks = self.marks if marks is None else marks
        for anchor in dict.fromkeys(a for _, a in marks):
            reasons = [r for r, a in marks if a == anchor]
            unknown = [r[5:-17] for r in reasons if re.fullmatch("what .* is, is not known", r)]
            others = [r for r in reasons if not re.fullmatch("what .* is, is not known", r)]
            if len(unknown) > 1:
                unknown = [", ".join(unknown[:4]) + (" …" if len(unknown) > 4 else "")]
                others.insert(0, f"what these are is not known: {unknown[0]}")
            elif unknown:
                others.insert(0, f"what {unknown[0]} is, is not known")
            reason = "; ".join(others)
            self.report.marks.append((self.line, reason, anchor))
            text = f"# port: {reason} [{GUIDE}#port-{anchor}]"
            shown.append(Line(self.indent, text, None, self.line))
        return shown
