"""Lua's words for an error: the value that ``pcall`` gives.

Errors of Python get Lua's words, with the name of what was nil: the place in the draft tells it.
Errors of ``compat`` are Torch7's, which the Lua runtime tells.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, TracebackType
from typing import Any

import torch

from compat.lua.errors import LuaError
from compat.nn.checks.error_place import blame
from compat.port.lua.runtime import Package, function_of
from compat.port.lua.text import Error
from compat.t7.objects.registry import find_class

_LIBRARIES = tuple(
    str(Path(path).parent) for path in (Path(__file__).parents[1], torch.__file__, ast.__file__)
)
_OF_CLOSED_FILE = re.compile(r"^(I/O operation on|\w+ (of|to)) closed file\.?$")
_KINDS = {
    "NoneType": "nil", "int": "number", "float": "number", "str": "string", "bool": "boolean",
    "builtin_function_or_method": "function", "method": "function", "type": "table",
    "function": "function", "dict": "table", "list": "table", "Table": "table",
}  # fmt: skip


def value_of(problem: Exception) -> Any:
    """Return what Lua would have as the error, with the place before a text."""
    _blame_constructor(problem)
    origin = vars(problem).get("origin")
    if origin is None or (isinstance(problem, (Error, LuaError)) and not origin.way):
        return value_at_origin(problem)
    return _raised_in_lua(problem)


def _blame_constructor(problem: Exception) -> None:
    """Have an error tell which class of ``compat``'s could not make an object, and of what."""
    if is_of_draft(problem) or isinstance(problem, (Error, LuaError)):
        return
    for frame in (entry.tb_frame for entry in _entries(problem)):
        code, values = frame.f_code, frame.f_locals
        if code.co_name == "__init__" and find_class(type(values.get("self"))) is not None:
            given = [values.get(name) for name in code.co_varnames[1 : code.co_argcount]]
            blame(problem, type(values["self"]), "__init", *given)


def is_of_draft(problem: Exception) -> bool:
    """Return whether an error arose in a function of a draft, not in what that called."""
    is_inside = False
    for frame in (entry.tb_frame for entry in _entries(problem)):
        if not is_library(frame.f_code.co_filename):
            is_inside = True
        elif not str(frame.f_globals.get("__name__")).startswith("compat.port."):
            is_inside = False
    return is_inside


def _raised_in_lua(problem: Exception) -> Any:
    """Return what Lua's ``pcall`` gives for an error: a net's has the places of Torch7's
    containers.
    """

    def again(*_: Any) -> None:
        raise problem

    return function_of("function(f) return select(2, pcall(f)) end")(again)


def value_at_origin(problem: Exception) -> Any:
    """Return the error as it was where it arose, without what functions on its way added."""
    own = [e for e in _entries(problem) if not is_library(e.tb_frame.f_code.co_filename)]
    level = max(getattr(problem, "level", 1), 1)
    site = _Site(own[-level] if len(own) >= level else None)
    if isinstance(problem, Error) and not (problem.level and isinstance(problem.value, str)):
        return problem.value
    if isinstance(problem, AssertionError) and not isinstance((*problem.args, "")[0], str):
        return problem.args[0]
    text = str(problem)[len("".join(vars(problem).get("places", ()))) :]
    if isinstance(problem, LuaError) and text == "(error object is not a string)":
        return _raised_in_lua(problem)
    text = _OF_CLOSED_FILE.sub("attempt to use a closed file", text)
    words = _in_lua(problem, text, site) or next(
        iter(re.findall("^python:.*: (attempt to .*)", text)), None
    )
    text = "assertion failed!" if repr(problem) == "AssertionError()" else text
    # The Lua runtime, which runs no file here, knows no line.
    shown, has_place = re.subn(r"^python:\d+: ", "", words or text)
    is_left = words is None and not isinstance(problem, Error) and site.is_last_call
    is_left = is_left or (isinstance(problem, LuaError) and not has_place and words is None)
    return shown if is_left else f"{site.place}{shown}"


def is_library(path: str) -> bool:
    """Return whether a file is one of this package's, of PyTorch's, of Python's or of lupa's."""
    return path.startswith(_LIBRARIES) or path.endswith(".pyx")


