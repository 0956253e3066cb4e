"""Names in the step of an LSTM cell, by what is done with each value."""

from __future__ import annotations

from compat.nn.source.program import Body, Layer, Statement, Value, reads, values

_SAME = {"Sigmoid": "sigmoid", "Tanh": "tanh"}


def _kind(statement: Statement) -> str:
    if isinstance(statement.layer, Layer):
        return _SAME.get(statement.layer.name, statement.layer.name)
    return statement.function.rpartition(".")[2]


def names(body: Body) -> dict[Value, str]:
    """Names of inputs, gates and results; none where the body has another form."""
    makers = {value: s for s in body.statements for value in values(s.results)}
    users: dict[Value, list[Statement]] = {}
    for statement in body.statements:
        for value in reads(statement):
            users.setdefault(value, []).append(statement)

    def kinds(value: Value) -> list[str]:
        return [_kind(s) for s in users.get(value, [])]

    found: dict[Value, str] = {}
    states = [value for value in body.inputs if kinds(value) == ["mul"]]
    if len(states) != 1:
        return {}
    [cell] = states
    found[cell] = "c"
    others = [value for value in body.inputs if value != cell]
    found.update(zip(others, ("x", "h") if len(others) == 2 else (), strict=False))
    for statement in body.statements:
        if _kind(statement) != "mul" or not isinstance(statement.results, Value):
            continue
        operands = reads(statement)
        sources = [makers.get(value) for value in operands]
        gates = [s for s in sources if s is not None and _kind(s) == "sigmoid"]
        if len(gates) != 1:
            continue
        [gate] = reads(gates[0])
        if cell in operands:
            found[gate] = "forget"
            for total in users.get(statement.results, []):
                if _kind(total) == "add" and isinstance(total.results, Value):
                    found[total.results] = "next_c"
            continue
        squashed = next((s for s in sources if s is not None and _kind(s) == "tanh"), None)
        if squashed is not None:
            inner = reads(squashed)[0]
            maker = makers.get(inner)
            if maker is not None and _kind(maker) == "add":
                found[gate], found[statement.results] = "out", "next_h"
            else:
                found[gate], found[inner] = "new", "candidate"
    return found
