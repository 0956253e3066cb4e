"""Packages that only the Lua runtime has, to be imported by their names.

``from compat.port.lua.packages import gnuplot`` loads nothing: a package is loaded when something
of it is used.
"""

from __future__ import annotations

from compat.port.lua.runtime import Package, package


def __getattr__(name: str) -> Package:
    if name.startswith("__"):
        raise AttributeError(name)
    return package(name)