class _Site:
    """Where a draft failed; None: in no function of a draft's.

    Attributes:
        place: the file and the line.
        node: the expression that failed; None where Python does not tell (before 3.11).
        around: what stands around it, from the inside.
    """

    def __init__(self, entry: TracebackType | None) -> None:
        self.frame = None if entry is None else entry.tb_frame
        self.place, self.node = "", None
        self.around: list[ast.AST] = []
        if entry is not None:
            code = entry.tb_frame.f_code
            self.place = f"{Path(code.co_filename).name}:{entry.tb_lineno}: "
            self.around = _around(code, entry.tb_lasti)
            self.node = self.around.pop(0) if self.around else None

    def called(self, node: ast.AST | None, kind: str) -> str:
        """``method 'x' (a nil value)`` of what a call calls."""
        if not isinstance(node, ast.Call):
            return self.value_of(None, kind)
        function = node.func
        told = self.value_of(function, kind)
        owner = getattr(function, "value", None)
        takes_owner = (
            bool(node.args) and owner is not None and ast.dump(node.args[0]) == ast.dump(owner)
        )
        if isinstance(owner, ast.Name) and self.frame is not None:
            package = self.frame.f_globals.get(owner.id)
            if isinstance(package, Package):
                word = {"_G": "global", "string": "method"}.get(package.__name__, "field")
                return told.replace("field", word, 1)
        is_package = owner is not None and _is_package(ast.unparse(owner))
        if takes_owner or (isinstance(function, ast.Attribute) and not is_package):
            return told.replace("field", "method", 1)
        return told

    @property
    def is_last_call(self) -> bool:
        """Whether a function gives what the failing call gives: Lua has left it by then."""
        around = self.around[0] if self.around else None
        return isinstance(self.node, ast.Call) and isinstance(around, (ast.Return, ast.Lambda))

    def value_of(self, node: ast.AST | None, kind: str) -> str:
        """``local 'x' (a nil value)`` of an expression, as Lua tells it."""
        name = self.name_of(node)
        return f"{name} (a {kind} value)" if name else f"a {kind} value"

    def name_of(self, node: ast.AST | None) -> str:
        """``local 'x'`` of an expression; empty where it has no name."""
        if isinstance(node, ast.Name):
            assert self.frame is not None
            code = self.frame.f_code
            is_local = node.id in (*code.co_varnames, *code.co_cellvars)
            is_local = is_local or (code.co_name == "<module>" and node.id not in code.co_freevars)
            return f"{'local' if is_local else 'upvalue'} '{node.id}'"
        if isinstance(node, ast.Attribute):
            return f"field '{node.attr}'"
        key: ast.AST | None = None
        if isinstance(node, ast.Subscript):
            key = node.slice
        elif isinstance(node, ast.Call):
            place = {"get": 0, "index": 1, "method": 1}.get(getattr(node.func, "attr", ""), 9)
            key = next(iter(node.args[place:]), None)
        word = key.value if isinstance(key, ast.Constant) else None
        return f"field '{word}'" if isinstance(word, str) else ""


def _entries(problem: Exception) -> Iterator[TracebackType]:
    entry = problem.__traceback__
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _is_package(name: str) -> bool:
    """Return whether a draft means a package by this name."""
    return name == "lua.torch" or f"compat.{name}" in sys.modules or name == "torch"


@functools.lru_cache(8)
def _tree(path: str) -> ast.AST | None:
    try:
        return ast.parse("".join(linecache.getlines(path)))
    except SyntaxError:
        return None


