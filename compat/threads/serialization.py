"""Pickle jobs and their results for another process.

Functions go by value, as in Lua: variables of enclosing functions (upvalues) are copied; globals
are those of the process where the function runs. A function of an importable module goes by name.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import marshal
import pickle
import sys
from importlib.abc import SourceLoader
from multiprocessing.reduction import ForkingPickler
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import torch.multiprocessing  # noqa: F401 (it teaches ForkingPickler to share tensors' memory)


class _ByValue:
    """The handling of functions and modules, for both picklers."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, FunctionType) and not has_a_name(value):
            return _taken_apart(value)
        if isinstance(value, ModuleType):
            return importlib.import_module, (value.__name__,)
        return NotImplemented


class _Copying(_ByValue, pickle.Pickler):
    """Copies tensors."""


class _Sharing(_ByValue, ForkingPickler):
    """Pickles tensors so that both processes use the same memory."""


PICKLERS: dict[str, Any] = {"threads.serialize": _Copying, "threads.sharedserialize": _Sharing}


def dumps(value: Any, scheme: str) -> bytes:
    """Return ``value`` as bytes, by the scheme with this name of Torch7's.

    Raises what pickle raises.
    """
    buffer = io.BytesIO()
    PICKLERS[scheme](buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def loads(data: bytes) -> Any:
    """Return the value from the bytes of ``dumps``."""
    return pickle.loads(data)


def has_a_name(function: FunctionType) -> bool:
    """Return whether another process finds the function by its name.

    It does not find functions that a script, or a module that is being imported, has defined since
    that process started, nor one that another function has made a global one.
    """
    found: Any = sys.modules.get(function.__module__)
    is_growing = getattr(getattr(found, "__spec__", None), "_initializing", False)
    if function.__module__ == "__main__" or is_growing:
        return False
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    own = _constants(function.__module__)
    return found is function and (own is None or function.__code__ in own)


@functools.cache
def _constants(module: str) -> frozenset[Any] | None:
    """Return the functions' code in a module and its classes, if that can be known."""
    loader = getattr(getattr(sys.modules.get(module), "__spec__", None), "loader", None)
    if not isinstance(loader, SourceLoader):
        return None
    waiting, found = [loader.get_code(module)], set()
    for code in waiting:  # grows
        inner = [c for c in (code.co_consts if code else ()) if isinstance(c, CodeType)]
        found |= {*inner}
        waiting += [c for c in inner if not c.co_flags & inspect.CO_NEWLOCALS]  # of classes
    return frozenset(found)


def _taken_apart(function: FunctionType) -> tuple[Any, ...]:
    cells = function.__closure__ or ()
    made_of = marshal.dumps(function.__code__), function.__module__, len(cells)
    # Apart from the rest, for a function may refer to itself.
    state = {
        "cells": [_content(cell) for cell in cells],
        "fields": function.__dict__,
        **{name: getattr(function, name) for name in _ATTRIBUTES},
    }
    return _blank, made_of, state, None, None, _complete


_ATTRIBUTES = ("__defaults__", "__kwdefaults__", "__name__", "__qualname__")


def _content(cell: CellType) -> tuple[Any, ...]:
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()  # a variable that has no value yet


def _blank(code: bytes, module: str, cells: int) -> FunctionType:
    names = vars(importlib.import_module(module))
    return FunctionType(marshal.loads(code), names, closure=tuple(CellType() for _ in range(cells)))


def _complete(function: FunctionType, state: dict[str, Any]) -> None:
    for cell, content in zip(function.__closure__ or (), state["cells"], strict=True):
        for value in content:
            cell.cell_contents = value
    function.__dict__.update(state["fields"])
    for name in _ATTRIBUTES:
        setattr(function, name, state[name])
