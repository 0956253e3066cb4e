"""Recurrent layers that take a whole sequence as one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_tensor, given
from compat.nn.checks.tensors import ANYTHING, check_type
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module, Scalar
from compat.nn.functional import recurrent as f

W = TypeVar("W", bound="WholeSequence")


class WholeSequence(Module, abstract=True):
    """A layer over whole sequences, with states that go from each step to the next.

    The input is a sequence, or a list of states to start with and the sequence. A state that is not
    given is zero, or what the call before ended with if the layer ``remembers()``. In files it is
    where Lua goes on from: in the last step of ``cell`` and of the output.

    Fields: ``h0``, of an LSTM ``c0`` too, what the latest call started from unless its input had
    it, empty where the next is to start from zeros; ``gates``, and of an LSTM ``cell``, of all
    steps.

    Raises:
        ValueError: states of other sizes than the input needs, as for another number of sequences
            while states are remembered.

    Differs from Torch7: ``updateGradInput`` leaves the gradients of the parameters to
    ``accGradParameters``, ``scale`` may be any number, and ``backwardUpdate`` works.
    """

    takes = ANYTHING
    nil_stops_gradient = False  # Lua's clearState leaves it out
    pass_fields: ClassVar[tuple[str, ...]] = ("gates", "_hidden", "_at_gates", "_at_outputs")
    # The dimension of steps where it computes.
    time: ClassVar[int]
    # What the states are called in files; the last is the output.
    _states: ClassVar[tuple[str, ...]]
    # How many matrices the weight holds side by side.
    _gates: ClassVar[int]
    # The field of files that the output is kept in.
    _file_output: ClassVar[str]
    # The method after which it starts from zeros.
    _forgets: ClassVar[str]
    h0: Tensor
    cell: Tensor
    gates: Tensor
    # The outputs of the latest call, with the steps in the dimension ``time``.
    _outputs: Tensor | None = None
    # The gradients at the gates, and at the outputs, until they are added to the parameters'.
    _at_gates: Tensor | None = None
    _at_outputs: Tensor | None = None

    def starts_with_batch(self) -> bool:
        """Return whether sequences are ``N x T x D``, not ``T x N x D``."""
        raise NotImplementedError

    def remembers(self) -> bool:
        """Return whether it starts from the end of the call before in the present mode."""
        raise NotImplementedError

    def over(self, steps: Tensor, states: list[Tensor]) -> Tensor:
        """Return the outputs; leaves what ``back`` needs. Classes define it."""
        raise NotImplementedError

    def back(
        self, steps: Tensor, states: list[Tensor], gradOutput: Tensor, ends: list[Tensor]
    ) -> tuple[Tensor, list[Tensor]]:
        """Return the gradients at the gates and of ``states``; ``ends``, those of the
        last states.
        """
        raise NotImplementedError

    def updateOutput(self, input: Any) -> Tensor:
        sequence, states = self._split(input)
        self._matrices()
        steps = self._steps(sequence)
        batch = steps.size(1 - self.time)
        names = self._states[: len(self._states) - len(states)]
        sizes = [(batch, width) for width in self._widths()]
        for state, size in zip(states, sizes[len(names) :], strict=True):
            check_state(state, "input has", size, steps)
        for i, name in enumerate(names):
            setattr(self, name, self._first(i, name, sizes[i], steps))
        self._at_gates = self._at_outputs = None
        return self._set_outputs(self.over(steps, self._begun(states)))

    def _set_outputs(self, outputs: Tensor) -> Tensor:
        """Make ``outputs``, as it has computed them, the output."""
        self._outputs = outputs = self.set_output(outputs)
        return outputs

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        sequence, states = self._split(input)
        gradients = self._back(self._steps(sequence), states, gradOutput)
        if self.gradInput is None:
            return None
        assert self._at_gates is not None
        found = f.recurrent_grad_input(self._at_gates, self.weight, sequence.size(2))
        found = self._turned(found).to(sequence.dtype)
        return self.set_gradInput([*gradients[-len(states) :], found] if states else found)

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        sequence, states = self._split(input)
        steps = self._steps(sequence)
        if self._at_gates is None:
            self._back(steps, states, gradOutput)
        assert self._at_gates is not None and self._outputs is not None
        self.accumulate(steps, self._begun(states)[-1], self._outputs, self._at_gates, scale)
        self._at_gates = self._at_outputs = None

    def accumulate(
        self, steps: Tensor, h0: Tensor, outputs: Tensor, at_gates: Tensor, scale: Scalar
    ) -> None:
        """Add the gradients of the parameters."""
        gradients = self.weight.grad, self.bias.grad
        reset = self.reset_gates()
        f.recurrent_acc_(steps, outputs, h0, at_gates, *gradients, scale, self.time, reset)

    def reset_gates(self) -> Tensor | None:
        """Return what the output before is multiplied with, where the new input sees it."""
        return None

    def _back(self, steps: Tensor, states: list[Tensor], gradOutput: Any) -> list[Tensor]:
        """Return the gradients of the states; those at the gates go to ``_at_gates``."""
        if self._outputs is None or "gates" not in vars(self):
            raise RuntimeError("backward needs a forward pass first")
        given = self._turned(check_tensor(gradOutput, "gradOutput"))
        if given.shape != self._outputs.shape:
            raise ValueError(
                f"gradOutput has size {tuple(gradOutput.shape)}; that of the output, "
                f"{tuple(self._turned(self._outputs).shape)}, is accepted"
            )
        begun = self._begun(states)
        ends = [torch.zeros_like(state) if end is None else end for end, state in self._ends(begun)]
        given = given.to(self.gates.dtype)
        self._at_gates, gradients = self.back(steps, begun, given, ends)
        return [found.to(state.dtype) for found, state in zip(gradients, begun, strict=True)]

    def _ends(self, states: list[Tensor]) -> Sequence[tuple[Tensor | None, Tensor]]:
        """Return the gradients of the last states that come from outside, each with a state."""
        return [(None, state) for state in states]

    def _split(self, input: Any) -> tuple[Tensor, list[Any]]:
        """Return the sequence and the states to start with."""
        *states, sequence = input if isinstance(input, (list, tuple)) else [input]
        if len(states) > len(self._states):
            most = len(self._states) + 1
            raise ValueError(f"input is a table of {len(states) + 1}; up to {most} are accepted")
        return sequence, states

    def _begun(self, states: list[Any]) -> list[Tensor]:
        """Return all states to start with."""
        own = self._states[: len(self._states) - len(states)]
        return [*(getattr(self, name) for name in own), *states]

    def _turned(self, sequence: Tensor) -> Tensor:
        """Return a sequence as it is given, with the steps in the dimension ``time``, or the way
        back.
        """
        return sequence

    def _matrices(self) -> None:
        """Check the sizes of the parameters, which files may have changed."""
        size, rest = divmod(self.bias.numel(), self._gates)
        columns = self._gates * size
        if rest or not size or self.weight.shape != (max(len(self.weight), size + 1), columns):
            raise ValueError(
                f"weight has size {tuple(self.weight.shape)}, bias {tuple(self.bias.shape)}; "
                f"D + H x {self._gates}·H and {self._gates}·H are accepted"
            )
        check_type(self.bias, self.weight, "bias", "weight")

    def _widths(self) -> tuple[int, ...]:
        """Return how many features each state has."""
        return (self.bias.numel() // self._gates,) * len(self._states)

    def _steps(self, sequence: Any) -> Tensor:
        features = len(self.weight) - self._widths()[-1]
        if check_tensor(sequence).dim() != 3 or sequence.size(2) != features:
            order = "N x T" if self.starts_with_batch() else "T x N"
            raise ValueError(
                f"input has size {tuple(sequence.shape)}; {order} x {features} is accepted"
            )
        check_type(sequence, self.weight)
        return self._turned(sequence)

    def _first(self, i: int, name: str, size: tuple[int, int], like: Tensor) -> Tensor:
        """Return the state number ``i``, which the input does not have, in the first step."""
        ended = self._ended()
        if not (self.remembers() and getattr(self, name).numel() and ended):
            return like.new_zeros(size)
        state = ended[i]
        if len(state) != size[0]:
            raise ValueError(
                f"input has {size[0]} sequences, the call before had {len(state)}; to remember "
                f"states their number must stay, or {self._forgets}() be called"
            )
        return check_state(state.clone(), "the call before ended with", size, like)

    def _ended(self) -> list[Tensor]:
        """Return the states that the latest call ended with; none if there was none."""
        if self._outputs is None:
            return []
        kept = (self.cell, self._outputs) if len(self._states) == 2 else (self._outputs,)
        return [steps.select(self.time, -1) for steps in kept]

    def forget(self: W) -> W:
        """Have the next call start from zeros."""
        for name in self._states:
            setattr(self, name, self._empty())
        return self

    def _drop_states(self) -> None:
        """Drop all states, as before the first call."""
        self.forget()
        self._outputs = None
        if len(self._states) == 2:
            self.cell = self._empty()

    def clearState(self: W) -> W:
        self._drop_states()
        self.__dict__.pop("gates", None)
        return super().clearState()

    def convert(self, conversion: Conversion, name: str) -> None:
        if self._outputs is not None:
            # Whoever was given these results goes on having them as they are.
            self._outputs = self._outputs.detach()
        super().convert(conversion, name)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("_outputs", None)
        continued = any(getattr(self, name).numel() for name in self._states)
        for name in self._states:
            fields[name] = getattr(self, name)
        ended = self._ended() if continued else []
        for place, state in zip(self._places(), ended, strict=False):
            fields[place] = state.unsqueeze(self.time).clone(memory_format=torch.contiguous_format)
        return fields

    def _places(self) -> tuple[str, ...]:
        """Return the fields of files that hold the states of all steps."""
        return ("cell", self._file_output)[-len(self._states) :]

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        starts = [fields.pop(name, None) for name in self._states]
        ended: list[Any] = [fields.get(place) for place in self._places()]
        super().t7_restore(fields, version)
        self._drop_states()
        dim = self.time
        if all(isinstance(e, Tensor) and e.dim() == 3 and e.size(dim) for e in ended):
            last = [state.narrow(dim, state.size(dim) - 1, 1) for state in ended]
            t7.claim(sum(state.nbytes for state in last))
            *cell, self._outputs = (state.clone() for state in last)
            if cell:
                [self.cell] = cell
            for name, start in zip(self._states, starts, strict=True):
                if start is not None:
                    setattr(self, name, start)


def check_state(state: Any, told: str, size: tuple[int, int], like: Tensor) -> Tensor:
    """Check a state to start with."""
    if not isinstance(state, Tensor) or state.shape != size:
        found = tuple(state.shape) if isinstance(state, Tensor) else given(state)
        raise ValueError(
            f"{told} a state of size {found} for {size[0]} sequences; "
            f"{size[0]} x {size[1]} is accepted"
        )
    check_type(state, like, f"{told} a state that", "the sequence")
    return state
