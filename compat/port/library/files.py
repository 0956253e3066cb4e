"""Files that a script loads, saves and opens."""

from __future__ import annotations

import os
from collections.abc import Iterator

from compat.lua import finding
from compat.port.know.form.shapes import sources
from compat.port.know.types import Kind, Type
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.imports import imported
from compat.port.write.names import class_name


def require(node: s.Call, draft: Draft) -> Code | None:
    """``require``, ``dofile`` and ``paths.dofile``: an import of a file of the program."""
    if draft.types.file_of(node) is not None:
        return imported(node, draft)
    name = node.arguments[0]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        is_ours = name.value in finding.come_along()
        what = "Lua's own" if is_ours else "no file of this program"
        draft.page.mark(f"{code.text_of(name.value)} is {what}", "packages")
        return code.call("lua.require", code.string(name.value))
    if draft.types.dotted(node.function) == "require":
        return code.call("lua.require", draft.value(name), "__package__")
    made = code.call("lua.dofile", draft.value(name), "__package__")
    return Code(made.text, spread=draft.types.count(node))


def load(node: s.Call, draft: Draft) -> Code | None:
    """``torch.load``: what is not known to be a tensor or net is read as lists and dicts."""
    made = code.call("torch7.load", *draft.arguments(node))
    kind = draft.types.type(node)
    if kind.only(Kind.TENSOR, Kind.MODULE, Kind.STRING, Kind.FLOAT, Kind.INT, Kind.NUMBER):
        return made
    made = code.call("t7.load", draft.value(node.arguments[0]), "plain=True")
    given = [kind.shape for kind in draft.types.given_metatables.values()]
    is_given = any(shape is None or "loaded" in shape.uses for shape in given)
    targets = [target for target, value in sources(draft.file.block) if value is node]
    klass = next(filter(None, map(draft.types.become.get, targets)), None)
    if klass is not None:  # as setmetatable says later
        return code.call("lua.instance", made, class_name(klass, draft))
    made = _with_lists(made, node, draft)
    is_given = is_given or any(_has_own_meta(draft.types.of(v), set()) for v in targets)
    return code.call("lua.with_metatables", made) if is_given else made


def evaluate(node: s.Call, draft: Draft) -> Code | None:
    """``loadstring("return " .. text)()``: tables are what they are in files."""
    made = code.call("lua.evaluate", "globals()", draft.value(node.arguments[0]))
    return _with_lists(made, node, draft)


def _with_lists(made: Code, node: s.Call, draft: Draft) -> Code:
    """Return what is loaded, where lists that get more entries are lists though they are empty."""
    targets = [target for target, value in sources(draft.file.block) if value is node]
    seen: set[int] = set()
    kinds = (draft.types.type(node), *map(draft.types.of, targets))
    grown = [path for one in kinds for path in _grown(one, "", seen)]
    return code.call("lua.lists_in", made, *map(code.string, grown)) if grown else made


def _grown(kind: Type, path: str, seen: set[int]) -> Iterator[str]:
    """Yield the paths of lists that get more entries; an empty table of a file is a dict."""
    shape = kind.shape
    if shape is None or id(shape) in seen or shape.klass is not None:
        return
    seen.add(id(shape))
    if shape.is_grown:
        yield path
    for name, inner in shape.names.items():
        yield from _grown(inner, f"{path}.{name}" if path else name, seen)


def _has_own_meta(kind: Type, seen: set[int]) -> bool:
    """Return whether there are tables among a value that the program makes as ``lua.Table``s."""
    shape = kind.shape
    if shape is None or id(shape) in seen or shape.klass is not None:  # objects know
        return False
    seen.add(id(shape))
    parts = [shape.items, *shape.names.values()]
    return shape.is_own_meta or any(_has_own_meta(part, seen) for part in parts)


def save(node: s.Call, draft: Draft) -> Code | None:
    """``torch.save``: sizes become a table, functions are left out; Lua saves what only it has."""
    if len(node.arguments) < 2:
        return None
    held = _held(draft.types.type(node.arguments[1]), set())
    if Kind.LUA in held:
        return code.call("lua.torch.save", *draft.arguments(node))
    if Kind.SIZES in held:
        draft.page.mark("sizes are saved as a table, not as a LongStorage", "files")
    if Kind.FUNCTION not in held:
        return None
    draft.page.mark("functions are not saved", "files")
    path, value, *rest = draft.arguments(node)
    return code.call("torch7.save", path, code.call("lua.without_functions", value), *rest)


def _held(kind: Type, seen: set[int]) -> set[Kind]:
    """Return what a value may be, and what is in its tables."""
    is_of_lua = any(name.startswith("tds.") for name in kind.classes)
    found = kind.atoms | ({Kind.LUA} if is_of_lua else set())
    shape = kind.shape
    if shape is None or id(shape) in seen:
        return found
    seen.add(id(shape))
    inner = set().union(*(_held(part, seen) for part in [shape.items, *shape.names.values()]))
    return found | (inner if shape.klass is None else inner - {Kind.FUNCTION})  # objects know


def setmetatable(node: s.Call, draft: Draft) -> Code | None:
    """``setmetatable``: of a class of the script's the table is made as its object."""
    if node.arguments and getattr(node.arguments[0], "id", None) == "_G":
        draft.page.mark("Python's global variables have no metatable", "globals")
        return Code("globals()")
    klass = draft.types.class_of(node.arguments[1]) if len(node.arguments) > 1 else None
    if klass is not None:
        shape = draft.types.type(node.arguments[0]).shape
        if shape is not None and shape.klass not in (None, klass):  # made by a class above it
            return None
        made = draft.value(node.arguments[0])
        given, name = node.arguments[1], class_name(klass, draft)
        if _is_loaded(node.arguments[0], draft):
            return code.call("lua.instance", made, name)
        is_given = isinstance(given, s.Name) and given.variable.is_parameter
        if is_given and made.text.startswith(f"{name}("):  # of the class that the function is given
            return Code(f"{draft.value(given)}{made.text.removeprefix(name)}")
        return made
    found = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(found, s.Call) and draft.types.dotted(found.function) == "torch.getmetatable":
        return code.call("lua.instance", *map(draft.value, [node.arguments[0], *found.arguments]))
    return None


def _is_loaded(node: s.Node, draft: Draft) -> bool:
    return isinstance(node, s.Call) and draft.types.dotted(node.function) == "torch.load"


def basename(node: s.Call, draft: Draft) -> Code | None:
    """``paths.basename(paths.thisfile())``: the name that the file has in Lua."""
    inner = node.arguments[0] if node.arguments else None
    if not isinstance(inner, s.Call) or draft.types.dotted(inner.function) != "paths.thisfile":
        return None
    ending = s.constant(node.arguments[1]) if len(node.arguments) > 1 else ""
    if inner.arguments or not isinstance(ending, str):
        return None
    name = os.path.basename(draft.file.path).removesuffix(f".{ending}")
    return Code(repr(name))


def fpath(node: s.Call, draft: Draft) -> Code | None:
    """``sys.fpath()``: the folder of the file, and the name that it has in Lua."""
    if node.arguments:
        return None
    folder, name = "os.path.dirname(os.path.abspath(__file__))", os.path.basename(draft.file.path)
    return Code(folder, every=f'({folder}, "{name}")')
