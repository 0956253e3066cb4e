"""Lua text as the nodes of ``syntax``, read by tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from compat.port.read.syntax import (
    Assign,
    Binary,
    Block,
    Call,
    Constant,
    Define,
    Do,
    Field,
    ForEach,
    ForRange,
    Function,
    If,
    Index,
    Jump,
    Label,
    Local,
    Name,
    Node,
    Paren,
    PortError,
    Repeat,
    Return,
    Scope,
    Statement,
    Table,
    Unary,
    Vararg,
    While,
)

_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\n": "\n",
}
_LATER = {"//", "&", "|", "~", "<<", ">>"}


def without_shell_line(source: bytes) -> bytes:
    """Return a file whose first line, where that is for the shell, is a comment."""
    if not source.startswith(b"#"):
        return source
    return b"--" + source[2 if source[:2] == b"#!" else 1 :]


# Long comments, comments of one line, and strings, where no comment begins.
_COMMENTS_AND_STRINGS = re.compile(
    rb"--\[(=*)\[.*?\]\1\]|(?P<line>--[^\n]*)"
    rb"|\[(=*)\[.*?\]\3\]|(?P<text>\"(?:\\z\s*|\\.|[^\"\\\n])*\"|'(?:\\z\s*|\\.|[^'\\\n])*')",
    re.S,
)
_BEFORE_LONG = re.compile(rb"\s*--\[=*\[")


def _without_texts(source: bytes) -> bytes:
    """Return a file, as long, without what is in comments of one line and in short strings.

    The grammar takes ``----[[`` and ``'--[['`` for the beginning of a long comment, ``--`` with
    nothing behind it, the long comment after it and the rest of its line for one comment, and does
    not know all escapes.
    """

    def part(match: re.Match[bytes]) -> bytes:
        if match["line"]:
            if match[0].strip() == b"--" and _BEFORE_LONG.match(source, match.end()):
                return b" " * len(match[0])
            return match[0].replace(b"[", b" ")
        if match["text"]:
            inner = re.sub(rb".(?=\n)", rb"\\", re.sub(rb".", b"x", match["text"][1:-1]))
            return match["text"][:1] + inner + match["text"][-1:]
        return match[0]

    return _COMMENTS_AND_STRINGS.sub(part, source)


def parse(source: bytes, name: str = "script.lua") -> Block:
    """Return the statements of a file.

    Raises:
        PortError: it is empty, no Lua, or of a Lua that LuaJIT does not speak.
    """
    try:
        import tree_sitter
        import tree_sitter_lua
    except ImportError:
        raise PortError(
            'port needs tree-sitter and tree-sitter-lua; `pip install "dptable[lua]"` installs them'
        ) from None
    source = without_shell_line(source)
    if not source.strip():
        raise PortError(f"{name} is empty")
    language = tree_sitter.Language(tree_sitter_lua.language())
    root = tree_sitter.Parser(language).parse(_without_texts(source)).root_node
    return _Reader(source, name).file(root)


class _Reader:
    def __init__(self, source: bytes, name: str) -> None:
        self.source, self.name = source, name

    def file(self, root: Any) -> Block:
        if root.has_error:
            bad = next(_errors(root), root)
            row, column = bad.start_point[0] + 1, bad.start_point[1] + 1
            text = bad.text.decode("latin-1").strip().split("\n")[0][:40]
            near = f" near {text!r}" if text else ""
            raise PortError(f"{self.name}:{row}:{column}: this is no Lua{near}")
        block = self.block(root)
        for stray in _strays(block, False):
            raise PortError(f"{self.name}:{stray.line}: break is not in a loop")
        return block

    def refuse(self, node: Any, what: str) -> PortError:
        row, column = node.start_point[0] + 1, node.start_point[1] + 1
        return PortError(
            f"{self.name}:{row}:{column}: {what} is of a later Lua than Torch7's, which is 5.1"
        )

    def place(self, node: Any) -> dict[str, Any]:
        return {
            "line": node.start_point[0] + 1,
            "start": node.start_byte,
            "end": node.end_byte,
        }

    def text(self, node: Any) -> str:
        return self.source[node.start_byte : node.end_byte].decode("latin-1")

    def block(self, node: Any) -> Block:
        return self.statements(node.children, self.place(node))

    def statements(self, children: Iterable[Any], place: dict[str, Any]) -> Block:
        """Return what nodes beside each other say."""
        statements: list[Statement] = []
        waiting: list[str | None] = []
        last_row = place["line"] - 1
        first = True
        for node in children:
            row = node.start_point[0]
            if node.type != "comment" and (not node.is_named or node.type in _PARTS):
                continue
            same_row = bool(statements) and row == last_row and not waiting
            if row > last_row + 1 and not first:
                waiting.append(None)
            last_row, first = node.end_point[0], False
            if node.type != "comment":
                statement = self.statement(node)
                statement.before = [*waiting, *statement.before]
                statements.append(statement)
                waiting = []
                continue
            lines = self.comment(node)
            if same_row and len(lines) == 1:
                before = statements[-1].after
                statements[-1].after = f"{before} {lines[0]}" if before else lines[0]
            else:
                waiting += lines
        return Block(statements, waiting, **place)

    def comment(self, node: Any) -> list[str | None]:
        text = self.text(node)
        match = re.match(r"--\[(=*)\[(.*)\]\1\]$", text, re.S)
        lines = match[2].strip("\n").split("\n") if match else [text[2:]]
        rules = [line.rstrip() for line in lines]
        return [
            "#" + (_comment(line[:78]) if set(line) == {"-"} else _comment(line)) for line in rules
        ]

    # Statements

    def statement(self, node: Any) -> Statement:
        made: Statement = getattr(self, f"_{node.type}")(node, self.place(node))
        return made

    def _variable_declaration(self, node: Any, place: dict[str, Any]) -> Statement:
        inner = node.named_children[0]
        if any(c.type == "attribute" for c in node.children) or b"<" in node.text.split(b"=")[0]:
            raise self.refuse(node, "an attribute in <…>")
        if inner.type == "assignment_statement":
            names = inner.named_children[0]
            values = inner.named_children[-1]
            return Local(self.names(names), self.list(values), **place)
        return Local(self.names(inner), [], **place)

    def names(self, node: Any) -> list[Name]:
        if any(c.type == "attribute" for c in node.named_children):
            raise self.refuse(node, "an attribute in <…>")
        return [self.name_of(c) for c in node.named_children if c.type == "identifier"]

    def name_of(self, node: Any) -> Name:
        return Name(self.text(node), **self.place(node))

    def list(self, node: Any) -> list[Node]:
        return [self.expression(c) for c in node.named_children if c.type != "comment"]

    def _assignment_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        targets, values = (c for c in node.named_children if c.type != "comment")
        return Assign(self.list(targets), self.list(values), **place)

    def _function_declaration(self, node: Any, place: dict[str, Any]) -> Statement:
        name = node.child_by_field_name("name")
        is_local = node.children[0].type == "local"
        is_method = name.type == "method_index_expression"
        target: Node
        if is_method:
            key = name.child_by_field_name("method")
            target = Index(
                self.expression(name.child_by_field_name("table")),
                Constant(self.text(key), **self.place(key)),
                **self.place(name),
            )
        else:
            target = self.expression(name)
        function = self.function(node, self.text(name))
        if is_method:
            function.parameters.insert(0, Name("self", **self.place(name)))
        return Define(target, function, is_method, is_local, **place)

    def function(self, node: Any, name: str | None = None) -> Function:
        parameters = node.child_by_field_name("parameters")
        names = [self.name_of(c) for c in parameters.named_children if c.type == "identifier"]
        is_vararg = any(c.type == "vararg_expression" for c in parameters.named_children)
        body = self.body(node)
        return Function(names, is_vararg, body, name, **self.place(node))

    def body(self, node: Any, beside: Iterable[Any] | None = None) -> Block:
        """Return the block of a loop, branch or function, with comments that the parser puts
        beside it.
        """
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        found = [c for c in node.children if c.type == "comment"] if beside is None else [*beside]
        found += body.children if body is not None else []
        return self.statements(sorted(found, key=lambda c: c.start_byte), self.place(node))

    def _function_call(self, node: Any, place: dict[str, Any]) -> Statement:
        return Do(self.expression(node), **place)

    def _do_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return Scope(self.body(node), **place)

    def _while_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return While(
            self.expression(node.child_by_field_name("condition")), self.body(node), **place
        )

    def _repeat_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return Repeat(
            self.body(node), self.expression(node.child_by_field_name("condition")), **place
        )

    def _if_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        parts = [node, *node.children_by_field_name("alternative")]
        ends = [*(part.start_byte for part in parts[1:]), node.end_byte]
        comments = [c for part in parts for c in part.children if c.type == "comment"]
        clauses: list[tuple[Node | None, Block]] = []
        for part, end in zip(parts, ends, strict=True):
            own = [c for c in comments if part.start_byte <= c.start_byte < end]
            condition = part.child_by_field_name("condition")
            clauses.append(
                (self.expression(condition) if condition else None, self.body(part, own))
            )
        return If(clauses, **place)

    def _for_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        clause = node.child_by_field_name("clause")
        body = self.body(node)
        if clause.type == "for_numeric_clause":
            step = clause.child_by_field_name("step")
            return ForRange(
                self.name_of(clause.child_by_field_name("name")),
                self.expression(clause.child_by_field_name("start")),
                self.expression(clause.child_by_field_name("end")),
                self.expression(step) if step else None,
                body,
                **place,
            )
        names, values = (c for c in clause.named_children if c.type != "comment")
        return ForEach(self.names(names), self.list(values), body, **place)

    def _return_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        values = next((c for c in node.named_children if c.type == "expression_list"), None)
        return Return(self.list(values) if values else [], **place)

    def _break_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return Jump(None, **place)

    def _goto_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return Jump(self.text(node.named_children[0]), **place)

    def _label_statement(self, node: Any, place: dict[str, Any]) -> Statement:
        return Label(self.text(node.named_children[0]), **place)

    # Expressions

    def expression(self, node: Any) -> Node:
        made: Node = getattr(self, f"_e_{node.type}")(node, self.place(node))
        return made

    def _e_nil(self, node: Any, place: dict[str, Any]) -> Node:
        return Constant(None, **place)

    def _e_true(self, node: Any, place: dict[str, Any]) -> Node:
        return Constant(True, **place)

    def _e_false(self, node: Any, place: dict[str, Any]) -> Node:
        return Constant(False, **place)

    def _e_number(self, node: Any, place: dict[str, Any]) -> Node:
        text = self.text(node)
        return Constant(_number(text), **place)

    def _e_string(self, node: Any, place: dict[str, Any]) -> Node:
        return Constant(_string(self.text(node)), **place)

    def _e_vararg_expression(self, node: Any, place: dict[str, Any]) -> Node:
        return Vararg(**place)

    def _e_identifier(self, node: Any, place: dict[str, Any]) -> Node:
        return self.name_of(node)

    _e_variable = _e_identifier

    def _e_dot_index_expression(self, node: Any, place: dict[str, Any]) -> Node:
        key = node.child_by_field_name("field")
        table = node.child_by_field_name("table")
        if self.text(table) == "_G":
            return Name(self.text(key), is_global=True, **place)
        return Index(
            self.expression(table),
            Constant(self.text(key), **self.place(key)),
            **place,
        )

    def _e_bracket_index_expression(self, node: Any, place: dict[str, Any]) -> Node:
        return Index(
            self.expression(node.child_by_field_name("table")),
            self.expression(node.child_by_field_name("field")),
            **place,
        )

    def _e_function_call(self, node: Any, place: dict[str, Any]) -> Node:
        name = node.child_by_field_name("name")
        given = node.child_by_field_name("arguments")
        arguments = [self.expression(c) for c in given.named_children if c.type != "comment"]
        if name.type == "method_index_expression":
            return Call(
                self.expression(name.child_by_field_name("table")),
                arguments,
                self.text(name.child_by_field_name("method")),
                **place,
            )
        return Call(self.expression(name), arguments, **place)

    def _e_function_definition(self, node: Any, place: dict[str, Any]) -> Node:
        return self.function(node)

    def _e_parenthesized_expression(self, node: Any, place: dict[str, Any]) -> Node:
        inner = next(c for c in node.named_children if c.type != "comment")
        return Paren(self.expression(inner), **place)

    def _e_binary_expression(self, node: Any, place: dict[str, Any]) -> Node:
        operator = next(c.type for c in node.children if not c.is_named)
        if operator in _LATER:
            raise self.refuse(node, f"the operator {operator}")
        return Binary(
            operator,
            self.expression(node.child_by_field_name("left")),
            self.expression(node.child_by_field_name("right")),
            **place,
        )

    def _e_unary_expression(self, node: Any, place: dict[str, Any]) -> Node:
        operator = node.children[0].type
        if operator in _LATER:
            raise self.refuse(node, f"the operator {operator}")
        return Unary(operator, self.expression(node.child_by_field_name("operand")), **place)

    def _e_table_constructor(self, node: Any, place: dict[str, Any]) -> Node:
        entries: list[Field] = []
        waiting: list[str] = []
        row = -1
        for child in node.children:
            if child.type == "comment":
                lines = [line for line in self.comment(child) if line]
                if entries and child.start_point[0] == row:
                    entries[-1].after += lines
                else:
                    waiting += lines
            if child.type != "field":
                continue
            name = child.child_by_field_name("name")
            key: Node | None = None
            if name is not None:
                is_word = child.children[0].type != "["
                key = Constant(self.text(name), **self.place(name)) if is_word else None
                key = key or self.expression(name)
            value = self.expression(child.child_by_field_name("value"))
            entries.append(Field(key, value, waiting, **self.place(child)))
            waiting, row = [], child.end_point[0]
        return Table(entries, **place)


_PARTS = {"empty_statement", "hash_bang_line"}


def _errors(node: Any) -> Iterator[Any]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        if child.has_error or child.is_missing:
            yield from _errors(child)


def _strays(node: Node, is_in_loop: bool) -> Iterator[Jump]:
    """Yield each ``break`` that no loop is around."""
    if isinstance(node, Jump) and node.label is None and not is_in_loop:
        yield node
    is_loop = isinstance(node, (While, Repeat, ForRange, ForEach))
    for child in node.children():
        yield from _strays(child, (is_in_loop or is_loop) and not isinstance(node, Function))


def _comment(line: str) -> str:
    """Return a line of a comment behind ``#``."""
    if not line:
        return ""
    return line.encode("latin-1").decode("utf-8", "replace") if line[0] in " \t" else f" {line}"


_LARGEST = 1e309  # infinity, which is larger than all that Lua's numbers reach


def _number(text: str) -> int | float:
    text = text.lower()
    if text.endswith(("ll", "i")) and not text.startswith("0x"):
        text = text.rstrip("ul" if text.endswith("ll") else "i")
    if text.startswith("0x"):
        if "p" in text:
            return float.fromhex(text)
        number = int(text.rstrip("ul"), 16)
        return number if number < 1 << 1023 else _LARGEST
    value = float(text)
    is_int = re.fullmatch(r"\d+", text) and value < 1e14  # Lua shows a larger one as 1e+14
    return int(value) if is_int else value


def _string(text: str) -> str:
    long = re.match(r"\[(=*)\[\n?(.*)\]\1\]$", text, re.S)
    if long:
        return long[2].replace("\r\n", "\n")

    def value(match: re.Match[str]) -> str:
        body = match[1]
        if body[0] == "x":
            return chr(int(body[1:], 16))
        if body[0] == "u" and body != "u":
            code = chr(int(body[2:-1], 16))
            return code.encode("utf-8", "surrogatepass").decode("latin-1")
        if body[0] == "z":
            return ""
        if body.isdigit():
            return chr(int(body))
        return _ESCAPES.get(body, body)

    return re.sub(
        r"\\(x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]+\}|\d{1,3}|z\s*|.)", value, text[1:-1], flags=re.S
    )
