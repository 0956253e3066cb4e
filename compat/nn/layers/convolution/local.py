"""Convolution without shared weights."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_type
from compat.nn.functional.convolution import Gradients, Mask
from compat.nn.functional.local import local_convolution, local_convolution_backward
from compat.nn.layers.convolution.convolution import PlaneConvolution
from compat.nn.layers.window import Spatial


class SpatialConvolutionLocal(PlaneConvolution, Spatial):
    """A convolution with its own kernel at every place (Torch7: ``nn.SpatialConvolutionLocal``).

    Args:
        nInputPlane, nOutputPlane: numbers of planes.
        iW, iH: width and height of the input.
        kW, kH: width and height of the kernels.
        dW, dH: step.
        padW, padH: zeros added on either side; ``padH`` is ``padW`` by default.

    Shapes: input ``[N x] nInputPlane x iH x iW``, output ``[N x] nOutputPlane x oH x oW``;
    ``weight`` is ``oH x oW x nOutputPlane x nInputPlane x kH x kW``, ``bias``
    ``nOutputPlane x oH x oW``.
    """

    _tells_bias = False

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        iW: int,
        iH: int,
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
        self.iW, self.iH = whole(iW, "iW", 1), whole(iH, "iH", 1)
        self.oW = (self.iW + 2 * self.padW - self.kW) // self.dW + 1
        self.oH = (self.iH + 2 * self.padH - self.kH) // self.dH + 1
        if self.oW < 1 or self.oH < 1:
            raise ValueError(
                f"kW and kH are {self.kW} and {self.kH}; a window that fits into the input, "
                f"{self.iW} x {self.iH}, is accepted"
            )
        self._draw()

    def _shape(self) -> tuple[int, ...]:
        return (self.oH, self.oW, self.nOutputPlane, self.nInputPlane, self.kH, self.kW)

    def _bias_shape(self) -> tuple[int, ...]:
        return (self.nOutputPlane, self.oH, self.oW)

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_size(input)
        check_type(input, self.weight)
        return self.set_output(local_convolution(input, self.weight, self.bias, *self._window()))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        self._check_size(input)
        return local_convolution_backward(input, gradOutput, self.weight, mask, *self._window())

    def _check_size(self, input: Tensor) -> None:
        self._check_sample(input, self.nInputPlane)
        if input.shape[-2:] != (self.iH, self.iW):
            raise ValueError(
                f"input is {input.size(-2)} x {input.size(-1)} (height x width); "
                f"{self.iH} x {self.iW} is accepted"
            )

    def _window(self) -> Any:
        return self.window_size, self.window_stride, self.window_padding, (self.oH, self.oW)

    def _input_size(self) -> str:
        return f", {self.iW}x{self.iH}"
