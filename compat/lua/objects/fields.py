"""Fields of objects of Python in Lua."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from compat.lua.gpu_types import tell_types
from compat.lua.objects.classes import Classes
from compat.lua.objects.methods import BoundLuaMethod, python_name
from compat.lua.runtime import Runtime
from compat.lua.values import handle
from compat.lua_tables import field
from compat.nn.core.convertible import Convertible
from compat.nn.core.files import ENGINE_FIELDS
from compat.nn.core.module import Module
from compat.nn.core.parameter import Gradient
from compat.nn.criterions.base import Criterion
from compat.nn.graph.gmodule import gModule
from compat.t7.base.types import Storage

_GRAPH_FIELDS = ("fg", "bg", "innode", "outnode", "backwardnodes")
# Of a class in Python alone; what dpnn's lists are in Lua is in the classes there.
_UNSET_IN_LUA = (
    *("train", "shared", "keep_results", "dpnn_parameters", "dpnn_gradParameters"),
    *("dpnn_mediumEmpty", "dpnn_lightEmpty"),
)
_RESULTS = ("output", "gradInput")


class Fields:
    """The fields of the objects that one Lua state sees."""

    def __init__(self, runtime: Runtime, classes: Classes) -> None:
        self.runtime = runtime
        self._classes = classes

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that Lua calls."""
        names = ("describe", "field", "has_field", "set_field", "names", "declare_types")
        return {name: getattr(self, name) for name in names}

    def describe(self, owner: Any) -> tuple[int, int, Any, Any]:
        """Return the identity of an object and of its class, the class, and the object's own
        methods.
        """
        cls = type(owner)
        self.runtime.exchange.note_class(owner)
        entries = owner.__dict__.items()
        own = [field(name) for name, value in entries if type(value) is BoundLuaMethod]
        names = self.runtime.lua.table_from(own) if own else None
        return id(owner), id(cls), cls, names

    def has_field(self, owner: Any, key: str) -> bool:
        """Return whether an object has its own field or method of that name."""
        return python_name(key) in owner.__dict__ or key in _RESULTS

    def field(self, owner: Any, key: str) -> Any:
        """Return an object's field or own method, classified for Lua.

        A Lua function that is a method has the kind ``own``, a Python function ``python own``; None
        is nil.
        """
        value = owner.__dict__.get(key)
        kind = type(value)
        if kind is int or kind is float or kind is bool:
            return value
        is_sizes = kind is list and key in getattr(type(owner), "size_fields", ())
        if value is None or is_sizes or kind is BoundLuaMethod or kind is types.MethodType:
            value = self._field(owner, key)
            if value is None:
                return None
            if isinstance(value, BoundLuaMethod):
                return handle(value.function, self.runtime), "own"
            if isinstance(value, types.MethodType):
                return value.__func__, "python own"
        if self.runtime.calls.tell_types is not None:
            tell_types(owner, value)
        return self.runtime.exchange.classified(value)

    def _field(self, owner: Any, key: str) -> Any:
        name = python_name(key)
        fields = owner.__dict__
        if key in _RESULTS and isinstance(owner, Convertible):
            return getattr(owner, key)
        if name in fields:
            if name in getattr(owner, "size_fields", ()) and isinstance(fields[name], list):
                fields[name] = Storage(fields[name], "torch.LongStorage")
            return fields[name]
        if self._classes.method(type(owner), key) is not None or key.startswith("__"):
            return None
        if name in _UNSET_IN_LUA:
            return None
        value = getattr(owner, name, None)
        if name == "impl":
            # What runs the replicas of a DataParallelTable is what Torch7 has under this name.
            value = getattr(value, "dispatcher", value)
        if value is None and isinstance(owner, gModule) and key in _GRAPH_FIELDS:
            value = owner.graph_with_results()[key]
        if isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        return value

    def set_field(self, owner: Any, key: str, value: Any) -> None:
        """Set a field, or a method of this object; None takes it away."""
        name = python_name(key)
        if value is None:
            if name in _RESULTS:
                setattr(owner, name, None)
            elif name in owner.__dict__ and name not in getattr(type(owner), "parameter_names", ()):
                delattr(owner, name)
                if isinstance(getattr(type(owner), name, None), bool):
                    # The class's would be seen in its place; None is as false as nil.
                    setattr(owner, name, None)
            elif hasattr(owner, name) and not callable(getattr(type(owner), name, None)):
                setattr(owner, name, None)
            return
        value = self._classes.bound(value, owner)
        if name in getattr(type(owner), "parameter_names", ()):
            # In Torch7 a parameter has no gradient until one is set.
            getattr(type(owner), name).put(owner, value, with_gradient=False)
            return
        gradient = getattr(type(owner), name, None)
        if isinstance(gradient, Gradient):
            gradient.put(owner, value)
            return
        setattr(owner, name, value)

    def names(self, owner: Any) -> Any:
        """Return the names of an object's fields."""
        if isinstance(owner, (Module, Criterion)):
            hidden = {*ENGINE_FIELDS, *owner.transient_fields, *owner.pass_fields}
            found = [
                field(name)
                for name, value in owner.__dict__.items()
                if name not in hidden and not name.startswith("_pending_") and value is not None
            ]
            for name in getattr(type(owner), "parameter_names", ()):
                parameter = owner.__dict__.get(name)
                if parameter is not None and parameter.grad is not None:
                    found.append("grad" + name[0].upper() + name[1:])
            found += [name for name in (*_RESULTS, "_type") if name not in found]
        else:
            found = [field(name) for name, value in owner.__dict__.items() if value is not None]
        return self.runtime.keys_from(found)

    def declare_types(self) -> None:
        """Declare the types of objects' results from now on; see gpu_types."""
        self.runtime.calls.tell_types = tell_types
