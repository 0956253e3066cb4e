"""Files that a script loads, saves and opens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from compat.port.know.types import Type
from compat.port.library.templates import filled
from compat.port.read import syntax as s
from compat.port.write import code
from compat.port.write.code import Code

if TYPE_CHECKING:
    from compat.port.write.values import Values


def basename(node: s.Call, ex: Values) -> Code | None:
    """``paths.basename(path)``; with an ending to leave out it is a template."""
    if len(node.arguments) == 1:
        return code.call("os.path.basename", ex.value(node.arguments[0]))
    return None


def open_(node: s.Call, ex: Values) -> Code | None:
    """``io.open``: where somebody takes the reason for a failure, too."""
    given = ", ".join(map(str, ex.arguments(node)))
    return Code(f"lua.open({given})", every=f"lua.opened({given})")


def tried(function: str, command: str) -> Callable[[s.Call, Values], Code]:
    """What gives true, or nil and the reason for a failure: ``function`` of Python's raises it.

    ``command`` is the template of a statement, where nobody asks.
    """

    def rule(node: s.Call, ex: Values) -> Code:
        arguments = ex.arguments(node)
        if ex.statement is node:
            return filled(command, arguments)
        given = ", ".join([function, *map(str, arguments)])
        return Code(f"lua.succeeds({given})", every=f"lua.tried({given})")

    return rule


def require(node: s.Call, ex: Values) -> Code | None:
    """``require``, ``dofile`` and ``paths.dofile``: an import of a file of the program."""
    if ex.types.file_of(node) is not None:
        return ex.imported(node)
    name = node.arguments[0]
    if isinstance(name, s.Constant) and isinstance(name.value, str):
        ex.mark(f"{name.value} is no file of this program", "packages")
        return code.call("lua.require", code.string(name.value))
    return code.call("lua.dofile", *ex.arguments(node), "__package__")


def load(node: s.Call, ex: Values) -> Code | None:
    """``torch.load``: what is not known to be a tensor or net is read as lists and dicts."""
    made = code.call("torch7.load", *ex.arguments(node))
    kind = ex.types.type(node)
    if kind.only("tensor", "module", "string", "float", "int", "number"):
        return made
    return code.call("t7.load", ex.value(node.arguments[0]), "plain=True")


def save(node: s.Call, ex: Values) -> Code | None:
    """``torch.save``: sizes become a table, functions are left out."""
    if len(node.arguments) < 2:
        return None
    held = _held(ex.types.type(node.arguments[1]), set())
    if "sizes" in held:
        ex.mark("sizes are saved as a table, not as a LongStorage", "files")
    if "function" not in held:
        return None
    ex.mark("functions are not saved", "files")
    path, value, *rest = ex.arguments(node)
    return code.call("torch7.save", path, code.call("lua.without_functions", value), *rest)


def _held(kind: Type, seen: set[int]) -> set[str]:
    """What a value may be, and what is in its tables."""
    found = set(kind.atoms)
    shape = kind.shape
    if shape is None or id(shape) in seen:
        return found
    seen.add(id(shape))
    inner = set().union(*(_held(part, seen) for part in [shape.items, *shape.names.values()]))
    return found | (inner if shape.klass is None else inner - {"function"})  # objects know


def lapp(node: s.Call, ex: Values) -> Code | None:
    """``lapp``, which takes the options from the text of their help."""
    return code.call("lua.lapp", *ex.arguments(node))


def setmetatable(node: s.Call, ex: Values) -> Code | None:
    """``setmetatable``: of a class of the script's the table is made as its object."""
    klass = ex.types.class_of(node.arguments[1]) if len(node.arguments) > 1 else None
    if klass is not None:
        shape = ex.types.type(node.arguments[0]).shape
        if shape is not None and shape.klass not in (None, klass):  # made by a class above it
            return None
        return ex.value(node.arguments[0])
    found = node.arguments[1] if len(node.arguments) > 1 else None
    if isinstance(found, s.Call) and ex.types.dotted(found.function) == "torch.getmetatable":
        return code.call("lua.instance", *map(ex.value, [node.arguments[0], *found.arguments]))
    return None
