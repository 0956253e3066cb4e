"""Simplifies torch functions: removes copies and in-place changes that have no effect elsewhere."""

from __future__ import annotations

import math
from typing import Any

from compat.nn.source.program import CONTROL, Body, Layer, Statement, Value, Weight, uses

_TENSOR = "torch.Tensor."
# What gives a view of what it gets, or itself.
_VIEWS = {
    *("view", "reshape", "narrow", "select", "transpose", "expand", "unsqueeze", "squeeze", "t"),
    *("flatten", "__getitem__", "unbind", "split", "chunk", "detach", "contiguous", "to", "unfold"),
    *("movedim", "permute", "view_as", "reshape_as", "expand_as", "type", "long", "unflatten"),
}
# Layers that give what they get, or a view of it.
_PASSING = {"Identity", "Flatten", "Unflatten", "Dropout", "Dropout2d", "Dropout3d"}
# What torch calls by two names.
_SAME = {"torch.spmm": "torch.mm"}
_OPERATORS = {"add", "sub", "mul", "div", "neg", "gt", "lt", "ge", "le", "eq", "ne"}


def plainer(body: Body, shapes: dict[Value, tuple[int, ...]]) -> dict[Value, Any]:
    """Simplify functions in place; return the values that now are other values or weights."""
    counts = uses(body)
    makers = {s.results: s for s in body.statements if isinstance(s.results, Value)}
    for statement in body.statements:
        if statement.layer is None:
            statement.function = _SAME.get(statement.function, statement.function)
            _out_of_place(statement, makers, counts)
            module, _, name = statement.function.rpartition(".")
            operands = len(statement.arguments) + len(statement.keywords)
            if module == "torch" and name in _OPERATORS and operands < 3:
                statement.function = _TENSOR + name
    changes = any(s.pinned and s.function not in CONTROL for s in body.statements)
    names: dict[Value, Any] = {}
    for statement in body.statements:
        if statement.layer is None and statement.function.startswith(_TENSOR):
            same = _same(statement, shapes, changes)
            if same is not None:
                names[statement.results] = names.get(same, same)
    if any(statement.function == f"{_TENSOR}clone" for statement in body.statements):
        for statement in body.statements:  # which takes elements that lie in another order
            if statement.function == f"{_TENSOR}view":
                statement.function = f"{_TENSOR}reshape"
    return names


def _out_of_place(
    statement: Statement, makers: dict[Any, Statement], counts: dict[Value, int]
) -> None:
    """Replace an in-place function by the plain one, where its input is read nowhere else."""
    name = statement.function
    if not statement.pinned or not name.startswith(_TENSOR) or not name.endswith("_"):
        return
    if _is_read_once(statement.arguments[0], makers, counts):
        statement.function, statement.pinned = name[:-1], False


def _is_read_once(value: Any, makers: dict[Any, Statement], counts: dict[Value, int]) -> bool:
    """Return whether no other statement reads the memory of a value."""
    maker = makers.get(value)
    if maker is None or counts.get(value) != 1:
        return False
    if isinstance(maker.layer, Layer):
        if maker.layer.own or maker.layer.name in _PASSING:
            return False
        return not maker.layer.arguments.get("inplace") or _is_read_once(
            maker.arguments[0], makers, counts
        )
    made_by = maker.function.rpartition(".")[2]
    return maker.layer is None and made_by not in _VIEWS and maker.function not in CONTROL


def _same(statement: Statement, shapes: dict[Value, tuple[int, ...]], changes: bool) -> Any:
    """Return the input that a statement returns unchanged, or None."""
    name = statement.function.removeprefix(_TENSOR)
    given = statement.arguments[0] if statement.arguments else None
    if name == "clone" and not changes and isinstance(given, Value):
        return given
    if name in ("view", "reshape") and isinstance(given, Weight):
        size = shapes.get(statement.results)
        known = size is not None and math.prod(size) == given.tensor.numel()
        return given if known and tuple(given.tensor.shape) == size else None
    return None
