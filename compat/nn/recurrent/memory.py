"""Modules with a memory: what they output depends on what they were given before."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.basic import Container, ParallelTable, Sequential, indented
from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.core.tape import current_tape
from compat.nn.layers.activation import Sigmoid
from compat.nn.layers.pointwise import Add
from compat.nn.layers.table_layers import CAddTable
from compat.nn.recurrent.masking import MaskZero
from compat.tensor_tables import map_tensors

R = TypeVar("R", bound="AbstractRecurrent")
M = TypeVar("M", bound=Module)


def shared_clone(module: M) -> M:
    """A copy of ``module`` that trains the same parameters (Torch7's dpnn: ``sharedClone``)."""
    return module.sharedClone()


def forget(module: Module) -> None:
    """Have every recurrent module in ``module`` start anew (rnn: ``Module:forget``)."""
    for inner in module.listModules():
        if hasattr(inner, "forget_itself"):
            inner.forget_itself()


class AbstractRecurrent(Container):
    """The base of modules that keep a memory from one call to the next until they forget.

    Torch7: ``nn.AbstractRecurrent`` of the package rnn. Subclasses compute from ``recalled()`` and
    set the next memory by ``memorize(value)``.

    Inside a ``Sequencer`` the whole sequence is one graph. Called by itself in training, a module
    remembers its calls, and each call of backward goes back one of them, from the latest on.

    Args:
        rho: backward can go through one call more.

    Field: ``step``, the number from 1 of the next call since it forgot.

    Differs from Torch7: copies and files go on with the memory, but cannot go back through calls
    before them; the oldest of more than ``rho + 1`` calls that backward goes through takes the
    memory that it began with, which Torch7 has overwritten with that of the latest call by then.
    """

    dpnn_stepclone = True
    transient_fields = ("_memory_tape", "_begun_in", "_past", "_seen", "_added")
    scratch_fields: ClassVar[tuple[str, ...]] = (
        *("sharedClones", "nSharedClone", "outputs", "gradInputs", "_gradOutputs", "cells"),
        *("gradCells", "gradPrevOutput", "cell", "zeroTensor", "updateGradInputStep"),
        *("accGradParametersStep", "rmInSharedClones", "recurrentModule", "module", "inputs"),
        *("gradOutputs", "scales", "fastBackward", "copyInputs", "copyGradOutputs"),
        *("gradParametersAccumulated", "onlineBackward", "typeTensor"),
    )
    step: int = 1
    _memory: Any = None
    _memory_tape: Any = None
    # The graph that was being recorded when it forgot.
    _begun_in: Any = None
    _past: list[_Call] = []
    _seen: int = 0
    _added: int = 0

    @nil_is_default
    def __init__(self, rho: int = 99999) -> None:
        super().__init__()
        self.rho = whole(rho, "rho", 1)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Its updateOutput only takes note of calls.
        cls.recordable = True

    @property
    def recurrentModule(self) -> Any:
        """What is computed in every step."""
        return self.modules[0]

    @property
    def repeatable(self) -> bool:  # type: ignore[override]
        """Whether its memory began in the graph that is being recorded, and so will again."""
        return self._begun_in is not None and self._begun_in is current_tape()

    # The memory.

    def recalled(self) -> Any:
        """What the latest call memorized; None in the first since it forgot."""
        if self._memory_tape is not current_tape():
            self._memory = self._plain_memory()
        return self._memory

    def _plain_memory(self) -> Any:
        # What an earlier pass computed is a value: its graph is gone.
        return map_tensors(Tensor.detach, self._memory)

    def memorize(self, memory: Any) -> None:
        """Keep ``memory``, a tensor or a list of them, for the next call."""
        self.set_memory(memory)
        self.step += 1

    def memory(self) -> Any:
        """What the latest call memorized, as it is."""
        return self._memory

    def set_memory(self, memory: Any) -> None:
        """Make ``memory`` what the latest call memorized, in the graph that is being recorded."""
        self._memory, self._memory_tape = memory, current_tape()

    def forget_itself(self) -> None:
        """Start anew, without what is inside."""
        self._memory, self._past, self.step = None, [], 1
        self._begun_in = current_tape()
        self._seen = self._added = 0

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

    # Calls by itself.

    def updateOutput(self, input: Any) -> Any:
        if current_tape() is not None or not self.train or not torch.is_grad_enabled():
            self._past = []
            return super().updateOutput(input)
        call = _Call(self)
        call.forward([input, [module.memory() for module in call.recurrents]])
        # As many copies of the module as Lua has for them.
        self._past = [*self._past, call][-(self.rho + 1) :]
        self._seen = self._added = 0
        return self.output

    def _backward(
        self, input: Any, gradOutput: Any, scale: Scalar, to_input: bool, to_parameters: bool
    ) -> Any:
        if not self._past:
            return super()._backward(input, gradOutput, scale, to_input, to_parameters)
        gradInput = None
        if to_input:
            call = self._call_back(self._seen)
            call.take(gradOutput, self._past[-self._seen].gradients[1] if self._seen else None)
            both = to_parameters and self._added == self._seen
            call.gradients = call.back(scale if both else None)
            self._seen += 1
            self._added += both
            self.gradInput = gradInput = call.gradients[0]
            to_parameters = to_parameters and not both
        if to_parameters:
            call = self._call_back(self._added)
            if self._added >= self._seen:
                raise RuntimeError("accGradParameters needs updateGradInput of that call first")
            call.accumulate(scale)
            self._added += 1
        return gradInput

    def _call_back(self, count: int) -> _Call:
        if count >= len(self._past):
            raise RuntimeError(
                f"backward is called {count + 1} times, and {len(self._past)} calls are remembered"
            )
        return self._past[-1 - count]

    def clearState(self: R) -> R:
        self.forget_itself()
        return super().clearState()

    # Copies and files.

    def held_values(self) -> list[Any]:
        self._memory = self._plain_memory()
        return super().held_values()

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"_memory": self._plain_memory()}

    def memory_tables(self) -> dict[str, Any]:
        """What a file holds of the memory: the entry of the latest step in each table of steps."""
        return {"outputs": self._memory}

    def restored_memory(self, entries: dict[str, Any]) -> Any:
        """The memory that ``memory_tables`` told."""
        return t7.plain(entries.get("outputs"))

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("_memory", None)
        tables = ("outputs", "gradInputs", "_gradOutputs", "gradOutputs", "cells", "gradCells")
        held = {} if self._memory is None else self.memory_tables()
        return {
            **fields,
            **{name: [] for name in tables},
            **{name: {self.step - 1: map_tensors(_alone, entry)} for name, entry in held.items()},
            "step": self.step,
            "recurrentModule": self.recurrentModule,
            "sharedClones": [self.recurrentModule],
            # Lua makes it in the first step and goes back from it in each.
            "zeroTensor": map_tensors(torch.zeros_like, held.get("outputs", self._empty())),
        }

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        recurrent, step = fields.get("recurrentModule"), fields.pop("step", 1)
        tables = {name: fields.get(name) for name in ("outputs", "cells")}
        super().t7_restore(fields, version)
        if recurrent is not None:
            self._restore_recurrent(recurrent)
        self._memory = self.restored_memory(
            {name: _entry(table, step - 1) for name, table in tables.items()}
        )
        self.step = 1 if self._memory is None else step

    def _restore_recurrent(self, module: Any) -> None:
        # `maskZero` of old files wraps it here alone.
        self.modules = [module]

    def maskZero(self: R, nInputDim: int) -> R:
        """Let rows of the input that are zero give rows of zeros, and reset the memory."""
        self.modules[0] = MaskZero(self.modules[0], nInputDim)
        return self

    trimZero = maskZero


