"""Lua text as the nodes of ``syntax``, read by tree-sitter."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from compat.lua.state import refusal
from compat.port.read import syntax as s
from compat.port.read.syntax import Block, Function, Name, Node, PortError, Statement

_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_LATER = {"//", "&", "|", "~", "<<", ">>"}


def without_shell_line(source: bytes) -> bytes:
    """Return a file, as long, whose first line is blank where that is for the shell."""
    line, end, rest = source.partition(b"\n")
    return b" " * len(line) + end + rest if line.startswith(b"#") else source


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
    not know all escapes. To it ``global`` is a word of the language, as in Lua 5.5.
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

    return re.sub(rb"\bglobal\b", b"a_name", _COMMENTS_AND_STRINGS.sub(part, source))


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
        self.has_own_torch = _OWN_TORCH.search(source) is not None

    def file(self, root: Any) -> Block:
        problem = _problem(self.source, next(_errors(root), root) if root.has_error else None)
        block = None if root.has_error else self.block(root)  # which knows what is of a later Lua
        if problem or block is None:
            raise PortError(f"{self.name}:{problem}")
        return block

    def refuse(self, node: Any, what: str) -> PortError:
        row, column = node.start_point[0] + 1, node.start_point[1] + 1
        return PortError(
            f"{self.name}:{row}:{column}: {what} is of a later Lua than Torch7's, which is 5.1"
        )

    def place(self, node: Any) -> dict[str, Any]:
        return {"line": node.start_point[0] + 1, "start": node.start_byte, "end": node.end_byte}

    def placed(self, made: Any, node: Any) -> Any:
        vars(made).update(self.place(node))
        return made

    def part(self, node: Any, name: str) -> Node:
        """Return the expression that is a part of a node."""
        return self.expression(node.child_by_field_name(name))

    def word(self, node: Any) -> Node:
        """Return a name as a constant, which it is behind a dot."""
        made: Node = self.placed(s.Constant(self.text(node)), node)
        return made

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
                statements += [statement] if self.has_own_torch else _of_torch(statement)
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
        if match and len(rules) > 1 and rules[-1].strip() == "--":  # of --]]
            rules[-1] = ""
        if not match and re.match("- +[^ -].*[^-]$", rules[0]):  # LuaDoc's ---
            rules = [rules[0][2:]]
        return [
            "#" + (_comment(line[:78]) if set(line) == {"-"} else _comment(line)) for line in rules
        ]

    # Statements

    def statement(self, node: Any) -> Statement:
        made: Statement = self.placed(getattr(self, f"_{node.type}")(node), node)
        return made

    def _variable_declaration(self, node: Any) -> Statement:
        inner = node.named_children[0]
        if any(c.type == "attribute" for c in node.children) or b"<" in node.text.split(b"=")[0]:
            raise self.refuse(node, "an attribute in <…>")
        if inner.type == "assignment_statement":
            names = self.names(inner.named_children[0])
            return s.Local(names, self.list(inner.named_children[-1], len(names)))
        return s.Local(self.names(inner), [])

    def names(self, node: Any) -> list[Name]:
        if any(c.type == "attribute" for c in node.named_children):
            raise self.refuse(node, "an attribute in <…>")
        return [self.name_of(c) for c in node.named_children if c.type == "identifier"]

    def name_of(self, node: Any) -> Name:
        made: Name = self.placed(Name(self.text(node)), node)
        return made

    def list(self, node: Any, count: int | None = None) -> list[Node]:
        """Return expressions; the last may be several values if there are less than ``count``."""
        *parts, last = _real(node) or [None]
        if last is None:
            return []
        is_open = count is None or len(parts) + 1 < count
        end = self.last(last) if is_open else self.expression(last)
        return [*map(self.expression, parts), end]

    def last(self, node: Any) -> Node:
        """Return the last expression of a list, which parentheses make one value."""
        made = self.expression(node)
        is_one = node.type == "parenthesized_expression" and isinstance(made, (s.Call, s.Vararg))
        found: Node = self.placed(s.Paren(made), node) if is_one else made
        return found

    def _assignment_statement(self, node: Any) -> Statement:
        targets, values = _real(node)
        found = self.list(targets)
        return s.Assign(found, self.list(values, len(found)))

    def _function_declaration(self, node: Any) -> Statement:
        name = node.child_by_field_name("name")
        function = self.function(node, self.text(name))
        is_method = name.type == "method_index_expression"
        target: Node
        if is_method:
            key = self.word(name.child_by_field_name("method"))
            target = self.placed(s.Index(self.part(name, "table"), key), name)
            function.parameters.insert(0, self.placed(Name("self"), name))
        else:
            target = self.expression(name)
        return s.Define(target, function, is_method, node.children[0].type == "local")

    def function(self, node: Any, name: str | None = None) -> Function:
        parameters = node.child_by_field_name("parameters")
        names = [self.name_of(c) for c in parameters.named_children if c.type == "identifier"]
        is_vararg = any(c.type == "vararg_expression" for c in parameters.named_children)
        made: Function = self.placed(Function(names, is_vararg, self.body(node), name), node)
        return made

    def body(self, node: Any, beside: Iterable[Any] | None = None) -> Block:
        """Return the block of a loop, branch or function, with comments that the parser puts
        beside it.
        """
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        found = [c for c in node.children if c.type == "comment"] if beside is None else [*beside]
        found += body.children if body is not None else []
        return self.statements(sorted(found, key=lambda c: c.start_byte), self.place(node))

    def _function_call(self, node: Any) -> Statement:
        return s.Do(self.expression(node))

    def _do_statement(self, node: Any) -> Statement:
        return s.Scope(self.body(node))

    def _while_statement(self, node: Any) -> Statement:
        return s.While(self.part(node, "condition"), self.body(node))

    def _repeat_statement(self, node: Any) -> Statement:
        return s.Repeat(self.body(node), self.part(node, "condition"))

    def _if_statement(self, node: Any) -> Statement:
        parts = [node, *node.children_by_field_name("alternative")]
        ends = [*(part.start_byte for part in parts[1:]), node.end_byte]
        comments = [c for part in parts for c in part.children if c.type == "comment"]
        clauses: list[tuple[Node | None, Block]] = []
        for part, end in zip(parts, ends, strict=True):
            own = [c for c in comments if part.start_byte <= c.start_byte < end]
            has_condition = part.child_by_field_name("condition") is not None
            condition = self.part(part, "condition") if has_condition else None
            clauses.append((condition, self.body(part, own)))
        return s.If(clauses)

    def _for_statement(self, node: Any) -> Statement:
        clause = node.child_by_field_name("clause")
        body = self.body(node)
        if clause.type == "for_numeric_clause":
            name = self.name_of(clause.child_by_field_name("name"))
            step = self.part(clause, "step") if clause.child_by_field_name("step") else None
            return s.ForRange(
                name, self.part(clause, "start"), self.part(clause, "end"), step, body
            )
        names, values = _real(clause)
        return s.ForEach(self.names(names), self.list(values), body)

    def _return_statement(self, node: Any) -> Statement:
        values = next((c for c in node.named_children if c.type == "expression_list"), None)
        return s.Return(self.list(values) if values else [])

    def _break_statement(self, node: Any) -> Statement:
        return s.Jump(None)

    def _goto_statement(self, node: Any) -> Statement:
        return s.Jump(self.text(node.named_children[0]))

    def _label_statement(self, node: Any) -> Statement:
        return s.Label(self.text(node.named_children[0]))

    # Expressions

    def expression(self, node: Any) -> Node:
        made: Node
        if node.type in _CONSTANTS:
            made = s.Constant(_CONSTANTS[node.type](self.text(node)))
        else:
            made = getattr(self, f"_e_{node.type}")(node)
        return self.placed(made, node) if made.line == 0 else made

    def _e_vararg_expression(self, node: Any) -> Node:
        return s.Vararg()

    _e_identifier = _e_variable = name_of

    def _e_dot_index_expression(self, node: Any) -> Node:
        key = node.child_by_field_name("field")
        if self.text(node.child_by_field_name("table")) == "_G":
            return Name(self.text(key), is_global=True)
        return s.Index(self.part(node, "table"), self.word(key))

    def _e_bracket_index_expression(self, node: Any) -> Node:
        return s.Index(self.part(node, "table"), self.part(node, "field"))

    def _e_function_call(self, node: Any) -> Node:
        name = node.child_by_field_name("name")
        arguments = self.list(node.child_by_field_name("arguments"))
        if name.type == "method_index_expression":
            method = self.text(name.child_by_field_name("method"))
            return s.Call(self.part(name, "table"), arguments, method)
        return s.Call(self.expression(name), arguments)

    def _e_function_definition(self, node: Any) -> Node:
        return self.function(node)

    def _e_parenthesized_expression(self, node: Any) -> Node:
        return self.expression(_real(node)[0])

    def _operator(self, node: Any) -> str:
        operator: str = next(c.type for c in node.children if not c.is_named)
        if operator in _LATER:
            raise self.refuse(node, f"the operator {operator}")
        return operator

    def _e_binary_expression(self, node: Any) -> Node:
        operator, left = self._operator(node), self.part(node, "left")
        if operator == "or" and isinstance(left, s.Binary) and left.operator == "and":
            first, second = left.left, left.right
            if isinstance(first, s.Name) and isinstance(second, s.Name) and first.id == second.id:
                left = first  # x and x or y
        return s.Binary(operator, left, self.part(node, "right"))

    def _e_unary_expression(self, node: Any) -> Node:
        return s.Unary(self._operator(node), self.part(node, "operand"))

    def _e_table_constructor(self, node: Any) -> Node:
        entries: list[s.Field] = []
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
                key = self.word(name) if child.children[0].type != "[" else self.expression(name)
            value = self.last(child.child_by_field_name("value"))
            entries.append(self.placed(s.Field(key, value, waiting), child))
            waiting, row = [], child.end_point[0]
        return s.Table(entries)


def _real(node: Any) -> list[Any]:
    """Return the parts of a node that are no comments."""
    return [c for c in node.named_children if c.type != "comment"]


_PARTS = {"empty_statement", "hash_bang_line"}


def _errors(node: Any) -> Iterator[Any]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        if child.has_error or child.is_missing:
            yield from _errors(child)


def _problem(source: bytes, bad: Any) -> str:
    """Return where and why a file is no Lua, in LuaJIT's words if it is here; ``bad`` is where the
    grammar fails.
    """
    row, column = (bad.start_point[0] + 1, bad.start_point[1] + 1) if bad else (0, 0)
    found = re.match(r":(\d+): (.*?(?: near '(.*)')?)$", refusal(source), re.S)
    if found is None:
        near = bad.text.decode("latin-1").strip().split("\n")[0][:40] if bad else ""
        return f"{row}:{column}: this is no Lua{f' near {near!r}' if near else ''}" if bad else ""
    number, words, token = found.groups()
    line = source.decode("latin-1").split("\n")[int(number) - 1]
    if token and line.count(token) == 1:
        row, column = int(number), line.index(token) + 1
    place = f"{row}:{column}" if row == int(number) else number
    return f"{place}: this is no Lua: {words}"


_OWN_TORCH = re.compile(
    rb"\blocal\s[\w, ]*\btorch\b(?!\s*=\s*require)|\bfunction\b[^()\n]*\([^()\n]*\btorch\b"
)


def _of_torch(node: Statement) -> list[Statement]:
    """Return what runs of ``if torch then … else … end``: a draft has PyTorch."""
    condition, body = node.clauses[0] if isinstance(node, s.If) else (None, None)
    is_there = isinstance(condition, Name) and condition.id == "torch"
    chosen = body.statements if body is not None and is_there else []
    if not chosen or not all(isinstance(part, (s.Assign, s.Do)) for part in chosen):
        return [node]
    chosen[0].before = [*node.before, *chosen[0].before]
    return chosen


def _comment(line: str) -> str:
    """Return a line of a comment behind ``#``."""
    if not line:
        return ""
    text = line.encode("latin-1").decode("utf-8", "replace")
    text = re.sub("^ *# +|^--+ +(?=[^ ])(?!.*-$)", "", text)  # of #, which is Python's, and ----
    return text if text[0] in " \t" else f" {text}"


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


_CONSTANTS: dict[str, Callable[[str], Any]] = {
    "nil": lambda _: None,
    "true": lambda _: True,
    "false": lambda _: False,
    "number": _number,
    "string": _string,
}
