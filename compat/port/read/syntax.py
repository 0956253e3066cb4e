"""The syntax tree of a Lua file: statements and expressions, with the comments in place."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


class PortError(Exception):
    """A file that cannot be converted, and why, in one sentence."""


@dataclass(eq=False, kw_only=True)
class Node:
    """A part of a file: its first line, and its bytes from ``start`` to ``end``; ``is_made``: it
    is written elsewhere, or nowhere, and has the place of what it stands for.
    """

    line: int = 0
    start: int = 0
    end: int = 0
    is_made: bool = False

    def children(self) -> list[Node]:
        """Return the nodes directly below."""
        found: list[Node] = []
        kind: Any = type(self)
        for name in _places(kind):
            value = getattr(self, name)
            if isinstance(value, Node):
                found.append(value)
            elif value is not None:
                _collect(value, found)
        return found


@functools.cache
def _places(kind: Any) -> list[str]:
    """Return the fields that may hold nodes, none of ``Node`` itself."""
    return [f.name for f in fields(kind) if f.name in kind.__match_args__ and _holds(str(f.type))]


def _holds(annotation: str) -> bool:
    """Return whether such a field is one of the tree: its shape or variable is not."""
    return any(word in globals() for word in re.findall(r"[A-Z]\w+", annotation) if word != "Any")


def _collect(values: Any, found: list[Node]) -> None:
    for value in values:
        if isinstance(value, Node):
            found.append(value)
        elif isinstance(value, tuple):  # a clause
            _collect(filter(None, value), found)


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += reversed(node.children())


def put_at(node: Node, place: Node) -> None:
    """Give a node that stands nowhere, and all such below it, the place of another."""
    for part in walk(node):
        if not part.end:
            part.line, part.start, part.end = place.line, place.start, place.end
            part.is_made = True


# Expressions --------------------------------------------------------------------------------------


@dataclass(eq=False)
class Constant(Node):
    """``nil``, ``true``, ``false``, a number or a string (of bytes, as latin-1)."""

    value: bool | int | float | str | None


def constant(node: Node | None) -> Any:
    """Return the value of a constant; of anything else None."""
    return node.value if isinstance(node, Constant) else None


def is_nil(node: Node | None) -> bool:
    """Return whether ``node`` is a nil that is written."""
    return isinstance(node, Constant) and node.value is None


def names_tensor(node: Node | None) -> bool:
    """Return whether a text is the computed name of a type of tensors: ``name .. "Tensor"``, or
    what is behind ``torch.`` in one.
    """
    if isinstance(node, Call) and node.method == "match" and len(node.arguments) == 1:
        return "torch" in str(constant(node.arguments[0])).partition("(")[0]
    return _ends_with(node, "Tensor")


def names_storage(node: Node) -> bool:
    """Return whether a text is the computed name of a type of storages: ``name .. "Storage"``, or
    that of a type of tensors with ``Storage`` in it.
    """
    if not isinstance(node, Call) or node.method != "gsub":
        return _ends_with(node, "Storage")
    words = [constant(part) for part in node.arguments]
    return words == ["Tensor", "Storage"] and names_tensor(node.function)


def _ends_with(node: Node | None, word: str) -> bool:
    while isinstance(node, Binary) and node.operator == "..":
        node = node.right
    return constant(node) == word


@dataclass(eq=False)
class Vararg(Node):
    """``...``."""


@dataclass(eq=False)
class Name(Node):
    """A variable; ``variable`` is what ``scopes`` found it to be."""

    id: str
    variable: Any = field(default=None, repr=False)
    is_global: bool = False  # written ``_G.name``

    def children(self) -> list[Node]:
        return []


@dataclass(eq=False)
class Index(Node):
    """``object[key]``, also written ``object.name``."""

    object: Node
    key: Node


@dataclass(eq=False)
class Call(Node):
    """``function(arguments)``, or ``function:method(arguments)``."""

    function: Node
    arguments: list[Node]
    method: str | None = None


@dataclass(eq=False)
class Binary(Node):
    """Two operands."""

    operator: str
    left: Node
    right: Node


@dataclass(eq=False)
class Unary(Node):
    """``not``, ``-`` or ``#``."""

    operator: str
    operand: Node


def is_negative(node: Node | None) -> bool:
    """Return whether ``node`` is written with a minus."""
    return isinstance(node, Unary) and node.operator == "-"


@dataclass(eq=False)
class Paren(Node):
    """A call or ``...`` in parentheses at the end of a list, which is one value."""

    inner: Node


@dataclass(eq=False)
class Field(Node):
    """An entry of a table; without key the next of the list."""

    key: Node | None
    value: Node
    comments: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list, kw_only=True)


