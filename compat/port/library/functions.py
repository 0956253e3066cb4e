"""Calls of functions of Lua's and of packages."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace

from compat.port.know.scopes import EVALUATE
from compat.port.know.types import Kind
from compat.port.library import (
    compat_names,
    errors,
    files,
    packages,
    printing,
    results,
    rules,
    strings,
    values,
)
from compat.port.library.lua_functions import FUNCTIONS
from compat.port.library.torch_functions import torch_function
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft

# What the table cannot say; None: it can, of these arguments.
_SPECIAL: dict[str, Callable[[s.Call, Draft], Code | None]] = {
    "print": printing.print_,
    "tostring": printing.tostring,
    "io.write": printing.write,
    "utils.printf": printing.printf,
    "string.format": printing.format_,
    "math.floor": values.floor,
    "math.max": values.extreme,
    "math.min": values.extreme,
    "math.pow": values.power,
    "string.sub": strings.sub,
    "string.match": strings.match,
    "string.gsub": strings.gsub,
    "table.insert": values.insert,
    "table.remove": values.remove,
    "rawequal": values.rawequal,
    "torch.type": values.type_,
    "select": values.select,
    "os.exit": values.exit_,
    "assert": errors.assert_,
    "pcall": errors.pcall,
    "xpcall": errors.xpcall,
    "require": files.require,
    "dofile": files.require,
    "paths.dofile": files.require,
    "include": files.require,
    "torch.include": files.require,
    "paths.basename": files.basename,
    "sys.fpath": files.fpath,
    "torch.load": files.load,
    EVALUATE: files.evaluate,
    "torch.save": files.save,
    "setmetatable": files.setmetatable,
}


# Functions that fail when the first thing that they are given is nil, as Python's do.
_OF_NO_NIL = ("table.", "string.", "stringx.", "unpack")


def function(path: str, node: s.Call, draft: Draft) -> Code:
    """``path(arguments)``."""
    if path in draft.types.replaced and packages.holder(path.rpartition(".")[0], draft):
        own = code.call(str(packages.value(path, draft)), *draft.arguments(node))
        return Code(own.text, spread=draft.types.count(node))
    if path.startswith("math."):  # strings count as numbers
        zero, texts = s.Constant(0), [draft.types.owner(a).is_string for a in node.arguments]
        given = zip(node.arguments, texts, strict=True)
        node = replace(node, arguments=[s.Binary("+", a, zero) if t else a for a, t in given])
    special = _SPECIAL.get(path)
    if special is not None:
        made = special(node, draft)
        if made is not None:
            return made
    types = [draft.types.type(a) for a in node.arguments]
    if types and path.startswith(_OF_NO_NIL):
        types[0] = draft.types.owner(node.arguments[0])
    kinds = "".join(map(results.exact_kind, types))
    rule = FUNCTIONS.find(path, kinds)
    if rule is not None and rule.text:
        if rule.statement and draft.asked is node:
            rule = replace(rule, text=rule.statement, every="", count="1")
        return rules.apply(rule, None, node.arguments, draft)
    head, _, name = path.partition(".")
    if path.removeprefix("threads.") in ("serialization", "Threads.serialization"):
        return code.call("Threads.serialization", *draft.arguments(node))
    if head == "torch" and name:
        return torch_function(name, node, draft)
    if head in compat_names.PYTHON and name and compat_names.has(head, name):
        return _of_package(path, node, draft)
    arguments, count = draft.arguments(node), draft.types.count(node)
    if (called := packages.constructor_or_event(path)) is not None:
        return Code(code.call(called, *arguments).text, spread=count)
    own = packages.original(path, draft)
    every = code.call(packages.with_all_results(own).text, *arguments)
    return code.single(own.text, every, arguments, count)


def _of_package(path: str, node: s.Call, draft: Draft) -> Code:
    count = draft.types.count(node)
    taken = parameters(path)
    if taken is not None and len(node.arguments) > len(taken):  # Lua drops what is too many
        node = replace(node, arguments=node.arguments[: len(taken)])
    if path.startswith("image.") and (named := _named(node, draft)) is not None:
        return code.call(path, *named)
    arguments: list[Code | str] = [*draft.arguments(node)]
    head, _, name = path.partition(".")
    is_class = isinstance(compat_names.found(head, name), type)
    is_layer = head == "nn" and is_class
    for i, given in enumerate(node.arguments[: len(arguments)]):
        kind = draft.types.type(given)
        takes = str(taken[i].annotation) if taken is not None else ""
        if takes == "bool" and kind.is_known and not kind.may(Kind.BOOLEAN, Kind.NIL):
            arguments[i] = "True"  # as Lua sees numbers
        elif is_layer and kind.is_string and "str" not in takes:
            arguments[i] = code.call("lua.tonumber", arguments[i])
        elif is_class and results.has_numbered(kind, set()):
            arguments[i] = code.call("lua.lists", arguments[i])
    return Code(code.call(path, *arguments).text, spread=1 if count is None else count)


def parameters(path: str) -> list[inspect.Parameter] | None:
    """Return what a class of ``nn`` takes; None if that is open, or no class."""
    head, _, name = path.partition(".")
    made = compat_names.found("nn", name) if head == "nn" else None
    if not isinstance(made, type):
        return None
    parameters = inspect.signature(made).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return positional if not any(p.kind is p.VAR_POSITIONAL for p in parameters) else None


def _named(node: s.Call, draft: Draft) -> list[str] | None:
    """Return the arguments of ``f{input = x, nrow = 2}``."""
    table = node.arguments[0] if len(node.arguments) == 1 else None
    if not isinstance(table, s.Table) or not table.fields:
        return None
    names = [s.constant(f.key) for f in table.fields]
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        return None
    return [f"{name}={draft.value(f.value)}" for name, f in zip(names, table.fields, strict=True)]
