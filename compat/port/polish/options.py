"""``torch.CmdLine`` as a parser of ``argparse``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from compat.port.polish.names import mentions
from compat.port.polish.source import Change, Source

_KEY = re.compile(r"--?[A-Za-z_][\w-]*")
_HELP = {"-h", "-help", "--help"}
_TEXTS = {"os.path.join", "os.path.abspath", "os.path.expanduser", "os.getcwd", "lua.date",
          "lua.format"}  # fmt: skip
_METHODS = {"replace", "upper", "lower", "strip"}
# What takes whole numbers only.
_WHOLE = re.compile(r"range|torch\.(zeros|ones|empty)|(torch7|cutorch)\.(manualSeed(All)?|setDevice"
                    r"|setnumthreads)")  # fmt: skip


@dataclass
class _Parser:
    """A ``CmdLine`` and all that is done with it."""

    name: str
    scope: ast.AST
    made: ast.Assign
    declares: list[ast.Call] = field(default_factory=list)  # text, option, argument, in order
    asks: list[ast.Call] = field(default_factory=list)  # parse
    works: list[ast.Call] = field(default_factory=list)  # log, string


def by_argparse(source: Source) -> Iterator[Change]:
    """Yield options that ``torch.CmdLine`` declares, by ``argparse``, with their types."""
    for node in source.all(ast.Assign):
        if source.of(node.value) != "torch7.CmdLine()":
            continue
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            parser = _found(source, node, target.id)
            edits = None if parser is None else _written(source, parser)
            if edits is not None:
                yield edits


def _found(source: Source, node: ast.Assign, name: str) -> _Parser | None:
    parser = _Parser(name, source.scope(node), node)
    for use in sorted(mentions(parser.scope, name), key=source.start):
        if use is node.targets[0]:
            continue
        method = source.parent(use)
        call = source.parent(method)
        if not isinstance(method, ast.Attribute) or not isinstance(call, ast.Call):
            return None
        if call.func is not method or call.keywords:
            return None
        is_statement = isinstance(source.parent(call), ast.Expr)
        if method.attr in ("text", "option", "argument") and is_statement:
            parser.declares.append(call)
        elif method.attr == "parse" and len(call.args) < 2:
            parser.asks.append(call)
        elif method.attr == "error" and is_statement:
            continue
        elif method.attr in ("log", "string") and len(call.args) > 1:
            parser.works.append(call)
        else:
            return None
    return parser if parser.asks else None


def _written(source: Source, parser: _Parser) -> Change | None:
    edits: Change = []
    keys: set[str] = set(_HELP)
    texts: list[tuple[ast.stmt, str]] = []
    description: str | None = None
    owner = parser.name
    whole = set(_whole(source))
    for call in parser.declares:
        assert isinstance(call.func, ast.Attribute)
        statement = source.parent(call)
        assert isinstance(statement, ast.stmt)
        if call.func.attr == "text":
            text = _text(call.args[0]) if call.args else ""
            if text is None or source.block(statement) is not source.block(parser.made):
                return None
            texts.append((statement, text))
            continue
        made = _argument(source, call, whole)
        if made is None or made[0] in keys:
            return None
        if texts and keys == _HELP:
            description = _joined(texts)
        elif texts:
            owner = "group"
            words = f"group = {parser.name}.add_argument_group({_joined(texts)!r})"
            edits.append(source.replaced(texts.pop()[0], words))
        edits += [source.removed(statement) for statement, _ in texts]
        texts = []
        keys.add(made[0])
        edits.append(source.replaced(call, f"{owner}.add_argument({', '.join(made)})"))
    edits += [source.removed(statement) for statement, _ in texts]
    said = {"description": description, "epilog": _joined(texts) if texts else None}
    about = ", ".join(f"{name}={text!r}" for name, text in said.items() if text is not None)
    if owner == "group" and mentions(parser.scope, "group"):
        return None
    for call in parser.asks:
        given = source.of(call.args[0]) if call.args else ""
        words = f"{parser.name}.parse_args({given})"
        edits.append(source.replaced(call, words))
    for call in parser.works:
        assert isinstance(call.func, ast.Attribute)
        given = ", ".join(map(source.of, call.args))
        name = "folder_name" if call.func.attr == "string" else "log"
        first = f"{parser.name}, " if name == "folder_name" else ""
        edits.append(source.replaced(call, f"cmdline.{name}({first}{given})"))
    return [*edits, source.replaced(parser.made.value, f"cmdline.ArgumentParser({about})")]


def _joined(texts: list[tuple[ast.stmt, str]]) -> str:
    return "\n".join(text for _, text in texts)


def _text(node: ast.expr) -> str | None:
    """Return a string that stands there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    return None


def _argument(source: Source, call: ast.Call, whole: set[str]) -> list[str] | None:
    """Return the arguments of ``add_argument``; the first is the name. None: it cannot be said
    so.
    """
    assert isinstance(call.func, ast.Attribute)
    is_option = call.func.attr == "option"
    given = list(call.args)
    key = _text(given[0]) if given else None
    if key is None or not (_KEY if is_option else re.compile(r"[\w-]+")).fullmatch(key):
        return None
    name = key.lstrip("-")
    words = [repr(key if is_option else name)]
    if not is_option:
        kind = _text(given[2]) if len(given) > 2 else ""
        words += ["type=cmdline.number"] if kind == "number" else []
        help_ = given[1] if len(given) > 1 else None
    else:
        if len(given) < 2:
            return None
        kind = _kind(source, given[1])
        if kind is None:
            return None
        words += _of_kind(kind, source.of(given[1]), name in whole)
        help_ = given[2] if len(given) > 2 else None
    if "-" in name:
        words.append(f"dest={name!r}")
    if help_ is not None and not (isinstance(help_, ast.Constant) and help_.value is None):
        told = _text(help_)
        if told is None and (_kind(source, help_) != "str" or "%" in source.of(help_)):
            return None
        plain = None if told is None else repr(told.replace("%", "%%"))
        words.append(f"help={plain or source.of(help_)}")
    return words


def _of_kind(kind: str, default: str, is_whole: bool) -> list[str]:
    if kind == "bool":
        return [f'action="store_{"true" if default == "False" else "false"}"']
    types = {"str": [], "float": ["type=float"]}
    number = "type=int" if is_whole else "type=cmdline.number"
    return [*types.get(kind, [number]), f"default={default}"]


def _kind(source: Source, node: ast.expr) -> str | None:
    """Return what an expression gives: a bool, str, int or float; None if that is open."""
    if isinstance(node, ast.Constant):
        name = type(node.value).__name__
        return name if name in ("bool", "str", "int", "float") else None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _kind(source, node.operand)
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, ast.Call):
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS
        return "str" if is_method or source.of(node.func) in _TEXTS else None
    if isinstance(node, ast.BinOp):
        kinds = {_kind(source, node.left), _kind(source, node.right)}
        if kinds <= {"int", "float"}:
            return "float" if "float" in kinds or isinstance(node.op, ast.Div) else "int"
        return "str" if kinds == {"str"} else None
    return "float" if source.of(node) in ("math.inf", "math.pi") else None


def _whole(source: Source) -> Iterator[str]:
    """Yield the names of fields that stand where only whole numbers may."""
    for call in source.all(ast.Call):
        if _WHOLE.fullmatch(source.of(call.func)):
            for argument in call.args:
                yield from _terms(argument)
    for part in source.all(ast.Slice):
        for limit in filter(None, (part.lower, part.upper)):
            yield from _terms(limit)


def _terms(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)):
        yield from _terms(node.left)
        yield from _terms(node.right)