def _entry(table: Any, step: Any) -> Any:
    """The entry of a table of a file for a step, counted from 1."""
    known = dict(enumerate(table, 1)) if isinstance(table, list) else table
    return known.get(step) if isinstance(known, dict) else None


def _alone(tensor: Tensor) -> Tensor:
    """A tensor for files, in memory of its own: the one it comes from is also an output there."""
    return tensor.detach().clone(memory_format=torch.contiguous_format)


class _Call(Module):
    """One call of a recurrent module that is not part of a net's forward pass.

    The input is that of the module and the memories of all recurrent modules in it; the output is
    its output and their next memories.
    """

    def __init__(self, module: AbstractRecurrent) -> None:
        super().__init__()
        self.module = module
        self.recurrents = [m for m in module.listModules() if isinstance(m, AbstractRecurrent)]
        self.gradients: Any = (None, None)
        self._taken: Any = None

    @deterministic
    def compute(self, input: Any) -> Any:
        given, memories = input
        for module, memory in zip(self.recurrents, memories, strict=True):
            module.set_memory(memory)
        output = self.module.run(given)
        memories = [module.memory() for module in self.recurrents]
        for module in self.recurrents:
            module.set_memory(map_tensors(Tensor.detach, module.memory()))
        return [output, memories]

    def take(self, gradOutput: Any, gradMemory: Any) -> None:
        """Set the gradients of the output and of the memories."""
        self._taken = [gradOutput, gradMemory]

    def back(self, scale: Scalar | None) -> Any:
        """The gradients of the input and the memories; with ``scale`` also of the parameters."""
        if scale is None:
            return self.updateGradInput(self._source(), self._taken)
        return self.backward(self._source(), self._taken, scale)

    def _source(self) -> Any:
        assert self.latest_tape is not None
        return self.latest_tape.source

    def accumulate(self, scale: Scalar) -> None:
        """Add the gradients of the parameters."""
        self.accGradParameters(self._source(), self._taken, scale)


