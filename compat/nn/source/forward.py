"""Writes the lines of a ``forward`` method."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compat.nn.source import cells, expressions, naming
from compat.nn.source.expressions import Text
from compat.nn.source.program import (
    CONTROL,
    ELSE,
    END_FOR,
    END_IF,
    FOR,
    PACK,
    STATES,
    UNPACK,
    Body,
    Instance,
    Layer,
    Statement,
    Value,
    reads,
    uses,
    values,
)
from compat.nn.source.text import Names, lines

_PLAIN = re.compile(r"[xy]\d*")  # names that say nothing
_STATE = re.compile(r"state\d*")
_LONGEST = 64  # letters of an expression within another
_WIDEST = 72  # letters of one on a line


@dataclass
class _Loop:
    """A loop that is still being written.

    Attributes:
        outside: the values known before the loop; they stay known.
        first: the number of the loop's first line.
        head: the ``for`` line.
        names: the names that the ``for`` line introduces.
        lists: the names of the lists that collect the outputs.
        states: the names of the states that go from step to step.
    """

    outside: set[Value]
    first: int
    head: str
    names: set[str]
    lists: list[str]
    states: list[str]


@dataclass
class _Branches:
    """A branch that is still being written: its state, its result names and its first line."""

    state: Value
    outside: set[Value]
    names: list[str] = field(default_factory=list)
    first: int = 0


class Forward:
    """Writes the lines of a forward, one statement after the other.

    An expression that is read once is written where it is read, unless the line becomes too long.

    Args:
        body: the statements.
        inputs: the names of its inputs.
        write: writes leaves that are no values: weights, arguments of the class.
        results: the names of the results of each block, in the forward of its class.
    """

    def __init__(
        self,
        body: Body,
        inputs: list[str],
        write: Callable[[Any], Text],
        results: dict[int, list[str]],
    ) -> None:
        self.body, self.inputs, self._other, self.results = body, inputs, write, results
        self.counts = uses(body)
        for statement in body.statements:  # values that are given several names are written once
            if statement.function == ELSE:
                for value in set(statement.arguments):
                    self.counts[value] -= statement.arguments.count(value) - 1
        self.left = dict(self.counts)
        self.scope = Names(*inputs, "self", "torch", "functional", "nn")
        pairs = zip(body.inputs, inputs, strict=True)
        self.known: dict[Value, Text] = {value: Text(name) for value, name in pairs}
        self.waiting: dict[Value, Text] = {}
        self.own = cells.names(body)
        self.makers = {value: s for s in body.statements for value in values(s.results)}
        self.text: list[str] = []
        self.last = ("", "", 0)  # name that was given, to what, in which line
        self.open: list[_Loop | _Branches] = []
        # The names that values should get: those of the states that they are next.
        self.wanted: dict[Value, str] = {}

    def write(self, units: list[list[Statement]], calls: dict[int, str]) -> list[str]:
        """Return the lines for single statements and straight runs of layers."""
        if units and units[-1][0].layer is not None and self._is_result(units[-1][-1]):
            self._write(units[:-1], calls)
            self._add(f"return {self._called(units[-1][0], calls[id(units[-1])]).text}")
            return self.text
        self._write(units, calls)
        for value in list(self.waiting):
            if len(self._result()) > _WIDEST:
                self._write_out(value)
        result = self._result()
        name, expression, place = self.last
        if name == result and self.text[place:] == lines(f"{name} = {expression}", 8):
            del self.text[place:]
            result = expression
        self._add(f"return {result}")
        return self.text

    def _is_result(self, last: Statement) -> bool:
        """Return whether a statement's results are the results of the body."""
        return type(last.results) is tuple and last.results == self.body.result

    def _write(self, units: list[list[Statement]], calls: dict[int, str]) -> None:
        for place, unit in enumerate(units):
            statement = unit[0]
            if statement.function in CONTROL:
                getattr(self, "_" + statement.function.replace(" ", "_"))(statement)
                continue
            if statement.pinned:  # what waits is computed before a tensor changes
                self._write_all_but(set(reads(statement)))
            later = units[place + 1 :]
            self._call(unit, calls[id(unit)], self._needed_late(unit, later), bool(later))

    def value(self, leaf: Any) -> Text:
        """Return the text of a leaf of an expression."""
        if isinstance(leaf, Value):
            return self.waiting.get(leaf) or self.known[leaf]
        return self._other(leaf)

    def _expression(self, tree: Any) -> str:
        return expressions.constant(tree, self.value).text

    def _add(self, line: str) -> None:
        self.text += lines(line, 8 + 4 * len(self.open))

    # Values and their names.

    def _wish(self, value: Value) -> str:
        return self.own.get(value) or naming.of_value(self.makers.get(value))

    def _assign(self, value: Value, expression: str, name: str) -> None:
        self.known[value] = Text(name)
        if expression != name:
            self.last = (name, expression, len(self.text))
            self._add(f"{name} = {expression}")

    def _write_out(self, value: Value) -> None:
        name = self._wanted(value) or self.scope.new(self._wish(value))
        self._assign(value, self.waiting.pop(value).text, name)

    def _wanted(self, value: Value) -> str:
        """Return the name of the state that a value becomes, if its old value is read no more."""
        name = self.wanted.get(value, "")
        for other, text in self.known.items():
            if name and text.text == name and self.left.get(other):
                return ""
        return "" if self._is_awaited(name, value) else name

    def _is_awaited(self, name: str, but: Value | None = None) -> bool:
        """Return whether a waiting expression, other than that of ``but``, reads a name."""
        found = re.compile(rf"\b{re.escape(name)}\b")
        waiting = (text.text for value, text in self.waiting.items() if value is not but)
        return bool(name) and any(map(found.search, waiting))

    def _write_all_but(self, but: set[Value]) -> None:
        """Write all waiting expressions except those of ``but``."""
        for value in [value for value in self.waiting if value not in but]:
            self._write_out(value)

    def _take(self, given: list[Value]) -> list[str]:
        """Note that values have been read; return the names that are free now."""
        for value in given:
            self.left[value] -= 1
            if not self.left[value]:
                self.waiting.pop(value, None)
        outside = {value for block in self.open for value in block.outside}
        return [
            self.known[v].text
            for v in dict.fromkeys(given)
            if not self.left[v]
            and v in self.known
            and v not in outside
            and self.known[v].text.isidentifier()
            and not self._is_awaited(self.known[v].text)
        ]

    # Calls.

    def _call(self, unit: list[Statement], callee: str, late: bool, more: bool) -> None:
        statement, last = unit[0], unit[-1]
        given = reads(statement)
        widest = _WIDEST - 4 * len(self.open) - 14 * (type(last.results) is not Value)
        found = self._called(statement, callee)
        while len(found.text) > widest and any(value in self.waiting for value in given):
            waits = (value for value in given if value in self.waiting)
            self._write_out(max(waits, key=lambda v: len(self.waiting[v].text)))
            found = self._called(statement, callee)
        dying = self._take(given)
        results = last.results
        if type(results) in (tuple, list):
            self._unpack(statement, results, found, dying)
            return
        own = self.own.get(results, "")
        once = self.counts.get(results, 0) == 1 and own not in ("next_c", "next_h")
        changes = statement.pinned and more
        longest = _WIDEST if results == self.body.result else _LONGEST
        if once and len(found.text) <= longest and not changes and not late:
            self.waiting[results] = found
            return
        if self._wanted(results):
            self._assign(results, found.text, self._wanted(results))
            return
        wished = self._wish(results) if statement is last else naming.of_value(last)
        self._assign(results, found.text, self._free_for(results, wished, dying, len(given)))

    def _free_for(self, value: Value, wished: str, free: list[str], count: int) -> str:
        """Return a name for a value, if possible one that is free."""
        plain = [name for name in free if _PLAIN.fullmatch(name)]
        if value not in self.own and wished in ("x", "y") and plain:
            return plain[0]
        if value not in self.own and free and count == 1 and wished != "size":
            return free[0]
        return self.scope.new(wished)

    def _called(self, statement: Statement, callee: str) -> Text:
        """Return the call of a statement; a layer is called by the name ``callee``."""
        given = statement.arguments
        if statement.function == UNPACK:
            return expressions.constant(given[0], self.value)
        if statement.function == PACK:
            return expressions.constant(tuple(given), self.value)
        if statement.function == STATES:
            nones = ", ".join(["None"] * len(statement.results))
            if len(statement.results) > 3:
                return Text(f"{self._expression(given[0])} or (None,) * {len(statement.results)}")
            return Text(f"{self._expression(given[0])} or ({nones})")
        if statement.layer is None:
            return expressions.call(statement.function, given, statement.keywords, self.value)
        while given and given[-1] is None:
            given = given[:-1]
        return Text(f"{callee}({', '.join(self._expression(a) for a in given)})")

    @staticmethod
    def _needed_late(unit: list[Statement], later: list[list[Statement]]) -> bool:
        """Return whether a layer's result is first read three or more units later."""
        if unit[0].layer is None or type(unit[-1].results) is not Value:
            return False
        result = unit[-1].results
        places = [place for place, other in enumerate(later, 1) if result in reads(other[0])]
        return bool(places) and places[0] > 2

    def _unpack(self, statement: Statement, results: Any, found: Text, free: list[str]) -> None:
        """Name the entries of a tuple that are needed."""
        wishes = self.own
        if isinstance(statement.layer, Instance):
            names = self.results[id(statement.layer.block)]
            wishes = dict(zip(values(results), names, strict=True))
            if any(value.kind for value in values(results)):
                wishes = {value: "y" for value in values(results) if not value.kind}
        elif isinstance(statement.layer, Layer):
            wishes = {value: "y" for value in values(results) if not value.kind}
        flat = values(results)
        if statement.function == UNPACK and len(flat) == 2:
            wishes = {flat[0]: "h", flat[1]: "c", **self.own}
        if statement.function == STATES:
            wishes = {value: f"state{place}" for place, value in enumerate(flat, 1)}
        needed = [value for value in flat if self.counts.get(value)]
        if len(needed) == 1 and len(flat) > 1:
            place = flat.index(needed[0])
            given = found.within(expressions.ATOM)
            expression = Text(f"{given}[{place}]")
            if statement.layer is not None and self.counts[needed[0]] == 1:
                self.waiting[needed[0]] = expression
                return
            name = self._wanted(needed[0])
            name = name or self.scope.new(wishes.get(needed[0], _other(needed[0])))
            self._assign(needed[0], expression.text, name)
            return
        names = []
        for value in flat:
            name = "_"
            if self.counts.get(value):
                name = self._wanted(value)
                wished = wishes.get(value, _other(value))
                if not name and statement.layer is not None:
                    same = _STATE if value.kind else _PLAIN
                    name = next((n for n in free if same.fullmatch(n)), "")
                    name = name if value.kind or _PLAIN.fullmatch(wished) else ""
                    free = [n for n in free if n != name]
                name = name or self.scope.new(wished)
            names.append(name)
            self.known[value] = Text(name)
        listed = names[0] if statement.function == UNPACK and len(names) == 1 else ""
        listed = listed or (f"({names[0]},)" if len(names) == 1 else ", ".join(names))
        self._add(f"{listed} = {found.text}")

    def _result(self) -> str:
        def written(tree: Any) -> str:
            if type(tree) in (tuple, list):
                inner = ", ".join(written(part) for part in tree)
                return f"({inner},)" if len(tree) == 1 else f"({inner})"
            return self._expression(tree)

        result = written(self.body.result)
        several = type(self.body.result) in (tuple, list) and len(self.body.result) > 1
        return result[1:-1] if several else result

    # Loops.

    def _for(self, statement: Statement) -> None:
        steps, states = statement.arguments
        entries, loop_states = statement.results
        outputs, nexts = self._end_of(statement).arguments
        self._write_all_but(set(values(steps)))
        local = self.scope.taken
        head = self._head(steps, entries)
        local = self.scope.taken - local
        outside = set(self.known) - set(entries)
        dying = self._take(values([steps, states]))
        names = []
        for state, inside in zip(states, loop_states, strict=True):
            name = self.known[state].text if state in self.known else ""
            if name not in dying:
                name = self.scope.new(self.own.get(inside) or _other(inside))
                self._assign(inside, self._expression(state), name)
            self.known[inside] = Text(name)
            names.append(name)
        self.wanted.update(zip(nexts, names, strict=True))
        first = len(self.text)
        lists = [self.scope.new("outputs") for _ in outputs]
        for name in lists:
            self._add(f"{name} = []")
        self._add(head)
        self.open.append(_Loop(outside, first, head, self.scope.taken - local, lists, names))

    def _head(self, steps: Any, entries: Any) -> str:
        if isinstance(steps, int):
            return f"for _ in range({steps}):"
        names = []
        for entry in entries:
            names.append(self.scope.new("step"))
            self.known[entry] = Text(names[-1])
        texts = [self.value(whole) for whole in steps]
        given = [text.steps or text.text for text in texts]
        through = given[0] if len(given) == 1 else f"zip({', '.join(given)})"
        return f"for {', '.join(names)} in {through}:"

    def _end_of(self, begin: Statement) -> Statement:
        statements = self.body.statements
        place = next(i for i, other in enumerate(statements) if other is begin)
        depth = 0
        for statement in statements[place:]:
            depth += (statement.function == FOR) - (statement.function == END_FOR)
            if not depth:
                return statement
        raise AssertionError("a loop has no end")

    def _end_for(self, statement: Statement) -> None:
        outputs, nexts = statement.arguments
        wholes, finals = statement.results
        loop = self.open[-1]
        assert isinstance(loop, _Loop)
        short = len(self.text) == loop.first + 2 and len(wholes) == 1 and not finals
        if short:
            expression = f"[{self._expression(outputs[0])} {loop.head[:-1]}]"
            short = len(expression) < _LONGEST + 14
        if short:
            del self.text[loop.first :]
            self._take(values([outputs]))
            self.open.pop()
            self.scope.free(self.scope.taken - loop.names)
            self._collect(wholes[0], expression)
            return
        for name, value in zip(loop.lists, outputs, strict=True):
            if self.counts[value] > 1 and value in self.waiting:
                self._write_out(value)
            self._add(f"{name}.append({self._expression(value)})")
        pairs = [
            (name, text)
            for name, value in zip(loop.states, nexts, strict=True)
            if (text := self._expression(value)) != name
        ]
        if pairs:
            ahead, behind = zip(*pairs, strict=True)
            self._add(f"{', '.join(ahead)} = {', '.join(behind)}")
        self._take(values([outputs, nexts]))
        self.open.pop()
        self.scope.free(self.scope.taken - loop.names)
        for name, value in zip(loop.lists, wholes, strict=True):
            self._collect(value, name)
        for name, value in zip(loop.states, finals, strict=True):
            self.known[value] = Text(name)

    def _collect(self, whole: Value, steps: str) -> None:
        """Let readers of a list of steps read the list, or the stacked tensor."""
        text = Text(f"torch.stack({steps})", steps=steps)
        readers = [s for s in self.body.statements if whole in reads(s)]
        if self.counts.get(whole, 0) == 1:
            self.waiting[whole] = text
        elif steps.isidentifier() and readers and all(_takes_lists(s) for s in readers):
            self.known[whole] = text
        elif readers or self.counts.get(whole):
            self.waiting[whole] = text
            self._write_out(whole)

    # Choices.

    def _if(self, statement: Statement) -> None:
        self._write_all_but(set())
        [state] = statement.arguments
        self._add(f"if {self._expression(state)} is None:")
        self.open.append(_Branches(state, set(self.known)))

    def _else(self, statement: Statement) -> None:
        branches = self.open[-1]
        assert isinstance(branches, _Branches)
        end = next(s for s in self._after(statement) if s.function == END_IF)
        for value, own in zip(end.results, end.arguments, strict=True):
            same = own == branches.state
            name = self.known[own].text if same else self.scope.new(self._wish(value))
            branches.names.append(name)
            if not same:
                self.wanted[own] = name
        self._set(branches.names, statement.arguments)
        self._take(list(dict.fromkeys(statement.arguments)))
        branches.first = len(self.text)
        self.open.pop()
        self._add("else:")
        self.open.append(branches)

    def _end_if(self, statement: Statement) -> None:
        branches = self.open[-1]
        assert isinstance(branches, _Branches)
        self._set(branches.names, statement.arguments)
        self._take(values(statement.arguments))
        for value, name in zip(statement.results, branches.names, strict=True):
            self.known[value] = Text(name)
        if len(self.text) == branches.first + 1:  # nothing is to be done
            del self.text[branches.first]
        self._write_all_but(set())
        self.open.pop()
        self._take([branches.state])

    def _set(self, names: list[str], found: Any) -> None:
        """Write the assignment of values to names that do not hold them yet."""
        given = [self._expression(value) for value in found]
        pairs = [(n, g) for n, g in zip(names, given, strict=True) if n != g]
        if len(set(given)) == 1 < len(names):
            self._add(f"{' = '.join(names)} = {given[0]}")
        elif pairs:
            ahead, behind = zip(*pairs, strict=True)
            self._add(f"{', '.join(ahead)} = {', '.join(behind)}")

    def _after(self, statement: Statement) -> list[Statement]:
        statements = self.body.statements
        return statements[next(i for i, s in enumerate(statements) if s is statement) :]


def _takes_lists(statement: Statement) -> bool:
    """Return whether a statement also accepts the steps of a sequence as a list."""
    if statement.function == "torch.Tensor.__getitem__":
        return isinstance(statement.arguments[1], int)
    return statement.function in (FOR, "torch.Tensor.unbind")


def _other(value: Value) -> str:
    return "state" if value.kind else "part"
