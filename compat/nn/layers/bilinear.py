"""``nn.Bilinear``: a bilinear form of two inputs for every output."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import flag
from compat.nn.checks.arguments import empty
from compat.nn.core.module import Scalar
from compat.nn.functional import bilinear as f
from compat.nn.functional.convolution import check_size
from compat.nn.layers.initialisation import Drawn
from compat.nn.layers.table_layers import FromTable, table


class Bilinear(Drawn, FromTable):
    """Compute ``x W_k y + b_k`` for every output k (Torch7: ``nn.Bilinear``).

    Args:
        inputSize1, inputSize2, outputSize: numbers of features.
        bias: whether to add one.

    Shapes: a table of ``N x inputSize1`` and ``N x inputSize2``; output ``N x outputSize``;
    ``weight`` is ``outputSize x inputSize1 x inputSize2``.

    As in Torch7 ``scale`` does not multiply the gradient of the weight.

    Differs from Torch7: ``accUpdateGradParameters`` works.

    PyTorch: ``torch.nn.Bilinear``.
    """

    of_pairs = True
    keeps_gradients = True
    heeds_scale = False
    _by_element = False
    scratch_fields = ("buff1", "buff2")

    def __init__(
        self, inputSize1: int, inputSize2: int, outputSize: int, bias: bool = True
    ) -> None:
        super().__init__()
        self.weight = empty(outputSize=outputSize, inputSize1=inputSize1, inputSize2=inputSize2)
        self.bias = empty(outputSize=outputSize) if flag(bias, "bias") else None
        self.reset()

    def updateOutput(self, input: Any) -> Tensor:
        first, second = self._checked(input)
        return self.set_output(f.bilinear(first, second, self.weight, self.bias))

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        if self.gradInput is None:
            return None
        tensors = self._checked(input, gradOutput)
        return self.set_gradInput(f.bilinear_grad_input(*tensors, gradOutput, self.weight))

    def accGradParameters(self, input: Any, gradOutput: Tensor, scale: Scalar = 1) -> None:
        tensors = self._checked(input, gradOutput)
        if self.gradWeight is not None:
            gradient = f.bilinear_grad_weight(*tensors, gradOutput)
            # That of accUpdateGradParameters is negative.
            self.gradWeight.add_(gradient, alpha=scale if scale < 0 else 1)
        if self.gradBias is not None:
            self.gradBias.add_(gradOutput.sum(0), alpha=scale)

    def _checked(self, input: Any, gradOutput: Tensor | None = None) -> tuple[Tensor, Tensor]:
        first, second = table(input, 2)
        for i, tensor in enumerate((first, second), 1):
            if tensor.dim() != 2 or tensor.size(1) != self.weight.size(i):
                raise ValueError(
                    f"input[{i}] has size {tuple(tensor.shape)}; "
                    f"N x {self.weight.size(i)} is accepted"
                )
        if first.size(0) != second.size(0):
            raise ValueError(
                f"input has batches of {first.size(0)} and {second.size(0)}; equal ones are "
                "accepted"
            )
        if gradOutput is not None:
            check_size(gradOutput, (first.size(0), self.weight.size(0)))
        return first, second

    def __repr__(self) -> str:
        outputs, first, second = self.weight.shape
        no_bias = "" if self.bias is not None else " without bias"
        return f"{self.typename}({first}x{second} -> {outputs}) {no_bias}"