class Recursor(AbstractRecurrent):
    """Any module as a recurrent one (Torch7: ``nn.Recursor`` of the package rnn).

    The recurrent modules in it keep their memories, and backward goes through its calls.

    Args:
        module: the module.
        rho: as in ``AbstractRecurrent``.
    """

    @nil_is_default
    def __init__(self, module: Module | torch.nn.Module, rho: int = 9999999) -> None:
        super().__init__(rho)
        self.add(module)

    @deterministic
    def compute(self, input: Any) -> Any:
        output = self.call(0, input)
        self.memorize(())
        return output

    def given_gradOutput(self) -> list[Module]:
        return self.modules

    def memory_tables(self) -> dict[str, Any]:
        return {}

    def restored_memory(self, entries: dict[str, Any]) -> Any:
        return ()

    def t7_fields(self) -> dict[str, Any]:
        return {**super().t7_fields(), "module": self.modules[0]}

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class Recurrence(AbstractRecurrent):
    """A module of ``[input, its output of the step before]`` (``nn.Recurrence`` of rnn).

    Args:
        recurrentModule: the module.
        outputSize: the size of its output without batch, a number or a list of numbers; for a
            table a list of these. The first step gets zeros of that size.
        nInputDim: how many dimensions the input of a sample has; with a table, its first tensor.
        rho: as in ``AbstractRecurrent``.

    Field: ``userPrevOutput``, what the first step gets instead of zeros.
    """

    userPrevOutput: Any = None

    @nil_is_default
    def __init__(
        self, recurrentModule: Module, outputSize: Any, nInputDim: int, rho: int = 9999
    ) -> None:
        super().__init__(rho)
        self.add(recurrentModule)
        self.outputSize = _checked_size(outputSize)
        self.nInputDim = whole(nInputDim, "nInputDim", 1)

    @deterministic
    def compute(self, input: Any) -> Any:
        previous = self.recalled()
        if previous is None:
            previous = self.userPrevOutput
        if previous is None:
            first = input
            while not isinstance(first, Tensor):
                first = first[0]
            check_dims(first, self.nInputDim, self.nInputDim + 1)
            batch = [] if first.dim() == self.nInputDim else [first.size(0)]
            previous = _zeros(first, list(self.outputSize), batch)
        output = self.call(0, [input, previous])
        self.memorize(output)
        return output

    def t7_fields(self) -> dict[str, Any]:
        more = {"module": self.modules[0], "typeTensor": self._empty()}
        return super().t7_fields() | more

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


