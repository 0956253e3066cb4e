"""Calls of functions of Lua's and of packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

from compat.port.library import errors, files, numbers, printing, strings, tables
from compat.port.library.packages import PYTHON, found, has, holder, original, value
from compat.port.library.templates import TEMPLATES, filled
from compat.port.library.torch_functions import torch_function
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft

_MAKE_FOLDER = "os.makedirs({1}, exist_ok=True)"

# Functions that a template cannot say; None: it was after all one.
_SPECIAL: dict[str, Callable[[s.Call, Draft], Code | None]] = {
    "print": printing.print_,
    "tostring": printing.tostring,
    "io.write": printing.write,
    "utils.printf": printing.printf,
    "string.format": printing.format_,
    "math.floor": numbers.floor,
    "math.max": numbers.extreme("max"),
    "math.min": numbers.extreme("min"),
    "math.pow": numbers.pow_,
    "string.sub": strings.sub,
    "string.match": strings.match,
    "string.gsub": strings.gsub,
    "string.rep": strings.rep,
    "table.concat": tables.concat,
    "table.insert": tables.insert,
    "tablex.insertvalues": tables.insert_values,
    "table.remove": tables.remove,
    "table.sort": tables.sort,
    "next": tables.next_,
    "unpack": tables.unpack,
    "table.unpack": tables.unpack,
    "rawequal": tables.rawequal,
    "select": tables.select,
    "assert": errors.assert_,
    "pcall": errors.pcall,
    "xpcall": errors.xpcall,
    "paths.basename": files.basename,
    "paths.concat": files.join,
    "paths.thisfile": files.this_file,
    "io.open": files.open_,
    "os.remove": files.tried("os.remove", "pathlib.Path({1}).unlink(missing_ok=True)"),
    "os.rename": files.tried("os.rename", "os.rename({1}, {2})"),
    "paths.mkdir": files.tried("os.makedirs", _MAKE_FOLDER),
    "path.mkdir": files.tried("os.mkdir", _MAKE_FOLDER),
    "lfs.mkdir": files.tried("os.mkdir", _MAKE_FOLDER),
    "require": files.require,
    "dofile": files.require,
    "paths.dofile": files.require,
    "include": files.require,
    "torch.include": files.require,
    "torch.load": files.load,
    "torch.save": files.save,
    "setmetatable": files.setmetatable,
    "lapp": files.lapp,
}


def function(path: str, node: s.Call, draft: Draft) -> Code:
    """``path(arguments)``."""
    if path in draft.types.replaced and holder(path.rpartition(".")[0], draft):
        own = code.call(str(value(path, draft)), *draft.arguments(node))
        return Code(own.text, spread=draft.types.count(node))
    special = _SPECIAL.get(path)
    if special is not None:
        made = special(node, draft)
        if made is not None:
            return made
    if path in TEMPLATES:
        template = TEMPLATES[path]
        if "{*}" in template:
            return filled(template, draft.arguments(node))
        return filled(template, [draft.value(a) for a in node.arguments])
    head, _, name = path.partition(".")
    if path.removeprefix("threads.") in ("serialization", "Threads.serialization"):
        return code.call("Threads.serialization", *draft.arguments(node))
    if head == "torch" and name:
        return torch_function(name, node, draft)
    if head in PYTHON and name:
        if has(head, name):
            return _of_package(path, node, draft)
        draft.page.mark(f"{path} has no counterpart", "packages")
    return _open(code.call(original(path, draft).text, *draft.arguments(node)))


def _open(made: Code) -> Code:
    return Code(made.text, made.level, spread=None)


def _of_package(path: str, node: s.Call, draft: Draft) -> Code:
    count = draft.types.count(node)
    most = _most_arguments(path)
    if most is not None and len(node.arguments) > most:  # Lua drops what is too many
        node = replace(node, arguments=node.arguments[:most])
    if path.startswith("image.") and (named := _named(node, draft)) is not None:
        return code.call(path, *named)
    return Code(code.call(path, *draft.arguments(node)).text, spread=1 if count is None else count)


def _most_arguments(path: str) -> int | None:
    """Return how many arguments a class of ``nn`` takes; None if that is open, or no class."""
    head, _, name = path.partition(".")
    made = found("nn", name) if head == "nn" else None
    if not isinstance(made, type):
        return None
    parameters = inspect.signature(made).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return len(positional) if not any(p.kind is p.VAR_POSITIONAL for p in parameters) else None


def _named(node: s.Call, draft: Draft) -> list[str] | None:
    """Return the arguments of ``f{input = x, nrow = 2}``."""
    table = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(table, s.Table) or not table.fields:
        return None
    names = [s.constant(f.key) for f in table.fields]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        return None
    return [f"{name}={draft.value(f.value)}" for name, f in zip(names, table.fields, strict=True)]
