"""A net's forward and backward as graphs of PyTorch operators, to be compiled.

The net is recorded as ever, on tensors without memory that stand for its own, and what PyTorch does
forward and back is written down: gradients are those of the modules, of functions with gradients of
their own too. Nothing of the net changes meanwhile. What a graph cannot hold is found out here:
modules that compute their own gradients, fields that are another number in every pass, decisions
that depend on values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.fx import GraphModule

from compat import random
from compat.nn.core.accumulating_linear import LARGE
from compat.nn.core.operators import divided, draws_random_numbers, factored, written
from compat.nn.core.slots import RESULTS, Slot
from compat.nn.core.tape import Recorded, Tape
from compat.random.fill import Filling, filled_by
from compat.tensor_tables import map_tensors, tensors
from compat.torch_internals import shape_mode, version


class Untraceable(Exception):
    """The net can be computed, but not as a graph; tells why."""


@dataclass
class Graphs:
    """Forward and backward of a net for one form of input.

    What goes in is told by pairs of a kind and a number: ``("held", 2)`` is the tensor of the
    net's third group of slots, ``("draw", 0)`` what the first of ``draws`` gives, ``("input", 0)``
    the first tensor of the input, ``("gradOutput", 0)`` that for the first of ``ends``, which are
    those tensors of the output that have a gradient, and ``("kept", 0)`` the first of what forward
    has kept.

    ``forward`` takes ``taken``. It returns the tensors of ``output``; the new values of held
    tensors and of inputs that the net changes in place, ``changed`` and ``changed_inputs``; those
    of ``fields`` that it sets; and what is kept. ``backward``, None where nothing has a gradient,
    takes ``sources`` and returns the gradients of the held tensors that ``trained`` counts and of
    the inputs that ``reached`` counts; of large matrices that ``products`` tells two factors.
    """

    forward: GraphModule
    backward: GraphModule | None
    output: Any
    draws: list[Filling]
    taken: list[tuple[str, int]]
    changed: list[int]
    changed_inputs: list[int]
    fields: list[tuple[dict[str, Any], str]]
    ends: list[int]
    sources: list[tuple[str, int]]
    trained: list[int]
    products: list[bool]
    reached: list[int]


def trace(net: Recorded, groups: Sequence[Sequence[Slot]], input: Any, to_input: bool) -> Graphs:
    """The graphs of ``net`` for inputs of the form of ``input``.

    Args:
        net: it has gone forward with such an input before, so that its fields have settled.
        groups: its tensors' slots, those together that share memory and gradient.
        to_input: whether there is to be a gradient of the input.

    Raises ``Untraceable``, or whatever an operator says of tensors without memory.
    """
    return _Trace(net, groups, input, to_input).graphs()


class _Trace:
    def __init__(
        self, net: Recorded, groups: Sequence[Sequence[Slot]], input: Any, to_input: bool
    ) -> None:
        self.net, self.groups, self.input, self.to_input = net, groups, input, to_input
        self.recording = torch.is_grad_enabled()
        self.draws: list[Filling] = []
        self.changed: list[int] = []
        self.changed_inputs: list[int] = []
        self.fields: list[tuple[dict[str, Any], str]] = []
        self.trained: list[int] = []
        self.ends: list[int] = []
        self.output: Any = None
        self.shapes: list[Any] = []
        self.gradients: list[tuple[str, int]] = []

    def graphs(self) -> Graphs:
        held = [group[0].get() for group in self.groups]
        given = list(tensors(self.input))
        mode, generator = shape_mode(), random.getRNGState()
        like = [mode.from_tensor(tensor.detach(), static_shapes=True) for tensor in (*held, *given)]
        stand_ins, inputs = like[: len(held)], like[len(held) :]
        with torch.inference_mode(False), torch.set_grad_enabled(self.recording):
            try:
                with mode:
                    self._look(held, stand_ins, inputs)
                if not torch.equal(generator, random.getRNGState()):
                    raise Untraceable("a module draws single random numbers")
                with mode:
                    return self._written(held, stand_ins, inputs)
            finally:
                random.setRNGState(generator)

    def _look(self, held: list[Tensor], like: list[Tensor], given: list[Tensor]) -> None:
        """Go forward once to see what happens besides."""

        def note(tensor: Tensor, filling: Filling) -> Tensor:
            self.draws.append(filling)
            return tensor

        own = self._own(held, like)
        inputs = [tensor.detach() for tensor in given]
        with self._replaced(own), filled_by(note):
            before = [dict(table) for table in self._tables()]
            held_versions, versions = [version(t) for t in own], [version(t) for t in inputs]
            tape = self._forward(inputs)
            assert tape.root is not None
            self.changed = [i for i, t in enumerate(own) if version(t) != held_versions[i]]
            self.changed_inputs = [i for i, t in enumerate(inputs) if version(t) != versions[i]]
            position = {id(t): i for i, t in enumerate(own)}
            self.trained = sorted({position[id(p)] for p in tape.parameters})
            outputs = list(tensors(tape.root.output))
            self.ends = [i for i, t in enumerate(outputs) if t.requires_grad]
            self.output = map_tensors(lambda _: _TENSOR, tape.root.output)
            self.shapes = [(t.shape, t.dtype, t.device) for t in outputs]
            self._compare(before)
            tape.release()

    def _tables(self) -> list[dict[str, Any]]:
        return [vars(module) for module in self.net.listModules()]

    def _compare(self, before: list[dict[str, Any]]) -> None:
        """Find the fields that going forward has set: new tensors, or else what cannot be had."""
        for module, known in zip(self.net.listModules(), before, strict=True):
            for name, value in vars(module).items():
                earlier = known.get(name, _TENSOR)
                if name in RESULTS or value is earlier:
                    continue
                if isinstance(value, Tensor):
                    self.fields.append((vars(module), name))
                elif any(True for _ in tensors(value)) or value != earlier:
                    raise Untraceable(
                        f"{name} of {module.typename} is another one after every pass"
                    )

    @staticmethod
    def _own(held: list[Tensor], like: Sequence[Tensor]) -> list[Tensor]:
        """Stand-ins that can be given gradients, where the tensors have them."""
        own = []
        for tensor, stand_in in zip(held, like, strict=True):
            new = stand_in.detach()
            if tensor.grad is not None:
                new.grad = stand_in.detach()
            if tensor.requires_grad:
                new.requires_grad_(True)
            own.append(new)
        return own

    @contextmanager
    def _replaced(self, stand_ins: list[Tensor]) -> Iterator[None]:
        """Have the net hold other tensors for a while; after it, the net is as before."""
        fields = [(table, dict(table)) for table in self._tables()]
        held = [(slot, slot.get()) for group in self.groups for slot in group]
        try:
            for group, stand_in in zip(self.groups, stand_ins, strict=True):
                for slot in group:
                    slot.set(stand_in)
            yield
        finally:
            for table, former in fields:
                table.clear()
                table.update(former)
            for slot, tensor in held:
                slot.set(tensor)

    def _forward(self, inputs: list[Tensor]) -> Tape:
        for module in self.net.listModules():
            # Not to be released: they are those of the latest real pass.
            vars(module).pop("latest_tape", None)
            vars(module).pop("latest_record", None)
        given = iter(inputs)
        tape = Tape.replay(self.net, map_tensors(lambda _: next(given), self.input), self.to_input)
        if tape.cuts:
            raise Untraceable(f"{tape.cuts[0].module.typename} computes its own gradients")
        if tape.ends:
            raise Untraceable("modules remember their calls")
        return tape

    def _written(self, held: list[Tensor], like: list[Tensor], given: list[Tensor]) -> Graphs:
        draws = [torch.empty(d.shape, dtype=d.dtype) for d in self.draws]
        ends = [
            torch.empty(shape, dtype=dtype, device=device)
            for shape, dtype, device in (self.shapes[i] for i in self.ends)
        ]
        parts = dict(zip(_PARTS, (like, draws, given, ends), strict=True))

        def passes(*flat: Tensor) -> list[Tensor]:
            remaining = iter(flat)
            return self._passes(held, *([next(remaining) for _ in own] for own in parts.values()))

        flat = [tensor for own in parts.values() for tensor in own]
        names = [(name, i) for name, own in parts.items() for i in range(len(own))]
        graph = written(passes, flat)
        if draws_random_numbers(graph):
            raise Untraceable("a module draws PyTorch's random numbers")
        extra = (self.changed, self.changed_inputs, self.fields)
        halves = divided(graph, flat, len(self.shapes) + sum(len(own) for own in extra), len(ends))
        trained = [i for kind, i in self.gradients if kind == "held"]
        return Graphs(
            halves.first,
            halves.second,
            self.output,
            self.draws,
            [names[i] for i in halves.taken],
            self.changed,
            self.changed_inputs,
            self.fields,
            self.ends,
            [("kept", i) if kept else names[i] for kept, i in halves.sources],
            trained,
            factored(halves.second, len(trained), LARGE) if halves.second else [],
            [i for kind, i in self.gradients if kind == "input"],
        )

    def _passes(
        self,
        held: list[Tensor],
        like: list[Tensor],
        draws: list[Tensor],
        inputs: list[Tensor],
        ends: list[Tensor],
    ) -> list[Tensor]:
        """Forward and backward, of which the operators are written down."""
        like = [t.clone() if i in self.changed else t for i, t in enumerate(like)]
        inputs = [t.clone() if i in self.changed_inputs else t for i, t in enumerate(inputs)]
        own, numbers, given = self._own(held, like), iter(draws), iter(ends)
        with self._replaced(own), filled_by(lambda tensor, _: tensor.copy_(next(numbers))):
            tape = self._forward(inputs)
            assert tape.root is not None
            output = tape.root.output
            results = [*tensors(output), *(own[i] for i in self.changed)]
            results += [inputs[i] for i in self.changed_inputs]
            results += [table[name] for table, name in self.fields]
            wanted = [("held", i, own[i]) for i in self.trained if self.recording]
            leaves = enumerate(tensors(tape.leaves))
            wanted += [("input", i, leaf) for i, leaf in leaves if leaf.requires_grad]
            gradOutput = map_tensors(lambda t: next(given) if t.requires_grad else None, output)
            found = tape.gradients_from(gradOutput, [t for _, _, t in wanted])
            tape.release()
        reached = [(own, g) for own, g in zip(wanted, found, strict=True) if g is not None]
        self.gradients = [(kind, i) for (kind, i, _), _ in reached]
        return [t.detach() for t in results] + [g for _, g in reached]


_PARTS = ("held", "draw", "input", "gradOutput")
# Stands where a tensor is in a table; no tensor has it.
_TENSOR = torch.empty(0)
