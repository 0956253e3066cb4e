"""``nn.CategoricalEntropy``: a layer whose gradient raises the entropy of a net's choices."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import number, number_or_none
from compat.nn.checks.tensors import check_dims
from compat.nn.containers.branches import ConcatTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.functional.entropy import categorical_entropy
from compat.nn.layers.elementwise import shaped
from compat.nn.layers.identity import Identity
from compat.nn.layers.pointwise import AddConstant, Log, MulConstant
from compat.nn.layers.reduction import Sum
from compat.nn.layers.table_arithmetic import CMulTable

# What keeps the logarithm finite.
_LEAST = 0.000001


class CategoricalEntropy(Layer):
    """The identity, whose backward raises the entropy of the batch.

    Torch7: ``nn.CategoricalEntropy`` of dpnn. The entropy is that of the mean of the rows, which
    are probabilities. Backward adds ``-scale`` times the gradient of the entropy to gradOutput.

    Args:
        scale: the factor.
        minEntropy: the gradient is added only while the entropy is below this.

    Shapes: input ``N x K``.

    Fields: ``entropy``, of the batch that went back last; ``sizeAverage``, whether the gradient of
    the entropy is divided by ``N``.
    """

    minEntropy: Scalar | None = None
    sizeAverage: bool = True
    entropy: Scalar | None = None

    def __init__(self, scale: Scalar = 1, minEntropy: Scalar | None = None) -> None:
        super().__init__()
        self.scale = number(scale, "scale")
        self.minEntropy = number_or_none(minEntropy, "minEntropy")
        self.sizeAverage = True

    def updateOutput(self, input: Tensor) -> Tensor:
        check_dims(input, 2)
        self.output = input
        return input

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        check_dims(input, 2)
        if self.gradInput is None:
            return None
        entropy, slope = categorical_entropy(input, _LEAST)
        self.entropy = entropy.item()
        gradOutput = shaped(gradOutput, input)
        if self.minEntropy is not None and self.entropy >= self.minEntropy:
            return self.set_gradInput(gradOutput.clone(memory_format=torch.contiguous_format))
        factor = self.scale / len(input) if self.sizeAverage else self.scale
        return self.set_gradInput((gradOutput - slope * factor).contiguous())

    def t7_fields(self) -> dict[str, Any]:
        # In Lua a net computes the entropy.
        scaled = MulConstant(1)
        logs = Sequential(AddConstant(_LEAST), Log())
        both = ConcatTable(Identity(), logs)
        net = Sequential(Sum(1), scaled, both, CMulTable(), Sum(), MulConstant(-1))
        net.type(self._type)
        minus = torch.full_like(self._empty().resize_(1), -self.scale)
        own = {"module": net, "_mul": scaled, "modules": [net], "minusOne": minus}
        return super().t7_fields() | own

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for name in ("module", "_mul", "modules", "minusOne"):
            fields.pop(name, None)
        super().t7_restore(fields, version)
