"""Maxima and averages of windows."""

from __future__ import annotations

from typing import ClassVar

from compat.nn.layers.pooling.windows import AveragePooling, MaxPooling, Pooling
from compat.nn.layers.window import Dilated, Spatial, Volumetric


class SpatialMaxPooling(MaxPooling, Spatial):
    """The maximum of each window of a plane (Torch7: ``nn.SpatialMaxPooling``).

    Args:
        kW, kH: width and height of the window.
        dW, dH: step, by default the window's size.
        padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x H x W``.

    Differs from Torch7: NaN in a window gives NaN; in ceil mode, windows that lie wholly beyond the
    far edge are left out.

    PyTorch: ``torch.nn.MaxPool2d``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SpatialMaxPooling(2, 2).forward(torch.ones(1, 3, 8, 6)).shape
        torch.Size([1, 3, 4, 3])
    """

    newer_fields = ("padW", "padH", "ceil_mode")

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        super().__init__()
        self._set_window((kW, kH), (dW, dH), (padW, padH))


class SpatialAveragePooling(AveragePooling, Spatial):
    """The average of each window of a plane (Torch7: ``nn.SpatialAveragePooling``).

    Args:
        kW, kH: width and height of the window.
        dW, dH: step, by default 1.
        padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x H x W``.

    Differs from Torch7: in ceil mode, windows that lie wholly beyond the far edge are left out.

    PyTorch: ``torch.nn.AvgPool2d``.
    """

    newer_fields = ("padW", "padH", "ceil_mode")

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        super().__init__()
        self._set_window((kW, kH), (dW, dH), (padW, padH))
        self.count_include_pad = self.divide = True


class SpatialDilatedMaxPooling(Dilated, SpatialMaxPooling):
    """The maximum of windows with holes (Torch7: ``nn.SpatialDilatedMaxPooling``).

    Args:
        kW, kH, dW, dH, padW, padH: as in ``SpatialMaxPooling``.
        dilationW, dilationH: the distance between neighbouring elements of a window.

    PyTorch: ``torch.nn.MaxPool2d``.
    """

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int = 0,
        padH: int = 0,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(kW, kH, dW, dH, padW, padH)
        self._set("dilation", (dilationW, dilationH), 1)


class _OfVolumes(Pooling, Volumetric, abstract=True):
    newer_fields: ClassVar[tuple[str, ...]] = ("padT", "padW", "padH", "ceil_mode")

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int = 0,
        padW: int = 0,
        padH: int = 0,
    ) -> None:
        super().__init__()
        self._set_window((kT, kW, kH), (dT, dW, dH), (padT, padW, padH))


class VolumetricMaxPooling(MaxPooling, _OfVolumes):
    """The maximum of each window of a volume (Torch7: ``nn.VolumetricMaxPooling``).

    Args:
        kT, kW, kH: length in time, width and height of the window.
        dT, dW, dH: step, by default the window's size.
        padT, padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x T x H x W``.

    Differs from Torch7: NaN in a window gives NaN; in ceil mode, windows that lie wholly beyond the
    far edge are left out.

    PyTorch: ``torch.nn.MaxPool3d``.
    """

    t7_version = 2


class VolumetricDilatedMaxPooling(Dilated, VolumetricMaxPooling):
    """The maximum of windows with holes (Torch7: ``nn.VolumetricDilatedMaxPooling``).

    Args:
        kT, kW, kH, dT, dW, dH, padT, padW, padH: as in ``VolumetricMaxPooling``.
        dilationT, dilationW, dilationH: the distance between neighbouring elements of a window.

    Differs from Torch7: ``ceil_mode`` survives being read from a file.

    PyTorch: ``torch.nn.MaxPool3d``.
    """

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int = 0,
        padW: int = 0,
        padH: int = 0,
        dilationT: int = 1,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(kT, kW, kH, dT, dW, dH, padT, padW, padH)
        self._set("dilation", (dilationT, dilationW, dilationH), 1)


class VolumetricAveragePooling(AveragePooling, _OfVolumes):
    """The average of each window of a volume (Torch7: ``nn.VolumetricAveragePooling``).

    Args:
        kT, kW, kH: length in time, width and height of the window.
        dT, dW, dH: step, by default the window's size.
        padT, padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x T x H x W``.

    Differs from Torch7: in ceil mode, windows that lie wholly beyond the far edge are left out.

    PyTorch: ``torch.nn.AvgPool3d``.
    """

    divide = True
