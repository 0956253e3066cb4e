"""Layers that the cells of package rnn are made of."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import flag, number
from compat.nn.core.layer import Layer
from compat.nn.functional import recurrent as f
from compat.nn.layers.identity import Identity
from compat.nn.layers.linear import Linear
from compat.nn.recurrent.results import copied


class LinearNoBias(Linear):
    """A ``Linear`` without bias (Torch7: ``nn.LinearNoBias`` of the package rnn).

    Args:
        inputSize, outputSize: numbers of features.
    """

    def __init__(self, inputSize: int, outputSize: int) -> None:
        super().__init__(inputSize, outputSize, False)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        # In old files it is there, and zero.
        fields.pop("bias", None)
        fields.pop("gradBias", None)
        super().t7_restore(fields, version)


class SAdd(Layer):
    """The input plus a number (Torch7: ``nn.SAdd`` of the package rnn).

    Args:
        addend: the number.
        negate: whether to negate the sum.
    """

    # Old files lack it.
    negate: bool = False

    def __init__(self, addend: float, negate: bool = False) -> None:
        super().__init__()
        self.addend = number(addend, "addend")
        self.negate = flag(negate, "negate")

    def updateOutput(self, input: Tensor) -> Tensor:
        return self.set_output(f.sadd(input, self.addend, self.negate))

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        return self.set_gradInput(-gradOutput if self.negate else gradOutput.clone())


class CopyGrad(Identity):
    """The identity, which copies its gradient (Torch7: ``nn.CopyGrad`` of the package rnn)."""

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        return self.set_gradInput(copied(gradOutput))
