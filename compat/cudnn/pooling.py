"""cudnn.torch's poolings."""

from __future__ import annotations

from typing import Any

from compat import nn
from compat.cudnn.base import Cudnn


class SpatialMaxPooling(Cudnn, nn.SpatialMaxPooling, typename="cudnn.SpatialMaxPooling"):
    """``nn.SpatialMaxPooling`` (cudnn.torch: ``cudnn.SpatialMaxPooling``).

    PyTorch: ``torch.nn.MaxPool2d``.
    """


class SpatialAveragePooling(
    Cudnn, nn.SpatialAveragePooling, typename="cudnn.SpatialAveragePooling"
):
    """``nn.SpatialAveragePooling`` (cudnn.torch: ``cudnn.SpatialAveragePooling``).

    Args:
        kW, kH, padW, padH: as in ``nn.SpatialAveragePooling``.
        dW, dH: step, by default the window's size, unlike in ``nn``.

    PyTorch: ``torch.nn.AvgPool2d``.
    """

    divide = True

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        dW, dH = kW if dW is None else dW, kH if dH is None else dH
        super().__init__(kW, kH, dW, dH, padW, padH)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        mode = fields.pop("mode", None)
        if mode is not None:
            fields.setdefault("count_include_pad", "EXCLUDE" not in str(mode))
        super().t7_restore(fields, version)


class VolumetricMaxPooling(Cudnn, nn.VolumetricMaxPooling, typename="cudnn.VolumetricMaxPooling"):
    """``nn.VolumetricMaxPooling`` (cudnn.torch: ``cudnn.VolumetricMaxPooling``).

    PyTorch: ``torch.nn.MaxPool3d``.
    """

    _input_dims = 5


class VolumetricAveragePooling(
    Cudnn, nn.VolumetricAveragePooling, typename="cudnn.VolumetricAveragePooling"
):
    """``nn.VolumetricAveragePooling`` (cudnn.torch: ``cudnn.VolumetricAveragePooling``).

    PyTorch: ``torch.nn.AvgPool3d``.
    """

    _input_dims = 5
