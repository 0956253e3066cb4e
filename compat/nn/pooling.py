"""Maxima and averages of windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.nn.window import Spatial, Volumetric, Windowed, shown

P = TypeVar("P", bound="Pooling")
A = TypeVar("A", bound="AveragePooling")


class Pooling(Windowed):
    """The base of poolings: a window, and whether incomplete ones at the far edge count."""

    ceil_mode: bool = False

    def _build(
        self,
        kernel: Sequence[int],
        stride: Sequence[int | None],
        default_stride: Any,
        padding: Sequence[int | None],
    ) -> None:
        self._set("k", kernel, 1, None)
        self._set("d", stride, 1, default_stride)
        self._set("pad", padding, 0, 0)
        self.ceil_mode = False

    def ceil(self: P) -> P:
        """Round the output size up: windows that reach over the far edge count."""
        self.ceil_mode = True
        return self

    def floor(self: P) -> P:
        """Round the output size down, the default."""
        self.ceil_mode = False
        return self

    def _extra(self) -> str:
        """What the print tells after the padding."""
        return ""

    def __repr__(self) -> str:
        kernel, stride, padding = (
            [getattr(self, prefix + axis) for axis in self.axes] for prefix in ("k", "d", "pad")
        )
        text = "x".join(map(str, kernel)) + shown(stride)
        if any(padding):
            text += shown(padding)
        return f"{self.typename}({text}{self._extra()})"


class MaxPooling(Pooling):
    """The maximum of each window, and where it was: the field ``indices``.

    ``indices`` counts from 1 within each plane, as in Torch7.
    """

    _function: ClassVar[Callable[..., tuple[Tensor, Tensor]]]
    _scratch = (*Windowed._scratch, "indices")
    _places: Tensor | None = None

    @property
    def indices(self) -> Tensor:
        """For each output, the place in its plane of the input that it came from."""
        return torch.empty(0, dtype=torch.long) if self._places is None else self._places + 1

    def compute(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output, self._places = self._function(
            input, self._kernel, self._stride, self._padding, self._dilation, self.ceil_mode
        )
        return output

    def clearState(self: P) -> P:
        self._places = None
        return super().clearState()

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("_places", None)
        fields["indices"] = self.indices
        return fields


class AveragePooling(Pooling):
    """The average of each window.

    ``count_include_pad`` tells whether padding counts as zeros; without ``divide``, which old files
    lack, averages are multiplied by the size of the window.
    """

    count_include_pad: bool = True
    divide: bool = False
    _function: ClassVar[Callable[..., Tensor]]

    def setCountIncludePad(self: A) -> A:
        """Count padding as zeros, the default."""
        self.count_include_pad = True
        return self

    def setCountExcludePad(self: A) -> A:
        """Average over what lies inside the input."""
        self.count_include_pad = False
        return self

    def compute(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output = self._function(
            input,
            self._kernel,
            self._stride,
            self._padding,
            self.ceil_mode,
            self.count_include_pad,
        )
        return output if self.divide else output * math.prod(self._kernel)


class SpatialMaxPooling(MaxPooling, Spatial):
    """The maximum of each window of a plane (Torch7: ``nn.SpatialMaxPooling``).

    Args:
        kW, kH: width and height of the window.
        dW, dH: step, by default the window's size.
        padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x H x W``.

    Differs from Torch7: NaN in a window gives NaN.
    """

    _function = staticmethod(F.max_pool2d_with_indices)

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = None,
        dH: int | None = None,
        padW: int | None = 0,
        padH: int | None = 0,
    ) -> None:
        super().__init__()
        self._build((kW, kH), (dW, dH), (kW, kH), (padW, padH))


class SpatialAveragePooling(AveragePooling, Spatial):
    """The average of each window of a plane (Torch7: ``nn.SpatialAveragePooling``).

    Args:
        kW, kH: width and height of the window.
        dW, dH: step, by default 1.
        padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x H x W``.
    """

    _function = staticmethod(F.avg_pool2d)

    def __init__(
        self,
        kW: int,
        kH: int,
        dW: int | None = 1,
        dH: int | None = 1,
        padW: int | None = 0,
        padH: int | None = 0,
    ) -> None:
        super().__init__()
        self._build((kW, kH), (dW, dH), 1, (padW, padH))
        self.divide = True


class VolumetricMaxPooling(MaxPooling, Volumetric):
    """The maximum of each window of a volume (Torch7: ``nn.VolumetricMaxPooling``).

    Args:
        kT, kW, kH: length in time, width and height of the window.
        dT, dW, dH: step, by default the window's size.
        padT, padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x T x H x W``.

    Differs from Torch7: NaN in a window gives NaN.
    """

    t7_version = 2
    _function = staticmethod(F.max_pool3d_with_indices)

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int | None = 0,
        padW: int | None = 0,
        padH: int | None = 0,
    ) -> None:
        super().__init__()
        kernel = (kT, kW, kH)
        self._build(kernel, (dT, dW, dH), kernel, (padT, padW, padH))


class VolumetricAveragePooling(AveragePooling, Volumetric):
    """The average of each window of a volume (Torch7: ``nn.VolumetricAveragePooling``).

    Args:
        kT, kW, kH: length in time, width and height of the window.
        dT, dW, dH: step, by default the window's size.
        padT, padW, padH: how far windows reach over the edges, at most half their size.

    Shapes: input ``[N x] planes x T x H x W``.
    """

    divide = True
    _function = staticmethod(F.avg_pool3d)

    def __init__(
        self,
        kT: int,
        kW: int,
        kH: int,
        dT: int | None = None,
        dW: int | None = None,
        dH: int | None = None,
        padT: int | None = 0,
        padW: int | None = 0,
        padH: int | None = 0,
    ) -> None:
        super().__init__()
        kernel = (kT, kW, kH)
        self._build(kernel, (dT, dW, dH), kernel, (padT, padW, padH))
