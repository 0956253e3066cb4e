"""Lists what a value holds, and writes short values in one line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from torch import Tensor

from compat import t7
from compat.nn.core.convertible import Convertible
from compat.nn.core.files import ENGINE_FIELDS
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.t7.objects.registry import find_class
from compat.tensor_types import tensor_type

LONGEST = 200  # characters of a name or value
_FIELDS = 200  # of a value that are listed
_SHORT = 8  # entries of a list that is told in a line
_TABLES = (list, tuple, dict)
_SCALARS = (str, int, float, bytes, type(None))
# Of what computes: what passes leave behind.
_LEFT_BEHIND = ("grad", "_", "finput", "fgradInput", "buffer")
_RESULTS = ("output", "gradInput")
# Told by the net's graph: its modules, and how gModules connect them.
_STRUCTURE = ("modules", "steps", "fg", "bg", "innode", "outnode", "forwardnodes", "backwardnodes")


@dataclass
class Contents:
    """The contents of a value, sorted by how the page shows them.

    Attributes:
        fields: the first contents that fit in a line, as pairs of name and text.
        more: the number of further contents that fit in a line.
        tensors: the tensors of an object, with the names of their fields.
        parts: the number of contents that are items of their own.
    """

    fields: list[tuple[str, str]] = field(default_factory=list)
    more: int = 0
    tensors: list[tuple[str, Tensor]] = field(default_factory=list)
    parts: int = 0


def contents(value: Any) -> Contents:
    """Return the contents of a value."""
    found = Contents()
    if isinstance(value, Native):
        found.tensors += value.module.named_parameters()
        found.tensors += value.module.named_buffers()
    elif isinstance(value, (Tensor, t7.Storage)):
        found.tensors.append(("elements", value if isinstance(value, Tensor) else value.tensor))
    is_table = isinstance(value, _TABLES)
    for key, item in entries(value):
        if isinstance(item, Tensor) and not is_table:
            if key in _RESULTS:
                found.fields.append((key, described(item)))
            else:
                found.tensors.append((name_of(key), item))
        elif (text := line(item)) is None:
            found.parts += 1
        elif len(found.fields) < _FIELDS:
            found.fields.append((name_of(key), text))
        else:
            found.more += 1
    if not is_table:
        found.fields.sort()  # which have no order in files
    return found


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the entries that become items: longer than a line, and no tensors of an object."""
    is_table = isinstance(value, _TABLES)
    for key, item in entries(value):
        if (is_table or not isinstance(item, Tensor)) and line(item) is None:
            yield key, item


def entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield all entries of a value with their keys; of a module its modules first.

    Modules and the entries of lists count from 1. A container of replicas holds its net once for
    each device.
    """
    if isinstance(value, Module):
        children = value.children()
        yield from _placed(value, children)
        yield from _fields(value, children)
    elif isinstance(value, (list, tuple)):
        yield from enumerate(iter(value), 1)
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, t7.LuaFunction):
        yield "upvalues", value.upvalues
    elif isinstance(value, (Convertible, t7.TorchObject)) or find_class(type(value)):
        yield from _fields(value, [])


def line(value: Any) -> str | None:
    """Return a value in one line; None if it takes more."""
    if isinstance(value, _SCALARS):
        return scalar(value)
    if isinstance(value, (list, tuple)):
        return f"{{{', '.join(map(scalar, value))}}}" if _is_short(value) else None
    if isinstance(value, dict):
        return None if value else "{}"
    if isinstance(value, t7.Storage):
        return None if len(value) > _SHORT else line(value.tolist())
    if isinstance(value, t7.LuaFunction):
        return None if value.upvalues else described(value)
    if isinstance(value, Tensor):
        return None if value.numel() else "empty"
    if isinstance(value, (Convertible, t7.TorchObject)) or find_class(type(value)):
        return None
    return described(value)


def _is_short(value: Any) -> bool:
    """Return whether a list is shown in one line. A list of three or more floats is a curve."""
    if len(value) > _SHORT or not all(isinstance(item, _SCALARS) for item in value):
        return False
    return len(value) < 3 or not any(isinstance(item, float) for item in value)


def scalar(value: Any) -> str:
    """Return a number, a string or nil as Lua writes it, with unprintable characters escaped."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    return shortened(repr(value))


