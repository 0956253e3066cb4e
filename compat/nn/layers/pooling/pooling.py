"""Maxima and averages of windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor
from torch.nn import functional as F

from compat import t7
from compat.checks import number, whole
from compat.nn.checks.arguments import nil_is_default
from compat.nn.checks.tensors import TENSOR, check_dims
from compat.nn.core.module import Module, Scalar, deterministic
from compat.nn.layers.window import Emptied, Spatial, Temporal, Volumetric, Windowed, shown

P = TypeVar("P", bound="Pooling")
A = TypeVar("A", bound="AveragePooling")


class Pooling(Emptied, Windowed, abstract=True):
    """The base of poolings: a window, and whether incomplete ones at the far edge count."""

    ceil_mode: bool = False

    def _set_window(self, kernel: Any, stride: Any, padding: Any = ()) -> None:
        super()._set_window(kernel, stride, padding)
        self.ceil_mode = False

    def ceil(self: P) -> P:
        """Round the output size up: windows that reach over the far edge count."""
        self.ceil_mode = True
        return self

    def floor(self: P) -> P:
        """Round the output size down, the default."""
        self.ceil_mode = False
        return self

    def objection(self, **arguments: Any) -> Exception | None:
        found = super().objection(**arguments)
        for axis, kernel, _, pad in zip(self.axes, *self._shown_window(), strict=True):
            if found is None and 2 * pad > kernel:
                found = ValueError(
                    f"pad{axis} is {pad}; at most half of k{axis}, {kernel}, is accepted"
                )
        return found

    def _extra(self) -> str:
        """What the print tells after the padding."""
        return ""

    def __repr__(self) -> str:
        kernel, stride, padding = self._shown_window()
        text = "x".join(map(str, kernel)) + shown(stride)
        if any(padding):
            text += shown(padding)
        return f"{self.typename}({text}{self._extra()})"


class MaxPooling(Pooling, abstract=True):
    """The maximum of each window.

    Fields: ``indices``, where in its plane each maximum was, counted from 1; ``iheight`` and
    ``iwidth`` (and ``itime``), the size of the latest input.
    """

    _function: ClassVar[Callable[..., tuple[Tensor, Tensor]]]
    # Old files of nets with unpooling hold a closure that notes the size of the input.
    scratch_fields = ("updateOutput",)
    cleared_fields = ("indices",)
    # The maxima's places, counted from 0, and the size of the input.
    places: Tensor | None = None
    extent: Sequence[int] = ()

    @property
    def indices(self) -> Tensor:
        return torch.empty(0, dtype=torch.long) if self.places is None else self.places + 1

    iwidth = property(lambda self: self.extent[-1] if self.extent else None)
    iheight = property(lambda self: self.extent[-2] if self.extent else None)
    itime = property(lambda self: self.extent[-3] if self.extent else None)

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output, self.places = self._function(
            input,
            self.window_size,
            self.window_stride,
            self.window_padding,
            self.window_dilation,
            self.ceil_mode,
        )
        self.extent = input.shape[self._plane_dim + 1 :]
        return output

    def clearState(self: P) -> P:
        self.__dict__.pop("places", None)
        self.__dict__.pop("extent", None)
        return super().clearState()

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        fields.pop("places", None)
        extent = fields.pop("extent", ())
        fields.update(zip(self._extent_names(), extent, strict=False))
        return fields | {"indices": self.indices}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        indices = fields.pop("indices", None)
        extent = [fields.pop(name, None) for name in self._extent_names()]
        if isinstance(indices, Tensor) and indices.numel():
            t7.claim(2 * torch.int64.itemsize * indices.numel())
            self.places = indices.long() - 1
        if all(extent):
            self.extent = extent
        super().t7_restore(fields, version)

    def _extent_names(self) -> tuple[str, ...]:
        return ("itime", "iheight", "iwidth")[-len(self.axes) :]


class AveragePooling(Pooling, abstract=True):
    """The average of each window.

    ``count_include_pad`` tells whether padding counts as zeros; without ``divide``, which old files
    lack, averages are multiplied by the size of the window.
    """

    newer_fields: ClassVar[tuple[str, ...]] = ("count_include_pad", "divide")
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

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output = self._function(
            input,
            self.window_size,
            self.window_stride,
            self.window_padding,
            self.ceil_mode,
            self.count_include_pad,
        )
        return output if self.divide else output * math.prod(self.window_size)


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
    """

    _function = staticmethod(F.max_pool2d_with_indices)
    newer_fields = ("padW", "padH", "ceil_mode")

    @nil_is_default
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

    _function = staticmethod(F.avg_pool2d)
    newer_fields = ("padW", "padH", "ceil_mode")

    @nil_is_default
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


