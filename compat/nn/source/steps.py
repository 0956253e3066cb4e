"""Records recurrent modules: loops over steps, and states that go from call to call.

In the source the state of a module is one value: a tensor, a tuple of tensors, or None before the
first call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from compat.nn.interchange.recurrent.memory import Flow, Remembering
from compat.nn.interchange.recurrent.memory import mapped as each
from compat.nn.source.lifting import Lifting
from compat.nn.source.program import (
    ELSE,
    END_FOR,
    END_IF,
    FOR,
    IF,
    PACK,
    UNPACK,
    Statement,
    Value,
    mapped,
    values,
)
from compat.nn.source.sequences import Fixed, pairs_with_steps
from compat.tensor_tables import tensors

if TYPE_CHECKING:
    from compat.nn.source.recording import Recording


@dataclass
class State:
    """The memory of a module while a run is recorded.

    Attributes:
        value: the state in the source.
        now: the tensors of the state in this run; None before the first step.
        like: tensors with the sizes of the state.
        begun: whether the state is never None when the source runs.
    """

    value: Value
    now: Any
    like: Any
    begun: bool = False


def real(memory: Any) -> Any:
    """Return a memory as the tensors of this run."""
    return memory.now if isinstance(memory, State) else memory


def kind_of(memory: Any) -> str:
    """Return the type annotation of a state made of tensors like these."""
    if isinstance(memory, Tensor):
        return "Tensor"
    return f"tuple[{', '.join(kind_of(part) for part in memory)}]"


class RecordedFlow(Flow):
    """Records loops over steps and their states."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording

    def state(self, memory: Any) -> State | None:
        """Return a memory as a state."""
        if memory is None or isinstance(memory, State):
            return memory
        tree = self.recording.reference(memory)
        if not isinstance(tree, Value):
            tree = self.recording.call(PACK, tuple(tree), None, kind_of(memory))
        return State(tree, memory, memory, True)

    def tensors_of(self, state: State) -> Any:
        """Record the unpacking of a state; return its tensors."""
        rec = self.recording
        held = each(torch.clone, state.like if state.now is None else state.now)
        if isinstance(held, Tensor):
            rec.name(held, state.value)
        else:
            results = mapped(rec.new, tuple(held))
            rec.statement(UNPACK, (state.value,), results)
        return held

    def begun(
        self, memory: Any, first: Callable[[], Any], later: Callable[[Any], Any] = lambda m: m
    ) -> Any:
        if memory is None:
            return first()
        if not isinstance(memory, State):
            return later(memory)
        rec = self.recording
        if memory.begun:
            with rec.paused():
                held = self.tensors_of(memory)
            return later(held)
        with rec.paused():
            rec.statement(IF, (memory.value,))
            with rec.resumed():
                one = first()
            rec.statement(ELSE, tuple(values([rec.reference(one)])))
            held = self.tensors_of(memory)
            with rec.resumed():
                other = later(held)
            found = tuple(values([rec.reference(other)]))
            result = each(torch.clone, one if memory.now is None else other)
            rec.statement(END_IF, found, tuple(rec.new(tensor) for tensor in tensors(result)))
        return result

    def over(
        self, within: nn.Module, step: Callable[[Any, Any], Any], steps: Any, state: Any = None
    ) -> tuple[Any, Any]:
        with self.recording.paused():
            return self._over(within, step, steps, state)

    def _over(
        self, within: nn.Module, step: Callable[[Any, Any], Any], steps: Any, state: Any
    ) -> tuple[Any, Any]:
        rec = self.recording
        units = [m for m in within.modules() if isinstance(m, Remembering)]
        before = [*(self.state(unit.memory) for unit in units), self.state(state)]
        columns = []
        if not isinstance(steps, int):
            entry = each(torch.clone, steps[0])
            columns = pairs_with_steps(rec.sequences.whole(steps), entry)
            rec.lengths.add(len(steps))
        with rec.unrecorded():
            for unit, memory in zip(units, before, strict=False):
                unit.memory = real(memory)
            outputs, end = super().over(within, step, steps, real(before[-1]))
        after = [*(real(unit.memory) for unit in units), end]
        begin = rec.statement(FOR)
        inside = [self._inside(*pair) for pair in zip(before, after, strict=True)]
        for unit, memory in zip(units, inside, strict=False):
            unit.memory = memory
        for whole, tensor in columns:
            rec.name(tensor, whole.value if isinstance(whole, Fixed) else rec.new(tensor))
        given = inside[-1]
        if given is not None and isinstance(given.like, Tensor) and given.begun:
            given = self.tensors_of(given)
        with rec.resumed():
            output, last = step(None if isinstance(steps, int) else entry, given)
        ends = [*(self.state(unit.memory) for unit in units), self.state(last)]
        state_places = [
            place
            for place, one in enumerate(inside)
            if one is not None and ends[place] is not one and one.value in rec.read
        ]
        iterated = tuple(w for w, _ in columns if not isinstance(w, Fixed))
        begin.arguments = (
            steps if isinstance(steps, int) else iterated,
            tuple(None if (one := before[n]) is None else one.value for n in state_places),
        )
        entries = tuple(rec.known(t) for w, t in columns if not isinstance(w, Fixed))
        states = [one for n in state_places if (one := inside[n]) is not None]
        begin.results = (entries, tuple(state.value for state in states))
        made = tuple(values([rec.reference(output)]))
        nexts = tuple(end.value for n in state_places if (end := ends[n]) is not None)
        wholes, last_values = self._ended(begin, made, nexts, len(outputs))
        self._collected(output, outputs, iter(wholes))
        finals = [State(last_values[state.value], state.like, state.like, True) for state in states]
        known = dict(zip(state_places, finals, strict=True))
        for place, unit in enumerate(units):
            unit.memory = known.get(place)
        last = known.get(len(units))
        if last is not None and isinstance(last.now, Tensor):
            rec.name(last.now, last.value)
            return outputs, last.now
        return outputs, last

    def _inside(self, before: State | None, after: Any) -> State | None:
        """Return a state within a loop, from the state before the loop and the tensors after it."""
        if after is None:
            return None
        begun = before is not None and before.begun
        kind = "" if begun and isinstance(after, Tensor) else kind_of(after)
        now = None if before is None else before.now
        return State(self.recording.new(None, kind), now, after, begun)

    def _ended(
        self, begin: Statement, made: tuple[Value, ...], nexts: tuple[Value, ...], length: int
    ) -> tuple[list[Value], dict[Value, Value]]:
        """End a loop; return the values for all steps, and the final value of each state."""
        rec = self.recording
        statements = rec.body.statements
        first = next(place for place, s in enumerate(statements) if s is begin)
        end = Statement(None, END_FOR, (made, nexts), {}, (), True)
        if isinstance(begin.arguments[0], int):
            wholes = [rec.new(None) for _ in made]
            finals = {state: rec.new(None, state.kind) for state in begin.results[1]}
            end.results = (tuple(wholes), tuple(finals.values()))
            statements.append(end)
            return wholes, finals
        inner = statements[first + 1 :]
        scopes = [scope for scope in rec.body.scopes if scope.keeps and scope.first > first]
        together = {id(s) for scope in scopes for s in statements[scope.first : scope.last]}
        lifting = Lifting(begin, inner, end, rec.shapes, length, lambda: rec.new(None), together)
        finals = {state: rec.new(None, state.kind) for state in begin.results[1]}
        end.results = (end.results[0], tuple(finals.values()))
        loop = [begin, *lifting.inner, end] if lifting.inner else []
        statements[first:] = [*lifting.before, *loop, *lifting.after]
        rec.move_scopes(first, inner)
        return [lifting.wholes[value] for value in made], finals | lifting.finals

    def _collected(self, output: Any, outputs: Any, wholes: Iterator[Value]) -> None:
        """Note which values stand for the outputs of all steps; ``output`` is that of one step."""
        rec = self.recording
        if isinstance(outputs, Tensor):
            rec.name(outputs, next(wholes))
        elif isinstance(output, Tensor):
            rec.sequences.new(outputs, next(wholes), looped=True)
        else:
            for one, all_ in zip(output, zip(*outputs, strict=True), strict=True):
                self._collected(one, all_, wholes)

    def part(self, steps: Any, first: int | None, last: int | None) -> Any:
        with self.recording.paused():
            return self._part(steps, first, last)

    def _part(self, steps: Any, first: int | None, last: int | None) -> Any:
        rec = self.recording
        entries = [each(torch.clone, entry) for entry in steps[first:last]]
        columns = pairs_with_steps(rec.sequences.whole(steps), entries[0])
        for place, (whole, like) in enumerate(columns):
            size = (len(entries), *like.shape)
            value = rec.call("torch.Tensor.__getitem__", (whole, slice(first, last)), size)
            rec.sequences.new([tensors(entry)[place] for entry in entries], value)
        return entries

    def cell(self, cell: nn.LSTMCell, input: Tensor, memory: Any) -> tuple[Tensor, Any]:
        rec = self.recording
        with rec.paused():
            given = self.state(memory)
        with rec.unrecorded():
            now = cell(input, real(given))
        state = State(rec.new(None, kind_of(now)), now, now, True)
        arguments = (rec.reference(input), *([] if given is None else [given.value]))
        rec.statement("", arguments, state.value, rec.layer(cell, nn.LSTMCell))
        with rec.paused():
            output = self.tensors_of(state)[0]
        return output, state

    def native(self, cls: Any, module: nn.Module, input: Tensor, memory: Any) -> tuple[Tensor, Any]:
        rec = self.recording
        with rec.paused():
            given = self.state(memory)
        with rec.unrecorded():
            output, now = cls.forward(module, input, real(given))
            rec.lengths.add(output.size(1 if module.batch_first else 0))
        arguments = (rec.reference(input), *([] if given is None else [given.value]))
        state = State(rec.new(None, kind_of(now)), now, now, True)
        results = (rec.new(output), state.value)
        rec.statement("", arguments, results, rec.layer(module, cls))
        return output, state