def _checked_size(size: Any) -> list[Any]:
    if isinstance(size, (list, tuple)) and size:
        return [_checked_size(n) if isinstance(n, (list, tuple)) else n for n in size]
    return [whole(size, "outputSize", 1)]


def _zeros(like: Tensor, size: Any, batch: list[int]) -> Any:
    if size and isinstance(size[0], (int, float)):
        return like.new_zeros([*batch, *map(int, size)])
    return [_zeros(like, list(part), batch) for part in size]


class Recurrent(AbstractRecurrent):
    """A simple recurrent net (Torch7: ``nn.Recurrent`` of the package rnn).

    The output is ``transfer(merge([input(x), feedback(output of the step before)]))``, and in the
    first step ``transfer(start(input(x)))``.

    Args:
        start: a module, or the number of features of an ``Add``.
        input, feedback, transfer, merge: modules; by default a ``Sigmoid`` and a ``CAddTable``.
        rho: as in ``AbstractRecurrent``.
    """

    scratch_fields = ("initialModule",)
    _parts = ("startModule", "inputModule", "feedbackModule", "transferModule", "mergeModule")

    @nil_is_default
    def __init__(
        self,
        start: Module | int,
        input: Module,
        feedback: Module,
        transfer: Module | None = None,
        rho: int = 99999,
        merge: Module | None = None,
    ) -> None:
        super().__init__(rho)
        self.add(start if isinstance(start, (Module, torch.nn.Module)) else Add(start))
        self.add(input).add(feedback)
        self.add(Sigmoid() if transfer is None else transfer)
        self.add(CAddTable() if merge is None else merge)
        for name, module in zip(self._parts, self.modules, strict=True):
            setattr(self, name, module)

    @deterministic
    def compute(self, input: Any) -> Any:
        previous = self.recalled()
        merged = self.call(1, input)
        if previous is None:
            merged = self.call(0, merged)
        else:
            merged = self.call(4, [merged, self.call(2, previous)])
        output = self.call(3, merged)
        self.memorize(output)
        return output

    @property
    def recurrentModule(self) -> Any:
        _, input, feedback, transfer, merge = self.modules
        return Sequential(ParallelTable(input, feedback), merge, transfer)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        start, input, _, transfer, _ = self.modules
        # Lua computes the first step with modules of its own.
        first = Sequential(shared_clone(input), start, shared_clone(transfer))
        recurrent = fields["recurrentModule"]
        return fields | {"initialModule": first, "sharedClones": {2: recurrent}}

    def _restore_recurrent(self, module: Any) -> None:
        """The modules tell all."""

    def _body(self) -> list[str]:
        start, input, feedback, transfer, merge = self.modules
        # The lines of a container in it are as far to the right as in Torch7.
        return [
            "[{input(t), output(t-1)} -> (1) -> (2) -> (3) -> output(t)]",
            "(1):  {",
            "  input(t)",
            "    |`-> (t==0): " + repr(start).replace("\n", "\n    |    "),
            "    |`-> (t~=0): " + repr(input).replace("\n", "\n    |    "),
            "  output(t-1)",
            "    |`-> " + repr(feedback).replace("\n", "\n      |    "),
            "}",
            indented("(2): ", merge),
            indented("(3): ", transfer),
        ]

    def maskZero(self, nInputDim: int) -> Any:
        """Not possible, as the first step has other modules."""
        raise TypeError("nn.Recurrent has no maskZero; use nn.Recurrence instead")

    trimZero = maskZero
