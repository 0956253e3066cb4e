"""What lies in a value, and what of that is told in a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import Tensor

from compat import t7
from compat.lua_tables import List
from compat.nn.core.convertible import Convertible
from compat.nn.core.files import ENGINE_FIELDS
from compat.nn.core.module import Module
from compat.nn.core.native import Native
from compat.t7.objects.registry import find_class
from compat.tensor_types import tensor_type

LONGEST = 200  # characters of a name or value
_SHORT = 8  # entries of a list that is told in a line
_SCALARS = (str, int, float, bytes, type(None))
# Of what computes: what passes leave behind.
_LEFT_BEHIND = ("grad", "_", "finput", "fgradInput", "buffer")
_RESULTS = ("output", "gradInput")
# Told by the net's graph: its modules, and how gModules connect them.
_STRUCTURE = ("modules", "steps", "fg", "bg", "innode", "outnode", "forwardnodes", "backwardnodes")


def entries(value: Any) -> Iterator[tuple[Any, Any]]:
    """All that lies in a value, with what leads to it: of a module its modules first.

    Modules and the entries of lists count from 1. A container of replicas holds its net once for
    each device.
    """
    if isinstance(value, Module):
        yield from _modules(value)
        yield from _fields(value)
    elif isinstance(value, (list, tuple)):
        yield from enumerate(iter(value), 1)
    elif isinstance(value, dict):
        yield from value.items()
    elif isinstance(value, t7.LuaFunction):
        yield "upvalues", value.upvalues
    elif isinstance(value, (Convertible, t7.TorchObject)) or find_class(type(value)):
        yield from _fields(value)


def tensors(value: Any) -> Iterator[tuple[str, Tensor]]:
    """The tensors of a module or another object, with the names of their fields.

    They are told with it.
    """
    if isinstance(value, Native):
        yield from value.module.named_parameters()
        yield from value.module.named_buffers()
    elif isinstance(value, t7.Storage):
        yield "elements", value.tensor
    elif isinstance(value, Tensor):
        yield "elements", value
    elif not isinstance(value, (list, dict)):
        for name, item in entries(value):
            if isinstance(item, Tensor) and name not in _RESULTS:
                yield name_of(name), item


def parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Those of the entries that are more than a line, and no tensors of an object."""
    has_own = not isinstance(value, (list, dict))
    for key, item in entries(value):
        if line(item) is None and not (has_own and isinstance(item, Tensor)):
            yield key, item


def fields(value: Any) -> Iterator[tuple[str, str]]:
    """Those of the entries that are a line each, and results that a module holds."""
    computes = isinstance(value, Convertible)
    for key, item in entries(value):
        text = line(item)
        if text is None and computes and key in _RESULTS and isinstance(item, Tensor):
            text = described(item)
        if text is not None:
            yield name_of(key), text


def line(value: Any) -> str | None:
    """A value in a line; None for what is more than that."""
    if isinstance(value, _SCALARS):
        return scalar(value)
    if isinstance(value, (list, tuple)):
        if len(value) <= _SHORT and all(isinstance(item, _SCALARS) for item in value):
            return f"{{{', '.join(scalar(item) for item in value)}}}"
        return None
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


def scalar(value: Any) -> str:
    """A number, a string or nil as Lua writes it; what cannot be printed is escaped."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.6g}"
    return shortened(repr(value))


def name_of(key: Any) -> str:
    """What leads to an entry, as text that can be printed."""
    if isinstance(key, t7.Key):
        key = key.value
        return scalar(key) if isinstance(key, bool) else "(a table)"
    if isinstance(key, str):
        return shortened(key if key.isprintable() else repr(key)[1:-1])
    return scalar(key) if isinstance(key, _SCALARS) else f"({described(key)})"


def shortened(text: str) -> str:
    """The text, or its beginning."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def described(value: Any) -> str:
    """What kind of thing a value is, and how large."""
    if isinstance(value, Tensor):
        return f"{kind(value)} {sizes(value)}"
    if isinstance(value, (list, tuple, dict)):
        return f"table of {len(value):,}"
    if isinstance(value, t7.LuaFunction):
        return f"function, {len(value.bytecode):,} bytes"
    return kind(value)


def kind(value: Any) -> str:
    """Torch7's name of a value's class, or Python's."""
    if isinstance(value, Tensor):
        try:
            return tensor_type(value)
        except KeyError:  # a type that Torch7 lacks
            return str(value.dtype)
    if isinstance(value, (list, tuple, dict)):
        return "table"
    if isinstance(value, t7.LuaFunction):
        return "function"
    entry = find_class(type(value))
    named = getattr(value, "typename", None) or (entry and entry.typename)
    return name_of(named if isinstance(named, str) else type(value).__name__)


def sizes(tensor: Tensor) -> str:
    """The sizes of a tensor: ``64×3×7×7``."""
    return "×".join(map(str, tensor.shape)) or "a number"


def _modules(module: Module) -> Iterator[tuple[Any, Module]]:
    replicas = replicas_of(module)
    children = module.children()
    if replicas and children:
        for number, device in enumerate(replicas, 1):
            on = f"GPU {device}" if isinstance(device, int) else str(device)
            yield f"replica {number}, {on}", children[0]
    else:
        yield from enumerate(children, 1)


def replicas_of(module: Module) -> list[Any]:
    """The devices of a container of replicas; of other modules none."""
    if module.typename != "nn.DataParallelTable":
        return []
    return list(getattr(module, "gpuAssignments", ()))


def _fields(thing: Any) -> Iterator[tuple[Any, Any]]:
    """The fields of an object but for its modules and what passes leave behind."""
    computes = isinstance(thing, Convertible)
    hidden: set[Any] = set()
    if computes:
        hidden.update(ENGINE_FIELDS, thing.transient_fields, thing.pass_fields)
        hidden.update(thing.scratch_fields)
    is_module = isinstance(thing, Module)
    if is_module:
        hidden.update(_STRUCTURE)
    children = set(map(id, thing.children())) if is_module else set()
    for key, item in _table_of(thing).items():
        behind = computes and isinstance(key, str) and key.startswith(_LEFT_BEHIND)
        if key in _RESULTS:
            behind = not (isinstance(item, Tensor) and item.numel())
        if not (behind or key in hidden or id(item) in children):
            yield key, item


def _table_of(thing: Any) -> dict[Any, Any]:
    if isinstance(thing, t7.TorchObject):
        own = dict(thing.fields or {})
        return {**own, "preamble": thing.preamble} if thing.preamble else own
    return vars(thing) if hasattr(thing, "__dict__") else {}
