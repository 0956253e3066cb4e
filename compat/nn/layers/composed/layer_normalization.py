"""Normalisation over the features of each sample."""

from __future__ import annotations

import math

from compat.checks import flag, number, whole
from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.module import Scalar
from compat.nn.layers.identity import Identity
from compat.nn.layers.pointwise import Add, CMul, MulConstant, Normalize
from compat.nn.layers.reduction import Mean
from compat.nn.layers.shape import Replicate
from compat.nn.layers.table_arithmetic import CSubTable


class LayerNormalization(Sequential):
    """Normalisation over features [Ba, Kiros and Hinton 2016] (Torch7: ``nn.LayerNormalization``).

    A ``Sequential`` of the steps, in which the parameters are ``get(5).weight`` and
    ``get(6).bias``.

    The numbers are Torch7's, whose batches are centred wrongly: the k-th element of a batch of N,
    counted from 0 over all samples, loses the mean of sample k mod N. A single sample, or a batch
    of one, is normalised correctly. ``torch.nn.LayerNorm`` is correct for batches, too.

    Args:
        nOutput: number of features.
        bias: the initial value of the bias.
        eps: added to the sum of the squared deviations.
        affine: whether to scale and shift the result.

    Shapes: input ``[N x] nOutput``.

    PyTorch: ``torch.nn.LayerNorm``.
    """

    def __init__(
        self,
        nOutput: int,
        bias: Scalar = 0,
        eps: Scalar = 1e-10,
        affine: bool = True,
    ) -> None:
        super().__init__()
        nOutput = whole(nOutput, "nOutput", 1)
        mean = Sequential().add(Mean(1, 1)).add(Replicate(nOutput, 1, 1))
        self.add(ConcatTable().add(Identity()).add(mean))
        self.add(CSubTable())
        self.add(Normalize(2, eps))
        self.add(MulConstant(math.sqrt(nOutput)))
        if flag(affine, "affine"):
            scale, shift = CMul(nOutput), Add(nOutput)
            scale.weight.fill_(1)
            shift.bias.fill_(number(bias, "bias"))
            self.add(scale).add(shift)
