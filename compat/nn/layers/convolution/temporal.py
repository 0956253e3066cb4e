"""Convolutions over sequences of frames."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from compat.checks import flag, whole
from compat.nn.checks.tensors import check_type
from compat.nn.functional import convolution as f
from compat.nn.functional.convolution import Gradients, Mask
from compat.nn.layers.convolution.convolution import Biased
from compat.nn.layers.window import Temporal


class TemporalConvolution(Biased, Temporal):
    """A convolution over frames (Torch7: ``nn.TemporalConvolution``).

    Args:
        inputFrameSize, outputFrameSize: numbers of features of a frame.
        kW: number of frames that the kernel spans.
        dW: step.

    Shapes: input ``[N x] frames x inputFrameSize``; ``weight`` is
    ``outputFrameSize x kW·inputFrameSize``, the features of the first frame first.

    PyTorch: ``torch.nn.Conv1d``.
    """

    keeps_gradients = True

    def __init__(self, inputFrameSize: int, outputFrameSize: int, kW: int, dW: int = 1) -> None:
        super().__init__()
        self.inputFrameSize = whole(inputFrameSize, "inputFrameSize", 1)
        self.outputFrameSize = whole(outputFrameSize, "outputFrameSize", 1)
        self._set_window((kW,), (dW,))
        self._draw()

    def _draw(self) -> None:
        self.weight = torch.empty(self.outputFrameSize, self._fan_in())
        self.bias = torch.empty(self.outputFrameSize)
        self.reset()

    def _fan_in(self) -> int:
        return self.window_size[0] * self.inputFrameSize

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input, self.inputFrameSize)
        check_type(input, self.weight)
        output = f.temporal_convolution(input, self.weight, self.bias, *self._window())
        return self.set_output(output)

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        return f.temporal_convolution_backward(
            input, gradOutput, self.weight, mask, *self._window()
        )

    def _window(self) -> Any:
        return *self.window_size, *self.window_stride, *self.window_padding


class TemporalRowConvolution(Biased, Temporal):
    """Each feature convolved over the frames by itself (Torch7: ``nn.TemporalRowConvolution``).

    Args:
        inputFrameSize: number of features.
        kW: number of frames that the kernel spans.
        dW: step.
        featFirst: whether features come before frames in the input and the output.

    Shapes: input ``[N x] frames x inputFrameSize``, or ``[N x] inputFrameSize x frames`` with
    ``featFirst``; ``weight`` is ``inputFrameSize x 1 x kW``.

    Differs from Torch7: a second forward pass gives the same as the first, where there it adds to
    what its work space holds.

    PyTorch: ``torch.nn.Conv1d``.
    """

    _by_element = False

    def __init__(self, inputFrameSize: int, kW: int, dW: int = 1, featFirst: bool = False) -> None:
        super().__init__()
        self.inputFrameSize = whole(inputFrameSize, "inputFrameSize", 1)
        self._set_window((kW,), (dW,))
        self.featFirst = flag(featFirst, "featFirst")
        self.weight = torch.empty(self.inputFrameSize, 1, self.kW)
        self.bias = torch.empty(self.inputFrameSize)
        self.reset()

    def _fan_in(self) -> int:
        return self.kW * self.inputFrameSize

    def updateOutput(self, input: Tensor) -> Tensor:
        self._check_sample(input, self.inputFrameSize)
        check_type(input, self.weight)
        window = self.dW, 0, self.featFirst
        return self.set_output(f.row_convolution(input, self.weight, self.bias, *window))

    def _gradients(self, input: Tensor, gradOutput: Tensor, mask: Mask) -> Gradients:
        window = self.dW, 0, self.featFirst
        return f.row_convolution_backward(input, gradOutput, self.weight, mask, *window)

    @property
    def _plane_dim(self) -> int:  # type: ignore[override]
        return -2 if self.featFirst else -1

    def _extents(self, input: Tensor) -> list[int]:
        return [input.size(-1 if self.featFirst else -2)]

    def __repr__(self) -> str:
        step = f", {self.dW}" if self.dW != 1 else ""
        no_bias = "" if self.bias is not None else " without bias"
        return f"{self.typename}({self.inputFrameSize}, {self.kW}{step}){no_bias}"
