"""Calls of what only a run tells, errors, and other files."""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
from collections.abc import Callable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import torch

from compat.lua_tables import attribute
from compat.nn.core.node import Node
from compat.port.lua.errors import is_library, value_of
from compat.port.lua.kinds import is_of_lua, typename
from compat.port.lua.modules import as_package, kept, module, returned_by
from compat.port.lua.objects import script_classes
from compat.port.lua.runtime import (
    Original,
    Storage,
    all_results,
    call_method,
    call_once,
    function_of,
    method_of,
    once,
    package,
)
from compat.port.lua.tables import index, length, metamethod
from compat.port.lua.text import Error
from compat.port.lua.values import lists, results, truth, values
from compat.port.write.python_names import module_name
from compat.t7.objects import registry


def instance(fields: dict[Any, Any], typename: str | type) -> Any:
    """``torch.setmetatable(fields, typename)``, or ``setmetatable(fields, C)`` of a class: the
    object that a table of its fields becomes.
    """
    if isinstance(typename, type) or typename in script_classes:
        own = _empty(typename if isinstance(typename, type) else script_classes[typename])
        own.__dict__.update(fields)
        return own
    entry = registry.chosen(registry.provide(typename), fields)
    if entry is None:
        raise Error(f"unknown class {typename}")
    made = entry.new(typename, entry.version)
    given = {name: _counted(value) for name, value in fields.items()}
    if hasattr(made, "t7_restore"):
        made.t7_restore(given, entry.version)
    else:
        made.__dict__.update(given)
    return made


def factory(typename: str) -> Callable[[], Any] | None:
    """``torch.factory(typename)``: what makes an object that its class has not filled."""
    entry = registry.chosen(registry.provide(typename), {})
    cls = None if entry is None else entry.cls
    if cls is not None and not cls.__module__.startswith("compat."):
        return functools.partial(_empty, cls)
    made: Callable[[], Any] | None = package("torch").factory(typename)
    return made


def _empty(cls: Any) -> Any:
    return cls.__new__(cls)


def _counted(value: Any) -> Any:
    """Return tables with the keys 1…n as lists; tensors of the same memory, which an object has
    alone.
    """
    if isinstance(value, torch.Tensor):
        return value.detach()
    if not isinstance(value, dict):
        return value
    if length(value) == len(value):
        return [_counted(value[i]) for i in range(1, len(value) + 1)]
    return {key: _counted(entry) for key, entry in value.items()}


def call(function: Any, *args: Any) -> Any:
    """Return a call of what may be a table or class with ``__call``, or take another number of
    arguments.
    """
    if hasattr(type(function), "all_results"):  # of Lua
        return results(function.all_results(*args))
    handler = metamethod(function, "__call")
    if handler is not None:
        return handler(function, *args)
    inner = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(inner, FunctionType) and not inner.__code__.co_flags & inspect.CO_VARARGS:
        most = inner.__code__.co_argcount - (inner is not function)
        optional = len(inner.__defaults__ or ())
        args = (*args[:most], *[None] * (most - optional - len(args)))
    elif isinstance(inner, (BuiltinFunctionType, type)):
        args = args[: _most(inner)]
    return function(*args)


def _most(function: Any) -> int | None:
    """Return how many arguments one of Python's functions takes, or a class; None: any number."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:  # not told
        return None
    is_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return None if is_any else sum(p.kind is not p.KEYWORD_ONLY for p in parameters)


def method(owner: Any, name: str, *args: Any) -> Any:
    """``owner:name(…)``."""
    if isinstance(owner, str):
        function = index(owner, name)
        if function is None:
            raise AttributeError(f"a string has no method {name}")
        return function(owner, *args)
    if isinstance(owner, (dict, list)):
        return call(index(owner, name), owner, *args)
    if isinstance(owner, torch.Tensor) and name == "size" and not args:
        return owner.size()
    if isinstance(owner, Storage) and name in vars(Storage):
        return getattr(owner, name)(*args)
    if isinstance(owner, (torch.Tensor, torch.Size, Storage)):
        return call_method(owner, name, *args)
    if is_of_lua(owner) or isinstance(owner, Original):
        return results(all_results(name, owner, *args))
    if owner is None:
        raise TypeError("attempt to index a nil value")
    found = getattr(owner, attribute(name), None)
    if found is None:
        _load_package_of(owner)
        return call_method(owner, name, *args)
    if isinstance(found, FunctionType) and (isinstance(owner, type) or name in vars(owner)):
        return call(found, owner, *args)  # no method of its class
    if name == "split" and isinstance(owner, Node):
        return tuple(found(*args)) if args != (1,) else found(*args)
    if (getattr(found, "__module__", None) or "").startswith("compat.nn."):
        args = tuple(map(lists, args))
    return call(found, *args)


def _load_package_of(owner: Any) -> None:
    """Have Lua load the package of an object's class, which may bring further methods."""
    head, _, rest = str(typename(owner)).partition(".")
    if rest and head not in ("torch", "nn"):
        require(head)


