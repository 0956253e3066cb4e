"""``nn.RecurrentAttention``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import check_some, whole, wrong_type
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.container import Relaying
from compat.nn.core.module import Module, Scalar
from compat.nn.core.tree import Inner
from compat.nn.recurrent.results import added, copied
from compat.nn.recurrent.sequencers import AbstractSequencer, gradients_of, recurrent
from compat.tensor_tables import map_tensors


class RecurrentAttention(AbstractSequencer, Relaying):
    """A net that looks at one input several times (Torch7: ``nn.RecurrentAttention`` of rnn).

    In each step ``action`` computes where to look from the previous output (zeros at first), and
    ``rnn`` takes ``[input, action]``. The output is the list of the outputs of ``rnn``.
    Mnih and others, Recurrent Models of Visual Attention, 2014.

    Args:
        rnn: a module.
        action: a module that learns from a reward, as one with an ``nn.ReinforceNormal``.
        nStep: the number of steps.
        hiddenSize: the size of one sample of the output of ``rnn``, a list of numbers.

    Shapes: input a batch that ``rnn`` takes. As in Torch7, no gradient goes from ``rnn``
    to ``action``, which is given zeros as gradOutput.

    Fields: ``actions``, the outputs of ``action`` in the latest sequence; ``forwardActions``,
    whether the entries of the output are lists of what ``rnn`` and ``action`` gave (then the
    gradOutput of ``action`` comes from outside). With it Torch7 fails in the second step.
    """

    rnn, action = Inner(0), Inner(1)
    pass_fields = ("_initInput", "gradHidden")
    forwardActions: bool = False
    actions: list[Any]

    def __init__(self, rnn: Module, action: Module, nStep: int, hiddenSize: list[int]) -> None:
        super().__init__()
        self.nStep = whole(nStep, "nStep", 1)
        if not isinstance(hiddenSize, (list, tuple)):
            raise wrong_type(hiddenSize, "hiddenSize", "a list of numbers")
        check_some(hiddenSize, "hiddenSize", "number")
        self.hiddenSize = [whole(size, "hiddenSize", 1) for size in hiddenSize]
        self.add(recurrent(rnn)).add(recurrent(action))
        self.actions = []
        self.forwardActions = False

    def updateOutput(self, input: Tensor) -> list[Any]:
        check_dims(input, *range(1, input.dim() + 1))
        self.forget()
        self._initInput = hidden = input.new_zeros(len(input), *self.hiddenSize)
        outputs: list[Any] = []
        self.actions = []
        for _ in range(self.nStep):
            self.actions.append(self.call(1, "updateOutput", hidden))
            hidden = self.call(0, "updateOutput", [input, self.actions[-1]])
            outputs.append([hidden, self.actions[-1]] if self.forwardActions else hidden)
        self.output = outputs
        return outputs

    def updateGradInput(self, input: Tensor, gradOutput: Any) -> Any:
        gradients = gradients_of(gradOutput, self.nStep)
        self.gradHidden, total, later = {}, None, None
        for step in range(self.nStep - 1, -1, -1):
            own = gradients[step][0] if self.forwardActions else gradients[step]
            self.gradHidden[step] = copied(own) if later is None else added(later, own)
            arguments = self._hidden(step), self._gradient_of_action(step, gradients)
            later = self.call(1, "updateGradInput", *arguments)
            given = [input, self.actions[step]]
            found = self.call(0, "updateGradInput", given, self.gradHidden[step])[0]
            if found is not None:
                total = found.clone() if total is None else total.add_(found)
        return None if total is None else self.set_gradInput(total)

    def _relay(self, method: str, input: Tensor, gradOutput: Any, factor: Scalar) -> None:
        for step in range(self.nStep - 1, -1, -1):
            gradient = self._gradient_of_action(step, gradOutput)
            self.call(1, method, self._hidden(step), gradient, factor)
            given = [input, self.actions[step]]
            self.call(0, method, given, self.gradHidden[step], factor)

    def _hidden(self, step: int) -> Tensor:
        """Return the input of ``action`` in a step, counted from 0."""
        if step == 0:
            return self._initInput
        before = self.output[step - 1]
        return before[0] if self.forwardActions else before

    def _gradient_of_action(self, step: int, gradients: Any) -> Any:
        """Return zeros, which modules that learn from a reward do not look at."""
        if self.forwardActions:
            return gradients[step][1]
        return map_tensors(torch.zeros_like, self.actions[step])

    def _body(self) -> list[str]:
        action, rnn = (repr(m).replace("\n", "\n    |    ") for m in (self.action, self.rnn))
        return [f"action : {action}", f"rnn     : {rnn}"]

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        del fields["module"]
        # Lua copies outputs into those of the pass before.
        empty = {name: list[Any]() for name in ("output", "actions", "gradHidden")}
        return {**fields, **empty}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("actions", "gradHidden", "_initInput", "_gradAction"):
            fields.pop(name, None)
        super().t7_restore(fields, version)
        self.actions = []
