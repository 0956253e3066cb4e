"""Lua classes that derive from Python's, and methods that Lua replaces."""

from __future__ import annotations

import functools
import importlib
import inspect
import itertools
import types
from collections.abc import Callable
from typing import Any

from compat.lua.objects.methods import BoundLuaMethod, LuaMethod, python_name
from compat.lua.runtime import Runtime
from compat.lua.settings import ABSENT
from compat.lua.values import LuaFunction, handle
from compat.nn.checks.error_place import blame
from compat.nn.containers.container import Container
from compat.nn.core.convertible import Convertible
from compat.nn.core.module import Module
from compat.t7.objects.registry import borrow, find_class, provide
from compat.tensor_types import default_type


class Classes:
    """The classes of one Lua state.

    Args:
        runtime: the state.
        converters: methods that Lua gets in another form, each with Python's own, which is used
            while no Lua function replaces it.
    """

    def __init__(
        self, runtime: Runtime, converters: dict[str, tuple[Callable[..., Any], Callable[..., Any]]]
    ) -> None:
        self.runtime = runtime
        self._converters = converters

    def functions(self) -> dict[str, Callable[..., Any]]:
        """Return the functions that Lua calls."""
        names = (
            *("describe_class", "class_named", "class_names", "derive", "bare", "construct"),
            *("method", "set_method", "set_class_value", "arity", "original"),
        )
        return {name: getattr(self, name) for name in names}

    def describe_class(self, cls: type) -> tuple[int, str, Any, float]:
        """Return identity, name and parent of a class, and the version that files tell."""
        parent = next((c for c in cls.__mro__[1:] if _is_public(c)), None)
        entry = find_class(cls)
        return id(cls), _typename(cls), parent, 1 if entry is None else entry.version

    def class_named(self, typename: str) -> Any:
        """Return the class with a Torch7 name."""
        found = [entry.cls for entry in provide(typename) if entry.cls is not None]
        return found[0] if found else None

    def class_names(self, module: str) -> Any:
        """Return the classes of a Python module with their names."""
        place = importlib.import_module(module)
        found = {
            name: value
            for name in vars(place)
            if isinstance(value := getattr(place, name), type) and _is_public(value)
        }
        self.runtime.exchange.instance_kinds = tuple(
            dict.fromkeys((*self.runtime.exchange.instance_kinds, *found.values()))
        )
        self._drop_covered()
        return (
            self.runtime.lua.table_from(list(found)),
            self.runtime.lua.table_from(list(found.values())),
            len(found),
        )

    def _drop_covered(self) -> None:
        kinds = self.runtime.exchange.instance_kinds
        self.runtime.exchange.instance_kinds = tuple(
            kind
            for kind in kinds
            if not any(kind is not other and issubclass(kind, other) for other in kinds)
        )

    def derive(self, typename: str, parent: type) -> type:
        """Make a Python class for a class that Lua derives."""
        keywords = {"typename": typename} if issubclass(parent, Convertible) else {}

        def make() -> type:
            return types.new_class(
                typename.rpartition(".")[2],
                (parent,),
                keywords,
                lambda body: body.update(__module__="lua", takes=None, **_printed(parent)),
            )

        if not keywords:
            return make()
        # Files have it under its name as long as this state runs.
        cls, entries, entry = borrow(typename, make)
        self.runtime.settings.set(entries, typename, entry)
        return cls

    def set_method(self, cls: type, key: str, function: Any) -> None:
        """Give a class a method; None takes it away.

        Python's classes have it while Lua runs; see ``Settings``.
        """
        name = key if key == "__init" else python_name(key)
        function = self.original(function)
        if isinstance(function, LuaFunction):
            function = LuaMethod(function)
        elif function is None or getattr(cls.__mro__[1], name, None) is function:
            function = ABSENT
        if cls.__module__ != "lua":
            self.runtime.settings.set(cls, name, function)
        elif function is not ABSENT:
            setattr(cls, name, function)
        elif name in vars(cls):
            delattr(cls, name)

    def set_class_value(self, cls: type, key: str, value: Any) -> None:
        """Set a field that Python's class has, such as a switch for new objects."""
        known = inspect.getattr_static(cls, key, None) if isinstance(key, str) else None
        if isinstance(known, (bool, int, float, str)) and isinstance(value, type(known)):
            self.runtime.settings.set(cls, key, value)

    def bound(self, value: Any, owner: Any) -> Any:
        """Return the value to set a field to; a function becomes a method of the object."""
        if isinstance(value, LuaFunction):
            return BoundLuaMethod(value, owner)
        is_adapted = callable(value) and self.original(value) is not value
        if is_adapted or isinstance(value, types.FunctionType):
            return types.MethodType(self.original(value), owner)
        return value

    def original(self, function: Any) -> Any:
        """Return the method from which one of this object's converters was made."""
        for converters, plain in self._converters.values():
            if function == converters:
                return plain
        return function

    def method(self, cls: type, key: str) -> tuple[str, Any, int] | None:
        """Return a class's method: its kind, the function, and the class that defines it."""
        name = python_name(key)
        for base in cls.__mro__:
            if key in vars(base):
                return self._function(base, key)
            if name in vars(base):
                if base is object and name != "__repr__":
                    return None
                return self._function(base, name)
        return None

    def _function(self, base: type, name: str) -> tuple[str, Any, int] | None:
        value = vars(base)[name]
        if isinstance(value, LuaMethod):
            return "lua", handle(value.function, self.runtime), id(base)
        if isinstance(value, classmethod):
            return None
        if isinstance(value, staticmethod):
            return "python", value.__func__, id(base)
        if isinstance(value, types.FunctionType):
            converters, plain = self._converters.get(name, (None, None))
            return "python", converters if value is plain else value, id(base)
        if name == "__repr__":
            return "python", _text, id(base)
        return None

    def arity(self, function: Any) -> tuple[int | None, int, bool]:
        """Return the largest (None: any) and smallest number of a function's arguments.

        The third result tells whether the function returns nothing.
        """
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):
            return None, 0, False
        silent = signature.return_annotation in (None, "None") or _is_silent(function)
        parameters = signature.parameters.values()
        ordered = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        any_number = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        least = sum(p.default is p.empty for p in ordered)
        return None if any_number else len(ordered), least, silent

    def bare(self, cls: type) -> tuple[Any, int]:
        """Make an object of a class, before its ``__init``; return it with its identity."""
        new: Any = cls.__new__
        owner = new(cls)
        if isinstance(owner, Convertible):
            vars(owner)["_type"] = self.runtime.default_gpu_type or default_type()
        return self.runtime.exchange.opaque(owner), id(owner)

    def construct(self, cls: type, *args: Any) -> Any:
        """Make an object of a Python class."""
        if _takes_modules(cls):
            args = ()
        try:
            needed = _needed(cls)
            if len(args) < len(needed):
                name = _typename(cls) or cls.__name__
                raise TypeError(f"{needed[len(args)]} is nil; {name} takes {', '.join(needed)}")
            owner = cls(*_as_in_lua(cls, args))
        except Exception as error:
            blame(error, cls, "__init", *args)
            raise
        gpu_type = self.runtime.default_gpu_type
        return owner.type(gpu_type) if gpu_type and isinstance(owner, Convertible) else owner


