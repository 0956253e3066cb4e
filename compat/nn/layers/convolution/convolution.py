"""Convolutions: ``nn.SpatialConvolution`` and its relatives in three dimensions and with dilation.

All are one computation, stated in ``Convolution``; the classes differ in their arguments.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import torch
from torch import Tensor

from compat import t7
from compat.checks import whole
from compat.nn.checks.tensors import check_type
from compat.nn.core.module import Scalar
from compat.nn.functional import convolution as f
from compat.nn.functional.convolution import Gradients, Mask
from compat.nn.layers.initialisation import Drawn
from compat.nn.layers.window import Dilated, Spatial, Volumetric, Windowed, shown

B = TypeVar("B", bound="Biased")


class Biased(Drawn, abstract=True):
    """A module with ``weight`` and ``bias``.

    ``_gradients`` computes the requested gradients with one kernel.
    """

    def noBias(self: B) -> B:
        """Drop the bias."""
        self.bias = None
        return self

    def _gradients(self, input: Any, gradOutput: Tensor, mask: Mask) -> Gradients:
        """Return the gradients of input, weight and bias that ``mask`` asks for."""
        raise TypeError(f"{self.typename} does not say its gradients")

    def updateGradInput(self, input: Any, gradOutput: Tensor) -> Any:
        if self.gradInput is None:
            return None
        return self.set_gradInput(self._gradients(input, gradOutput, (True, False, False))[0])

    def accGradParameters(self, input: Any, gradOutput: Tensor, scale: Scalar = 1) -> None:
        self._accumulate(input, gradOutput, scale, False)

    def backward_both(self, input: Any, gradOutput: Tensor, scale: Scalar = 1) -> Any:
        """Compute ``updateGradInput`` and ``accGradParameters`` with one kernel."""
        found = self._accumulate(input, gradOutput, scale, self.gradInput is not None)
        return self.set_gradInput(found)

    def _accumulate(
        self, input: Any, gradOutput: Tensor, scale: Scalar, to_input: bool
    ) -> Tensor | None:
        """Add to the parameters' gradients; return the input's gradient if it is wanted."""
        weight, bias = self.gradWeight, self.gradBias
        mask = to_input, weight is not None, bias is not None
        if True not in mask:
            return None
        found, more, shift = self._gradients(input, gradOutput, mask)
        if weight is not None:
            weight.add_(more, alpha=scale)
        if bias is not None:
            bias.add_(shift, alpha=scale)
        return found


class PlaneConvolution(Biased, Windowed, abstract=True):
    """The base of forward and transposed convolutions: planes, window, parameters, print."""

    _tells_bias: ClassVar[bool] = True

    def _build(
        self,
        planes: tuple[int, int],
        kernel: Sequence[int],
        stride: Sequence[int | None],
        padding: Sequence[int | None],
    ) -> None:
        self.nInputPlane = whole(planes[0], "nInputPlane", 1)
        self.nOutputPlane = whole(planes[1], "nOutputPlane", 1)
        self._set_window(kernel, stride, padding)

    def _fan_in(self) -> int:
        return self.nInputPlane * math.prod(self.window_size)

    def _shape(self) -> tuple[int, ...]:
        """Return the shape of the weight."""
        raise TypeError(f"{self.typename} does not say the shape of its weight")

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane,)

    def _draw(self) -> None:
        self.weight = torch.empty(self._shape())
        self.bias = torch.empty(self._bias_shape())
        self.reset()

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        shape = self._shape()
        if self.weight is not None and self.weight.shape != shape:
            # Old files hold the weight as a matrix.
            weight, gradient = self.weight.view(shape), self.weight.grad
            if gradient is not None:
                if not gradient.is_contiguous():
                    t7.claim(gradient.nbytes)
                weight.grad = gradient.reshape(shape)
            self.weight = weight

    def _input_size(self) -> str:
        """Return the text of the print before the kernel size."""
        return ""

    def _extra(self) -> str:
        """Return the text of the print after the padding."""
        return ""

    def __repr__(self) -> str:
        kernel, stride, padding = self._shown_window()
        text = f"{self.typename}({self.nInputPlane} -> {self.nOutputPlane}{self._input_size()}, "
        text += "x".join(map(str, kernel))
        if any(d != 1 for d in stride) or any(padding):
            text += shown(stride)
        if any(padding):
            text += shown(padding)
        no_bias = " without bias" if self.bias is None and self._tells_bias else ""
        return f"{text}{self._extra()}){no_bias}"


class Convolution(PlaneConvolution, abstract=True):
    """The base of forward convolutions.

    ``groups`` splits the planes: each group of outputs sees its group of inputs. Only the
    constructors of ``compat.cudnn`` take it.
    """

    groups: int = 1

    def _shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane, self.nInputPlane // self.groups, *self.window_size)

    def updateOutput(self, input: Tensor) -> Tensor:
        weight = self.kernels()
        self._check_sample(input, self.nInputPlane)
        check_type(input, weight)
        window = self.window_stride, self.window_padding, self.window_dilation
        return self.set_output(f.convolution(input, weight, self.bias, *window, self.groups))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        window = self.window_stride, self.window_padding, self.window_dilation
        return f.convolution_backward(input, gradOutput, self.kernels(), mask, *window, self.groups)

    def kernels(self) -> Tensor:
        """Return the weight, output x input planes x sizes of the window."""
        return self.weight


class SpatialConvolution(Convolution, Spatial):
    """A convolution of planes (Torch7: ``nn.SpatialConvolution``).

    Args:
        nInputPlane, nOutputPlane: numbers of planes.
        kW, kH: width and height of the kernel.
        dW, dH: step.
        padW, padH: zeros added on either side; ``padH`` is ``padW`` by default.

    Shapes: input ``[N x] nInputPlane x H x W``; ``weight`` is
    ``nOutputPlane x nInputPlane x kH x kW``.

    PyTorch: ``torch.nn.Conv2d``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SpatialConvolution(3, 8, 5, 5, 1, 1, 2, 2).forward(torch.ones(2, 3, 32, 32)).shape
        torch.Size([2, 8, 32, 32])
    """

    newer_fields = ("padW", "padH")

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
    ) -> None:
        super().__init__()
        padH = padW if padH is None else padH
        self._build((nInputPlane, nOutputPlane), (kW, kH), (dW, dH), (padW, padH))
        self._draw()


class SpatialConvolutionMM(SpatialConvolution):
    """``SpatialConvolution`` with the weight as a matrix (Torch7: ``nn.SpatialConvolutionMM``).

    Shapes: ``weight`` is ``nOutputPlane x nInputPlane·kH·kW``.

    PyTorch: ``torch.nn.Conv2d``.
    """

    _tells_bias = False
    dW = dH = 1
    newer_fields = ("dW", "dH")

    def _shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane, self._fan_in())

    def kernels(self) -> Tensor:
        return self.weight.view(super()._shape())

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        first, weight, bias = super()._gradients(input, gradOutput, mask)
        return first, None if weight is None else weight.reshape(self._shape()), bias


class SpatialDilatedConvolution(Dilated, SpatialConvolution):
    """A convolution whose kernel has holes (Torch7: ``nn.SpatialDilatedConvolution``).

    Args:
        nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH: as in ``SpatialConvolution``.
        dilationW, dilationH: the distance between neighbouring kernel elements.

    PyTorch: ``torch.nn.Conv2d``.
    """

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int | None = None,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(nInputPlane, nOutputPlane, kW, kH, dW, dH, padW, padH)
        self._set("dilation", (dilationW, dilationH), 1)


class SpatialDepthWiseConvolution(SpatialConvolution):
    """Every input plane convolved by itself (Torch7: ``nn.SpatialDepthWiseConvolution``).

    Args:
        nInputPlane: number of planes.
        nOutputPlane: number of output planes of *each* input plane.
        kW, kH, dW, dH, padW, padH: as in ``SpatialConvolution``.

    Shapes: output ``[N x] nInputPlane·nOutputPlane x H' x W'``, those of the first plane first;
    ``weight`` is ``nOutputPlane x nInputPlane·kH·kW``, ``bias`` ``nOutputPlane x nInputPlane``.

    Differs from Torch7: ``weight`` stays a matrix; there the first forward gives it four
    dimensions. Height and width are not mixed up where they differ.

    PyTorch: ``torch.nn.Conv2d``.
    """

    def _shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane, self._fan_in())

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane, self.nInputPlane)

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input, self.nInputPlane)
        check_type(input, self.weight)
        window = self.window_size, self.window_stride, self.window_padding
        return self.set_output(f.depthwise_convolution(input, self.weight, self.bias, *window))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        window = self.window_size, self.window_stride, self.window_padding
        return f.depthwise_convolution_backward(input, gradOutput, self.weight, mask, *window)

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        multiplier = fields.pop("depthwiseMultiplier", None)
        if multiplier is not None:
            # Later versions of Torch7 renamed it.
            fields["nOutputPlane"] = multiplier
        super().t7_restore(fields, version)


class VolumetricConvolution(Convolution, Volumetric):
    """A convolution of volumes (Torch7: ``nn.VolumetricConvolution``).

    Args:
        nInputPlane, nOutputPlane: numbers of planes.
        kT, kW, kH: length in time, width and height of the kernel.
        dT, dW, dH: step.
        padT, padW, padH: zeros added on either side; ``padW`` is ``padT`` by default, ``padH`` is
            ``padW``.

    Shapes: input ``[N x] nInputPlane x T x H x W``; ``weight`` is
    ``nOutputPlane x nInputPlane x kT x kH x kW``.

    PyTorch: ``torch.nn.Conv3d``.
    """

    _tells_bias = False
    newer_fields = ("padT", "padW", "padH")

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int = 1,
        dW: int = 1,
        dH: int = 1,
        padT: int = 0,
        padW: int | None = None,
        padH: int | None = None,
    ) -> None:
        super().__init__()
        padW = padT if padW is None else padW
        padH = padW if padH is None else padH
        planes, padding = (nInputPlane, nOutputPlane), (padT, padW, padH)
        self._build(planes, (kT, kW, kH), (dT, dW, dH), padding)
        self._draw()


class VolumetricDilatedConvolution(Dilated, VolumetricConvolution):
    """A convolution whose kernel has holes (Torch7: ``nn.VolumetricDilatedConvolution``).

    Args:
        nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH: as in
            ``VolumetricConvolution``.
        dilationT, dilationW, dilationH: the distance between neighbouring kernel elements.

    PyTorch: ``torch.nn.Conv3d``.
    """

    _tells_bias = True

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kT: int,
        kW: int,
        kH: int,
        dT: int = 1,
        dW: int = 1,
        dH: int = 1,
        padT: int = 0,
        padW: int | None = None,
        padH: int | None = None,
        dilationT: int = 1,
        dilationW: int = 1,
        dilationH: int = 1,
    ) -> None:
        super().__init__(nInputPlane, nOutputPlane, kT, kW, kH, dT, dW, dH, padT, padW, padH)
        self._set("dilation", (dilationT, dilationW, dilationH), 1)
