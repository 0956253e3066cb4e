"""``nn.SpatialNormalization`` of Torch7's package nnx, which nets of 2011 hold."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from compat.checks import check_tensor, number, whole
from compat.nn.checks.tensors import check_count
from compat.nn.containers.sequential import Sequential
from compat.nn.core.layer import Layer
from compat.nn.core.module import Scalar
from compat.nn.layers.activation import Threshold
from compat.nn.layers.convolution import tables
from compat.nn.layers.convolution.mapped import SpatialConvolutionMap
from compat.nn.layers.padding import SpatialPadding
from compat.nn.layers.pointwise import Sqrt, Square
from compat.nn.layers.reduction import Sum
from compat.nn.layers.shape import Replicate
from compat.nn.layers.table_arithmetic import CDivTable, CSubTable


def _weighted_sum(planes: int, kernel: Tensor) -> Sequential:
    """Return a net for the sum over all planes and a window, in each of ``planes`` planes."""
    height, width = kernel.shape
    map = SpatialConvolutionMap(tables.oneToOne(planes), width, height)
    map.weight.copy_(kernel.expand_as(map.weight))
    map.bias.zero_()
    edges = (width // 2, (width - 1) // 2, height // 2, (height - 1) // 2)
    return Sequential(SpatialPadding(*edges), map, Sum(1), Replicate(planes))


def _estimator(planes: int, kernels: list[Tensor]) -> Sequential:
    sums = [_weighted_sum(planes, kernel) for kernel in kernels]
    return sums[0] if len(sums) == 1 else Sequential(*sums)


def _averaging(kernel: Tensor, name: str) -> Tensor:
    if check_tensor(kernel, name).dim() != 2:
        raise ValueError(f"{name} has {kernel.dim()} dimensions; a matrix is accepted")
    return kernel / kernel.sum()


class SpatialNormalization(Layer):
    """Subtract the local mean from each pixel and divide by the local deviation.

    It is ``nn.SpatialNormalization`` of Torch7's package nnx. Mean and deviation are over all
    planes, and over what of the window lies inside the image.

    Args:
        nInputPlane: number of planes.
        kernel: the weights of the window, a matrix, or a list of two: a column and a row.
        threshold: deviations up to it are replaced by it; None is their mean over the image, at
            least 0.001.

    Shapes: input ``nInputPlane x H x W``, or ``H x W``, which is one plane.

    Differs from Torch7: ``kernel`` stays as it was; the field holds it with a sum of 1.
    """

    scratch_fields = ("input", "inVar", "thstd")
    pass_fields: ClassVar[tuple[str, ...]] = (
        *("inConvo", "inMean", "inputZeroMean", "inputZeroMeanSq", "inConvoVar"),
        *("inStdDevNotUnit", "inStdDev", "stdDev"),
    )

    kernel: Tensor | list[Tensor]
    fixedThres: Scalar | None = None
    coef: Tensor
    convo: Sequential
    convostd: Sequential
    # Their gradients are there: nobody sets these to None.
    squareMod: Any
    subtractMod: Any
    meanDiviseMod: Any
    stdDiviseMod: Any
    diviseMod: Any

    def __init__(
        self,
        nInputPlane: int,
        kernel: Tensor | list[Tensor],
        threshold: Scalar | None = None,
    ) -> None:
        super().__init__()
        self.nfeatures = whole(nInputPlane, "nInputPlane", 1)
        if isinstance(kernel, (list, tuple)):
            if len(kernel) != 2:
                raise ValueError(f"kernel has {len(kernel)} entries; a column and a row are two")
            self.kernel = [_averaging(each, f"kernel[{i}]") for i, each in enumerate(kernel, 1)]
        else:
            self.kernel = _averaging(kernel, "kernel")
        self.fixedThres = None if threshold is None else number(threshold, "threshold")
        kernels = self.kernel if isinstance(self.kernel, list) else [self.kernel]
        self.convo = _estimator(self.nfeatures, kernels)
        self.convostd = _estimator(self.nfeatures, kernels)
        self.squareMod, self.sqrtMod = Square(), Sqrt()
        self.subtractMod, self.thresMod = CSubTable(), Threshold()
        self.meanDiviseMod, self.stdDiviseMod = CDivTable(), CDivTable()
        self.diviseMod = CDivTable()
        self.coef = kernels[0].new_zeros(1, 1)

    def _planes(self, input: Tensor) -> Tensor:
        planes = input.unsqueeze(0) if input.dim() == 2 else input
        if planes.dim() != 3:
            raise ValueError(
                f"input has {input.dim()} dimensions; 3 (planes x height x width) or 2 (one plane) "
                "are accepted"
            )
        check_count(planes.size(0), self.nfeatures, "planes")
        return planes

    def updateOutput(self, input: Tensor) -> Tensor:
        planes = self._planes(input)
        if self.coef.shape != planes.shape:
            # How much of the kernel lies inside the image at each pixel.
            self.coef = self.convo.updateOutput(planes.new_ones(planes.shape)).clone()
        self.inConvo = self.convo.updateOutput(planes)
        self.inMean = self.meanDiviseMod.updateOutput([self.inConvo, self.coef])
        self.inputZeroMean = self.subtractMod.updateOutput([planes, self.inMean])

        self.inputZeroMeanSq = self.squareMod.updateOutput(self.inputZeroMean)
        self.inConvoVar = self.convostd.updateOutput(self.inputZeroMeanSq)
        self.inStdDevNotUnit = self.sqrtMod.updateOutput(self.inConvoVar)
        self.inStdDev = self.stdDiviseMod.updateOutput([self.inStdDevNotUnit, self.coef])
        least = self.fixedThres
        if least is None:
            least = max(self.inStdDev.mean().item(), 1e-3)
        self.thresMod.threshold = self.thresMod.val = least
        self.stdDev = self.thresMod.updateOutput(self.inStdDev)

        self.output = self.diviseMod.updateOutput([self.inputZeroMean, self.stdDev])
        return self.output

    def updateGradInput(self, input: Tensor, gradOutput: Tensor) -> Tensor | None:
        if self.gradInput is None:
            return None
        planes = self._planes(input)
        centred = self.inputZeroMean
        ofCentred, found = self.diviseMod.updateGradInput([centred, self.stdDev], gradOutput)
        found = self.thresMod.updateGradInput(self.inStdDev, found)
        found, _ = self.stdDiviseMod.updateGradInput([self.inStdDevNotUnit, self.coef], found)
        found = self.sqrtMod.updateGradInput(self.inConvoVar, found)
        found = self.convostd.updateGradInput(self.inputZeroMeanSq, found)
        ofCentred = ofCentred + self.squareMod.updateGradInput(centred, found)
        direct, found = self.subtractMod.updateGradInput([planes, self.inMean], ofCentred)
        found, _ = self.meanDiviseMod.updateGradInput([self.inConvo, self.coef], found)
        return self.set_gradInput(direct + self.convo.updateGradInput(planes, found))
