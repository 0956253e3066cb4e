"""Finds the file here for a file of ``compat.nn``: it has the same place and name."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from pathlib import Path

_NN, _HERE = "compat.nn.", f"{__package__}."


@functools.cache
def counterparts() -> frozenset[str]:
    """Return the modules of this package."""
    found = pkgutil.walk_packages([str(Path(__file__).parent)], _HERE)
    return frozenset(module.name for module in found if not module.ispkg)


def load(module: str) -> None:
    """Import the counterpart of a module of ``compat.nn``, if it has one."""
    name = _HERE + module.removeprefix(_NN)
    if module.startswith(_NN) and name in counterparts():
        importlib.import_module(name)


def load_all() -> None:
    """Import all counterparts."""
    for name in sorted(counterparts()):
        importlib.import_module(name)
