"""Python text and its syntax, and rules that change places of it.

A rule is a function that gives changes, each of them edits that belong together: the text between
two places becomes another one. What stands between the edits stays, comments included.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)
Block = list[ast.stmt]
Scope = ast.Module | ast.FunctionDef | ast.Lambda | ast.ClassDef


@dataclass(frozen=True)
class Edit:
    """Text from ``start`` to ``end`` becomes ``text``; places count bytes."""

    start: int
    end: int
    text: str


Change = list[Edit]
Rule = Callable[["Source"], Iterator[Change]]


class Source:
    """A text of Python, its syntax and where each part stands.

    Attributes:
        tree: its syntax.
        hidden: the names that functions in Lua take from the file.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._bytes = text.encode()
        self.tree = ast.parse(text)
        self._lines = [0]
        for line in self._bytes.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))
        self._of_kind: dict[type[ast.AST], list[ast.AST]] = defaultdict(list)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._blocks: dict[ast.stmt, Block] = {}
        for node in ast.walk(self.tree):
            self._of_kind[type(node)].append(node)
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
            for block in _blocks(node):
                self._blocks.update(dict.fromkeys(block, block))
        self.comments = {
            token.start[0]: token
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
            if token.type == tokenize.COMMENT
        }
        self.hidden = set(self._hidden())

    def all(self, kind: type[Node]) -> list[Node]:
        """Return all parts of a kind, outer ones first."""
        return cast(list[Node], self._of_kind[kind])

    def parent(self, node: ast.AST) -> ast.AST:
        """Return what a part stands in."""
        return self._parents[node]

    def block(self, node: ast.stmt) -> Block:
        """Return the statements that one stands among."""
        return self._blocks[node]

    def after(self, node: ast.stmt) -> Block:
        """Return the statements behind one in its block."""
        block = self.block(node)
        return block[block.index(node) + 1 :]

    def scope(self, node: ast.AST) -> Scope:
        """Return the innermost function, class or file around a part."""
        while not isinstance(node := self._parents[node], (*_FUNCTIONS, ast.Module, ast.ClassDef)):
            pass
        return node

    def start(self, node: ast.AST) -> int:
        """Return where a part begins."""
        line, column, _, _ = _place(node)
        return self._lines[line - 1] + column

    def end(self, node: ast.AST) -> int:
        """Return where a part ends."""
        _, _, line, column = _place(node)
        return self._lines[line - 1] + column

    def of(self, node: ast.AST) -> str:
        """Return the text of a part."""
        return self.between(self.start(node), self.end(node))

    def between(self, start: int, end: int) -> str:
        """Return the text between two places."""
        return self._bytes[start:end].decode()

    def is_commented(self, node: ast.AST) -> bool:
        """Return whether a comment stands in or behind a statement."""
        first, _, last, _ = _place(node)
        return any(line in self.comments for line in range(first, last + 1))

    def replaced(self, node: ast.AST, text: str) -> Edit:
        """Return the edit that writes something else for a part."""
        return Edit(self.start(node), self.end(node), text)

    def removed(self, node: ast.stmt) -> Edit:
        """Return the edit that takes a statement away; the comment behind it stays."""
        start, end = self.start(node), self.end(node)
        if node.end_lineno in self.comments:  # the comment stands where the statement stood
            return Edit(start, end + len(self.between(end, end + 2)), "")
        return Edit(start - node.col_offset, self._lines[node.end_lineno or 0], "")

    def comment_end(self, node: ast.AST) -> int:
        """Return where the comment behind a part ends; where the part does, if there is none."""
        token = self.comments.get(_place(node)[2])
        end = self.end(node)
        return end if token is None else self._lines[token.start[0]] - 1

    def head_end(self, node: ast.FunctionDef | ast.ClassDef) -> int:
        """Return where the line with the colon of a function or class ends, behind its comment."""
        number = node.body[0].lineno - 1
        while number > node.lineno and not self.text_of_line(number).rstrip().endswith(":"):
            number -= 1
        return self._lines[number] - 1

    def text_of_line(self, number: int) -> str:
        """Return a line without its comment."""
        text = self.between(self._lines[number - 1], self._lines[number])
        token = self.comments.get(number)
        return text if token is None else text[: token.start[1]]

    def edited(self, edits: Sequence[Edit]) -> str:
        """Return the text with edits that do not overlap."""
        parts, at = [], 0
        for edit in sorted(edits, key=lambda e: (e.start, e.end)):
            parts += [self.between(at, edit.start), edit.text]
            at = edit.end
        return "".join([*parts, self._bytes[at:].decode()])

    def line(self, number: int) -> int:
        """Return where a line begins."""
        return self._lines[number - 1]

    def _hidden(self) -> Iterator[str]:
        for call in self.all(ast.Call):
            if any(self.of(a).startswith(("globals()", "dict(globals()")) for a in call.args):
                for constant in call.args:
                    if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                        yield from re.findall(r"\w+", constant.value)


_FUNCTIONS = (ast.FunctionDef, ast.Lambda)
# Lines count from 1, columns in bytes from 0. A file as a whole has no place.
_place = attrgetter("lineno", "col_offset", "end_lineno", "end_col_offset")


def _blocks(node: ast.AST) -> Iterator[Block]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block


def changed(text: str, rules: Sequence[Rule]) -> str:
    """Return the text after all rules, each as often as it finds something."""
    while True:
        source = Source(text)
        taken: list[Edit] = []
        for rule in rules:
            for change in rule(source):
                if not any(a.start < b.end and b.start < a.end for a in change for b in taken):
                    taken += change
        if not taken:
            return text
        text = source.edited(taken)
