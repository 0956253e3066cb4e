"""Collects the source of classes and functions of this package, with their dependencies."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

_TORCH = {"torch", "Tensor", "nn", "functional", "Any", "math"}


def with_needed(wanted: list[Any]) -> dict[str, list[str]]:
    """Return the lines of classes and functions by name, each after its dependencies."""
    found: dict[str, list[str]] = {}
    for thing in wanted:
        _add(thing, found)
    return found


def _add(thing: Any, found: dict[str, list[str]]) -> None:
    if thing.__name__ in found:
        return
    text = inspect.getsource(thing).rstrip()
    names = vars(sys.modules[thing.__module__])
    for name in _names(text):
        used = names.get(name)
        if inspect.isfunction(used) or inspect.isclass(used):
            own = used.__module__.startswith("compat.") and used is not thing
            if own and name not in _TORCH and name != "self_contained":
                _add(used, found)
    lines = [line for line in text.split("\n") if not line.startswith("@self_contained")]
    found[thing.__name__] = lines


def _names(text: str) -> list[str]:
    """Return the names that occur in a text, in their order."""
    nodes = ast.walk(ast.parse(text))
    return list(dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name)))