def _around(code: CodeType, instruction: int) -> list[ast.AST]:
    """Return the expression that an instruction belongs to, and what stands around it."""
    positions = getattr(code, "co_positions", lambda: iter(()))()  # of Python 3.11
    place = next(itertools.islice(positions, instruction // 2, None), (None,))
    if None in place:
        return []
    return _way(_tree(code.co_filename), place)


def _way(node: ast.AST | None, place: tuple[Any, ...]) -> list[ast.AST]:
    """Return the smallest node around a place, and those around that; parts of f-strings
    overlap.
    """
    if node is None:
        return []
    inner = [_way(n, place) for n in ast.iter_child_nodes(node) if _holds(n, place)]
    return [*max(inner, key=len, default=[]), node]


def _holds(node: Any, place: tuple[Any, ...]) -> bool:
    line, end_line, start, end = place
    return (
        hasattr(node, "lineno")
        and (node.lineno, node.col_offset) <= (line, start)
        and (node.end_lineno, node.end_col_offset) >= (end_line, end)
    )


# Words --------------------------------------------------------------------------------------------


def _kind(name: str) -> str:
    return _KINDS.get(name, "userdata" if name == "Tensor" else "table")


_OPERATORS = {"add", "sub_", "mul", "div", "divided", "mod", "modulo", "pow"}


def _missing(site: _Site) -> str | None:
    """Return what a draft reads is not there, and something is to be done with it."""
    node, around = site.node, site.around[0] if site.around else None
    if isinstance(around, ast.Call) and around.func is node:
        return f"attempt to call {site.called(around, 'nil')}"
    if isinstance(around, ast.Starred):
        return "bad argument #1 to 'unpack' (table expected, got nil)"
    name = getattr(around.func, "attr", "") if isinstance(around, ast.Call) else ""
    if isinstance(around, (ast.BinOp, ast.UnaryOp, ast.AugAssign)) or name in _OPERATORS:
        return f"attempt to perform arithmetic on {site.value_of(node, 'nil')}"
    if isinstance(around, (ast.FormattedValue, ast.JoinedStr)) or name == "text":
        return f"attempt to concatenate {site.value_of(node, 'nil')}"
    if isinstance(around, ast.Compare):
        is_left = around.left is node
        other = around.comparators[0] if is_left else around.left
        kind = "string" if isinstance(getattr(other, "value", 0), str) else "number"
        is_first = is_left != isinstance(around.ops[0], (ast.Gt, ast.GtE))
        kinds = ("nil", kind) if is_first else (kind, "nil")
        return f"attempt to compare {kinds[0]} with {kinds[1]}"
    if "len" in (name[:3], getattr(getattr(around, "func", None), "id", "")):
        return f"attempt to get length of {site.value_of(node, 'nil')}"
    is_argument = isinstance(around, ast.Call) and around.args[:1] == [node]
    if isinstance(around, (ast.Attribute, ast.Subscript)) or is_argument:
        return f"attempt to index {site.value_of(node, 'nil')}"
    return None


def _operands(node: Any) -> list[Any]:
    """Return what an operator, call or place works on."""
    if isinstance(node, ast.Call):
        return node.args
    names = ("left", "right", "target", "value", "operand")
    return [getattr(node, name) for name in names if hasattr(node, name)]


def _attribute(match: re.Match[str], site: _Site) -> str | None:
    if match[1] not in ("NoneType", "int", "float", "bool", "function"):
        return _missing(site)
    node = site.node
    if isinstance(node, ast.Call):
        owner = getattr(node.func, "value", None)  # of ``lua.name(…)`` the first argument is meant
        node = node.args[0] if isinstance(owner, ast.Name) and owner.id == "lua" else node.func
    node = node.value if isinstance(node, ast.Attribute) else node
    return f"attempt to index {site.value_of(node, _kind(match[1]))}"


def _called(match: re.Match[str], site: _Site) -> str | None:
    if match[1] == "Tensor":
        return "torch.DoubleTensor has no call operator"
    return f"attempt to call {site.called(site.node, _kind(match[1]))}"


def _compared(match: re.Match[str], _site: _Site) -> str:
    a, b = _kind(match[2]), _kind(match[3])
    a, b = (b, a) if match[1] in (">", ">=") else (a, b)  # Lua asks ``b < a``
    return f"attempt to compare two {a} values" if a == b else f"attempt to compare {a} with {b}"


def _doing(what: str) -> Callable[[re.Match[str], _Site], str]:
    """Return words for what is done with one of the operands: with the one that is no number."""

    def words(match: re.Match[str], site: _Site) -> str:
        kinds = [_kind(kind) for kind in match.groups()]
        culprit = 1 if len(kinds) > 1 and kinds[0] == "number" else 0
        node = next(iter(_operands(site.node)[culprit:]), None)
        return f"attempt to {what} {site.value_of(node, kinds[culprit])}"

    return words


def _told(match: re.Match[str], site: _Site) -> str:
    """Return what a function of these rooms says: its first argument is meant."""
    node = next(iter(_operands(site.node)), None) if isinstance(site.node, ast.Call) else None
    return f"attempt to {match[1]} {site.value_of(node, match[2])}"


_ARITHMETIC = _doing("perform arithmetic on")
_WORDS: tuple[tuple[str, Callable[[re.Match[str], _Site], str | None]], ...] = (
    (r"^attempt to (index|concatenate) a (\w+) value$", _told),
    (r"^attempt to ", lambda match, _: match.string),
    (r"^'(\w+)' object has no attribute", _attribute),
    (r"^(\w+) has no (?:field|method)", _attribute),
    (r"^(?:module|type object) '(\S+)' has no attribute", _attribute),
    (r"^'(\w+)' object is not callable", _called),
    (r"^'(\w+)' object (?:is not subscriptable|does not support item ass)", _doing("index")),
    (r"^unsupported operand type\(s\) for \S+(?: or pow\(\))?: '(\w+)' and '(\w+)'", _ARITHMETIC),
    (r"^bad operand type for unary \S+: '(\w+)'", _ARITHMETIC),
    (r"^'(\S+)' not supported between instances of '(\w+)' and '(\w+)'", _compared),
    (r"^object of type '(\w+)' has no len\(\)", _doing("get length of")),
)


def _in_lua(problem: Exception, text: str, site: _Site) -> str | None:
    """Return Lua's words for an error of Python's."""
    if isinstance(problem, RecursionError):
        return "stack overflow"
    if not isinstance(problem, (TypeError, AttributeError, LookupError)):
        return None
    if isinstance(problem, KeyError) or text == "list index out of range":
        return _missing(site)
    for pattern, words in _WORDS:
        match = re.match(pattern, text)
        if match is not None:
            return words(match, site)
    return None
