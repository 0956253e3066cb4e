"""Files that a script loads, saves and opens."""

from __future__ import annotations

from collections.abc import Callable

from compat.port.know.types import Kind, Type
from compat.port.library.templates import filled
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code
from compat.port.write.draft import Draft
from compat.port.write.imports import imported


def basename(node: s.Call, draft: Draft) -> Code | None:
    """``paths.basename(path)``; with an ending to leave out it is a template."""
    if len(node.arguments) == 1:
        return code.call("os.path.basename", draft.value(node.arguments[0]))
    return None


def this_file(node: s.Call, _draft: Draft) -> Code | None:
    """``paths.thisfile()``."""
    return None if node.arguments else Code("os.path.abspath(__file__)")


def join(node: s.Call, draft: Draft) -> Code | None:
    """``paths.concat``, of nothing the folder where one is."""
    joined = code.call("os.path.join", *draft.arguments(node))
    return code.call("os.path.abspath", joined) if node.arguments else code.call("os.getcwd")


def open_(node: s.Call, draft: Draft) -> Code | None:
    """``io.open``: where somebody takes the reason for a failure, too."""
    given = ", ".join(map(str, draft.arguments(node)))
    return Code(f"lua.open({given})", every=f"lua.opened({given})")


def tried(function: str, command: str) -> Callable[[s.Call, Draft], Code]:
    """Return what gives true, or nil and the reason for a failure: ``function`` of Python's
    raises it.

    ``command`` is the template of a statement, where nobody asks.
    """

    def rule(node: s.Call, draft: Draft) -> Code:
        arguments = draft.arguments(node)
        if draft.asked is node:
            return filled(command, arguments)
        given = ", ".join([function, *map(str, arguments)])
        return Code(f"lua.succeeds({given})", every=f"lua.tried({given})")

    return rule


def require(node: s.Call, draft: Draft) -> Code | None:
    """``require``, ``dofile`` and ``paths.dofile``: an import of a file of the program."""
    if draft.types.file_of(node) is not None:
        return imported(node, draft)
    name = node.arguments[0]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        draft.page.mark(f"{name.value} is no file of this program", "packages")
        return code.call("lua.require", code.string(name.value))
    return code.call("lua.dofile", *draft.arguments(node), "__package__")


def load(node: s.Call, draft: Draft) -> Code | None:
    """``torch.load``: what is not known to be a tensor or net is read as lists and dicts."""
    made = code.call("torch7.load", *draft.arguments(node))
    kind = draft.types.type(node)
    if kind.only(Kind.TENSOR, Kind.MODULE, Kind.STRING, Kind.FLOAT, Kind.INT, Kind.NUMBER):
        return made
    return code.call("t7.load", draft.value(node.arguments[0]), "plain=True")


def save(node: s.Call, draft: Draft) -> Code | None:
    """``torch.save``: sizes become a table, functions are left out."""
    if len(node.arguments) < 2:
        return None
    held = _held(draft.types.type(node.arguments[1]), set())
    if Kind.SIZES in held:
        draft.page.mark("sizes are saved as a table, not as a LongStorage", "files")
    if Kind.FUNCTION not in held:
        return None
    draft.page.mark("functions are not saved", "files")
    path, value, *rest = draft.arguments(node)
    return code.call("torch7.save", path, code.call("lua.without_functions", value), *rest)


def _held(kind: Type, seen: set[int]) -> set[Kind]:
    """Return what a value may be, and what is in its tables."""
    found = set(kind.atoms)
    shape = kind.shape
    if shape is None or id(shape) in seen:
        return found
    seen.add(id(shape))
    inner = set().union(*(_held(part, seen) for part in [shape.items, *shape.names.values()]))
    return found | (inner if shape.klass is None else inner - {Kind.FUNCTION})  # objects know


def lapp(node: s.Call, draft: Draft) -> Code | None:
    """``lapp``, which takes the options from the text of their help."""
    return code.call("lua.lapp", *draft.arguments(node))


def setmetatable(node: s.Call, draft: Draft) -> Code | None:
    """``setmetatable``: of a class of the script's the table is made as its object."""
    klass = draft.types.class_of(node.arguments[1]) if len(node.arguments) > 1 else None
    if klass is not None:
        shape = draft.types.type(node.arguments[0]).shape
        if shape is not None and shape.klass not in (None, klass):  # made by a class above it
            return None
        return draft.value(node.arguments[0])
    found = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(found, s.Call) and draft.types.dotted(found.function) == "torch.getmetatable":
        return code.call("lua.instance", *map(draft.value, [node.arguments[0], *found.arguments]))
    return None
