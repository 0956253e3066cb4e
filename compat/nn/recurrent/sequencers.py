"""Modules for sequences, which are lists with one entry per time step."""

from __future__ import annotations

from typing import Any, TypeVar

import torch
from torch import Tensor

from compat.checks import check_choice, given, whole
from compat.nn.containers.container import Container, Relaying
from compat.nn.core.module import Module, Scalar
from compat.nn.core.native import as_module
from compat.nn.core.tree import Inner
from compat.nn.layers.table_layers import FromTable, table
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.recurrences import Recursor
from compat.nn.recurrent.results import copied
from compat.nn.utils import recursiveAdd

S = TypeVar("S", bound="Remembers")


class Remembers:
    """The base of modules that can keep their memory from one sequence to the next."""

    train: bool
    _remember: str = "neither"

    def remember(self: S, when: str | None = "both") -> S:
        """Go on with the memory of the sequence before. Backward does not reach that sequence.

        Args:
            when: in ``"train"`` mode, in ``"eval"`` mode, in ``"both"`` or in ``"neither"``.
        """
        when = "both" if when is None else when
        check_choice(when, "remember", ("both", "eval", "train", "neither"))
        self._remember = when
        return self

    @property
    def remember_mode(self) -> str:
        """The mode, set by ``remember``, in which memory is kept from one sequence to the next."""
        return self._remember

    def hasMemory(self) -> bool:
        """Return whether it goes on with the memory of the sequence before in the present mode."""
        return self._remember in ("both", "train" if self.train else "eval")


class ReverseTable(FromTable):
    """The entries of a table in reverse order (Torch7: ``nn.ReverseTable`` of dpnn)."""

    table_fields = ("output", "gradInput")

    def updateOutput(self, input: Any) -> list[Any]:
        self.output = table(input)[::-1]
        return self.output

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        self.gradInput = gradOutput[::-1]
        return self.gradInput


class AbstractSequencer(Remembers, Container):
    """The base of modules of sequences (Torch7: ``nn.AbstractSequencer`` of the package rnn)."""

    # What goes through the sequence.
    module = Inner(0)
    table_fields = ("output", "gradInput")

    def shared_by_steps(self) -> list[Any]:
        # Each clone has a sequence of its own to go back through.
        return [] if self._remember == "neither" else super().shared_by_steps()

    def setOutputStep(self, step: int) -> None:
        """Do nothing: steps of a sequence around this one are not its own steps."""

    def maxBPTTstep(self, rho: int) -> None:
        """Do nothing: backward goes through the whole sequences that it gets."""

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in ("output", "gradInput"):
            if isinstance(fields.get(name), Tensor):
                fields[name] = []
        return fields

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("rnn", "sharedClones", "step", "isRecurrent"):
            fields.pop(name, None)
        super().t7_restore(fields, version)


def steps_of(input: Any) -> Any:
    """Return the entries of a sequence, a list or a tensor."""
    if isinstance(input, Tensor) and input.dim():
        return input.unbind()
    return table(input)


def gradients_of(gradOutput: Any, count: int) -> Any:
    """Return the gradients of ``count`` outputs."""
    found = gradOutput.unbind() if isinstance(gradOutput, Tensor) else gradOutput
    if not isinstance(found, (list, tuple)) or len(found) != count:
        raise ValueError(
            f"gradOutput is {given(gradOutput, counted=True)}; a sequence of {count} is accepted"
        )
    return found


def recurrent(module: Any) -> AbstractRecurrent:
    """Return ``module``, as a ``Recursor`` if it has no memory of its own."""
    return module if isinstance(module, AbstractRecurrent) else Recursor(as_module(module))


