"""Finds lists of tensors that are sequences; in the source each is one tensor, steps first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from compat.nn.source.program import Value
from compat.tensor_tables import tensors

if TYPE_CHECKING:
    from compat.nn.source.recording import Recording


class Unwritable(ValueError):
    """Raised for a net that no source can be written for."""


@dataclass
class Steps:
    """A list of steps; ``entry`` has one value for each tensor of a step."""

    entry: Any


@dataclass
class Fixed:
    """A value that is the same in all steps."""

    value: Value


@dataclass(eq=False)
class Sequence:
    """A value whose slices are tensors of the run.

    Attributes:
        length: the number of slices.
        whole: returns the value; may record a statement.
        select: returns the value of one slice.
        looped: whether a loop made the value.
    """

    length: int
    whole: Callable[[], Value]
    select: Callable[[int], Value]
    looped: bool = False


def gathered(form: Any, actual: Any) -> list[Tensor]:
    """Return the tensors for the values of a form, from ``actual``, a net's inputs or outputs."""
    if isinstance(form, Steps):
        parts = [gathered(form.entry, entry) for entry in actual]
        return [torch.stack(list(column)) for column in zip(*parts, strict=True)]
    if type(form) in (list, tuple):
        pairs = zip(form, actual, strict=True)
        return [tensor for part, own in pairs for tensor in gathered(part, own)]
    return tensors(actual) if isinstance(form, Value) else []


def values_of(form: Any) -> list[Value]:
    """Return the values of a form, in their order."""
    if isinstance(form, Steps):
        form = form.entry
    if type(form) in (list, tuple):
        return [value for part in form for value in values_of(part)]
    return [form] if isinstance(form, Value) else []


