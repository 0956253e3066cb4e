"""``nn.PartialLinear``."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.containers.branches import ParallelTable
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.layers.identity import Identity
from compat.nn.layers.linear import check_features
from compat.nn.layers.lookup import LookupTable
from compat.nn.layers.table_products import MM


class PartialLinear(Layer):
    """A ``Linear`` that computes only chosen outputs (Torch7: ``nn.PartialLinear``).

    Args:
        inputsize, outputsize: numbers of features.
        bias: whether to add one.

    Shapes: input ``N x inputsize``; output ``N x outputsize``, or ``N x`` the number of outputs
    that ``setPartition`` named.

    The weights are in a ``LookupTable`` inside the field ``network``.

    Differs from Torch7: it also trains without a bias.
    """

    keeps_gradients = True
    scratch_fields = ("addBuffer", "buffer")

    def __init__(self, inputsize: int, outputsize: int, bias: bool = True) -> None:
        super().__init__()
        inputsize = whole(inputsize, "inputsize", 1)
        outputsize = whole(outputsize, "outputsize", 1)
        rows = ParallelTable().add(Identity()).add(LookupTable(outputsize, inputsize))
        self.network = Sequential().add(rows).add(MM(False, True))
        self.bias = torch.zeros(1, outputsize) if flag(bias, "bias") else None
        self.inputsize = inputsize
        self.outputsize = outputsize
        self.allcolumns = torch.arange(1, outputsize + 1, dtype=torch.get_default_dtype())
        self.resetPartition()

    def setPartition(self, indices: Any) -> PartialLinear:
        """Compute only the outputs of these numbers, counted from 1: a tensor or a list.

        Args:
            indices: numbers from 1 to ``outputsize``, as an int64 tensor or a list.
        """
        indices = torch.as_tensor(indices).to(self.allcolumns)
        wrong = indices[(indices < 1) | (indices > self.outputsize)]
        if wrong.numel():
            raise ValueError(
                f"indices has {wrong[0]:g}; numbers from 1 to {self.outputsize} are accepted, as "
                "in Torch7"
            )
        self.partition = indices
        return self

    def resetPartition(self) -> PartialLinear:
        """Compute all outputs."""
        self.partition = self.allcolumns
        return self

    def parameters(self) -> tuple[list[Tensor], list[Tensor]]:
        weights, gradients = self.network.parameters()
        own, own_gradients = super().parameters()
        return weights + own, gradients + own_gradients

    def updateOutput(self, input: Tensor) -> Tensor:
        check_features(input, self.inputsize)
        output = self.network.updateOutput([input, self.partition])
        if self.bias is not None:
            return self.set_output(output + self.bias.index_select(1, self._columns()))
        return self.set_output_view(output)

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self.gradInput = self.network.updateGradInput([input, self.partition], gradOutput)[0]
        return self.gradInput

    def accGradParameters(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        self.network.backward([input, self.partition], gradOutput, scale)
        if self.gradBias is not None:
            self.gradBias.index_add_(
                1, self._columns(), gradOutput.sum(0, keepdim=True), alpha=scale
            )

    def backward_both(self, input: Tensor, gradOutput: Tensor, scale: Scalar = 1) -> None:
        self.accGradParameters(input, gradOutput, scale)
        if self.gradInput is not None:
            self.gradInput = self.network.gradInput[0]

    def _columns(self) -> Tensor:
        return self.partition.long() - 1

    def __repr__(self) -> str:
        no_bias = "" if self.bias is not None else " without bias"
        return f"{self.typename}({self.inputsize} -> {self.outputsize}){no_bias}"