@dataclass(eq=False)
class Table(Node):
    """``{…}``; ``shape``, what inference has found out about it, a ``types.Table``."""

    fields: list[Field]
    shape: Any = None


@dataclass(eq=False)
class Function(Node):
    """A function's parameters and body; ``types``: what it is said to be given (``number?``)."""

    parameters: list[Name]
    is_vararg: bool
    body: Block
    name: str | None = None
    types: dict[str, str] = field(default_factory=dict)


# Statements ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Statement(Node):
    """A statement; ``before`` are the lines of comments above it (None: a blank line)."""

    before: list[str | None] = field(default_factory=list, kw_only=True)
    after: str | None = field(default=None, kw_only=True)


@dataclass(eq=False)
class Block(Node):
    """Statements, and the comments below the last."""

    statements: list[Statement]
    ending: list[str | None] = field(default_factory=list)


@dataclass(eq=False)
class Local(Statement):
    """``local names = values``."""

    names: list[Name]
    values: list[Node]

    @property
    def targets(self) -> list[Node]:
        """The names, as an ``Assign`` calls what gets its values."""
        return [*self.names]


@dataclass(eq=False)
class Assign(Statement):
    """``targets = values``."""

    targets: list[Node]
    values: list[Node]


@dataclass(eq=False)
class Do(Statement):
    """A call, as a statement."""

    call: Node


@dataclass(eq=False)
class Scope(Statement):
    """``do … end``."""

    body: Block


@dataclass(eq=False)
class While(Statement):
    """``while condition do … end``."""

    condition: Node
    body: Block


@dataclass(eq=False)
class Repeat(Statement):
    """``repeat … until condition``."""

    body: Block
    condition: Node


@dataclass(eq=False)
class If(Statement):
    """``if``: conditions and what belongs to them; the last condition is None for ``else``."""

    clauses: list[tuple[Node | None, Block]]


@dataclass(eq=False)
class ForRange(Statement):
    """``for name = first, last, step do``."""

    name: Name
    first: Node
    last: Node
    step: Node | None
    body: Block


@dataclass(eq=False)
class ForEach(Statement):
    """``for names in values do``."""

    names: list[Name]
    values: list[Node]
    body: Block


@dataclass(eq=False)
class Define(Statement):
    """``function target(…)``; ``local function name(…)`` where ``is_local``."""

    target: Node
    function: Function
    is_method: bool = False
    is_local: bool = False


@dataclass(eq=False)
class Return(Statement):
    """``return values``."""

    values: list[Node]


@dataclass(eq=False)
class Jump(Statement):
    """``break``, or ``goto label``."""

    label: str | None


@dataclass(eq=False)
class Label(Statement):
    """``::name::``."""

    name: str


def last_name(node: Node) -> str | None:
    """Return the name of a variable, or of a field."""
    found = constant(node.key) if isinstance(node, Index) else getattr(node, "id", None)
    return found if isinstance(found, str) else None


def single(node: Node | None) -> tuple[Name | Index, Node] | None:
    """Return the only thing that a declaration or assignment sets, and the only value."""
    if not isinstance(node, (Local, Assign)) or not len(node.targets) == len(node.values) == 1:
        return None
    only = node.targets[0]
    return (only, node.values[0]) if isinstance(only, (Name, Index)) else None


def target(node: Node | None) -> Name | Index | None:
    """Return the only thing that an assignment of one value puts it into."""
    only, _ = single(node) or (None, None)
    return only


LOOPS = (While, Repeat, ForRange, ForEach)


def assigned(node: Node) -> list[tuple[Node, Node]]:
    """Return what a declaration or assignment sets, each with the value that stands for it."""
    if not isinstance(node, (Local, Assign)):
        return []
    return list(zip(node.targets, node.values, strict=False))


def drop(node: Node, block: Block) -> None:
    """Take a statement out of a block, if it stands there; its comments stay."""
    if isinstance(node, Statement) and node in block.statements:
        number = block.statements.index(node)
        after = block.statements[number + 1 :]
        (after[0].before if after else block.ending)[:0] = node.before
        del block.statements[number]


def describe(node: Node) -> str:
    """Return an expression, to name it in a mark."""
    if isinstance(node, Name):
        return node.id
    if isinstance(node, Index):
        key = node.key
        if isinstance(key, Constant):
            shown = f".{key.value}" if isinstance(key.value, str) else f"[{key.value}]"
        else:
            shown = f"[{describe(key)}]"
        return f"{describe(node.object)}{shown}"
    if isinstance(node, Call):
        method = f":{node.method}" if node.method else ""
        return f"{describe(node.function)}{method}(…)"
    if isinstance(node, Constant):
        return str(node.value)
    if isinstance(node, Binary):
        return f"{describe(node.left)} {node.operator} {describe(node.right)}"
    return "…"
