"""A penalty on states whose norm changes from step to step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import number
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import check_dims
from compat.nn.core.module import deterministic
from compat.nn.recurrent.memory import AbstractRecurrent
from compat.nn.recurrent.parts import CopyGrad


class NormStabilizer(AbstractRecurrent):
    """Passes its input on, and its gradient with that of a penalty (``nn.NormStabilizer`` of rnn).

    The penalty is ``beta`` times the mean over the batch of the squared difference of the norms of
    its inputs in successive steps. Krueger and Memisevic, Regularizing RNNs by Stabilizing
    Activations, 2015.

    Args:
        beta: the factor.

    Shapes: ``N x D``.

    Field: ``loss``, what ``updateLoss`` has computed.
    """

    state_fields = ()
    start_fields = ()
    end_fields = ()
    scratch_fields = ("_normsum",)
    transient_fields = ("_norms", "loss")

    @nil_is_default
    def __init__(self, beta: float = 1) -> None:
        super().__init__()
        self.beta = number(beta, "beta")
        self._norms: list[Tensor] = []
        self.set_recurrent_module(CopyGrad())

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_dims(input, 2, 2)
        output = self.advance(input)
        if self.train:
            norms = [] if self.step == 1 else self._norms
            norms.append(input.detach().norm(dim=1, keepdim=True))
            self._norms = norms
            output = Stabilised.apply(output, norms, len(norms) - 1, self.beta)
        self.memorize(output)
        return output

    def updateLoss(self) -> float:
        """Compute and return ``loss``, as in Torch7 with the sum of the norms of two steps.

        (Torch7 adds the norms where its gradient is that of their difference.)
        """
        sums = [a + b for a, b in zip(self._norms, self._norms[1:], strict=False)]
        total = sum(float(both.square().mean()) for both in sums)
        self.loss = self.beta * total / (self.step - 1)
        return self.loss

    def __repr__(self) -> str:
        return self.typename


class Stabilised(torch.autograd.Function):
    """The input, whose gradient gets that of the penalty in step ``i`` of ``norms``."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, norms: list[Tensor], i: int, beta: float) -> Tensor:
        ctx.save_for_backward(input)
        ctx.norms, ctx.i, ctx.beta = norms, i, beta
        return input.view_as(input)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        [input] = ctx.saved_tensors
        own, scale = ctx.norms[ctx.i], 2 * ctx.beta / len(input)
        for other in ctx.norms[max(ctx.i - 1, 0) : ctx.i] + ctx.norms[ctx.i + 1 : ctx.i + 2]:
            gradient = gradient + input * ((own - other) * scale / own)
        return gradient, None, None, None
