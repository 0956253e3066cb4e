"""What a recurrent module remembers: its calls, and where in a graph its states are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar, overload

from torch import Tensor

from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.core.tape import Tape, current_tape
from compat.tensor_tables import map_tensors

T = TypeVar("T")

# What goes from one step to the next: the output and, of an LSTM, the cell.
State = list[Any]


class Stateful(Protocol):
    """What a call needs of a recurrent module."""

    step: int

    def known_state(self, step: int) -> State:
        """What is known of the state of a step; None for each entry that is not."""

    def leave(self, step: int, state: State) -> None:
        """Have a step left ``state``, of the graph that is being recorded."""

    def left(self) -> State:
        """What the latest step left, in the graph that is being recorded."""

    def gradient_given(self, step: int) -> State | None:
        """The gradient of the state of a step that somebody has set."""

    def gradient_went_back(self, step: int) -> None:
        """Backward has computed the gradient of the state of a step."""


class Call(Module):
    """One call of a recurrent module that is not part of a net's forward pass.

    The input is that of the module and the states of all recurrent modules in it; the output is
    its output and their next states.
    """

    def __init__(self, module: Module, recurrents: list[Any]) -> None:
        super().__init__()
        self.module = module
        self.recurrents: list[Stateful] = recurrents
        self.begun = self.ended = [recurrent.step for recurrent in recurrents]
        self.gradients: Any = (None, None)
        self._given: Any = None

    def states(self) -> list[State]:
        """The states that it begins with."""
        steps = zip(self.recurrents, self.begun, strict=True)
        return [recurrent.known_state(step - 1) for recurrent, step in steps]

    @deterministic
    def compute(self, input: Any) -> Any:
        given, states = input
        for recurrent, step, state in zip(self.recurrents, self.begun, states, strict=True):
            if all(entry is not None for entry in state):
                recurrent.leave(step - 1, state)
        output = self.module.run(given)
        self.ended = [recurrent.step for recurrent in self.recurrents]
        return [output, [recurrent.left() for recurrent in self.recurrents]]

    def take(self, gradOutput: Any, later: Call | None) -> None:
        """Set the gradient of the output, and those of the states from the call after it."""
        states = [None] * len(self.recurrents) if later is None else later.gradients[1]
        given = [
            recurrent.gradient_given(step - 1)
            for recurrent, step in zip(self.recurrents, self.ended, strict=True)
        ]
        states = [s if g is None else g for s, g in zip(states, given, strict=True)]
        self._given = [gradOutput, states]

    def back(self, scale: Scalar | None) -> Any:
        """The gradients of the input and the states; with ``scale`` also of the parameters."""
        if scale is None:
            self.gradients = self.updateGradInput(self._source(), self._given)
        else:
            self.gradients = self.backward(self._source(), self._given, scale)
        for recurrent, step in zip(self.recurrents, self.begun, strict=True):
            recurrent.gradient_went_back(step - 1)
        return self.gradients[0]

    def _source(self) -> Any:
        assert self.latest_tape is not None
        return self.latest_tape.source

    def accumulate(self, scale: Scalar) -> None:
        """Add the gradients of the parameters."""
        self.accGradParameters(self._source(), self._given, scale)


def is_of_a_call(tape: Tape) -> bool:
    """Whether a graph is that of one call."""
    return isinstance(tape.module(), Call)


class Trace:
    """What a recurrent module remembers since it forgot.

    ``graph``: the latest graph of several steps. By step, with the graph that each is in: ``left``,
    the states as they were left; ``taken``, as the next step took them, which have the gradients of
    what comes after alone. ``gradients``, of states, that were set by hand.

    ``calls``: those by itself that backward can go through, the latest last; ``seen`` and
    ``added``, how many of these updateGradInput and accGradParameters have gone through;
    ``grad_inputs``, theirs by step.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self.begin(None)
        self.gradients: dict[int, State] = {}
        self.calls: list[Call] = []
        self.seen = self.added = 0
        self.grad_inputs: dict[int, Any] = {}

    def begin(self, graph: Tape | None) -> None:
        """A graph of several steps begins: those of before are gone."""
        self.graph = graph
        self.left: dict[int, tuple[Tape, State]] = {}
        self.taken: dict[int, tuple[Tape, State]] = {}

    def call_back(self, count: int) -> Call:
        """The call before ``count`` later ones."""
        if count >= len(self.calls):
            raise RuntimeError(
                f"backward is called {count + 1} times, and {len(self.calls)} calls are remembered"
            )
        return self.calls[-1 - count]

    def take(self, step: int, known: State | None) -> State:
        """The state of a step, as the next takes it. ``known`` is what it is without graph."""
        tape = current_tape()
        assert tape is not None
        by, left = self.left.get(step, (None, []))
        if by is tape:
            state = map_tensors(lambda t: t[...], left)
        else:
            state = map_tensors(_leaf, known) if tape.recording else known
        if tape.recording:
            self.taken[step] = (tape, state)
        return state


def _leaf(tensor: Tensor) -> Tensor:
    # Of its own: the results of this pass may be written into those of the one before.
    leaf = tensor.detach().clone()
    return leaf.requires_grad_(True) if leaf.is_floating_point() else leaf


class computed(Generic[T]):
    """A field that is computed, unless an object has one of its own."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    @overload
    def __get__(self, thing: None, owner: type) -> computed[T]: ...
    @overload
    def __get__(self, thing: object, owner: type | None = None) -> T: ...
    def __get__(self, thing: object | None, owner: type | None = None) -> computed[T] | T:
        return self if thing is None else self.function(thing)
