"""Passes of a net through compiled code (``Module.compile``).

The first pass with an input of some form (size, type, mode of the net) is computed as ever. In the
second one the net's forward and backward are written down as graphs (``tracing``) and compiled
(``operators``); later ones run them. Results inside the net are not there then: who reads one has
the net go forward again behind the scenes, as after a backward that has freed them
(``recomputation``). Nets that compute alike, such as the clones of a recurrent step and the
replicas of a container, share the code.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from itertools import count
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat.nn.core.adding import Adding
from compat.nn.core.net_state import NetState
from compat.nn.core.operators import compiled, compiling
from compat.nn.core.tape import Record, Recorded, Tape, fitted
from compat.nn.core.tracing import Untraceable, trace
from compat.random.fill import filled_by
from compat.tensor_tables import form, map_tensors, pairs, tensors
from compat.torch_internals import versions

# How many forms of input are compiled; others are computed normally.
FORMS = 8
# A gradient, or two matrices of which it is the product.
Gradient = tuple[Tensor, Tensor | None]
# Passes of forms that were not there before, one after the other, until that is said; and how many
# forms are remembered.
_SEEN, _REMEMBERED = 20, 1000


class Compilation:
    """The compiled passes of one net, and when they serve. A copy of the net begins without any."""

    def __init__(self) -> None:
        self._state: NetState | None = None
        self._codes: dict[Any, list[Code | None]] = {}
        self._seen: set[int] = set()
        self._count = self._in_a_row = 0
        self._warned = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Compilation:
        return memo.setdefault(id(self), Compilation())

    def __reduce__(self) -> tuple[Any, ...]:
        return Compilation, ()

    def record(self, net: Recorded, input: Any, to_input: bool) -> Tape | None:
        """Go forward through compiled code; None where this pass is to be computed normally."""
        try:
            wanted = (
                torch.is_grad_enabled(),
                torch.is_inference_mode_enabled(),
                to_input,
                torch.get_num_threads(),
                form(input, _form),
                tuple(_autocast(input)),
            )
            state = self._state
            if state is None or not state.holds():
                state = self._state = NetState(net)
            code = self._code(net, state, wanted, input, to_input)
        except Untraceable as error:
            self._state = None
            self._warn(str(error))
            return None
        return None if code is None else CompiledTape.run(net, input, to_input, code, state)

    def _code(
        self, net: Recorded, state: NetState, wanted: Any, input: Any, to_input: bool
    ) -> Code | None:
        known = self._codes.get((state.key, wanted), ())
        for code in known:
            if code is None or code.fits(state):
                return code
        number = hash((state.key, wanted))
        if number not in self._seen:
            self._in_a_row += 1
            if self._in_a_row > _SEEN:
                self._warn("the net or its input is another one in every pass")
            elif len(self._seen) < _REMEMBERED:
                self._seen.add(number)
            return None
        self._in_a_row = 0
        if self._count >= FORMS:
            self._warn(f"there have been {FORMS} forms of input and modes of the net already")
            return None
        self._count += 1
        made: Code | None = None
        try:
            with compiling:
                made = Code(net, state, input, to_input)
        except Exception as error:
            self._warn(_reason(error))
        self._codes.setdefault((state.key, wanted), []).append(made)
        # Tracing has set fields, and put them back.
        self._state = None
        return made

    def _warn(self, reason: str) -> None:
        if not self._warned:
            self._warned = True
            warnings.warn(f"compile: {reason}; such passes are computed normally", stacklevel=2)


class Code:
    """Forward and backward of a net for one form of input, compiled."""

    def __init__(self, net: Recorded, state: NetState, input: Any, to_input: bool) -> None:
        self.graphs = graphs = trace(net, state.groups, input, to_input)
        self._forms = [(i, _form(state.held[i])) for kind, i in graphs.taken if kind == "held"]
        self._fitting: NetState | None = None
        self._parameters: tuple[NetState, list[Tensor]] | None = None
        self.forward = compiled(graphs.forward)
        self.backward = None if graphs.backward is None else compiled(graphs.backward)

    def fits(self, state: NetState) -> bool:
        """Whether the tensors of the net have the form that they had."""
        if self._fitting is not state:
            if not all(_form(state.held[i]) == known for i, known in self._forms):
                return False
            self._fitting = state
        return True

    def parameters(self, state: NetState) -> list[Tensor]:
        """The parameters that this code trains, those that share memory too."""
        if self._parameters is None or self._parameters[0] is not state:
            held = (state.tensors[i] for i, _ in self._forms)
            found = [tensor for group in held for tensor in group if tensor.grad is not None]
            self._parameters = state, found
        return list(self._parameters[1])


class CompiledTape(Tape):
    """A pass through compiled code: a tape with one record, that of the net.

    Fields: ``saved``, what backward takes besides the gradOutput, in its order; ``draws``, the
    random numbers of this pass; ``hidden``, the record of all modules inside.
    """

    __slots__ = ("code", "draws", "hidden", "saved", "state")

    is_opaque: ClassVar[bool] = True

    def __init__(
        self, net: Recorded, input: Any, to_input: bool, code: Code, state: NetState
    ) -> None:
        super().__init__(net, input)
        self.to_input = to_input and self.recording and not net.stops_gradient
        self.leaves = map_tensors(Tensor.detach, input)
        self.code, self.state = code, state
        self.saved: list[Any] = []
        self.draws: list[Tensor] = []
        self.hidden = Record(None)

    @staticmethod
    def run(net: Recorded, input: Any, to_input: bool, code: Code, state: NetState) -> CompiledTape:
        """Go forward. The net's former tape is released first."""
        if net.latest_tape is not None:
            net.latest_tape.release()
        tape = CompiledTape(net, input, to_input, code, state)
        with torch.no_grad():
            output = tape._go_forward()
        tape.root = record = Record(tape.leaves)
        record.output = record.plain_output = output
        tape.records.append(record)
        for fields in state.fields:
            fields["latest_tape"], fields["latest_record"] = tape, tape.hidden
        vars(net)["latest_record"] = record
        return tape

    def _go_forward(self) -> Any:
        graphs, held = self.code.graphs, self.state.held
        inputs = list(tensors(self.leaves))
        self.draws = [draw() for draw in graphs.draws]
        given: dict[str, Any] = {"held": held, "draw": self.draws, "input": inputs}
        found = list(self.code.forward([given[kind][i] for kind, i in graphs.taken]))
        outputs = [self._apart(found.pop(0), inputs) for _ in tensors(graphs.output)]
        changes = [(held, i) for i in graphs.changed] + [(inputs, i) for i in graphs.changed_inputs]
        news, fields = found[: len(changes)], found[len(changes) :]
        given["kept"] = fields[len(graphs.fields) :]
        if self.recording and self.code.backward is not None:
            self.parameters = self.code.parameters(self.state)
            # What is changed now is to be as it was.
            changed = {id(table[i]) for table, i in changes}
            for kind, i in graphs.sources:
                tensor: Any = given[kind][i] if kind in given else None
                self.saved.append(tensor.clone() if id(tensor) in changed else tensor)
        for (table, i), new in zip(changes, news, strict=True):
            table[i].copy_(new)
        if self.saved:
            self.versions = versions(inputs)
        for (fields_of, name), value in zip(graphs.fields, fields, strict=False):
            fields_of[name] = value
        remaining = iter(outputs)
        return map_tensors(lambda _: next(remaining), graphs.output)

    @staticmethod
    def _apart(output: Tensor, inputs: list[Tensor]) -> Tensor:
        """A tensor of the output, which must not be one of the input."""
        return output.detach() if any(output is tensor for tensor in inputs) else output

    def release(self) -> None:
        super().release()
        self.saved, self.draws = [], []

    def lacks(self, record: Record | None, what: str) -> bool:
        return self.root is not None and (self.spent or record is not self.root)

    def is_shared(self, record: Record) -> bool:
        return record is self.hidden

    def repeating(self) -> AbstractContextManager[None]:
        numbers = iter(self.draws)
        return filled_by(lambda tensor, _: tensor.copy_(next(numbers)))

    def holds_parameters(self) -> bool:
        return True  # forward is repeated with what it saved

    def is_outdated(self) -> bool:
        return self.grad_outputs is not None and super().is_outdated()

    def takes(self, input: Any, read: bool) -> bool:
        if not self.is_source(input):
            return False
        self.source, self.source_versions = input, versions(tensors(input))
        return True

    def backward(
        self, record: Record, grad_output: Any, scale: float, to_input: bool, to_parameters: bool
    ) -> Any:
        if (
            not Tape.takes_changed_input
            and self.saved
            and self.versions != versions(tensors(self.leaves))
        ):
            raise RuntimeError("the input was modified by an inplace operation since forward")
        with torch.no_grad():
            found = self._go_back(self._ends(record.output, grad_output))
            graphs, gradients = self.code.graphs, iter(found)
            trained: list[Gradient] = [
                (next(gradients), next(gradients) if is_product else None)
                for is_product in graphs.products
            ]
            if to_parameters:
                self._add(trained, scale, announced=to_input and scale == 1)
        reached = dict(zip(graphs.reached, gradients, strict=True))
        self.given = grad_output
        grad_output = self._to_keep(grad_output)
        self._begun_with(grad_output, [], list(tensors(grad_output)))
        if to_input and to_parameters and scale == 1 and not self.keep:
            self.saved, self.spent = [], True
        numbers = count()
        return map_tensors(lambda _: reached.get(next(numbers)), self.leaves) if to_input else None

    def _ends(self, output: Any, grad_output: Any) -> list[Tensor]:
        """What backward takes for the tensors of the output that have a gradient."""
        given = [
            torch.zeros_like(tensor) if grad is None else fitted(grad, tensor).contiguous()
            for tensor, grad in pairs(output, grad_output, ("output", "gradOutput"))
        ]
        return [given[i] for i in self.code.graphs.ends]

    def _go_back(self, ends: list[Tensor]) -> Sequence[Tensor]:
        if self.code.backward is None:
            return ()
        sources = zip(self.code.graphs.sources, self.saved, strict=True)
        return self.code.backward(
            [ends[i] if kind == "gradOutput" else tensor for (kind, i), tensor in sources]
        )

    def _add(self, gradients: list[Gradient], scale: float, announced: bool) -> None:
        adding, trained = Adding(scale, announced), self.code.graphs.trained
        adding.add([self.state.held[i] for i in trained], gradients)
        for i in trained:
            adding.announce(self.state.tensors[i])


def _form(tensor: Tensor) -> Any:
    return tensor.shape, tensor.stride(), tensor.dtype, tensor.device


def _autocast(input: Any) -> Any:
    kinds = sorted({"cpu", *(tensor.device.type for tensor in tensors(input))})
    return [torch.get_autocast_dtype(k) if torch.is_autocast_enabled(k) else None for k in kinds]


def _reason(error: Exception) -> str:
    """The first line of what went wrong."""
    lines = str(error).strip().splitlines()
    kind = type(error).__name__
    if kind == "DataDependentOutputException":
        return f"a module decides by values ({lines[0]})"
    if "FakeTensors" in str(error):
        return "a module computes with tensors that are not among its fields"
    return f"{kind}: {lines[0]}" if lines else kind