def error(value: Any = None, level: int = 1) -> Any:
    """``error`` as an expression."""
    raise Error(value, int(level))


def check(value: Any = None, message: Any = "assertion failed!", *_: Any) -> Any:
    """``assert`` as an expression: gives the first that it is given."""
    if not truth(value):
        raise Error(message, 1)
    return value


def checked(*given: Any) -> tuple[Any, ...]:
    """``assert`` as an expression, all that it gives."""
    check(*given)
    return given


def pcall(function: Any, *args: Any) -> tuple[Any, ...]:
    """``pcall``: True and what the function gives, or False and the error."""
    try:
        found = call(_of_lua(function), *args)
    except Exception as problem:
        return False, value_of(problem)
    return _succeeded(function, found)


def xpcall(function: Any, handler: Any, *args: Any) -> tuple[Any, ...]:
    """``xpcall``."""
    try:
        found = call(function, *args)
    except Exception as problem:
        return (False, *values(handler(value_of(problem))))
    return _succeeded(function, found)


def _of_lua(function: Any) -> Any:
    """Return what Lua calls in place of a function of ``compat``: it checks arguments as Torch7
    does.
    """
    if function is dofile or function is require:  # which keep a package Lua's
        return function
    package_name, _, rest = str(getattr(function, "__module__", "")).partition(".")
    place = rest.split(".")[0] or package_name
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", None)
    if isinstance(function, functools.partial) and function.func in (call_method, call_once):
        owner, name = function.args
    elif package_name not in ("compat", "math") or name is None:
        return function
    if owner is not None and not isinstance(owner, ModuleType):  # as of what C defines
        is_checked = isinstance(owner, Original) or place in ("nn", "optim")
        if is_checked:
            _load_package_of(owner)
        found = method_of(owner, name) if is_checked else None
        return function if found is None else functools.partial(found.all_results, owner)
    found = package("_G" if place == "port" else place)[name]
    return getattr(found, "all_results", function)


def _succeeded(function: Any, found: Any) -> tuple[Any, ...]:
    """True and results. A function of a draft gives ``()`` for none, one of Python's None."""
    is_own = isinstance(function, FunctionType) and not is_library(function.__code__.co_filename)
    is_procedure = getattr(function, "__annotations__", {}).get("return") == "None"
    gives_nothing = (found is None and not is_own) or is_procedure
    return (True,) if gives_nothing else (True, *values(found))


# A table with a metatable stays Lua's.
_REQUIRE = """
function(name)
   local found = require(name)
   if type(found) == 'table' and not getmetatable(found) then setmetatable(found, {}) end
   return found
end
"""


def require(name: str, *beside: str | None) -> Any:
    """Return a package of Lua, in the Lua runtime. With ``beside``, the package of the file that
    asks, what the draft of a Lua file returns.
    """
    if not beside:
        made = as_package(function_of(_REQUIRE)(name))
        return once(made) if callable(made) and not is_of_lua(made) else made
    found = _draft(name, *beside)
    return kept(_in_lua(name, "require") if found is None else returned_by(found, "exports"))


def dofile(path: str, beside: str | None = None) -> Any:
    """Return what the draft of a Lua file returns when it runs now; ``beside``: the package of
    the file that asks.

    A file that has none is run in Lua, with the global variables of the drafts.
    """
    found = _draft(path, beside)
    return _in_lua(path, "dofile") if found is None else returned_by(found, "exports", is_run=True)


def _draft(path: str, beside: str | None) -> str | None:
    """Return the module of the draft of a Lua file."""
    own = os.path.relpath(path) if os.path.isabs(path) else path
    words = own.removesuffix(".lua").removeprefix("./").replace("/", ".").strip(".")
    name = ".".join(module_name(word, not i)[0] for i, word in enumerate(words.split(".")))
    for known in ([f"{beside}.{name}"] if beside else []) + [name, f"{name}.init"]:
        with contextlib.suppress(ModuleNotFoundError):
            if importlib.util.find_spec(known) is not None:
                return known
    return None


def _in_lua(path: str, how: str) -> Any:
    for file in (Path(path), Path(f"{path}.lua"), Path(f"{path.replace('.', '/')}.lua")):
        if file.is_file():
            return module(file.name, str(file))
    return package("_G")[how](path)


def with_total_weight(criterion: Any, *args: Any) -> tuple[float, float]:
    """Return what ``forward`` of a criterion of labels gives, and the sum of their weights."""
    loss = criterion.forward(*args)
    return loss, criterion.total_weight_tensor.item()