def _is_silent(function: Any) -> bool:
    """Return whether a method that gives its module in Python gives nothing in Torch7."""
    return function.__name__ in _SILENT and function.__module__.startswith("compat.nn.")


_SILENT = {"training", "evaluate", "zeroGradParameters", "updateParameters", "apply"}


@functools.cache
def _flags(cls: type) -> tuple[bool, ...]:
    """Return which arguments of a constructor are booleans."""
    parameters = inspect.signature(cls).parameters.values()
    plain = itertools.takewhile(lambda p: p.kind is p.POSITIONAL_OR_KEYWORD, parameters)
    return tuple(str(p.annotation).partition(" ")[0] == "bool" for p in plain)


@functools.cache
def _needed(cls: type) -> tuple[str, ...]:
    """Return the required arguments of a constructor."""
    parameters = inspect.signature(cls).parameters.values()
    return tuple(
        p.name
        for p in parameters
        if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is inspect.Parameter.empty
    )


@functools.cache
def _takes_modules(cls: type) -> bool:
    """Return whether a constructor takes modules; Torch7's takes nothing, and ignores arguments."""
    found = inspect.signature(cls).parameters.get("modules")
    return found is not None and found.kind is found.VAR_POSITIONAL


def _as_in_lua(cls: type, args: tuple[Any, ...]) -> list[Any]:
    """Convert a constructor's arguments: any value but false and nil is true.

    A value in place of a module fails only when it is used.
    """
    flags = _flags(cls)
    given = [
        True if i < len(flags) and flags[i] and a is not None and a is not False else a
        for i, a in enumerate(args)
    ]
    if given and isinstance(given[0], (bool, int, float, str)) and _may_take_module(cls):
        given[0] = None
    return given


@functools.cache
def _may_take_module(cls: type) -> bool:
    first = next(iter(inspect.signature(cls).parameters.values()))
    return first.name == "module" and first.default is None


def _text(value: Any) -> str:
    """Return an object as Lua prints it: by its class's name, unless its class tells more."""
    cls = type(value)
    tells = cls.__str__ is not object.__str__ or cls.__repr__ is not object.__repr__
    return str(value) if tells else _typename(cls)


def _is_public(cls: type) -> bool:
    return not cls.__name__.startswith("_") and find_class(cls) is not None


def _typename(cls: type) -> str:
    entry = find_class(cls)
    return getattr(cls, "typename", None) or (entry.typename if entry else "")


def _printed(parent: type) -> dict[str, Any]:
    """Let a class derived from ``nn.Container`` print only its name, as in Torch7.

    Torch7's containers that print their contents have their own ``_body``.
    """
    if issubclass(parent, Container) and parent.prints_every_module():
        return {"__repr__": Module.__repr__}
    return {}
