"""Padding of sequences with zeros."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.checks.tensors import ANYTHING, check_dims
from compat.nn.containers.decorators import Decorator
from compat.nn.core.module import Module, Scalar
from compat.nn.core.tree import Inner
from compat.nn.criterions.base import Criterion, check_criterion, loss_of
from compat.nn.layers.lookup import LookupTable
from compat.tensor_tables import map_tensors, tensors


def zero_rows(input: Tensor, dims: int) -> Tensor:
    """Return which samples of ``dims`` dimensions are all zero: a boolean, or one for each of a
    batch.
    """
    check_dims(input, dims, dims + 1)
    return (input.unsqueeze(-1).flatten(input.dim() - dims) == 0).all(-1)


class MaskZero(Decorator):
    """A module whose output is zero where its input is zero (Torch7: ``nn.MaskZero`` of rnn).

    Args:
        module: the module.
        nInputDim: how many dimensions a sample of the input has, or of its first tensor.
        silent: Lua's module prints no warning then; here there is none to print.

    Where a sample of a batch is all zero, the output is zero and no gradient flows to the input. As
    in Torch7, the gradOutput there still counts for the parameters of the layer that computes the
    output, such as the bias of a last ``Linear``.
    """

    module = Inner(0)
    scratch_fields: ClassVar[tuple[str, ...]] = (
        "zeroMask",
        "_zeroMask",
        "_maskbyte",
        "_maskindices",
        "gradOutput",
    )
    pass_fields: ClassVar[tuple[str, ...]] = ("zeroMask",)

    def __init__(self, module: Module, nInputDim: int, silent: bool = False) -> None:
        super().__init__(module)
        self.nInputDim = whole(nInputDim, "nInputDim", 1)
        flag(silent, "silent")

    def updateOutput(self, input: Any) -> Any:
        self.zeroMask = zero_rows(tensors(input)[0], self.nInputDim)
        output = self.call(0, "updateOutput", input)
        return self.set_output(self._masked(output))

    def updateGradInput(self, input: Any, gradOutput: Any) -> Any:
        masked = self._masked(gradOutput)
        self.gradInput = self.call(0, "updateGradInput", input, masked)
        return self.gradInput

    def accGradParameters(self, input: Any, gradOutput: Any, scale: Scalar = 1) -> None:
        self.call(0, "accGradParameters", input, gradOutput, scale)

    def _masked(self, value: Any) -> Any:
        """Return tensors with zeros where samples of the input are zero."""
        rows = self.zeroMask

        def masked(tensor: Tensor) -> Tensor:
            return tensor.masked_fill(rows.reshape([-1] + [1] * (tensor.dim() - 1)), 0)

        return map_tensors(masked, value)


class TrimZero(MaskZero):
    """A ``MaskZero`` (Torch7: ``nn.TrimZero`` of rnn, which skips zero samples to save time).

    Differs from Torch7: backward also works for a batch where samples are left out and the last
    layer has parameters.
    """

    scratch_fields = ("temp", "gradTemp")


class LookupTableMaskZero(LookupTable):
    """A ``LookupTable`` whose index 0 gives zeros (Torch7: ``nn.LookupTableMaskZero`` of rnn).

    Args:
        nIndex: the number of rows; ``weight`` has one more before them.
        nOutput: the size of a row.
    """

    def __init__(self, nIndex: int, nOutput: int) -> None:
        super().__init__(whole(nIndex, "nIndex", 1) + 1, nOutput)

    def updateOutput(self, input: Tensor) -> Tensor:
        self.weight.detach()[0].zero_()
        return super().updateOutput(input + 1)

    def _add(self, input: Tensor, gradOutput: Tensor, into: Tensor, scale: Scalar) -> None:
        super()._add(input + 1, gradOutput, into, scale)


class MaskZeroCriterion(Criterion):
    """A criterion of the samples that are not zero (Torch7: ``nn.MaskZeroCriterion`` of rnn).

    Args:
        criterion: computes the loss of the remaining samples; if all are zero, the loss is 0.
        nInputDim: how many dimensions a sample of the input has, or of its first tensor.

    Shapes: input and target batches, or lists of them.
    """

    takes = ANYTHING
    scratch_fields = ("zeroMask", "_zeroMask", "__zeroMask", "input", "target")
    transient_fields = ("zeroMask", "input", "target")

    def __init__(self, criterion: Criterion, nInputDim: int) -> None:
        super().__init__()
        self.criterion = check_criterion(criterion)
        self.nInputDim = whole(nInputDim, "nInputDim", 0)

    def updateOutput(self, input: Any, target: Any = None) -> Any:
        first = tensors(input)[0]
        if first.dim() != self.nInputDim + 1:
            raise ValueError(
                f"input has {first.dim()} dimensions; {self.nInputDim + 1} are accepted"
            )
        self.zeroMask = (~zero_rows(first, self.nInputDim)).nonzero().squeeze(1)
        if not len(self.zeroMask):
            self.output = 0
            return self.output
        self.input, self.target = self._kept(input), self._kept(target)
        self.output = loss_of(self.criterion, self.input, self.target)
        return self.output

    def updateGradInput(self, input: Any, target: Any = None) -> Any:
        rows = self.zeroMask
        found = map_tensors(torch.zeros_like, input)
        if len(rows):
            own = self.criterion.updateGradInput(self.input, self.target)
            for zeros, gradient in zip(tensors(found), tensors(own), strict=True):
                zeros.index_copy_(0, rows.to(zeros.device), gradient)
        return self.set_gradInput(found)

    def _kept(self, value: Any) -> Any:
        """Return the samples of all tensors whose input is not zero."""
        return map_tensors(lambda t: t.index_select(0, self.zeroMask.to(t.device)), value)
