"""Moves out of a loop over steps what can be computed for all steps at once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from torch import nn

from compat.nn.source.layers import layer_of
from compat.nn.source.program import (
    CONTROL,
    END_FOR,
    END_IF,
    FOR,
    IF,
    UNPACK,
    Layer,
    Statement,
    Value,
    mapped,
    reads,
    values,
)

# Layers that treat each sample alike, however many dimensions there are before those of one.
_LAYERS = {
    *("Linear", "Embedding", "Dropout", "ReLU", "ReLU6", "Tanh", "Sigmoid", "ELU", "LeakyReLU"),
    *("Hardtanh", "Threshold", "Softplus", "LogSigmoid", "Softsign", "Hardshrink", "Softshrink"),
    *("Tanhshrink", "LogSoftmax", "Softmax"),
}
_FUNCTIONS = {
    *("add", "sub", "mul", "div", "neg", "abs", "square", "long", "exp", "log", "relu", "tanh"),
    *("__rsub__", "__radd__", "__rmul__", "sigmoid", "from_one"),
}


class Lifting:
    """The result of moving statements out of a loop.

    Args:
        begin, inner, end: the statements of the loop.
        sizes: the sizes of values of a step. The sizes of values for all steps are added.
        length: the number of steps.
        new: makes a new value.
        together: the ``id`` of statements that stay in the loop.

    Attributes:
        before, after: statements for all steps, before the loop and after it.
        inner: the statements left in the loop; without any the loop is dropped.
        wholes: maps a value of a step to the value for all steps.
        finals: maps the states in a dropped loop to the states at its end.
    """

    def __init__(
        self,
        begin: Statement,
        inner: list[Statement],
        end: Statement,
        sizes: dict[Value, tuple[int, ...]],
        length: int,
        new: Callable[[], Value],
        together: set[int],
    ) -> None:
        self.begin, self.end, self.sizes, self.length, self.new = begin, end, sizes, length, new
        steps, states = begin.arguments
        entries, loop_states = begin.results
        self.wholes: dict[Value, Value] = dict(zip(entries, steps, strict=True))
        self.states = dict(zip(loop_states, states, strict=True))
        self.nexts = dict(zip(loop_states, end.arguments[1], strict=True))
        self.finals: dict[Value, Value] = {}
        self.readers: dict[Value, list[Statement]] = {}
        for statement in (*inner, end):
            for value in reads(statement):
                self.readers.setdefault(value, []).append(statement)
        self.own = {*entries, *loop_states, *(v for s in inner for v in values(s.results))}
        self.inner = inner
        self.top = _outermost(inner) - together
        self.before = self._taken(inner)
        self.after = self._taken_last()
        self._rebuild()

    def _taken(self, inner: list[Statement]) -> list[Statement]:
        """Take out the statements that depend on no state, and LSTM cells."""
        found: list[Statement] = []
        for statement in list(inner):
            own = [value for value in reads(statement) if value in self.own]
            if all(v in self.wholes for v in own) and self._alike(statement, own):
                found.append(self._lifted(statement))
                self.inner = [s for s in self.inner if s is not statement]
            elif self._is_cell(statement, own):
                found.append(self._over_all(statement))
        return found

    def _taken_last(self) -> list[Statement]:
        """Take out the statements whose results no later step needs."""
        found: list[Statement] = []
        for statement in reversed(self.inner):
            own = [value for value in reads(statement) if value in self.own]
            used = [s for v in values(statement.results) for s in self.readers.get(v, [])]
            final = values(self.end.arguments[1])
            free = all(s is self.end or any(s is other for other in found) for s in used)
            needed = any(value in final for value in values(statement.results))
            if own and free and not needed and self._alike(statement, own):
                found.insert(0, statement)
        self.inner = [s for s in self.inner if not any(s is other for other in found)]
        made = {value for s in found for value in values(s.results)}
        for statement in found:
            for value in reads(statement):
                if value in self.own and value not in self.wholes and value not in made:
                    self.wholes[value] = self.new()
                    self.sizes[self.wholes[value]] = (self.length, *self.sizes[value])
        return [self._lifted(statement) for statement in found]

    def _alike(self, statement: Statement, own: list[Value]) -> bool:
        """Return whether a statement may compute all steps at once."""
        if id(statement) not in self.top or not own or statement.keywords:
            return False
        if not isinstance(statement.results, Value):
            return False
        if statement.pinned and any(len(self.readers.get(v, [])) > 1 for v in own):
            return False
        if isinstance(statement.layer, Layer):
            return statement.layer.name in _LAYERS and not statement.function
        name = statement.function.rpartition(".")[2]
        if statement.layer is not None or name not in _FUNCTIONS:
            return False
        dims = {len(self.sizes.get(value, ())) for value in own}
        others = [v for v in reads(statement) if v not in own]
        return len(dims) == 1 and all(len(self.sizes.get(v, ())) <= min(dims) for v in others)

    def _lifted(self, statement: Statement) -> Statement:
        """Return a statement of one step as a statement for all steps."""
        layer = statement.layer
        if isinstance(layer, Layer) and "dim" in layer.arguments:
            dim = layer.arguments["dim"]
            arguments = layer.arguments | {"dim": dim + (dim >= 0)}
            layer = dataclasses.replace(layer, arguments=arguments)
        given = mapped(self._whole, statement.arguments)
        result = statement.results
        self.wholes[result] = self.new()
        self.sizes[self.wholes[result]] = (self.length, *self.sizes[result])
        return Statement(
            layer, statement.function, given, {}, self.wholes[result], statement.pinned
        )

    def _whole(self, leaf: Any) -> Any:
        return self.wholes.get(leaf, leaf) if isinstance(leaf, Value) else leaf

    # Cells that torch.nn has a layer over sequences for.

    def _is_cell(self, statement: Statement, own: list[Value]) -> bool:
        layer = statement.layer
        if not isinstance(layer, Layer) or layer.name != "LSTMCell" or len(own) != 2:
            return False
        if id(statement) not in self.top:
            return False
        x, state = statement.arguments
        readers = self.readers.get(statement.results, [])
        unpacked = [s for s in readers if s.function == UNPACK]
        return (
            x in self.wholes
            and self.nexts.get(state) == statement.results
            and len(self.readers[state]) == 1
            and all(s is self.end or s in unpacked for s in readers)
            and all(s.results[1] not in self.readers for s in unpacked)
        )

    def _over_all(self, statement: Statement) -> Statement:
        """Return the call of a layer over sequences that replaces a cell."""
        assert isinstance(statement.layer, Layer)
        x, state = statement.arguments
        layer = over_sequences(statement.layer)
        output, final = self.new(), self.new()._replace(kind=state.kind)
        self.finals[state] = final
        gone = [statement]
        for reader in self.readers[statement.results]:
            if reader.function == UNPACK:
                gone.append(reader)
                self.wholes[reader.results[0]] = output
                self.sizes[output] = (self.length, *self.sizes[reader.results[0]])
        self.inner = [s for s in self.inner if not any(s is other for other in gone)]
        begun = self.states[state]
        given = (self.wholes[x],) if begun is None else (self.wholes[x], begun)
        return Statement(layer, "", given, {}, (output, final))

    # The loop that is left.

    def _rebuild(self) -> None:
        """Reduce the loop's inputs, states and outputs to what is still needed."""
        entries: dict[Value, Value] = dict(
            zip(self.begin.results[0], self.begin.arguments[0], strict=True)
        )
        made = {value for statement in self.inner for value in values(statement.results)}
        needed = {value for statement in self.inner for value in reads(statement)}
        needed.update(values(self.end.arguments[1]))
        for value, whole in self.wholes.items():
            if value not in made and value in needed:
                entries[value] = whole
        kept = [(value, whole) for value, whole in entries.items() if value in needed]
        states = [state for state in self.states if state not in self.finals]
        self.begin.arguments = (
            tuple(whole for _, whole in kept),
            tuple(self.states[state] for state in states),
        )
        self.begin.results = (tuple(value for value, _ in kept), tuple(states))
        outputs = [value for value in self.wholes if value in made]
        for value in self.end.arguments[0]:
            if value not in self.wholes:
                self.wholes[value] = self.new()
                outputs.append(value)
        self.end.arguments = (tuple(outputs), tuple(self.nexts[state] for state in states))
        self.end.results = (tuple(self.wholes[value] for value in outputs), ())


def _outermost(statements: list[Statement]) -> set[int]:
    """Return the ``id`` of the statements outside inner loops and branches."""
    found, depth = set(), 0
    for statement in statements:
        depth -= statement.function in (END_FOR, END_IF)
        if not depth and statement.function not in CONTROL:
            found.add(id(statement))
        depth += statement.function in (FOR, IF)
    return found


def over_sequences(layer: Layer) -> Layer:
    """Return the layer over sequences with the parameters of a cell."""
    cell: Any = layer.module
    module = nn.LSTM(cell.input_size, cell.hidden_size, device="meta")
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        setattr(module, f"{name}_l0", getattr(cell, name))
    found = layer_of(module, nn.LSTM)
    found.called = layer.called
    return found
