"""A penalty on states whose norm changes from step to step."""

from __future__ import annotations

from itertools import pairwise

from torch import Tensor

from compat.checks import number
from compat.nn.checks.tensors import check_dims
from compat.nn.functional import recurrent as f
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.parts import CopyGrad


class NormStabilizer(AbstractRecurrent):
    """The identity; backward adds a penalty's gradient (Torch7: ``nn.NormStabilizer`` of rnn).

    The penalty is ``beta`` times the mean over the batch of the squared difference of the norms of
    its inputs in successive steps. Krueger and Memisevic, Regularizing RNNs by Stabilizing
    Activations, 2015.

    Args:
        beta: the factor.

    Shapes: ``N x D``.

    Field: ``loss``, the penalty that ``updateLoss`` computed.
    """

    state_fields = ()
    scratch_fields = ("_normsum",)

    def __init__(self, beta: float = 1) -> None:
        super().__init__()
        self.beta = number(beta, "beta")
        self.set_recurrent_module(CopyGrad())

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 2, 2)
        output = self.run_step(input)
        if self.train:
            self.getStepModule(self.step).norm = output.norm(dim=1, keepdim=True)
        return self.finish_step(output)

    def _updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor:
        assert self.updateGradInputStep is not None
        step = self.updateGradInputStep - 1
        module = self.computed_by(step)
        found = self.call_step(module, "updateGradInput", input, gradOutput)
        if step == self._evaluated:
            return found
        others = [self.getStepModule(i).norm for i in (step - 1, step + 1) if 0 < i < self.step]
        module.gradInput = f.stabilized(found, module.output, module.norm, others, self.beta)
        return module.gradInput

    def updateLoss(self) -> float:
        """Compute and return ``loss``, as in Torch7 with the sum of the norms of two steps.

        (Torch7 adds the norms where its gradient is that of their difference.)
        """
        norms = [self.getStepModule(step).norm for step in range(1, self.step)]
        sums = [a + b for a, b in pairwise(norms)]
        total = sum(float(both.square().mean()) for both in sums)
        self.loss = self.beta * total / (self.step - 1)
        return self.loss

    def __repr__(self) -> str:
        return self.typename