def name_of(key: Any) -> str:
    """Return the key of an entry as printable text."""
    if isinstance(key, t7.Key):
        key = key.value
        return scalar(key) if isinstance(key, bool) else "(a table)"
    if isinstance(key, str):
        return shortened(key if key.isprintable() else repr(key)[1:-1])
    return scalar(key) if isinstance(key, _SCALARS) else f"({described(key)})"


def shortened(text: str) -> str:
    """Return the text, or its beginning if it is long."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def described(value: Any) -> str:
    """Return a value's kind and size as text."""
    if isinstance(value, Tensor):
        return f"{kind(value)} {sizes(value)}"
    if isinstance(value, _TABLES):
        return f"table of {len(value):,}"
    if isinstance(value, t7.LuaFunction):
        return f"function, {len(value.bytecode):,} bytes"
    return kind(value)


def kind(value: Any) -> str:
    """Return Torch7's name of a value's class, or Python's."""
    if isinstance(value, Tensor):
        try:
            return tensor_type(value)
        except KeyError:  # a type that Torch7 lacks
            return str(value.dtype)
    if isinstance(value, _TABLES):
        return "table"
    if isinstance(value, t7.LuaFunction):
        return "function"
    entry = find_class(type(value))
    named = getattr(value, "typename", None) or (entry and entry.typename)
    return name_of(named if isinstance(named, str) else type(value).__name__)


def sizes(tensor: Tensor) -> str:
    """Return the sizes of a tensor as text, such as ``64×3×7×7``."""
    return "×".join(map(str, tensor.shape)) or "a number"


def replicas_of(module: Module) -> list[Any]:
    """Return the devices of a container of replicas; an empty list for other modules."""
    if module.typename != "nn.DataParallelTable":
        return []
    return list(getattr(module, "gpuAssignments", ()))


def _placed(module: Module, children: list[Module]) -> Iterator[tuple[Any, Module]]:
    """Yield the modules in a module with their places."""
    replicas = replicas_of(module)
    if not (replicas and children):
        yield from enumerate(children, 1)
    for number, device in enumerate(replicas if children else (), 1):
        on = f"GPU {device}" if isinstance(device, int) else str(device)
        yield f"replica {number}, {on}", children[0]


def _fields(thing: Any, children: list[Module]) -> Iterator[tuple[Any, Any]]:
    """Yield the fields of an object, without its modules and the buffers of its passes."""
    cls: Any = type(thing)
    hidden = _hidden(cls)
    places = set(map(id, children))
    for key, item in _table_of(thing).items():
        if key in _RESULTS:
            if isinstance(item, Tensor) and item.numel():
                yield key, item
        elif not (key in hidden or id(item) in places):
            is_left = hidden and isinstance(key, str) and key.startswith(_LEFT_BEHIND)
            if not is_left:
                yield key, item


@cache
def _hidden(cls: type) -> frozenset[str]:
    """Return the names of a class's fields that are not settings."""
    if not issubclass(cls, Convertible):
        return frozenset()
    passing = (*cls.transient_fields, *cls.pass_fields, *cls.scratch_fields)
    return ENGINE_FIELDS.union(passing, _STRUCTURE if issubclass(cls, Module) else ())


def _table_of(thing: Any) -> dict[Any, Any]:
    if isinstance(thing, t7.TorchObject):
        own = dict(thing.fields or {})
        return {**own, "preamble": thing.preamble} if thing.preamble else own
    return vars(thing) if hasattr(thing, "__dict__") else {}
