"""Simplifies recorded statements to the form that a person would write."""

from __future__ import annotations

import math
from typing import Any

from compat.nn.source.plain import plainer
from compat.nn.source.program import (
    FOR,
    Body,
    Layer,
    Statement,
    Value,
    mapped,
    reads,
    uses,
    values,
    without_unused,
)

SHIFT = "from_one"
Shapes = dict[Value, tuple[int, ...]]
# Layers without settings that are as well called as functions, where they stand alone.
FUNCTIONS = {"ReLU": "torch.relu", "Tanh": "torch.tanh", "Sigmoid": "torch.sigmoid"}
_OVER_DIM = {
    "LogSoftmax": "torch.nn.functional.log_softmax",
    "Softmax": "torch.nn.functional.softmax",
}


def tidied(body: Body, shapes: Shapes, from_zero: bool) -> tuple[Body, set[Value]]:
    """Return the simplified body, and the inputs that are indices counted from 0.

    ``from_zero``: whether indices that are inputs count from 0.
    """
    indices = _indices(body) if from_zero else set()
    names: dict[Value, Any] = plainer(body, shapes)
    statements = []
    for statement in body.statements:
        if isinstance(statement.results, Value) and statement.results in names:
            continue
        statement.arguments = _renamed(statement.arguments, names)
        statement.keywords = _renamed(statement.keywords, names)
        first: Any = statement.arguments[0] if statement.arguments else None
        if statement.function == SHIFT:
            if first in indices:
                names[statement.results] = first
                continue
            statement.function = "torch.Tensor.sub"
            statement.arguments = (first, 1)
        elif _is_flatten(statement, shapes):
            if len(shapes[first]) == 2 and shapes[first] == shapes[statement.results]:
                names[statement.results] = first
                continue
            statement.layer = None
            statement.function = "torch.Tensor.flatten"
            statement.arguments = (first, 1)
        statements.append(statement)
    # Ranges stay right only without the statements that went.
    gone = {id(s) for s in body.statements} - {id(s) for s in statements}
    kept = [id(s) not in gone for s in body.statements]
    scopes = [s._replace(first=sum(kept[: s.first]), last=sum(kept[: s.last])) for s in body.scopes]
    new = Body(body.inputs, statements, _renamed(body.result, names), scopes)
    return without_unused(new), indices.intersection(new.inputs)


def _renamed(tree: Any, names: dict[Value, Any]) -> Any:
    def new(leaf: Any) -> Any:
        while isinstance(leaf, Value) and leaf in names:
            leaf = names[leaf]
        return leaf

    return mapped(new, tree)


# What gives elements of what it gets, in another order and form.
_MOVES = {
    *(f"torch.Tensor.{name}" for name in ("transpose", "movedim", "select", "__getitem__", "view")),
    *(f"torch.Tensor.{name}" for name in ("long", "reshape", "flatten", "unbind", "narrow")),
    *(f"torch.Tensor.{name}" for name in ("contiguous", "unsqueeze", "squeeze", "split", "t")),
    *(f"torch.Tensor.{name}" for name in ("clone", "flip")),
}


def _indices(body: Body) -> set[Value]:
    """Return the inputs used only as indices, and the values made of their elements."""
    others: set[Value] = set(values(body.result))
    shifted: set[Value] = set()
    sources: dict[Value, Value] = {}
    for statement in body.statements:
        if statement.function == SHIFT:
            shifted.update(reads(statement))
        elif statement.function in _MOVES:
            first = statement.arguments[0]
            others.update(v for v in reads(statement)[1:] if v == first)
            sources.update(dict.fromkeys(values(statement.results), first))
        elif statement.function == FOR and not isinstance(statement.arguments[0], int):
            sources.update(zip(statement.results[0], statement.arguments[0], strict=True))
            others.update(values(statement.arguments[1]))
        elif statement.function != "torch.Tensor.size":
            others.update(reads(statement))
    origins = {value: _origin(value, sources) for value in (*sources, *shifted, *others)}
    mixed = {origins[value] for value in others}
    found = {origins[value] for value in shifted}.intersection(body.inputs) - mixed
    return {value for value in (*found, *origins) if _origin(value, sources) in found}


def _origin(value: Value, sources: dict[Value, Value]) -> Value:
    """Return the input or first value that a value's elements come from."""
    while value in sources:
        value = sources[value]
    return value


def _is_flatten(statement: Statement, shapes: Shapes) -> bool:
    """Return whether a statement flattens all dimensions but the first."""
    layer = statement.layer
    name = layer.name if isinstance(layer, Layer) else statement.function.rpartition(".")[2]
    if name not in ("Flatten", "reshape", "view", "flatten") or not statement.arguments:
        return False
    before, after = shapes.get(statement.arguments[0]), shapes.get(statement.results)
    if before is None or after is None or len(after) != 2 or len(before) < 2:
        return False
    if name in ("reshape", "view"):
        size = statement.arguments[1]
        if not isinstance(size, (list, tuple)) or len(size) != 2 or isinstance(size, Value):
            return False
        if not (size[0] == -1 or isinstance(size[0], Value)):
            return False
    return before[0] == after[0] and math.prod(before[1:]) == after[1]


def as_function(statement: Statement, counts: dict[Value, int]) -> Statement:
    """Return a single layer without parameters as a call of a function."""
    layer = statement.layer
    if not isinstance(layer, Layer) or len(statement.arguments) != 1:
        return statement
    given = statement.arguments[0]
    if layer.name in FUNCTIONS:
        if statement.pinned and counts.get(given, 0) > 1:
            return statement
        return Statement(None, FUNCTIONS[layer.name], (given,), {}, statement.results)
    if layer.name in _OVER_DIM:
        words = (given, layer.arguments["dim"])
        return Statement(None, _OVER_DIM[layer.name], words, {}, statement.results)
    return statement


def chains(body: Body) -> list[list[Statement]]:
    """Group the statements; a straight run of layers is one group."""
    counts = uses(body)
    users: dict[int, int] = {}
    for statement in body.statements:
        users[id(statement.layer)] = users.get(id(statement.layer), 0) + 1
    found: list[list[Statement]] = []
    for statement in body.statements:
        last = found[-1][-1] if found else None
        if (
            last is not None
            and all(_links(s) and users[id(s.layer)] == 1 for s in (last, statement))
            and statement.arguments[0] == last.results
            and counts[last.results] == 1
        ):
            found[-1].append(statement)
        else:
            found.append([statement])
    return found


def _links(statement: Statement) -> bool:
    return (
        statement.layer is not None
        and len(statement.arguments) == 1
        and isinstance(statement.arguments[0], Value)
        and isinstance(statement.results, Value)
        and not statement.keywords
        and not statement.function
    )
