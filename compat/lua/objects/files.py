"""Read and write Python's objects in Lua's files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from compat.lua.objects.classes import Classes
from compat.lua.objects.methods import BoundLuaMethod
from compat.lua.runtime import Runtime
from compat.lua_tables import items
from compat.t7.base.types import Storage, TorchObject
from compat.t7.objects.registry import find_class


class Files:
    """The reading and writing of objects for one Lua state."""

    def __init__(self, runtime: Runtime, classes: Classes) -> None:
        self.runtime = runtime
        self._classes = classes

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that Lua calls."""
        names = ("saved_fields", "restore", "hooks", "written", "reading", "next_request")
        return {name: getattr(self, name) for name in (*names, "storage", "numbers")}

    def saved_fields(self, owner: Any) -> Any:
        """Return the fields that a file holds of an object."""
        fields = owner.t7_fields() if hasattr(owner, "t7_fields") else dict(vars(owner))
        return {key: self._saved(value) for key, value in fields.items()}

    def _saved(self, value: Any) -> Any:
        if isinstance(value, BoundLuaMethod):
            return value.function
        if isinstance(value, TorchObject) and value.fields is None:
            # Nothing is known but its class, torch.Timer for one: Lua writes such an object.
            return self.runtime.eval("torch.factory(...)()", value.typename)
        return value

    def hooks(self, cls: type) -> tuple[bool, bool]:
        """Return whether a class has its own way to be read from a file, and to be written."""
        entry = find_class(cls)
        return (
            (False, False) if entry is None else (entry.read is not None, entry.write is not None)
        )

    def written(self, owner: Any) -> Any:
        """Return what such an object writes: kinds, values, count."""
        entry = find_class(type(owner))
        assert entry is not None and entry.write is not None
        items = list(entry.write(owner))
        table = self.runtime.lua.table_from
        return (
            table([_request(kind)[0] for kind, _ in items]),
            table([value for _, value in items]),
            len(items),
        )

    def reading(self, owner: Any, version: float) -> Any:
        """Return a reader of the object, for ``next_request``."""
        entry = find_class(type(owner))
        assert entry is not None and entry.read is not None
        return entry.read(owner, version)

    def next_request(self, reader: Any, value: Any = None, kind: str = "") -> tuple[Any, ...]:
        """Answer the reader's last request; return its next one, or nothing at the end."""
        if kind == "FIELDS" and isinstance(value, list):
            value = dict(items(value))
        try:
            return _request(reader.send(value))
        except StopIteration:
            return (None,)

    def storage(self, flat: Tensor) -> Storage:
        """Return a storage for a flat tensor."""
        return Storage(flat)

    def numbers(self, flat: Tensor) -> list[Any]:
        """Return the contents of a storage of sizes."""
        return list(flat.tolist())

    def restore(self, owner: Any, version: int, *flat: Any) -> Any:
        """Become what a file says: keys and values in turn. Returns what ``Calls.keep`` does."""
        values, kept = self.runtime.calls.kept(flat)
        bound = [self._classes.bound(value, owner) for value in values[1::2]]
        fields = dict(zip(values[::2], bound, strict=True))
        if hasattr(owner, "t7_restore"):
            owner.t7_restore(fields, version)
        else:
            vars(owner).update(fields)
        return kept


def _request(request: Any) -> tuple[str, int]:
    return request.name.partition("_(")[0], getattr(request, "count", 0)
