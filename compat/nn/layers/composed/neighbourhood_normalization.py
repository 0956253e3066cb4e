"""Normalisation of each pixel by its neighbourhood: subtractive, divisive and both."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import torch
from torch import Tensor

from compat.checks import check_tensor, whole
from compat.nn.checks.tensors import check_count, check_sample
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Module, Scalar
from compat.nn.layers.activation import Threshold
from compat.nn.layers.convolution import tables
from compat.nn.layers.convolution.convolution import SpatialConvolution
from compat.nn.layers.convolution.mapped import SpatialConvolutionMap
from compat.nn.layers.padding import SpatialZeroPadding
from compat.nn.layers.pointwise import Sqrt, Square
from compat.nn.layers.shape import Replicate
from compat.nn.layers.table_arithmetic import CDivTable, CSubTable


class _Neighbourhood(Layer):
    """The base: a kernel, normalised such that it averages, over all planes and a window.

    Field: ``coef``, how much of the kernel lies inside the image at each pixel.
    """

    kernel: Tensor
    coef: Tensor
    meanestimator: Sequential
    # Their gradients are there: nobody sets these to None.
    divider: Any
    subtractor: Any
    normalizer: Any
    thresholder: Any

    def _build(self, nInputPlane: int | None, kernel: Tensor | None) -> None:
        self.nInputPlane = whole(nInputPlane, "nInputPlane", 1)
        self.kernel = _averaging(kernel, self.nInputPlane)
        self.coef = torch.zeros(1, 1, 1)

    def _check(self, input: Tensor) -> None:
        check_sample(input, "planes x height x width")
        check_count(input.size(-3), self.nInputPlane, "planes")

    def _coefficients(self, input: Tensor) -> Tensor:
        """Return ``coef`` for ``input``; compute it anew if the size of the images has changed.

        Computing it changes the mean estimator's ``output``.
        """
        if self.coef.shape != input.shape[-3:]:
            ones = input.new_ones(input.shape[-3:])
            self.coef = _averages(self.meanestimator, ones).contiguous().clone()
        return self.coef.expand_as(input)

    def t7_fields(self) -> dict[str, Any]:
        # Torch7 computes it again.
        return super().t7_fields() | {"coef": self.coef.new_zeros(1, 1, 1)}


def _averaging(kernel: Tensor | None, planes: int) -> Tensor:
    kernel = torch.ones(9, 9) if kernel is None else check_tensor(kernel, "kernel")
    if kernel.dim() not in (1, 2) or any(size % 2 == 0 for size in kernel.shape):
        raise ValueError(
            f"kernel has size {tuple(kernel.shape)}; one or two dimensions of odd size are accepted"
        )
    # A kernel of one dimension is used twice.
    share = planes if kernel.dim() == 2 else math.sqrt(planes)
    return kernel / (kernel.sum() * share)


def _averages(estimator: Sequential, input: Tensor) -> Tensor:
    """Return the output of an estimator, which has a dimension of 1 more than ``input``."""
    return estimator.updateOutput(input).squeeze(-3)


def _gradient(estimator: Sequential, input: Tensor, gradient: Tensor) -> Tensor:
    return estimator.updateGradInput(input, gradient.unsqueeze(-3))


def _estimator(
    planes: int, kernel: Tensor, before: list[Module], after: list[Module]
) -> Sequential:
    """Return the net that averages over a neighbourhood, between other modules."""
    height, width = kernel.size(0), kernel.size(-1)
    net = Sequential(*before)
    net.add(SpatialZeroPadding(width // 2, width // 2, height // 2, height // 2))
    if kernel.dim() == 2:
        last = SpatialConvolution(planes, 1, width, height)
    else:
        rows = SpatialConvolutionMap(tables.oneToOne(planes), width, 1)
        rows.weight.copy_(kernel.view(1, 1, -1).expand_as(rows.weight))
        rows.bias.zero_()
        net.add(rows)
        last = SpatialConvolution(planes, 1, 1, height)
    last.weight.copy_(kernel.view(1, 1, height, -1).expand_as(last.weight))
    last.bias.zero_()
    net.add(last).add(Replicate(planes, 1, 3))
    for module in after:
        net.add(module)
    return net


class SpatialSubtractiveNormalization(_Neighbourhood):
    """Subtract the local average from each pixel (Torch7: ``nn.SpatialSubtractiveNormalization``).

    Args:
        nInputPlane: number of planes, over which the average goes too.
        kernel: the weights of the neighbourhood, in one dimension, used for rows and columns, or
            two; all sizes are odd. 9 x 9 ones by default.

    Shapes: input ``[N x] nInputPlane x H x W``.

    Differs from Torch7: ``kernel`` stays as it was; the field holds it normalised.
    """

    cleared_fields = ("ones", "_coef")

    scratch_fields = ("localsums", "adjustedsums", "_coef")
    pass_fields: ClassVar[tuple[str, ...]] = ("localsums", "adjustedsums")

    def __init__(self, nInputPlane: int = 1, kernel: Tensor | None = None) -> None:
        super().__init__()
        self._build(nInputPlane, kernel)
        self.meanestimator = _estimator(self.nInputPlane, self.kernel, [], [])
        self.subtractor = CSubTable()
        self.divider = CDivTable()

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        coefficients = self._coefficients(input)
        self.localsums = _averages(self.meanestimator, input)
        self.adjustedsums = self.divider.updateOutput([self.localsums, coefficients])
        self.output = self.subtractor.updateOutput([input, self.adjustedsums])
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        direct, ofSums = self.subtractor.updateGradInput([input, self.adjustedsums], gradOutput)
        ofSums, _ = self.divider.updateGradInput(
            [self.localsums, self._coefficients(input)], ofSums
        )
        return self.set_gradInput(direct + _gradient(self.meanestimator, input, ofSums))


class SpatialDivisiveNormalization(_Neighbourhood):
    """Divide each pixel by the local deviation (Torch7: ``nn.SpatialDivisiveNormalization``).

    Args:
        nInputPlane, kernel: as in ``SpatialSubtractiveNormalization``.
        threshold: deviations up to this number are replaced.
        thresval: the replacement; by default ``threshold``.

    Shapes: input ``[N x] nInputPlane x H x W``.

    Differs from Torch7: ``kernel`` stays as it was; the field holds it normalised.
    """

    cleared_fields = ("ones", "_coef")

    scratch_fields = ("localstds", "adjustedstds", "thresholdedstds", "_coef")
    pass_fields: ClassVar[tuple[str, ...]] = ("localstds", "adjustedstds", "thresholdedstds")

    def __init__(
        self,
        nInputPlane: int = 1,
        kernel: Tensor | None = None,
        threshold: Scalar = 1e-4,
        thresval: Scalar | None = None,
    ) -> None:
        super().__init__()
        self._build(nInputPlane, kernel)
        self.threshold = threshold
        self.thresval = self.threshold if thresval is None else thresval
        self.meanestimator = _estimator(self.nInputPlane, self.kernel, [], [])
        self.stdestimator = _estimator(self.nInputPlane, self.kernel, [Square()], [Sqrt()])
        self.normalizer = CDivTable()
        self.divider = CDivTable()
        self.thresholder = Threshold(self.threshold, self.thresval)

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        self.localstds = _averages(self.stdestimator, input)
        stds = [self.localstds, self._coefficients(input)]
        self.adjustedstds = self.divider.updateOutput(stds)
        self.thresholdedstds = self.thresholder.updateOutput(self.adjustedstds)
        self.output = self.normalizer.updateOutput([input, self.thresholdedstds])
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        direct, ofStds = self.normalizer.updateGradInput([input, self.thresholdedstds], gradOutput)
        ofStds = self.thresholder.updateGradInput(self.adjustedstds, ofStds)
        ofStds, _ = self.divider.updateGradInput(
            [self.localstds, self._coefficients(input)], ofStds
        )
        return self.set_gradInput(direct + _gradient(self.stdestimator, input, ofStds))


class SpatialContrastiveNormalization(Layer):
    """Subtractive, then divisive normalisation (Torch7: ``nn.SpatialContrastiveNormalization``).

    Args: as in ``SpatialDivisiveNormalization``.

    Shapes: input ``[N x] nInputPlane x H x W``.

    Differs from Torch7: ``kernel`` stays as it was; the field holds it normalised.
    """

    def __init__(
        self,
        nInputPlane: int = 1,
        kernel: Tensor | None = None,
        threshold: Scalar = 1e-4,
        thresval: Scalar | None = None,
    ) -> None:
        super().__init__()
        subtract = SpatialSubtractiveNormalization(nInputPlane, kernel)
        divide = SpatialDivisiveNormalization(nInputPlane, kernel, threshold, thresval)
        self.nInputPlane = subtract.nInputPlane
        self.kernel = subtract.kernel
        self.threshold = divide.threshold
        self.thresval = divide.thresval
        self.normalizer = Sequential(subtract, divide)

    def updateOutput(self, input: Tensor) -> Tensor:
        self.output = self.normalizer.updateOutput(input)
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        self.gradInput = self.normalizer.updateGradInput(input, gradOutput)
        return self.gradInput
