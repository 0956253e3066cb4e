"""Enough of Lua to run the constructor expressions of the recordings.

``evaluate("nn.Linear(5, 3):float()", {"nn": compat.nn})`` parses the expression into nested Python
functions of the local variables and calls them. Several values (``return a, b``) are a tuple.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

Scope = dict[str, Any]
Node = Callable[[Scope], Any]

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)|(?P<string>'[^']*'|\"[^\"]*\")"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<op>\.\.\.|==|~=|<=|>=|[-+*/<>=(){}\[\];:,.]))"
)
_KEYWORDS = {"and", "do", "else", "end", "for", "function", "if", "in", "local", "or", "return"} | {
    "then",
    "not",
}
_CONSTANTS = {"nil": None, "true": True, "false": False}
_BINARY: list[dict[str, Callable[[Any, Any], Any]]] = [
    {"==": operator.eq, "~=": operator.ne, "<": operator.lt, ">": operator.gt},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": lambda a, b: _whole(a / b)},
]


def evaluate(source: str, names: dict[str, Any], methods: dict[Any, dict[str, Any]]) -> Any:
    """The value of a Lua expression. ``methods`` gives the Lua methods of Python types."""
    parser = _Parser(source, methods)
    node = parser.expression()
    if parser.peek() != "":
        raise SyntaxError(f"{parser.peek()!r} after the expression in {source!r}")
    return _single(node({**names, "ipairs": _ipairs}))


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


def _ipairs(table: Any, *rest: Any) -> list[tuple[int, Any]]:
    return list(enumerate(table, 1))


def _single(value: Any) -> Any:
    return (value[0] if value else None) if isinstance(value, tuple) else value


def _expanded(values: list[Any]) -> list[Any]:
    """Lua's rule for lists of expressions: all values of the last one count."""
    if not values:
        return []
    last = list(values[-1]) if isinstance(values[-1], tuple) else [values[-1]]
    return [_single(value) for value in values[:-1]] + last


def _true(value: Any) -> bool:
    value = _single(value)
    return value is not None and value is not False


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


