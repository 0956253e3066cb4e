"""Functions that Lua's own do."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

from compat import torch as torch7
from compat.cmdline import Options
from compat.lua_tables import Table
from compat.port.lua.runtime import called, function_of


def _original(path: str) -> Callable[..., Any]:
    """Return a function of Lua's, which has its name in errors; it gives one value."""

    def original(*args: Any) -> Any:
        return function_of(f"function(...) return ({path}(...)) end")(*args)

    return original


random, randomseed, time, date, tmpname = map(
    _original, ("math.random", "math.randomseed", "os.time", "os.date", "os.tmpname")
)


def attributes(path: str, *name: str) -> Any:
    """``lfs.attributes``: times, size and kind of a file; None where there is none."""
    found = _original("require('lfs').attributes")(os.fsencode(path), *name)
    return Table(found) if isinstance(found, dict) else found


def tensor_text(value: Any) -> str:
    """``tostring`` of a tensor or storage: its elements, type and size."""
    return str(called(function_of("tostring"), value))


def lapp(text: str) -> Options:
    """``lapp``: the options that the text of their help declares, from the command line."""
    return Options(_original("require('pl.lapp')")(text, sys.argv[1:]))


@functools.cache
def draw_for_nn() -> None:
    """Draw the four random numbers that ``require 'nn'`` draws in Lua, the first time."""
    for _ in range(4):
        torch7.random()
