"""Functions that Lua's own do."""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

from compat.cmdline import Options
from compat.lua_tables import Table
from compat.port.lua.runtime import called, draft_runtime


@functools.cache
def _found(path: str) -> Any:
    """Return a function of Lua's, which has its name in errors; it gives one value."""
    return draft_runtime().eval(f"function(...) return ({path}(...)) end")


def random(*interval: float) -> Any:
    """``math.random()``, ``math.random(last)`` or ``math.random(first, last)``."""
    return _found("math.random")(*interval)


def randomseed(seed: float) -> None:
    """``math.randomseed``."""
    _found("math.randomseed")(seed)


def time(*table: Any) -> int:
    """``os.time``: now, or the local time that the fields of a table name."""
    return int(called(_found("os.time"), *table))


def date(*form: Any) -> Any:
    """``os.date``: a text, or the fields of ``*t``."""
    return called(_found("os.date"), *form)


def tmpname() -> str:
    """``os.tmpname``: the name of a new empty file."""
    return str(_found("os.tmpname")())


def attributes(path: str, *name: str) -> Any:
    """``lfs.attributes``: times, size and kind of a file; None where there is none."""
    found = called(_found("require('lfs').attributes"), os.fsencode(path), *name)
    return Table(found) if isinstance(found, dict) else found


def tensor_text(value: Any) -> str:
    """``tostring`` of a tensor or storage: its elements, type and size."""
    return str(called(_found("tostring"), value))


def lapp(text: str) -> Options:
    """``lapp``: the options that the text of their help declares, from the command line."""
    return Options(called(_found("require('pl.lapp')"), text, sys.argv[1:]))