class _Parser:
    def __init__(self, source: str, methods: dict[Any, dict[str, Any]]) -> None:
        self.methods = methods
        self.tokens: list[str] = []
        position = 0
        source = source.rstrip()
        while position < len(source):
            match = _TOKEN.match(source, position)
            if match is None:
                raise SyntaxError(f"unknown token at {source[position : position + 20]!r}")
            self.tokens.append(match.group().strip())
            position = match.end()
        self.tokens.append("")
        self.position = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def next(self) -> str:
        self.position += 1
        return self.tokens[self.position - 1]

    def accept(self, token: str) -> bool:
        if self.peek() == token:
            self.position += 1
            return True
        return False

    def expect(self, token: str) -> None:
        if not self.accept(token):
            raise SyntaxError(f"expected {token!r}, found {self.peek()!r}")

    # Statements.

    def block(self, *ends: str) -> Node:
        statements = []
        while self.peek() not in ends:
            if not self.accept(";"):
                statements.append(self.statement())

        def run(scope: Scope) -> None:
            for statement in statements:
                statement(scope)

        return run

    def statement(self) -> Node:
        if self.accept("local"):
            return self.local()
        if self.accept("return"):
            values = self.expressions()

            def leave(scope: Scope) -> None:
                raise _Return(tuple(_expanded([value(scope) for value in values])))

            return leave
        if self.accept("for"):
            return self.loop()
        if self.accept("if"):
            return self.condition()
        target = self.suffixed()
        if not self.accept("="):
            return target
        value = self.expression()
        return lambda scope: target.assign(scope, _single(value(scope)))  # type: ignore[attr-defined]

    def local(self) -> Node:
        if self.accept("function"):
            name = self.next()
            body = self.function()

            def define(scope: Scope) -> None:
                scope[name] = None
                scope[name] = body(scope)

            return define
        names = self.names()
        self.expect("=")
        values = self.expressions()

        def bind(scope: Scope) -> None:
            given = _expanded([value(scope) for value in values])
            scope.update(zip(names, given + [None] * len(names), strict=False))

        return bind

    def names(self) -> list[str]:
        names = [self.next()]
        while self.accept(","):
            names.append(self.next())
        return names

    def loop(self) -> Node:
        names = self.names()
        self.expect("in")
        items = self.expression()
        self.expect("do")
        body = self.block("end")
        self.expect("end")

        def run(scope: Scope) -> None:
            for values in items(scope):
                scope.update(zip(names, values, strict=True))
                body(scope)

        return run

    def condition(self) -> Node:
        test = self.expression()
        self.expect("then")
        body = self.block("end", "else")
        other: Node = self.block("end") if self.accept("else") else lambda scope: None
        self.expect("end")
        return lambda scope: body(scope) if _true(test(scope)) else other(scope)

    def function(self) -> Node:
        self.expect("(")
        names = [] if self.peek() == ")" else self.names()
        self.expect(")")
        body = self.block("end")
        self.expect("end")

        def make(scope: Scope) -> Any:
            def call(*given: Any) -> Any:
                inner = dict(scope)
                if names == ["..."]:
                    inner["..."] = given
                else:
                    inner.update(zip(names, [*given, *[None] * len(names)], strict=False))
                try:
                    body(inner)
                except _Return as result:
                    return result.value
                return ()

            return call

        return make

    # Expressions.

    def expressions(self) -> list[Node]:
        values = [self.expression()]
        while self.accept(","):
            values.append(self.expression())
        return values

    def expression(self) -> Node:
        left = self.conjunction()
        while self.accept("or"):
            left = self._or(left, self.conjunction())
        return left

    @staticmethod
    def _or(left: Node, right: Node) -> Node:
        return lambda scope: value if _true(value := left(scope)) else right(scope)

    def conjunction(self) -> Node:
        left = self.binary(0)
        while self.accept("and"):
            left = self._and(left, self.binary(0))
        return left

    @staticmethod
    def _and(left: Node, right: Node) -> Node:
        return lambda scope: right(scope) if _true(value := left(scope)) else value

    def binary(self, level: int) -> Node:
        if level == len(_BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in _BINARY[level]:
            operation = _BINARY[level][self.next()]
            left = self._apply(operation, left, self.binary(level + 1))
        return left

    @staticmethod
    def _apply(operation: Callable[[Any, Any], Any], left: Node, right: Node) -> Node:
        return lambda scope: operation(_single(left(scope)), _single(right(scope)))

    def unary(self) -> Node:
        if self.accept("-"):
            value = self.unary()
            return lambda scope: -_single(value(scope))
        if self.accept("not"):
            value = self.unary()
            return lambda scope: not _true(value(scope))
        return self.suffixed()

    def suffixed(self) -> Node:
        node = self.primary()
        while True:
            if self.peek() == "." and self.accept("."):
                node = _Field(node, self.next())
            elif self.accept("["):
                node = self._index(node, self.expression())
                self.expect("]")
            elif self.accept(":"):
                node = self._call(self._method(node, self.next()), self.arguments())
            elif self.peek() in ("(", "{") or self.peek()[:1] in ("'", '"'):
                node = self._call(node, self.arguments())
            else:
                return node

    def arguments(self) -> list[Node]:
        if not self.accept("("):
            return [self.primary()]
        values = [] if self.peek() == ")" else self.expressions()
        self.expect(")")
        return values

    @staticmethod
    def _index(node: Node, index: Node) -> Node:
        return lambda scope: _single(node(scope))[index(scope) - 1]

    def _method(self, node: Node, name: str) -> Node:
        def bound(scope: Scope) -> Any:
            value = _single(node(scope))
            for kind, methods in self.methods.items():
                if isinstance(value, kind) and name in methods:
                    return lambda *given: methods[name](value, *given)
            return getattr(value, name)

        return bound

    @staticmethod
    def _call(function: Node, arguments: list[Node]) -> Node:
        return lambda scope: _single(function(scope))(*_expanded([a(scope) for a in arguments]))

    def primary(self) -> Node:
        token = self.next()
        if token == "(":
            value = self.expression()
            self.expect(")")
            return lambda scope: _single(value(scope))
        if token == "{":
            return self.table()
        if token == "function":
            return self.function()
        if token[:1] in ("'", '"'):
            return lambda scope: token[1:-1]
        if token[:1].isdigit() or (token[:1] == "." and token != "..."):
            number = float(token) if re.search(r"[.eE]", token) else int(token)
            return lambda scope: number
        if token in _CONSTANTS:
            return lambda scope: _CONSTANTS[token]
        if token in _KEYWORDS or not (token == "..." or token.isidentifier()):
            raise SyntaxError(f"unexpected {token!r}")
        return lambda scope: scope[token]

    def table(self) -> Node:
        values: list[Node] = []
        fields: dict[str, Node] = {}
        while not self.accept("}"):
            if self.peek(1) == "=":
                name = self.next()
                self.expect("=")
                fields[name] = self.expression()
            else:
                values.append(self.expression())
            if not self.accept(","):
                self.accept(";")

        def make(scope: Scope) -> Any:
            if fields:
                return {name: _single(value(scope)) for name, value in fields.items()}
            return _expanded([value(scope) for value in values])

        return make


class _Field:
    """``value.name``, which can also stand left of ``=``."""

    def __init__(self, value: Node, name: str) -> None:
        self.value = value
        self.name = name

    def __call__(self, scope: Scope) -> Any:
        return getattr(_single(self.value(scope)), self.name)

    def assign(self, scope: Scope, value: Any) -> None:
        setattr(_single(self.value(scope)), self.name, value)
