"""Finds the parameters of a source's classes, with types and defaults."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any

from compat.nn.source.layers import simple
from compat.nn.source.program import Block, Hole, Instance, Layer, leaves


@dataclass
class Class:
    """A class of the source, or a function that makes a ``Sequential``.

    Attributes:
        name: its name.
        arguments: its parameters with their types and defaults, as text.
        text: the lines.
        paths: the attribute path of each member in a module of the class, by the member's ``id``.
        inputs, results: their names in the class's forward.
    """

    name: str
    text: list[str]
    paths: dict[int, str]
    parameters: list[Parameter] = field(default_factory=list)
    inputs: list[str] = field(default_factory=lambda: ["x"])
    results: list[str] = field(default_factory=lambda: ["y"])


@dataclass
class Parameter:
    """A parameter of a class: its place among a block's constants, its type and its default."""

    name: str
    place: int
    kind: str
    default: Any = inspect.Parameter.empty


def same(value: Any, default: Any) -> bool:
    """Return whether an argument equals the default and can be left out."""
    if isinstance(value, Hole) or default is inspect.Parameter.empty:
        return False
    return type(value) is type(default) and simple(value) == simple(default)


def block_parameters(
    block: Block, uses: list[list[Any]], classes: dict[int, Class]
) -> list[Parameter]:
    """Return the parameters of a block's class, those with defaults last.

    ``uses``: the constants of each use of the block.
    """
    found = []
    for place, name in enumerate(block.parameters):
        column = [constants[place] for constants in uses]
        kinds = sorted({_kind(value) for value in column})
        if kinds == ["float", "int"]:
            kinds = ["float"]
        default = _default(block, place, classes)
        if default is not inspect.Parameter.empty and not any(same(v, default) for v in column):
            default = inspect.Parameter.empty
        found.append(Parameter(name, place, " | ".join(kinds), default))
    return sorted(found, key=lambda p: p.default is not inspect.Parameter.empty)


def _kind(value: Any) -> str:
    if type(value) in (tuple, list):
        return f"{type(value).__name__}[{', '.join(_kind(part) for part in value)}]"
    return "None" if value is None else type(value).__name__


def _default(block: Block, place: int, classes: dict[int, Class]) -> Any:
    """Return the default that all layer arguments set by a parameter share, if they share one."""
    found: list[Any] = []
    for statement in block.body.statements:
        layer = statement.layer
        if isinstance(layer, Layer):
            for name, value in layer.arguments.items():
                if value == Hole(place) and isinstance(value, Hole):
                    found.append(layer.defaults[name])
        elif isinstance(layer, Instance):
            for parameter in classes[id(layer.block)].parameters:
                value = layer.constants[parameter.place]
                if isinstance(value, Hole) and value == Hole(place):
                    found.append(parameter.default)
        holes = leaves([statement.arguments, statement.keywords])
        found += [
            inspect.Parameter.empty
            for leaf in holes
            if leaf == Hole(place) and isinstance(leaf, Hole)
        ]
    same = len({repr(default) for default in found}) == 1
    return found[0] if same else inspect.Parameter.empty