class Sequences:
    """Knows which tensors of a recorded run are slices of sequences."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self._entries: dict[int, tuple[Tensor, Sequence, int]] = {}
        self._given: dict[Value, tuple[list[Any], Any]] = {}
        self.inputs: list[Any] = []

    # What the net is given.

    def begin(self, inputs: Any) -> None:
        """Give each tensor in the net's inputs a value of its own."""
        self.inputs = [self._input(inputs, [])]

    def _input(self, part: Any, owners: list[Any]) -> Any:
        if isinstance(part, Tensor):
            value = self.recording.new(part)
            self._given[value] = (owners, part)
            return value
        node: list[Any] = []
        node += [self._input(entry, [*owners, (node, part)]) for entry in part]
        return node

    @property
    def form(self) -> Any:
        """The form of the net's inputs."""
        return _form(self.inputs[0])

    def _join(self, column: list[Value]) -> bool:
        """Turn the input list that holds ``column`` into sequences, if none of it was read yet."""
        owners = self._given[column[0]][0]
        for node, part in reversed(owners):
            found = [value for value in values_of(_form(node)) if value in self._given]
            if not set(column) <= set(found):
                continue
            if set(found) & self.recording.read or not _alike(part):
                return False
            entry = self._joined(part)
            node[:] = [Steps(entry)]
            return True
        return False

    def _joined(self, steps: list[Any]) -> Any:
        if not isinstance(steps[0], Tensor):
            return [self._joined(list(column)) for column in zip(*steps, strict=True)]
        return self.new(steps)

    # Slices of sequences.

    def new(self, steps: Any, value: Value | None = None, looped: bool = False) -> Value:
        """Return a value whose slices are ``steps`` from now on; a new one by default."""
        rec, size = self.recording, steps[0].shape
        whole = rec.new(None) if value is None else value
        rec.shapes[whole] = (len(steps), *size)

        def select(place: int) -> Value:
            return rec.call("torch.Tensor.__getitem__", (whole, place), size)

        self.follow(steps, Sequence(len(steps), lambda: whole, select, looped))
        return whole

    def follow(self, tensors: Any, sequence: Sequence) -> None:
        """Note that tensors are the slices of a sequence."""
        for place, tensor in enumerate(tensors):
            self.recording.forget(tensor)
            self._entries[id(tensor)] = (tensor, sequence, place)

    def entry(self, tensor: Tensor) -> tuple[Sequence, int] | None:
        """Return the sequence that a tensor is a slice of, and its place, or None."""
        found = self._entries.get(id(tensor))
        return None if found is None else found[1:]

    def is_sequence(self, steps: list[Any]) -> bool:
        """Return whether a list holds all outputs of a loop, in order or reversed."""
        if not steps or not all(isinstance(step, (Tensor, list)) for step in steps):
            return False
        if not _alike(steps):
            return False
        if not isinstance(steps[0], Tensor):
            return all(self.is_sequence(list(column)) for column in zip(*steps, strict=True))
        found = [self.entry(tensor) for tensor in steps]
        if None in found or len({id(sequence) for sequence, _ in found}) > 1:  # type: ignore[misc]
            return False
        places = [place for _, place in found]  # type: ignore[misc]
        return found[0][0].looped and places in (_all(places), _all(places)[::-1])  # type: ignore[index]

    def whole(self, steps: Any) -> Any:
        """Return the values for a list of steps, nested like one step."""
        if isinstance(steps, Tensor):
            return self.recording.reference(steps)
        if not _alike(steps):
            raise Unwritable("steps of a sequence differ in their sizes")
        if isinstance(steps[0], Tensor):
            return self._column(list(steps))
        return [self.whole(list(column)) for column in zip(*steps, strict=True)]

    def _column(self, steps: list[Tensor]) -> Any:
        rec = self.recording
        if len(steps) > 1 and len({id(step) for step in steps}) == 1:
            return Fixed(rec.reference(steps[0]))
        known = [rec.known(step) for step in steps]
        inputs = [value for value in known if value in self._given]
        if len(inputs) > 1:
            self._join(inputs)
        pieces, place = [], 0
        while place < len(steps):
            piece, length = self._piece(steps, place)
            pieces.append(piece)
            place += length
        if len(pieces) == 1:
            return pieces[0]
        size = (len(steps), *steps[0].shape)
        return rec.call("torch.cat", (pieces,), size)

    def _piece(self, steps: list[Tensor], first: int) -> tuple[Value, int]:
        """Return one value for as many steps from ``first`` on as possible, and their number."""
        rec = self.recording
        found = self.entry(steps[first])
        if found is None:
            size = (1, *steps[first].shape)
            given = rec.reference(steps[first])
            return rec.call("torch.Tensor.unsqueeze", (given, 0), size), 1
        sequence, begin = found
        length = 1
        step = 0
        while first + length < len(steps):
            after = self.entry(steps[first + length])
            if after is None or after[0] is not sequence:
                break
            gap = after[1] - begin - step * (length - 1)
            if gap not in (1, -1) or (step and gap != step):
                break
            step = gap
            length += 1
        whole = sequence.whole()
        size = (length, *steps[first].shape)
        if step < 0:
            if length < sequence.length:
                return self._single(whole, begin, steps[first]), 1
            return rec.call("torch.Tensor.flip", (whole, 0), size), length
        if length == sequence.length:
            return whole, length
        part = slice(begin or None, begin + length)
        return rec.call("torch.Tensor.__getitem__", (whole, part), size), length

    def _single(self, whole: Value, place: int, like: Tensor) -> Value:
        part = slice(place, place + 1)
        return self.recording.call("torch.Tensor.__getitem__", (whole, part), (1, *like.shape))


def _form(node: Any) -> Any:
    if isinstance(node, list) and len(node) == 1 and isinstance(node[0], Steps):
        return node[0]
    return [_form(part) for part in node] if isinstance(node, list) else node


def _alike(steps: Any) -> bool:
    """Return whether all steps have the same form and sizes."""

    def form(part: Any) -> Any:
        if isinstance(part, Tensor):
            return part.shape
        return [form(inner) for inner in part] if isinstance(part, (list, tuple)) else part

    return all(form(step) == form(steps[0]) for step in steps)


def _all(places: list[int]) -> list[int]:
    return list(range(len(places)))


def pairs_with_steps(whole: Any, entry: Any) -> list[tuple[Any, Tensor]]:
    """Return pairs of a sequence's values and the tensors of one step."""
    if isinstance(entry, Tensor):
        return [(whole, entry)]
    return [
        pair for part, own in zip(whole, entry, strict=True) for pair in pairs_with_steps(part, own)
    ]
