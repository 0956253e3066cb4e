"""Modules with a memory: their output depends on earlier inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import whole
from compat.lua_tables import items
from compat.nn.containers.container import Container
from compat.nn.core.conversion import Conversion
from compat.nn.core.module import Module, Scalar
from compat.nn.recurrent.masking import MaskZero, TrimZero
from compat.tensor_tables import map_tensors

R = TypeVar("R", bound="AbstractRecurrent")
T = TypeVar("T")


class AbstractRecurrent(Container):
    """The base of modules that keep a memory from one call to the next until they forget.

    Torch7: ``nn.AbstractRecurrent`` of the package rnn. In training each step is computed by a
    module of its own, a clone of ``recurrentModule`` with the same parameters, and each call of
    backward goes back one step, from the latest on. In evaluation ``recurrentModule`` computes all.

    A class defines ``updateOutput(input)``, which calls ``run_step`` and ``finish_step``;
    ``_updateGradInput(input, gradOutput)`` and ``_accGradParameters(input, gradOutput, scale)``,
    for the steps before ``updateGradInputStep`` and ``accGradParametersStep``.

    Args:
        rho: backward can go through ``rho + 1`` calls.

    Fields: ``step``, the number from 1 of the next call since it forgot; ``outputs`` and
    ``gradInputs``, by step; ``gradOutputs``, the gradients of the outputs from the step after each,
    and ``_gradOutputs``, these with those from outside; ``recurrentModule``; ``sharedClones``, the
    modules of the steps.

    Differs from Torch7: in evaluation only the latest steps are there, and backward goes through
    the latest alone; files hold the memory, but not what backward needs.
    """

    dpnn_stepclone = True
    scratch_fields: ClassVar[tuple[str, ...]] = (
        *("sharedClones", "nSharedClone", "outputs", "gradInputs", "_gradOutputs", "cells"),
        *("gradCells", "gradPrevOutput", "cell", "zeroTensor", "updateGradInputStep"),
        *("accGradParametersStep", "rmInSharedClones", "module", "inputs"),
        *("gradOutputs", "scales", "fastBackward", "copyInputs", "copyGradOutputs"),
        *("gradParametersAccumulated", "onlineBackward", "typeTensor"),
    )
    # The fields that are tables by step, and those of them that hold what goes to the next step.
    step_tables: ClassVar[tuple[str, ...]] = (
        "outputs",
        "gradInputs",
        "gradOutputs",
        "_gradOutputs",
    )
    state_fields: ClassVar[tuple[str, ...]] = ("outputs",)
    step: int = 1
    outputs: dict[int, Any]
    gradInputs: dict[int, Any]
    gradOutputs: dict[int, Any]
    _gradOutputs: dict[int, Any]
    updateGradInputStep: int | None = None
    accGradParametersStep: int | None = None
    # The latest step that ``recurrentModule`` computed in evaluation, 0 for none.
    _evaluated: int = 0

    def __init__(self, rho: int = 99999) -> None:
        super().__init__()
        self.rho = whole(rho, "rho", 1)
        self.step = 1
        self.sharedClones: dict[int, Module] = {}
        self._clear_tables()

    def _clear_tables(self) -> None:
        for name in self.step_tables:
            setattr(self, name, {})

    # The modules of the steps.

    @property
    def recurrentModule(self) -> Any:
        """The module that computes each step."""
        return self.modules[0]

    @recurrentModule.setter
    def recurrentModule(self, module: Module) -> None:
        self.modules = [module]

    def set_recurrent_module(self, module: Module) -> None:
        """Make ``module`` the recurrent module; it computes the first step itself."""
        self.modules = [module]
        self.sharedClones = {1: module}

    @property
    def nSharedClone(self) -> int:
        """The number of step modules."""
        return len(self.sharedClones)

    def getStepModule(self, step: int) -> Any:
        """Return the module of a step, which trains the parameters of ``recurrentModule``.

        Args:
            step: the number of the step, from 1.
        """
        if step not in self.sharedClones:
            self.sharedClones[step] = self.recurrentModule.stepClone()
        return self.sharedClones[step]

    def recycle(self: R, offset: int = 0) -> R:
        """Make the module of the oldest step that of the present one, where there are enough."""
        clones, step = self.sharedClones, self.step
        reach = max(self.rho + 1, len(clones))
        if step not in clones and step - reach in clones:
            clones[step] = clones.pop(step - reach)
        for name in self.step_tables:
            getattr(self, name).pop(step - reach - 1, None)
        return self

    def run_step(self, input: Any) -> Any:
        """Have the module of the present step compute."""
        module = self.recycle().getStepModule(self.step) if self.train else self.recurrentModule
        return self.call_step(module, "updateOutput", input)

    def call_step(self, module: Any, method: str, *arguments: Any) -> Any:
        """Call a method of the module of a step; an error tells whose it was."""
        try:
            return getattr(module, method)(*arguments)
        except Exception as error:
            raise self._located(error, 0, method, *arguments) from None

    def finish_step(self, output: Any) -> Any:
        """Make ``output`` that of the present step, and go to the next. Returns it."""
        if not self.train:
            self._evaluated = self.step
            for name in self.step_tables if self.step > 2 else ():
                getattr(self, name).pop(self.step - 2, None)
        self.output = self.outputs[self.step] = output
        self.step += 1
        self.updateGradInputStep = self.accGradParametersStep = None
        return output

    def computed_by(self, step: int) -> Any:
        """Return the module that computed a step. Raises RuntimeError if that is not there any
        more.
        """
        if self.step == 1:
            raise RuntimeError("backward needs a forward pass first")
        found = self._module_of(step) if 0 < step < self.step else None
        if found is None:
            count = sum(self._module_of(i) is not None for i in range(1, self.step))
            raise RuntimeError(
                f"backward is called {self.step - step} times, and {count} calls are remembered"
            )
        return found

    def _module_of(self, step: int) -> Any:
        """Return the module that computed a step; None if that is not there any more."""
        if step > self._evaluated:
            return self.sharedClones.get(step)
        return self.recurrentModule if step == self._evaluated else None

    def includingSharedClones(self, f: Callable[[], T]) -> T:
        """Call ``f`` while the modules of all steps count as modules."""
        modules, clones = self.modules, self.sharedClones
        # The first of the steps is often the recurrent module itself.
        self.modules = list(dict.fromkeys([*modules, *self.step_modules()]))
        self.sharedClones = {}
        try:
            return f()
        finally:
            self.modules, self.sharedClones = modules, clones

    def step_modules(self) -> list[Module]:
        """Return the modules of all steps."""
        return [module for _, module in sorted(self.sharedClones.items())]

    # Backward.

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        if self.updateGradInputStep is None:
            self.updateGradInputStep = self.step
        gradInput = self._updateGradInput(input, gradOutput)
        self.updateGradInputStep -= 1
        self.gradInput = self.gradInputs[self.updateGradInputStep] = gradInput
        return gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        step = self.step if self.accGradParametersStep is None else self.accGradParametersStep
        if self.updateGradInputStep is None or self.updateGradInputStep >= step:
            raise RuntimeError("accGradParameters needs updateGradInput of that call first")
        self.accGradParametersStep = step
        self._accGradParameters(input, gradOutput, scale)
        self.accGradParametersStep -= 1

    def _updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        """Return the gradInput of the step before ``updateGradInputStep``. Classes define it."""
        raise NotImplementedError(f"{self.typename} defines no _updateGradInput")

    def _accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar) -> None:
        """Add the gradients of the parameters of the step before ``accGradParametersStep``."""

    # The memory.

    def forget(self: R) -> R:
        """Start anew: the next call is the first."""
        super().forget()
        for name in self.step_tables:
            table = getattr(self, name)
            # What the first step begins with stays in evaluation, as in Torch7.
            setattr(self, name, {} if self.train or 0 not in table else {0: table[0]})
        if self.train:
            clones = sorted(self.sharedClones.items())
            self.sharedClones = {i: module for i, (_, module) in enumerate(clones, 1)}
        self.step, self._evaluated = 1, 0
        return self

    def setOutputStep(self, step: int) -> None:
        if step not in self.outputs:
            raise RuntimeError(f"there is no output of step {step}")
        self.output = self.outputs[step]
        if step in self.gradInputs:
            self.gradInput = self.gradInputs[step]

    def maxBPTTstep(self, rho: int) -> None:
        """Set ``rho``.

        Args:
            rho: how many steps backward goes back at most.
        """
        self.rho = rho

    def reinforce(self, reward: Any) -> None:
        """Give the ``nn.Reinforce`` layers of each step a reward.

        Args:
            reward: one for all steps; or a list, or matrix, of one for each of the latest steps.
        """
        if not isinstance(reward, (list, tuple)) and reward.dim() < 2:
            self.includingSharedClones(lambda: super(AbstractRecurrent, self).reinforce(reward))
            return
        if len(reward) >= self.step:
            raise ValueError(
                f"reward is of {len(reward)} steps; one for each of up to {self.step - 1} is "
                "accepted, as there have been no more"
            )
        for step, of_step in enumerate(reward, self.step - len(reward)):
            self.getStepModule(step).reinforce(of_step)

    # Modes and changes.

    def set_train(self, train: bool) -> None:
        self.includingSharedClones(lambda: super(AbstractRecurrent, self).set_train(train))

    def clearState(self: R) -> R:
        self.forget()
        self._clear_tables()
        return self.includingSharedClones(super().clearState)

    def convert(self, conversion: Conversion, name: str) -> None:
        # Whoever was given these results goes on having them as they are.
        for table in self.step_tables:
            setattr(self, table, map_tensors(Tensor.detach, getattr(self, table)))
        super().convert(conversion, name)

    def replace(self, callback: Callable[[Module], Module]) -> Module:
        new = super().replace(callback)
        self._restore_recurrent(None)
        return new

    def maskZero(self: R, nInputDim: int) -> R:
        """Let rows of the input that are zero give rows of zeros, and reset the memory.

        Args:
            nInputDim: how many dimensions a single sample has, without the batch's.
        """
        self.set_recurrent_module(MaskZero(self.recurrentModule, nInputDim, True))
        return self

    def trimZero(self: R, nInputDim: int) -> R:
        """Return ``maskZero``, by a ``TrimZero``."""
        self.set_recurrent_module(TrimZero(self.recurrentModule, nInputDim, True))
        return self

    # Files.

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in ("_evaluated", "updateGradInputStep", "accGradParametersStep"):
            fields.pop(name, None)
        tables = ("outputs", "gradInputs", "_gradOutputs", "gradOutputs", "cells", "gradCells")
        last = self.step - 1
        held = {
            name: {last: map_tensors(_without_views, getattr(self, name)[last])}
            for name in self.state_fields
            if last in getattr(self, name)
        }
        return {
            **fields,
            **{name: [] for name in tables},
            **held,
            "step": self.step,
            "seqlen": self.rho,  # what it is called in torch/rnn
            "recurrentModule": self.recurrentModule,
            "sharedClones": [self.recurrentModule],
            # Lua makes it in the first step and goes back from it in each.
            "zeroTensor": map_tensors(torch.zeros_like, self.outputs.get(last, self._empty())),
        }

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        recurrent, step = fields.pop("recurrentModule", None), fields.pop("step", 1)
        tables = {name: fields.get(name) for name in self.state_fields}
        fields.setdefault("rho", fields.pop("seqlen", 99999))
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


def _entry(table: Any, step: Any) -> Any:
    """Return the entry of a table of a file for a step, counted from 1."""
    known = dict(items(table)) if isinstance(table, list) else table
    return known.get(step) if isinstance(known, dict) else None


def _without_views(tensor: Tensor) -> Tensor:
    """Return a tensor for files, in memory of its own: the one it comes from is also an output
    there.
    """
    return tensor.detach().clone(memory_format=torch.contiguous_format)
