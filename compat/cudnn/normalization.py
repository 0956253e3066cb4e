"""cudnn.torch's normalisations."""

from __future__ import annotations

from typing import Any

from compat import nn
from compat.cudnn.base import Cudnn
from compat.nn.checks.arguments import nil_is_default


class SpatialCrossMapLRN(Cudnn, nn.SpatialCrossMapLRN, typename="cudnn.SpatialCrossMapLRN"):
    """``nn.SpatialCrossMapLRN``, over 5 planes by default (``cudnn.SpatialCrossMapLRN``).

    PyTorch: ``torch.nn.LocalResponseNorm``.
    """

    @nil_is_default
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


class BatchNormalization(Cudnn, nn.BatchNormalization, typename="cudnn.BatchNormalization"):
    """``nn.BatchNormalization`` (cudnn.torch: ``cudnn.BatchNormalization``).

    Differs from cudnn.torch: ``affine`` may be False, and backward works in evaluate mode.

    PyTorch: ``torch.nn.BatchNorm1d``.
    """

    t7_version = 2
    _input_dims = 2


class SpatialBatchNormalization(
    Cudnn, nn.SpatialBatchNormalization, typename="cudnn.SpatialBatchNormalization"
):
    """``nn.SpatialBatchNormalization`` (cudnn.torch: ``cudnn.SpatialBatchNormalization``).

    PyTorch: ``torch.nn.BatchNorm2d``.
    """

    t7_version = 2


class VolumetricBatchNormalization(
    Cudnn, nn.VolumetricBatchNormalization, typename="cudnn.VolumetricBatchNormalization"
):
    """``nn.VolumetricBatchNormalization`` (cudnn.torch: ``cudnn.VolumetricBatchNormalization``).

    PyTorch: ``torch.nn.BatchNorm3d``.
    """

    t7_version = 2
    _input_dims = 5