class SpatialDilatedMaxPooling(SpatialMaxPooling):
    """The maximum of windows with holes (Torch7: ``nn.SpatialDilatedMaxPooling``).

    Args:
        kW, kH, dW, dH, padW, padH: as in ``SpatialMaxPooling``.
        dilationW, dilationH: the distance between neighbouring elements of a window.

    PyTorch: ``torch.nn.MaxPool2d``.
    """

    @nil_is_default
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

    def _extra(self) -> str:
        return shown([self.dilationW, self.dilationH])


class VolumetricMaxPooling(MaxPooling, Volumetric):
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
    _function = staticmethod(F.max_pool3d_with_indices)
    newer_fields = ("padT", "padW", "padH", "ceil_mode")

    @nil_is_default
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


class VolumetricDilatedMaxPooling(VolumetricMaxPooling):
    """The maximum of windows with holes (Torch7: ``nn.VolumetricDilatedMaxPooling``).

    Args:
        kT, kW, kH, dT, dW, dH, padT, padW, padH: as in ``VolumetricMaxPooling``.
        dilationT, dilationW, dilationH: the distance between neighbouring elements of a window.

    Differs from Torch7: ``ceil_mode`` survives being read from a file.

    PyTorch: ``torch.nn.MaxPool3d``.
    """

    @nil_is_default
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

    def _extra(self) -> str:
        return shown([self.dilationT, self.dilationW, self.dilationH])


class VolumetricAveragePooling(AveragePooling, Volumetric):
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
    _function = staticmethod(F.avg_pool3d)
    newer_fields = ("padT", "padW", "padH", "ceil_mode")

    @nil_is_default
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


class TemporalMaxPooling(MaxPooling, Temporal):
    """The maximum of each run of frames (Torch7: ``nn.TemporalMaxPooling``).

    Args:
        kW: number of frames in a run.
        dW: step, by default ``kW``.

    Shapes: input ``[N x] frames x features``.

    Differs from Torch7: NaN in a run gives NaN; ``indices`` are the numbers of frames, and not
    written to files.

    PyTorch: ``torch.nn.MaxPool1d``.
    """

    def __init__(self, kW: int, dW: int | None = None) -> None:
        super().__init__()
        self._set_window((kW,), (dW,))

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        self._check_sample(input)
        output, places = F.max_pool1d_with_indices(
            input.transpose(-1, -2), self.window_size, self.window_stride
        )
        self.places = places.transpose(-1, -2)
        return output.transpose(-1, -2)

    def t7_fields(self) -> dict[str, Any]:
        fields = super().t7_fields()
        for name in ("indices", "ceil_mode"):
            fields.pop(name, None)
        return fields

    __repr__ = Module.__repr__


class TemporalDynamicKMaxPooling(Module):
    """The largest values of each feature, in order of time (``nn.TemporalDynamicKMaxPooling``).

    [Kalchbrenner, Grefenstette and Blunsom 2014].

    Args:
        minK: how many to keep at least.
        factor: the share of the frames to keep, rounded up.

    Shapes: input ``[N x] frames x features``, output with the number kept instead of ``frames``.
    Field: ``indices``, the numbers of the frames kept, counted from 1.

    Differs from Torch7: NaN counts as the largest, where there the order depends on how its sort
    happens to meet it.

    PyTorch: ``torch.topk``.
    """

    takes = TENSOR

    places: Tensor | None = None

    @nil_is_default
    def __init__(self, minK: int, factor: Scalar = 0) -> None:
        super().__init__()
        self.minK = whole(minK, "minK", 1)
        self.factor = number(factor, "factor")

    @property
    def indices(self) -> Tensor:
        return torch.empty(0, dtype=torch.long) if self.places is None else self.places + 1

    @deterministic
    def compute(self, input: Tensor) -> Tensor:
        check_dims(input, 2, 3)
        frames = input.size(-2)
        k = max(self.minK, math.ceil(self.factor * frames))
        if frames < k:
            raise ValueError(f"input has {frames} frames; at least {k} are accepted")
        order = input.detach().argsort(dim=-2, descending=True, stable=True)
        self.places = order.narrow(-2, 0, k).sort(dim=-2).values
        return input.gather(-2, self.places)

    def clearState(self) -> TemporalDynamicKMaxPooling:
        self.__dict__.pop("places", None)
        return super().clearState()
