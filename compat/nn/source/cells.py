"""Names values in the step of a recurrent layer, such as ``forget_gate``, by their use."""

from __future__ import annotations

from compat.nn.source.program import (
    END_IF,
    Body,
    Instance,
    Layer,
    Statement,
    Value,
    reads,
    values,
)

_SAME = {"Sigmoid": "sigmoid", "Tanh": "tanh", "__rsub__": "sub", "rsub": "sub"}


def _kind(statement: Statement | None) -> str:
    """Return the name of the layer or function that gives a statement's result."""
    if statement is None:
        return ""
    if isinstance(statement.layer, Instance):
        body = statement.layer.block.body
        return next((_kind(s) for s in body.statements if s.results == body.result), "")
    if isinstance(statement.layer, Layer):
        return _SAME.get(statement.layer.name, statement.layer.name)
    name = statement.function.rpartition(".")[2]
    return _SAME.get(name, name)


def is_gate(body: Body) -> bool:
    """Return whether a body computes the sigmoid of a sum of several layers."""
    found = [_kind(statement) for statement in body.statements]
    return END_IF not in found and found[-1:] == ["sigmoid"] and found.count("Linear") > 1


class Step:
    """The step of an LSTM or GRU, as far as the body has that form.

    Attributes:
        names: of values: what it is given, sums of gates, results; none where it is something else.
        gates: names of blocks that are gates, by the ``id`` of these.
    """

    def __init__(self, body: Body) -> None:
        self.body = body
        self.makers = {value: s for s in body.statements for value in values(s.results)}
        self.users: dict[Value, list[Statement]] = {}
        for statement in body.statements:
            for value in reads(statement):
                self.users.setdefault(value, []).append(statement)
        self.names: dict[Value, str] = {}
        self.gates: dict[int, str] = {}
        begun = [v for s in body.statements if s.function == END_IF for v in values(s.results)]
        self.given = [value for value in body.inputs if not value.kind] + begun
        if is_gate(body):
            self._of_gate()
        elif not self._lstm():
            self._gru()
        self._name_matrices()

    def _maker(self, value: Value) -> str:
        return _kind(self.makers.get(value))

    def _products(self) -> list[tuple[Value, list[Value], list[Value]]]:
        """Return the result of each product, its factors that are gates, and its other factors."""
        found = []
        for statement in self.body.statements:
            if _kind(statement) == "mul" and isinstance(statement.results, Value):
                factors = reads(statement)
                gates = [value for value in factors if self._maker(value) == "sigmoid"]
                others = [value for value in factors if value not in gates]
                if gates and others:
                    found.append((statement.results, gates, others))
        return found

    def _gate(self, value: Value, name: str) -> None:
        """Name a gate: the block that computes it, or the sum inside its sigmoid."""
        maker = self.makers[value]
        if isinstance(maker.layer, Instance):
            self.gates.setdefault(id(maker.layer), f"{name}_gate")
        else:
            self.names[reads(maker)[0]] = name

    def _of_gate(self) -> None:
        """Name the inputs of a gate: the layer's input, its previous output and its cell."""
        known = [v for v in self.given if "Linear" in [_kind(u) for u in self.users.get(v, [])]]
        self.names.update(zip(known, ("x", "h"), strict=False))
        self.names.update((value, "c") for value in self.given if value not in known)

    def _name_matrices(self) -> None:
        """Name the layers that the input and the previous output go through."""
        layers = {"x": "i2h", "h": "h2h"}
        for value, name in self.names.items():
            for user in self.users.get(value, []) if name in layers else []:
                if isinstance(user.layer, Layer) and user.layer.name == "Linear":
                    self.gates[id(user.layer)] = layers[name]

    def _rest(self, *known: Value) -> None:
        """Name the remaining inputs of the body."""
        others = [value for value in self.given if value not in known]
        names = ("x", "h") if len(others) == 2 else ("x",) if len(others) == 1 else ()
        self.names.update(zip(others, names, strict=False))

    def _lstm(self) -> bool:
        cell = next_cell = next_output = None
        for result, [gate, *_], [other, *_] in self._products():
            if other in self.given and any(
                _kind(user) == "add" and self._squashed(user.results)
                for user in self.users.get(result, [])
            ):
                cell = other
                self._gate(gate, "forget")
                added = next(u for u in self.users[result] if _kind(u) == "add")
                next_cell = added.results
            elif self._maker(other) == "tanh":
                [squashed] = reads(self.makers[other]) or [other]
                if self._maker(squashed) == "add" and self._from_gates(squashed):
                    next_output = result
                    self._gate(gate, "out")
                else:
                    self._gate(gate, "new")
                    self.names[squashed] = "candidate"
        if cell is None or next_cell is None or next_output is None:
            self.names, self.gates = {}, {}
            return False
        self.names.update({cell: "c", next_cell: "next_c", next_output: "next_h"})
        self._rest(cell)
        return True

    def _squashed(self, value: Value) -> bool:
        """Return whether a statement takes the hyperbolic tangent of a value."""
        return any(_kind(user) == "tanh" for user in self.users.get(value, []))

    def _from_gates(self, total: Value) -> bool:
        """Return whether a sum adds products with gates."""
        products = {result for result, _, _ in self._products()}
        return products.issuperset(reads(self.makers[total]))

    def _gru(self) -> None:
        products = self._products()
        for result, [update, *_], [output, *_] in products:
            turned = [u for u in self.users[update] if _kind(u) == "sub"]
            if not turned or output not in self.given:
                continue
            total = [u.results for u in self.users.get(result, []) if _kind(u) == "add"]
            resets = [g[0] for _, g, o in products if o[0] == output and g[0] != update]
            if len(total) == len(resets) == 1:
                self._gate(update, "update")
                self._gate(resets[0], "reset")
                self.names.update({output: "h", total[0]: "next_h"})
                self._rest(output)
                return


def names(body: Body) -> dict[Value, str]:
    """Return the names of inputs, gates and results; none if the body has another form."""
    return Step(body).names
