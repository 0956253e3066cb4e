"""The functions for each kind of syntax: what it is, or does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from compat.port.read import syntax as s

Rule = TypeVar("Rule", bound=Callable[..., Any])
TYPES: dict[type[s.Node], Callable[..., Any]] = {}
EFFECTS: dict[type[s.Node], Callable[..., None]] = {}


def expression(kind: type[s.Node]) -> Callable[[Rule], Rule]:
    """Have a function ``(known, node)`` give the type of a kind of expression, from its code."""
    return _registering(TYPES, kind)


def statement(kind: type[s.Node]) -> Callable[[Rule], Rule]:
    """Have a function ``(known, node)`` note what a kind of statement does with types."""
    return _registering(EFFECTS, kind)


def _registering(where: dict[Any, Any], kind: type[s.Node]) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        where[kind] = function
        return function

    return register
