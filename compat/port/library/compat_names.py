"""The names that compat has: in its modules, and of fields and methods of its objects."""

from __future__ import annotations

import dis
import functools
import importlib
import inspect
from typing import Any

PYTHON = {
    *("nn", "optim", "cudnn", "cutorch", "xlua", "image", "hdf5", "nngraph", "graph", "loadcaffe"),
}


def has(package: str, name: str) -> bool:
    """Return whether a module of compat has a name."""
    if (package, name.split(".")[0]) == ("nn", "DataParallelTable"):
        return True  # dptable brings it
    return found(package, name) is not None


def found(package: str, name: str) -> Any:
    """Return what a name of a module of compat's stands for; None if it has none."""
    if package not in PYTHON | {"torch"}:
        return None
    value: Any = importlib.import_module(f"compat.{package}")
    for part in name.split("."):
        value = getattr(value, part, None)
    return value


@functools.cache
def _classes(*names: str) -> set[type]:
    """Return classes of compat and those above them: these or all."""
    given = [found(*name.split(".", 1)) for name in names] or [
        value
        for package in ("nn", "optim", "cmdline", "timer", "threads")
        for value in vars(importlib.import_module(f"compat.{package}")).values()
    ]
    bases = {base for value in given if isinstance(value, type) for base in value.__mro__}
    return bases - {object}


@functools.cache
def _fields(*names: str) -> set[str]:
    """Return the names of fields and methods that classes of compat have or set: these or all."""
    known: set[str] = set()
    for cls in _classes(*names):
        told = vars(cls).get("__annotations__")
        known.update(vars(cls), told if isinstance(told, dict) else ())
        for method in vars(cls).values():
            known |= _set_by(method)
    return known


def _set_by(function: Any) -> set[str]:
    """Return the names of fields that a function sets."""
    code = getattr(function, "__code__", None)
    steps = () if code is None else dis.get_instructions(code)
    return {step.argval for step in steps if step.opname == "STORE_ATTR"}


def begins_with(typename: str, name: str) -> bool:
    """Return whether objects of a class of compat's have a field from the beginning."""
    cls = found(*typename.split(".", 1)) if "." in typename else None
    if name == "train" and cls is not None:  # in Lua nil until the net is told, but for some
        return "train" in _set_by(inspect.unwrap(cls.__init__))
    return hasattr(cls, name) or any(
        name in vars(base).get("__annotations__", ())
        or name in _set_by(inspect.unwrap(base.__init__))
        for base in getattr(cls, "__mro__", ())
    )


def is_field(name: str) -> bool:
    """Return whether some object of compat's has a field or method of this name.

    ``name`` is what programs give layers; of compat's only a logger and a graph have it.
    """
    return name in _fields() and name != "name"


@functools.cache
def is_value(name: str) -> bool:
    """Return whether some object of compat's may have a field of this name that is no method."""
    own = [vars(cls) for cls in _classes()]
    is_set = any(name in _set_by(method) for methods in own for method in methods.values())
    return is_set or (name in _fields() and not any(callable(names.get(name)) for names in own))


def has_field(name: str, classes: set[str]) -> bool:
    """Return whether all objects of these classes have a field or method of this name."""
    names = {cls.split()[0] for cls in classes}  # of "nn.gModule of lists"
    known = [name for name in names if "." in name and found(*name.split(".", 1)) is not None]
    is_any = name in _fields("nn.Module") or (bool(names) and len(known) == len(names))
    return is_any and all(name in _fields(cls) for cls in known)
