"""Convolutions between chosen planes, one kernel for each row of a connection table."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import torch
from torch import Tensor

from compat.nn.checks.tensors import check_type
from compat.nn.core.module import Scalar
from compat.nn.functional import convolution as f
from compat.nn.functional.convolution import Gradients, Mask
from compat.nn.layers.convolution.convolution import Biased
from compat.nn.layers.initialisation import draw, uniform_stdv
from compat.nn.layers.window import Spatial

M = TypeVar("M", bound="ConvolutionMap")


class ConvolutionMap(Biased, Spatial, abstract=True):
    """The base of mapped convolutions: a connection table with one kernel per row."""

    def __init__(self, conMatrix: Tensor, kW: int, kH: int, dW: int = 1, dH: int = 1) -> None:
        super().__init__()
        if not isinstance(conMatrix, Tensor) or conMatrix.dim() != 2 or conMatrix.size(1) != 2:
            given = tuple(conMatrix.shape) if isinstance(conMatrix, Tensor) else repr(conMatrix)
            raise ValueError(f"conMatrix is {given}; a table with two columns is accepted")
        if conMatrix.min() < 1:
            raise ValueError(
                f"conMatrix has the number {float(conMatrix.min()):g}; numbers from 1 on are "
                "accepted: planes count from 1, as in Torch7"
            )
        self._set_window((kW, kH), (dW, dH))
        self.connTable = conMatrix
        self.nInputPlane, self.nOutputPlane = (int(n) for n in conMatrix.amax(0))
        self.weight = torch.empty(conMatrix.size(0), self.kH, self.kW)
        self.bias = torch.empty(self.nOutputPlane)
        self.reset()

    def reset(self: M, stdv: Scalar | None = None) -> M:
        """Draw uniformly from ±``stdv``·√3, by default ±1/√(inputs of the output plane)."""
        if stdv is not None:
            return self._fill(uniform_stdv(stdv, 1))
        planes = self.connTable[:, 1].long() - 1
        area = math.prod(self.window_size)
        bounds = [
            1 / math.sqrt(area * n) if n else math.inf
            for n in planes.bincount(minlength=self.nOutputPlane).tolist()
        ]
        for kernel, plane in zip(self.weight, planes.tolist(), strict=True):
            draw(kernel, bounds[plane], self._by_element)
        if self.bias is not None:
            for value, bound in zip(self.bias, bounds, strict=True):
                draw(value, bound, by_element=True)
        return self

    def decayParameters(self, decay: Scalar) -> None:
        """Shrink the parameters by the factor 1 - ``decay``."""
        for parameter in self._own_parameters():
            parameter.mul_(1 - decay)

    def _check(self, input: Tensor) -> None:
        """Refuse too few planes. There may be more than the table knows, as in Torch7."""
        self._check_sample(input)
        if input.size(-3) < self.nInputPlane:
            self._check_sample(input, self.nInputPlane)
        check_type(input, self.weight)

    def _window(self) -> Any:
        planes = self.nInputPlane, self.nOutputPlane
        return self.connTable, planes, self.window_stride


class SpatialConvolutionMap(ConvolutionMap):
    """A convolution between the planes that a table names (Torch7: ``nn.SpatialConvolutionMap``).

    Args:
        conMatrix: the table: rows of input and output plane, counted from 1. ``nn.tables`` makes
            the usual ones.
        kW, kH: width and height of the kernels.
        dW, dH: step.

    Shapes: input ``[N x] nInputPlane x H x W``; ``weight`` is ``rows x kH x kW``. The numbers of
    planes are the largest of the table.

    Differs from Torch7: NaN and infinity in a plane reach all outputs, also those not connected to
    it; where the step does not divide the input, the rest of the input is left out; Torch7
    writes outside the output there.
    """

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        output = f.mapped_convolution(input, self.weight, self.bias, *self._window())
        return self.set_output(output)

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        return f.mapped_convolution_backward(input, gradOutput, self.weight, mask, *self._window())


class SpatialFullConvolutionMap(ConvolutionMap):
    """A transposed convolution between chosen planes (Torch7: ``nn.SpatialFullConvolutionMap``).

    Args: as in ``SpatialConvolutionMap``; ``dW`` and ``dH`` are the step in the output.

    Shapes: input ``[N x] nInputPlane x H x W``; ``weight`` is ``rows x kH x kW``.
    """

    _by_element = True

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        output = f.transposed_mapped_convolution(input, self.weight, self.bias, *self._window())
        return self.set_output(output)

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        return f.transposed_mapped_convolution_backward(
            input, gradOutput, self.weight, mask, *self._window()
        )
