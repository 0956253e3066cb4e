"""cudnn.torch's criterions."""

from __future__ import annotations

import torch
from torch import Tensor

from compat import nn
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

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        check_dims(input, 4)
        self.nll.sizeAverage = self.sizeAverage
        return self.nll.compute(torch.log_softmax(input, 1), target)


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

    def compute(self, input: Tensor, target: Tensor) -> Tensor:
        check_dims(input, 5)
        return self.scec.compute(input.flatten(2, 3), target.flatten(1, 2))