class Sequencer(AbstractSequencer):
    """A module applied to every entry of a sequence in turn (``nn.Sequencer`` of rnn).

    Recurrent modules in it start anew with every sequence, unless told to ``remember``; backward
    goes through the whole sequence.

    Args:
        module: the module.

    Shapes: input a list of what the module takes, output a list as long; or both tensors, with the
    steps as their first dimension.

    Differs from Torch7: the running statistics of batch normalisation are one for all time steps.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> net = nn.Sequencer(nn.Linear(3, 2))
        >>> [output.shape for output in net.forward([torch.ones(4, 3)] * 2)]
        [torch.Size([4, 2]), torch.Size([4, 2])]
    """

    cleared_fields = ("_output",)
    # Lua fills them in evaluation.
    workspace_fields = dict.fromkeys(
        ("_output", "tableoutput", "tablegradInput", "tablegradinput"), list
    )

    def __init__(self, module: Module | torch.nn.Module) -> None:
        super().__init__()
        self.add(recurrent(module))
        self._remember = "neither"

    def updateOutput(self, input: Any) -> Any:
        module, steps = self.modules[0], steps_of(input)
        # As in Torch7, backward need not reach further.
        module.maxBPTTstep(len(steps))
        if not self.hasMemory():
            module.forget()
        outputs = []
        for step in steps:
            output = self.call(0, "updateOutput", step)
            # In evaluation one module computes all steps, and may fill its output again.
            outputs.append(output if self.train else copied(output))
        if isinstance(input, Tensor):
            return self.set_output(torch.stack(outputs))
        if self.train:
            self.output = outputs
            return outputs
        return self.set_output(outputs)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        found: Any = self._back("updateGradInput", input, gradOutput)[::-1]
        if isinstance(input, Tensor) and found[0] is not None:
            return self.set_gradInput(torch.stack(found))
        self.gradInput = None if isinstance(input, Tensor) else found
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self._back("accGradParameters", input, gradOutput, scale)

    def _back(self, method: str, input: Any, gradOutput: Any, *scale: Scalar) -> list[Any]:
        """Return what a method of backward gives, from the last step to the first."""
        steps = steps_of(input)
        gradients = gradients_of(gradOutput, len(steps))
        return [
            self.call(0, method, step, gradient, *scale)
            for step, gradient in zip(reversed(steps), reversed(gradients), strict=True)
        ]

    def set_train(self, train: bool) -> None:
        if train != self.train:
            self.forget()
            if not train:
                # Its own now, to be filled again: not those of the modules of the steps.
                self.output = copied(self.output)
        super().set_train(train)

    def t7_fields(self) -> dict[str, Any]:
        # Lua fills them in evaluation.
        tables = ("_output", "tableoutput", "tablegradInput", "tablegradinput")
        return super().t7_fields() | {name: [] for name in tables}

    def __repr__(self) -> str:
        return f"{self.typename} @ {self.modules[0]}"


class Repeater(AbstractSequencer, Relaying):
    """A module given the same input several times (Torch7: ``nn.Repeater`` of the package rnn).

    The output is the list of its outputs.

    Args:
        module: the module.
        rho: the number of repeats.
    """

    def __init__(self, module: Module | torch.nn.Module, rho: int) -> None:
        super().__init__()
        self.rho = whole(rho, "rho", 1)
        self.add(recurrent(module))
        self.modules[0].maxBPTTstep(self.rho)

    def updateOutput(self, input: Any) -> list[Any]:
        self.modules[0].forget()
        outputs = [copied(self.call(0, "updateOutput", input)) for _ in range(self.rho)]
        return self.set_output(outputs)

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        found = self._back("updateGradInput", input, gradOutput)
        if found[0] is None:
            self.gradInput = None
            return None
        total = copied(found[0])
        for gradient in found[1:]:
            recursiveAdd(total, gradient)
        return self.set_gradInput(total)

    def _relay(self, method: str, input: Any, gradOutput: Any, factor: Scalar) -> None:
        self._back(method, input, gradOutput, factor)

    def _back(self, method: str, input: Any, gradOutput: Any, *scale: Scalar) -> list[Any]:
        gradients = gradients_of(gradOutput, self.rho)
        return [self.call(0, method, input, g, *scale) for g in reversed(gradients)]

    def _body(self) -> list[str]:
        flow = "     V         V             V     "
        outputs = f"[output(1),output(2),...,output({self.rho})]"
        module = repr(self.modules[0]).replace("\n", "\n  ")
        return ["[  input,    input,  ...,  input  ]", flow, module, flow, outputs]

    def maxBPTTstep(self, rho: int) -> None:
        """Set the number of repeats."""
        self.rho = rho
        self.modules[0].maxBPTTstep(rho)

    def t7_fields(self) -> dict[str, Any]:
        # Lua copies outputs of the module into those of the pass before.
        return super().t7_fields() | {"output": []}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        fields.setdefault("rho", fields.pop("nStep", None))
        super().t7_restore(fields, version)
