"""Modules with a memory: what they output depends on what they were given before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.error_place import locate
from compat.nn.containers.basic import Container
from compat.nn.core.module import Module, Scalar
from compat.nn.core.recomputation import gradients_at_backward
from compat.nn.core.tape import Tape, current_tape
from compat.nn.layers.reinforce import Reinforce
from compat.nn.recurrent.calls import Call, State, Trace, computed, is_of_a_call
from compat.nn.recurrent.masking import MaskZero, TrimZero
from compat.tensor_tables import map_tensors

R = TypeVar("R", bound="AbstractRecurrent")
M = TypeVar("M", bound=Module)


def shared_clone(module: M) -> M:
    """A copy of ``module`` that trains the same parameters (Torch7's dpnn: ``sharedClone``)."""
    return module.sharedClone()


def step_clone(module: M) -> M:
    """A ``shared_clone`` for another step (rnn: ``stepClone``).

    The recurrent modules in it are the same, as they have copies for each step themselves.
    """
    return module.sharedClone(stepClone=True)


def forget(module: Module) -> None:
    """Have every recurrent module in ``module`` start anew (rnn: ``Module:forget``)."""
    for inner in module.listModules():
        if hasattr(inner, "forget_itself"):
            inner.forget_itself()


def recurrents_in(module: Module) -> list[AbstractRecurrent]:
    """The recurrent modules in ``module``, itself included."""
    return [inner for inner in module.listModules() if isinstance(inner, AbstractRecurrent)]


def _is_of_this_file(method: Any) -> bool:
    return getattr(method, "__module__", None) == __name__


class AbstractRecurrent(Container):
    """The base of modules that keep a memory from one call to the next until they forget.

    Torch7: ``nn.AbstractRecurrent`` of the package rnn. There are two ways to write one:

    * state the computation of one step, as ``compute(input)``: it takes what the step before left
      by ``recalled(input)``, calls ``recurrentModule`` by ``advance(input)``, and leaves its
      results by ``memorize(output)``;
    * write Torch7's methods, ``updateOutput(input)``, ``_updateGradInput(input, gradOutput)`` and
      ``_accGradParameters(input, gradOutput, scale)``, with ``recycle()``, ``getStepModule(step)``
      and the fields below.

    Inside a ``Sequencer`` the whole sequence is one graph. Called by itself or in another net, in
    training, a module remembers its calls, and each call of backward goes back one of them, from
    the latest on.

    Args:
        rho: backward can go through one call more.

    Fields: ``step``, the number from 1 of the next call since it forgot; ``outputs``, by step, and
    ``gradOutputs``, their gradients from the step after; ``recurrentModule``, what is computed in
    each step; ``sharedClones``, by step the copies of it that compute: there is one for each step
    where results are kept (``keepResults``), where a module in it computes its own gradients or
    learns from a reward (``nn.Reinforce``);
    ``userNextGradOutput``, the gradient of the last output from a step after it, None for none.

    Differs from Torch7: copies and files go on with the memory, but cannot go back through calls
    before them; in evaluation only the state of the latest step is there; the oldest of more than
    ``rho + 1`` calls that backward goes through takes the memory that it began with, which Torch7
    has overwritten with that of the latest call by then.
    """

    dpnn_stepclone = True
    transient_fields: ClassVar[tuple[str, ...]] = (
        *("unrolled_in", "_begun_in", "_traced", "gradInputs", "gradOutputs", "_gradOutputs"),
        *("updateGradInputStep", "accGradParametersStep", "gradPrevOutput"),
    )
    scratch_fields: ClassVar[tuple[str, ...]] = (
        *("sharedClones", "nSharedClone", "outputs", "gradInputs", "_gradOutputs", "cells"),
        *("gradCells", "gradPrevOutput", "cell", "zeroTensor", "updateGradInputStep"),
        *("accGradParametersStep", "rmInSharedClones", "module", "inputs"),
        *("gradOutputs", "scales", "fastBackward", "copyInputs", "copyGradOutputs"),
        *("gradParametersAccumulated", "onlineBackward", "typeTensor"),
    )
    remembers_calls = True
    # The tables of what goes from each step to the next, and the fields with what the first step
    # gets instead of zeros, and with the gradients that the last gets.
    state_fields: ClassVar[tuple[str, ...]] = ("outputs",)
    start_fields: ClassVar[tuple[str, ...]] = ("userPrevOutput",)
    end_fields: ClassVar[tuple[str, ...]] = ("userNextGradOutput",)
    step: int = 1
    outputs: dict[int, Any]
    userPrevOutput: Any = None
    userNextGradOutput: Any = None
    updateGradInputStep: int | None = None
    accGradParametersStep: int | None = None
    # The graph that its steps are part of in training, too; the one in which it forgot.
    unrolled_in: Tape | None = None
    _begun_in: Tape | None = None
    _traced: Trace | None = None
    # How many calls were remembered at most.
    _most: int = 0

    @nil_is_default
    def __init__(self, rho: int = 99999) -> None:
        super().__init__()
        self.rho = whole(rho, "rho", 1)
        self.step = 1
        self.sharedClones: dict[int, Module] = {}
        self._clear_tables()

    def _clear_tables(self) -> None:
        for name in ("outputs", *self.state_fields):
            setattr(self, name, {})
        if self._computes_gradients():
            for name in ("gradInputs", "gradOutputs", "_gradOutputs"):
                setattr(self, name, {})

    @classmethod
    def _computes_gradients(cls) -> bool:
        """Whether it is written in Torch7's way."""
        return not _is_of_this_file(cls._updateGradInput)

    @classmethod
    def records(cls) -> bool:
        # Its own updateOutput only takes note of calls.
        return not cls._computes_gradients() and all(
            map(_is_of_this_file, (cls.updateOutput, cls.updateGradInput, cls.accGradParameters))
        )

    def joins(self, tape: Tape) -> bool:
        net = tape.module()
        if isinstance(net, Call):
            return self.recordable or net.module is self
        return self.recordable and (self.unrolled_in is tape or not (self.train and tape.recording))

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether its memory began in the graph that is being recorded, and so will again."""
        begun = self._begun_in is not None and self._begun_in is current_tape()
        return begun and not self._has_step_modules()

    @property
    def _trace(self) -> Trace:
        if self._traced is None:
            self._traced = Trace()
        return self._traced

    # The memory.

    def recalled(self, input: Any) -> State:
        """What the step before left; in the first step ``first(input)``."""
        tape, trace = self._recording()
        step = self.step - 1
        here = step in trace.left and trace.left[step][0] is tape
        return trace.take(step, None if here else self._state(step, input))

    def _recording(self) -> tuple[Tape, Trace]:
        """The graph that is being recorded, and what is remembered in it."""
        tape, trace = current_tape(), self._trace
        assert tape is not None
        if trace.graph is not tape and not is_of_a_call(tape):
            trace.begin(tape)
        return tape, trace

    def _state(self, step: int, input: Any) -> State:
        """What a step left, or what the first takes."""
        state = self.known_state(step)
        if any(entry is None for entry in state):
            first = self.first(input)
            return [f if known is None else known for known, f in zip(state, first, strict=True)]
        return state

    def known_state(self, step: int) -> State:
        state = [getattr(self, name).get(step) for name in self.state_fields]
        if step == 0:
            given = [getattr(self, name) for name in self.start_fields]
            state = [s if g is None else g for s, g in zip(state, given, strict=True)]
        return state

    def first(self, input: Any) -> State:
        """What the first step takes. Classes define it."""
        raise NotImplementedError

    def memorize(self, *results: Any) -> None:
        """Leave ``results``, the output first, for the next step and for who reads them."""
        tape, _ = self._recording()
        for name, result in zip(self.state_fields or ("outputs",), results, strict=True):
            table = getattr(self, name)
            if not self.train:
                table.clear()
            table.pop(self.step - self._reach() - 1, None)
            table[self.step] = map_tensors(Tensor.detach, result)
        if tape.recording:
            self.leave(self.step, [*results])
            if not is_of_a_call(tape):
                tape.ends[self] = self._end
        self.step += 1

    def leave(self, step: int, state: State) -> None:
        tape = current_tape()
        assert tape is not None
        self._trace.left[step] = (tape, state)

    def left(self) -> State:
        _, state = self._trace.left[self.step - 1]
        return state if self.state_fields else []

    def _end(self) -> tuple[Any, Any]:
        """The latest state, and its gradient from a step after the sequence, None for none."""
        _, state = self._trace.left.get(self.step - 1, (None, None))
        return state, self.gradient_given(self.step - 1)

    def gradient_given(self, step: int) -> State | None:
        if step in self._trace.gradients:
            return self._trace.gradients[step]
        given = [getattr(self, name) for name in self.end_fields]
        return given if step == self.step - 1 and any(g is not None for g in given) else None

    def gradient_went_back(self, step: int) -> None:
        self._trace.gradients.pop(step, None)

    def forget_itself(self) -> None:
        """Start anew, without what is inside."""
        self._trace.clear()
        self._begun_in = current_tape()
        self.step = 1
        self._clear_tables()
        self.updateGradInputStep = self.accGradParametersStep = None
        clones = sorted(self.sharedClones.items())
        self.sharedClones = {i: module for i, (_, module) in enumerate(clones, 1)}

    def forget(self: R) -> R:
        """Start anew: the next call is the first."""
        forget(self)
        return self

    def given_gradOutput(self) -> list[Module]:
        # They get its sum with the gradient of the memory, from updateGradInput.
        return []

    def maxBPTTstep(self, rho: int) -> None:
        """Set ``rho``."""
        self.rho = rho

    # The module of a step.

    @property
    def recurrentModule(self) -> Any:
        """What is computed in each step."""
        return self.modules[0]

    @recurrentModule.setter
    def recurrentModule(self, module: Module) -> None:
        self.modules = [module]

    def set_recurrent_module(self, module: Module) -> None:
        """Make ``module`` what is computed in each step, the first one with itself."""
        self.modules = [module]
        self.sharedClones = {1: module}

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        new = super().replace(callback)
        self._restore_recurrent(None)
        return new

    @property
    def nSharedClone(self) -> int:
        """How many modules of a step there are."""
        return len(self.sharedClones)

    def step_modules(self) -> list[Module]:
        """The modules of all steps."""
        return [module for _, module in sorted(self.sharedClones.items())]

    def _reach(self) -> int:
        """How many steps backward can go through."""
        return max(self.rho + 1, len(self.sharedClones))

    def recycle(self: R, offset: int = 0) -> R:
        """Make the module of the oldest step that of the present one, where there are enough."""
        step, reach = self.step, self._reach()
        if step not in self.sharedClones and step - reach in self.sharedClones:
            self.sharedClones[step] = self.sharedClones.pop(step - reach)
        self.outputs.pop(step - reach - 1, None)
        return self

    def getStepModule(self, step: int) -> Any:
        """The module of a step, which trains the parameters of ``recurrentModule``."""
        if step not in self.sharedClones:
            self.sharedClones[step] = step_clone(self.recurrentModule)
        return self.sharedClones[step]

    def _has_step_modules(self) -> bool:
        return self.train and (
            self.keep_results is True
            or not all(
                module.recordable and not isinstance(module, Reinforce)
                for module in self.recurrentModule.listModules()
            )
        )

    def step_module(self) -> Any:
        """What computes the present step."""
        if not self._has_step_modules():
            return self.recurrentModule
        return self.recycle().getStepModule(self.step)

    def advance(self, input: Any) -> Any:
        """Run ``step_module()`` as part of this recording."""
        try:
            return self.step_module().run(input)
        except Exception as error:
            locate(error, self, 1)
            raise

    def holder(self, name: str) -> Module:
        return self.holder_at(self.step - max(1, self._trace.seen if name == "gradInput" else 1))

    def holder_at(self, step: int) -> Module:
        """The module that holds the results of a step."""
        held = self.sharedClones.get(step) if self._has_step_modules() else None
        if isinstance(held, AbstractRecurrent):
            return held.holder_at(step)
        return self if held is None else held

    # Calls by itself.

    def updateOutput(self, input: Any) -> Any:
        tape, trace = current_tape(), self._trace
        if tape is not None or not self.train or not torch.is_grad_enabled():
            if tape is None:
                trace.calls = []
            return super().updateOutput(input)
        inside = [m for m in recurrents_in(self) if m.recordable or m is self]
        call = Call(self, inside)
        call.forward([input, call.states()])
        # As many copies of the module as Lua has for them.
        trace.calls = [*trace.calls, call][-max(self.rho + 1, self._most) :]
        self._most = max(self._most, len(trace.calls))
        trace.seen = trace.added = 0
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if not self._computes_gradients():
            return super().updateGradInput(input, gradOutput)
        self.updateGradInputStep = self.updateGradInputStep or self.step
        self.gradInput = self._updateGradInput(input, gradOutput)
        self.updateGradInputStep -= 1
        self.gradInputs[self.updateGradInputStep] = self.gradInput
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        if not self._computes_gradients():
            return super().accGradParameters(input, gradOutput, scale)
        self.accGradParametersStep = self.accGradParametersStep or self.step
        self._accGradParameters(input, gradOutput, scale)
        self.accGradParametersStep -= 1

    def _updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """The gradInput of the step before ``updateGradInputStep``, in a class of Torch7's kind."""
        raise NotImplementedError

    def _accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar) -> None:
        """Add the gradients of the parameters of the step before ``accGradParametersStep``."""

    def _backward(
        self, input: Any, gradOutput: Any, scale: Scalar, to_input: bool, to_parameters: bool
    ) -> Any:
        trace = self._trace
        if not trace.calls:
            return super()._backward(input, gradOutput, scale, to_input, to_parameters)
        gradInput = None
        if to_input:
            call = trace.call_back(trace.seen)
            call.take(gradOutput, trace.calls[-trace.seen] if trace.seen else None)
            both = to_parameters and trace.added == trace.seen
            gradInput = call.back(scale if both else None)
            trace.seen += 1
            trace.added += both
            self.gradInput = trace.grad_inputs[self.step - trace.seen] = gradInput
            to_parameters = to_parameters and not both
        if to_parameters:
            call = trace.call_back(trace.added)
            if trace.added >= trace.seen:
                raise RuntimeError("accGradParameters needs updateGradInput of that call first")
            call.accumulate(scale)
            trace.added += 1
        return gradInput

    # States and their gradients, by step.

    @computed
    def gradInputs(self) -> dict[int, Any]:
        """The gradients of the inputs of calls by itself."""
        return self._trace.grad_inputs

    @computed
    def gradOutputs(self) -> dict[int, Any]:
        """The gradients of the outputs from the step after each."""
        return {step: gradients[0] for step, gradients in self.state_gradients().items()}

    @computed
    def _gradOutputs(self) -> dict[int, Any]:
        """The gradients of the outputs, from the step after each and from outside."""
        found = self._gradients_of("left")
        return {step: gradients[0] for step, gradients in found.items() if gradients}

    @computed
    def zeroTensor(self) -> Any:
        """What the first step takes where nothing else is given."""
        return map_tensors(torch.zeros_like, self.outputs.get(self.step - 1, self._empty()))

    def state_gradients(self) -> dict[int, State]:
        """The gradients of the states from the step after each."""
        return {**self._gradients_of("taken"), **self._trace.gradients}

    def _gradients_of(self, which: str) -> dict[int, State]:
        """The gradients of the states that were ``left`` or ``taken``."""
        if any(tape.spent for tape, _ in getattr(self._trace, which).values()):
            self._latest_call(which)
        states: dict[int, tuple[Tape, State]] = getattr(self._trace, which)
        found: dict[int, State] = {}
        for tape in dict.fromkeys(tape for tape, _ in states.values()):
            if tape.grad_outputs is not None:
                own = {step: state for step, (by, state) in states.items() if by is tape}
                found |= gradients_at_backward(tape, own, self, "gradOutputs")
        return dict(sorted(found.items()))

    def getHiddenState(self, step: int | None = None, input: Any = None) -> Any:
        """What a step left: the output, of an ``LSTM`` a list of output and cell.

        Args:
            step: the number of the step; 0 for what the first takes; by default the latest. None
                where nothing is known of it.
            input: what the first step will be given, which tells the size of its zeros.
        """
        step = self.step - 1 if step is None else step
        state = self.known_state(step)
        if step == 0 and any(entry is None for entry in state):
            if input is not None:
                state = self._state(0, input)
            elif 0 in self._trace.taken:
                state = map_tensors(Tensor.detach, self._trace.taken[0][1])
        return self.packed(state)

    def setHiddenState(self, step: int | None, hiddenState: Any) -> None:
        """Make ``hiddenState``, as ``getHiddenState`` tells it, what a step left."""
        step = self.step - 1 if step is None else step
        for name, entry in zip(self.state_fields, self.unpacked(hiddenState), strict=True):
            getattr(self, name)[step] = entry
        self._trace.left.pop(step, None)

    def getGradHiddenState(self, step: int | None = None) -> Any:
        """The gradient of ``getHiddenState(step)`` from the step after; zeros for the latest.

        There after backward, until the next sequence.
        """
        step = self.step - 1 if step is None else step
        gradients = self.gradient_given(step) or self.state_gradients().get(step)
        if gradients is None and step == self.step - 1:
            gradients = map_tensors(torch.zeros_like, self.known_state(step))
        return None if gradients is None else self.packed(gradients)

    def setGradHiddenState(self, step: int | None, gradHiddenState: Any) -> None:
        """Set the gradient of the state of a step, from the step after it.

        In a sequence that is one graph, that of the last step. It holds until backward has gone
        through the step after it, or the module forgets.
        """
        step = self.step - 1 if step is None else step
        self._trace.gradients[step] = self.unpacked(gradHiddenState)

    def packed(self, state: State) -> Any:
        """A state as Lua has it."""
        return state[0]

    def unpacked(self, state: Any) -> State:
        """A state that Lua has."""
        return [state]

    def reinforce(self, reward: Any) -> None:
        """Give the ``nn.Reinforce`` in it a reward.

        Args:
            reward: one for all steps; or a list, or matrix, of one for each of the latest steps.
        """
        if not isinstance(reward, (list, tuple)) and reward.dim() < 2:
            for module in (*self.children(), *_step_modules(self)):
                module.reinforce(reward)
            return
        if len(reward) >= self.step:
            raise ValueError(
                f"reward is of {len(reward)} steps; one for each of up to {self.step - 1} is "
                "accepted, as there have been no more"
            )
        for step, of_step in enumerate(reward, self.step - len(reward)):
            self.getStepModule(step).reinforce(of_step)

    # Modes.

    def training(self: R) -> R:
        for clone in self.step_modules():
            clone.training()
        return super().training()

    def evaluate(self: R) -> R:
        for clone in self.step_modules():
            clone.evaluate()
        return super().evaluate()

    def clearState(self: R) -> R:
        self.forget_itself()
        for clone in self.step_modules():
            clone.clearState()
        return super().clearState()

    # Copies and files.

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | self._latest()

    def _latest(self) -> dict[str, dict[int, Any]]:
        """Of each table the entry of the latest step."""
        last = self.step - 1
        tables = {name: getattr(self, name) for name in ("outputs", *self.state_fields)}
        return {name: {last: t[last]} if last in t else {} for name, t in tables.items()}

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in ("_most", "sharedClones"):
            fields.pop(name, None)
        tables = ("outputs", "gradInputs", "_gradOutputs", "gradOutputs", "cells", "gradCells")
        held = {
            name: {step: map_tensors(_alone, entry) for step, entry in table.items()}
            for name, table in self._latest().items()
            if name in self.state_fields and table
        }
        return {
            **fields,
            **{name: [] for name in tables},
            **held,
            "step": self.step,
            "recurrentModule": self.recurrentModule,
            "sharedClones": [self.recurrentModule],
            # Lua makes it in the first step and goes back from it in each.
            "zeroTensor": self.zeroTensor,
        }

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        recurrent, step = fields.pop("recurrentModule", None), fields.pop("step", 1)
        tables = {name: fields.get(name) for name in self.state_fields}
        super().t7_restore(fields, version)
        self._clear_tables()
        self._restore_recurrent(recurrent)
        state = {name: t7.plain(_entry(table, step - 1)) for name, table in tables.items()}
        known = all(entry is not None for entry in state.values())
        self.step = step if known else 1
        if known:
            for name, entry in state.items():
                getattr(self, name)[step - 1] = entry

    def _restore_recurrent(self, module: Any) -> None:
        # `maskZero` of old files wraps it here alone.
        self.set_recurrent_module(self.modules[0] if module is None else module)

    def maskZero(self: R, nInputDim: int) -> R:
        """Let rows of the input that are zero give rows of zeros, and reset the memory."""
        self.set_recurrent_module(MaskZero(self.recurrentModule, nInputDim, True))
        return self

    def trimZero(self: R, nInputDim: int) -> R:
        """``maskZero``, by a ``TrimZero``."""
        self.set_recurrent_module(TrimZero(self.recurrentModule, nInputDim, True))
        return self


def _step_modules(module: Any) -> list[Module]:
    """The modules of all steps; a class of Lua that has taken over methods has ``sharedClones``."""
    if isinstance(module, AbstractRecurrent):
        return module.step_modules()
    clones = getattr(module, "sharedClones", [])
    return [*clones.values()] if isinstance(clones, dict) else [*clones]


def _entry(table: Any, step: Any) -> Any:
    """The entry of a table of a file for a step, counted from 1."""
    known = dict(enumerate(table, 1)) if isinstance(table, list) else table
    return known.get(step) if isinstance(known, dict) else None


def _alone(tensor: Tensor) -> Tensor:
    """A tensor for files, in memory of its own: the one it comes from is also an output there."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)
