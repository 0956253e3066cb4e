"""cudnn.torch's normalisations."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat import nn
from compat.cudnn.base import Cudnn


class SpatialCrossMapLRN(Cudnn, nn.SpatialCrossMapLRN, typename="cudnn.SpatialCrossMapLRN"):
    """``nn.SpatialCrossMapLRN``, over 5 planes by default (``cudnn.SpatialCrossMapLRN``).

    PyTorch: ``torch.nn.LocalResponseNorm``.
    """

    def __init__(
        self,
        size: int = 5,
        alpha: float = 1e-4,
        beta: float = 0.75,
        k: float = 1.0,
    ) -> None:
        super().__init__(size, alpha, beta, k)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        if "K" in fields:
            fields["k"] = fields.pop("K")
        super().t7_restore(fields, version)


class _OfAnyBatch(nn.BatchNormalization, abstract=True):
    """The base of batch normalisations that use the statistics even of a batch of one row."""

    def _has_statistics(self, input: Tensor) -> bool:
        # Of a single value for each feature PyTorch computes none.
        return input.numel() > self.running_mean.numel()


class BatchNormalization(
    Cudnn, _OfAnyBatch, nn.BatchNormalization, typename="cudnn.BatchNormalization"
):
    """``nn.BatchNormalization`` (cudnn.torch: ``cudnn.BatchNormalization``).

    Differs from cudnn.torch: ``affine`` may be False, and backward works in evaluate mode.

    PyTorch: ``torch.nn.BatchNorm1d``.
    """

    t7_version = 2
    _input_dims = 2


class SpatialBatchNormalization(
    Cudnn, _OfAnyBatch, nn.SpatialBatchNormalization, typename="cudnn.SpatialBatchNormalization"
):
    """``nn.SpatialBatchNormalization`` (cudnn.torch: ``cudnn.SpatialBatchNormalization``).

    PyTorch: ``torch.nn.BatchNorm2d``.
    """

    t7_version = 2


class VolumetricBatchNormalization(
    Cudnn,
    _OfAnyBatch,
    nn.VolumetricBatchNormalization,
    typename="cudnn.VolumetricBatchNormalization",
):
    """``nn.VolumetricBatchNormalization`` (cudnn.torch: ``cudnn.VolumetricBatchNormalization``).

    PyTorch: ``torch.nn.BatchNorm3d``.
    """

    t7_version = 2
    _input_dims = 5
