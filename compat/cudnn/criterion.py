"""cudnn.torch's criterions."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat import nn
from compat.checks import check_tensor
from compat.cudnn.activation import SpatialLogSoftMax
from compat.nn.checks.tensors import TENSOR, check_dims
from compat.nn.criterions.base import Criterion


class SpatialCrossEntropyCriterion(Criterion, typename="cudnn.SpatialCrossEntropyCriterion"):
    """Cross entropy at every pixel (cudnn.torch: ``cudnn.SpatialCrossEntropyCriterion``).

    Args:
        weights: a factor for each class.

    Shapes: input ``N x classes x H x W``; target ``N x H x W`` of labels from 1.

    PyTorch: ``torch.nn.CrossEntropyLoss``.
    """

    takes = TENSOR

    sizeAverage: bool = True

    def __init__(self, weights: Tensor | None = None) -> None:
        super().__init__()
        self.slsm = SpatialLogSoftMax()
        self.nll = nn.SpatialClassNLLCriterion(weights)
        self.sizeAverage = True

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        check_dims(input, 4)
        self.nll.sizeAverage = self.sizeAverage
        self.output = self.nll.updateOutput(self.slsm.updateOutput(input), target)
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        check_dims(input, 4)
        self.nll.sizeAverage = self.sizeAverage
        if self.slsm.output.shape != input.shape:
            self.slsm.updateOutput(input)
        slopes = self.nll.updateGradInput(self.slsm.output, target)
        self.gradInput = self.slsm.updateGradInput(input, slopes)
        return self.gradInput


class VolumetricCrossEntropyCriterion(Criterion, typename="cudnn.VolumetricCrossEntropyCriterion"):
    """Cross entropy at every voxel (cudnn.torch: ``cudnn.VolumetricCrossEntropyCriterion``).

    Args:
        weights: a factor for each class.

    Shapes: input ``N x classes x T x H x W``; target ``N x T x H x W`` of labels from 1.

    PyTorch: ``torch.nn.CrossEntropyLoss``.
    """

    takes = TENSOR

    def __init__(self, weights: Tensor | None = None) -> None:
        super().__init__()
        self.scec = SpatialCrossEntropyCriterion(weights)

    def updateOutput(self, input: Tensor, target: Any = None) -> float:
        check_dims(input, 5)
        self.output = self.scec.updateOutput(input.flatten(2, 3), _planes(target))
        return self.output

    def updateGradInput(self, input: Tensor, target: Any = None) -> Tensor:
        check_dims(input, 5)
        slopes = self.scec.updateGradInput(input.flatten(2, 3), _planes(target))
        self.gradInput = slopes.view(input.shape)
        return self.gradInput


def _planes(target: Any) -> Tensor:
    return check_tensor(target, "target").flatten(1, 2)
