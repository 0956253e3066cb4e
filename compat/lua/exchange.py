"""Convert Python values to Lua values and remember which tensors Lua holds."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import torch

from compat.lua.kernels import memory
from compat.lua.values import LuaFunction, LuaSequence, LuaTable, LuaThread, State, handle
from compat.lua_tables import LuaDict, MixedTable
from compat.random import Generator
from compat.storage_changes import moved
from compat.t7.base.types import Key, Storage
from compat.t7.objects.registry import find_class
from compat.tensor_tables import contents

# What both languages have.
_PLAIN = frozenset((bool, int, float, str))
_TABLES = frozenset((list, dict, LuaDict, MixedTable))
# So many tensors, and objects, are remembered at most.
_MANY = 1 << 12


def _looks(tensor: torch.Tensor) -> tuple[Any, ...]:
    """Return a tensor's address, geometry and type name."""
    type = tensor.__dict__.get("torch7_type")
    return tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype, type


class Exchange:
    """The conversion of Python's values for one Lua state.

    Args:
        state: the state.
        raw_kind: the class by which lupa wraps userdata; Lua gets such values back unchanged.
        opaque: keeps lupa from asking an object for ``__getitem__``, which takes longer than the
            rest of the conversion if the class has a ``__getattr__``.
    """

    def __init__(self, state: State, raw_kind: type, opaque: Callable[[Any], Any]) -> None:
        self._state = state
        self.raw_kind = raw_kind
        self.opaque = opaque
        # Functions of the core, once there is one: whether Lua has the tensor of an identity, and
        # to look again at one.
        self.knows_tensor: Callable[[int], bool] = lambda identity: False
        self.refresh: Callable[[torch.Tensor], Any] = lambda tensor: None
        # The classes whose objects are tables in Lua; see compat.lua.objects.
        self.instance_kinds: tuple[type, ...] = ()
        self._representations: list[tuple[type, Callable[[Any], Any]]] = []
        # Tensors that have other memory than when Lua saw them.
        self._moved: list[weakref.ref[torch.Tensor]] = []
        # The classes of objects as Lua knows them, by their identities.
        self._classes: dict[int, type] = {}
        # How tensors were when Lua last looked, by their identities.
        self._seen: dict[int, tuple[Any, ...]] = {}

    def represent(self, kind: type, convert: Callable[[Any], Any]) -> None:
        """Register ``convert``, which makes the Lua value for an object of the class."""
        self._representations.insert(0, (kind, convert))

    def representation(self, value: Any) -> Any:
        """Return the Lua value of an object by the converter of its class."""
        return next(
            convert(value) for kind, convert in self._representations if isinstance(value, kind)
        )

    def describe_tensor(self, tensor: torch.Tensor) -> tuple[Any, ...]:
        """Return a tensor's description, and note that Lua has seen it so."""
        self._note_looks(tensor)
        return memory.describe_tensor(tensor)

    def move(self, tensor: torch.Tensor, place: torch.Tensor) -> None:
        """Make a tensor the view that Lua has made of it."""
        memory.move(tensor, place)
        self._note_looks(tensor)

    def _note_looks(self, tensor: torch.Tensor) -> None:
        if len(self._seen) > _MANY:
            self._seen.clear()
        self._seen[id(tensor)] = _looks(tensor)

    def note_class(self, owner: Any) -> None:
        """Note that Lua has an object as one of its present class."""
        if len(self._classes) > _MANY:
            self._classes.clear()
        self._classes[id(owner)] = type(owner)

    def watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function that may change the memory or sizes of its arguments.

        Functions of this package report such changes themselves; see ``compat.storage_changes``.
        """

        def watching(*args: Any) -> Any:
            before = [
                (value, _looks(value)) for value in contents(args) if type(value) is torch.Tensor
            ]
            try:
                return function(*args)
            finally:
                moved([tensor for tensor, looks in before if _looks(tensor) != looks])

        return watching

    def has_seen(self, tensor: torch.Tensor) -> bool:
        """Return whether a tensor is unchanged since Lua last saw it."""
        return self._seen.get(id(tensor)) == _looks(tensor)

    def classified(self, value: Any) -> Any:
        """Return a value, with ``classify``'s answer if Lua has to convert it."""
        kind = type(value)
        if value is None or kind in _PLAIN:
            return value
        if kind in _TABLES:
            return value, "table", id(value)
        if kind is torch.Tensor and not self._moved:
            identity = id(value)
            seen = self._seen.get(identity) == _looks(value)
            return (value, "seen", identity) if seen else (value, "tensor")
        if kind is self.raw_kind:
            return value
        if self._classes.get(id(value)) is kind:
            return self.opaque(value), "known", id(value)
        found = self.classify(value)
        if found == "instance":
            value = self.opaque(value)
        return (value, found) if isinstance(found, str) else (value, *found)

    def classify(self, value: Any) -> str | tuple[str, int]:
        """Return how Lua takes a Python object, with the identity of one that it may know."""
        if self._moved:
            self.refresh_moved()
        if type(value) is torch.Tensor:
            # Where it is as it was, there is nothing to describe.
            return ("seen", id(value)) if self.has_seen(value) else "tensor"
        if isinstance(value, (list, dict)) and type(value) is not LuaSequence:
            return "table", id(value)
        if any(isinstance(value, kind) for kind, _ in self._representations):
            return "represented"
        if isinstance(value, torch.Tensor):
            return "tensor"
        if self.instance_kinds:
            if isinstance(value, self.instance_kinds):
                return "instance"
            if isinstance(value, Storage):
                return "storage"
            if isinstance(value, Key):
                return "key"
            if isinstance(value, Generator):
                return "generator"
            if isinstance(value, type) and issubclass(value, self.instance_kinds):
                return "class"
            if find_class(type(value)) is not None or isinstance(
                getattr(type(value), "typename", None), str
            ):
                return "instance"
        if isinstance(value, tuple):
            return "items"
        if isinstance(value, (bytes, bytearray)):
            return "bytes"
        if (
            isinstance(value, (LuaFunction, LuaTable, LuaSequence))
            and handle(value, self._state) is not None
        ):
            return "handle"
        if isinstance(value, LuaThread) and handle(value, self._state) is not None:
            return "thread"
        return "callable" if callable(value) else "object"

    def note_moved(self, tensors: Iterable[torch.Tensor]) -> None:
        """Note tensors whose memory is another now."""
        self._moved += map(weakref.ref, tensors)

    def refresh_moved(self) -> None:
        """Update Lua's view of the tensors that have moved."""
        while self._moved:
            tensor = self._moved.pop()()
            # Lua would keep what it is shown, known or not, until it collects garbage.
            if tensor is not None and self.knows_tensor(id(tensor)):
                self.refresh(tensor)
