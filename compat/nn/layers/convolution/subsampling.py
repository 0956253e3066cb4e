"""Trained subsampling: the sum of each window, scaled and shifted."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from compat.checks import whole
from compat.nn.checks.tensors import check_type
from compat.nn.functional import subsampling as f
from compat.nn.functional.subsampling import Gradients, Mask
from compat.nn.layers.convolution.convolution import Biased
from compat.nn.layers.window import Spatial, Temporal, Windowed


class SubSampling(Biased, Windowed, abstract=True):
    """The base: one weight and one bias for each plane."""

    def _fan_in(self) -> int:
        return math.prod(self.window_size)

    def _draw(self, planes: int) -> None:
        self.weight = torch.empty(planes)
        self.bias = torch.empty(planes)
        self.reset()

    def complete(self, fields: dict[str, Any]) -> None:
        # In files of 2011 each plane has a weight for each place of its window. Torch7 takes the
        # first numbers, one for each plane; where old classes wrote them, all are the same.
        weight = fields.get("weight")
        if isinstance(weight, Tensor) and weight.dim() > 1:
            fields["weight"] = weight.reshape(-1)[: len(weight)]
        super().complete(fields)

    def _check(self, input: Tensor) -> None:
        self._check_sample(input, self.weight.numel())
        check_type(input, self.weight)


class SpatialSubSampling(SubSampling, Spatial):
    """The scaled and shifted sum of each window of a plane (Torch7: ``nn.SpatialSubSampling``).

    Args:
        nInputPlane: number of planes, for each of which a weight and a bias are trained.
        kW, kH: width and height of the window.
        dW, dH: step.

    Shapes: input ``[N x] nInputPlane x H x W``.
    """

    def __init__(self, nInputPlane: int, kW: int, kH: int, dW: int = 1, dH: int = 1) -> None:
        super().__init__()
        self.nInputPlane = whole(nInputPlane, "nInputPlane", 1)
        self._set_window((kW, kH), (dW, dH))
        self._draw(self.nInputPlane)

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        window = self.window_size, self.window_stride
        return self.set_output(f.spatial_subsampling(input, self.weight, self.bias, *window))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        self._check(input)
        window = self.window_size, self.window_stride
        return f.spatial_subsampling_backward(input, gradOutput, self.weight, mask, *window)


class TemporalSubSampling(SubSampling, Temporal):
    """The scaled and shifted sum of each run of frames (Torch7: ``nn.TemporalSubSampling``).

    Args:
        inputFrameSize: number of features, for each of which a weight and a bias are trained.
        kW: number of frames to add.
        dW: step.

    Shapes: input ``[N x] frames x inputFrameSize``.

    Differs from Torch7: takes batches too.
    """

    def __init__(self, inputFrameSize: int, kW: int, dW: int = 1) -> None:
        super().__init__()
        self.inputFrameSize = whole(inputFrameSize, "inputFrameSize", 1)
        self._set_window((kW,), (dW,))
        self._draw(self.inputFrameSize)

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check(input)
        window = self.kW, self.dW
        return self.set_output(f.temporal_subsampling(input, self.weight, self.bias, *window))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        self._check(input)
        window = self.kW, self.dW
        return f.temporal_subsampling_backward(input, gradOutput, self.weight, mask, *window)
