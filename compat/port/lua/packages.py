"""Packages that only the Lua runtime has, to be imported by their names.

``from compat.port.lua.packages import gnuplot`` loads nothing: a package is loaded when something
of it is used. No name here but those of packages: Lua has one that is called ``package``.
"""

from __future__ import annotations

from compat.port.lua import runtime as _runtime


def __getattr__(name: str) -> _runtime.Package:
    if name.startswith("__"):
        raise AttributeError(name)
    return _runtime.package(name)
