"""Transposed convolutions, which Torch7 calls full convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import torch
from torch import Tensor

from compat import t7
from compat.checks import check_tensor
from compat.nn.checks.tensors import ANYTHING, check_type
from compat.nn.functional import convolution as f
from compat.nn.functional.convolution import Mask
from compat.nn.layers.convolution.convolution import PlaneConvolution
from compat.nn.layers.window import Spatial, Volumetric, shown


class FullConvolution(PlaneConvolution, abstract=True):
    """A convolution run backwards: each input element adds its multiple of the kernel.

    With a table ``[input, target]`` as input the output gets the size of ``target``'s last
    dimensions; ``target``'s values are not used.
    """

    takes = ANYTHING
    _by_element = False
    adjT = adjW = adjH = 0
    output_padding: Any
    scratch_fields = ("zeroScalar",)
    workspace_fields = {"ones": None}

    def _set_adjustment(self, values: Sequence[int | None]) -> None:
        self._set("adj", values, 0)
        for axis in self.axes:
            adj, step = getattr(self, f"adj{axis}"), getattr(self, f"d{axis}")
            if adj >= step:
                raise ValueError(f"adj{axis} is {adj}; a number below d{axis}, {step}, is accepted")

    def _shape(self) -> tuple[int, ...]:
        return (self.nInputPlane, self.nOutputPlane, *self.window_size)

    def updateOutput(self, input: Any) -> Tensor:
        sample, window = self._with_window(input)
        self._check_sample(sample, self.nInputPlane)
        check_type(sample, self.weight)
        output = f.transposed_convolution(sample, self.weight, self.bias, *window)
        return self.set_output(output)

    def _gradients(self, input: Any, gradOutput: Tensor, mask: Mask) -> Any:
        sample, window = self._with_window(input)
        first, *rest = f.transposed_convolution_backward(
            sample, gradOutput, self.weight, mask, *window
        )
        if first is not None and sample is not input:
            return [first, torch.zeros_like(input[1])], *rest
        return first, *rest

    def _with_window(self, input: Any) -> tuple[Any, Any]:
        """Return the input without its target, and the window adjusted to the target's size."""
        adjustment = self.output_padding
        if isinstance(input, (list, tuple)):
            if len(input) != 2:
                raise ValueError(f"input is a table of {len(input)}; [input, target] is accepted")
            input, target = input
            adjustment = self._to_reach(check_tensor(target, "input[2]"))
        return input, (self.window_stride, self.window_padding, adjustment, self.window_dilation)

    def _to_reach(self, target: Tensor) -> list[int]:
        """Return the adjustment that gives the output the size of ``target``."""
        if target.dim() < len(self.axes):
            raise ValueError(
                f"input[2] has {target.dim()} dimensions; {len(self.axes)} or more are accepted"
            )
        sizes = target.shape[-len(self.axes) :]
        window = zip(sizes, self.window_size, self.window_stride, self.window_padding, strict=True)
        return [(size + 2 * pad - kernel) % step for size, kernel, step, pad in window]

    def _extra(self) -> str:
        adjustment = [getattr(self, f"adj{axis}") for axis in self.axes]
        return shown(adjustment) if any(adjustment) else ""


class SpatialFullConvolution(FullConvolution, Spatial):
    """A transposed convolution of planes (Torch7: ``nn.SpatialFullConvolution``).

    Args:
        nInputPlane, nOutputPlane: numbers of planes.
        kW, kH: width and height of the kernel.
        dW, dH: step in the output.
        padW, padH: how much is cut off either side of the output; unlike ``SpatialConvolution``'s,
            ``padH`` is 0 by default.
        adjW, adjH: rows and columns added at the far side of the output, less than the step.

    Shapes: input ``[N x] nInputPlane x H x W``, or a table of it and a tensor whose last two
    dimensions the output is to have; ``weight`` is ``nInputPlane x nOutputPlane x kH x kW``.

    PyTorch: ``torch.nn.ConvTranspose2d``.

    Examples:
        >>> import torch
        >>> from compat import nn
        >>> nn.SpatialFullConvolution(3, 2, 4, 4, 2, 2, 1, 1).forward(torch.ones(1, 3, 8, 8)).shape
        torch.Size([1, 2, 16, 16])
    """

    newer_fields = ("padW", "padH", "adjW", "adjH")
    output_padding = property(attrgetter("adjH", "adjW"))

    def __init__(
        self,
        nInputPlane: int,
        nOutputPlane: int,
        kW: int,
        kH: int,
        dW: int = 1,
        dH: int = 1,
        padW: int = 0,
        padH: int = 0,
        adjW: int = 0,
        adjH: int = 0,
    ) -> None:
        super().__init__()
        self._build((nInputPlane, nOutputPlane), (kW, kH), (dW, dH), (padW, padH))
        self._set_adjustment((adjW, adjH))
        self._draw()


class VolumetricFullConvolution(FullConvolution, Volumetric):
    """A transposed convolution of volumes (Torch7: ``nn.VolumetricFullConvolution``).

    Args:
        nInputPlane, nOutputPlane: numbers of planes.
        kT, kW, kH: length in time, width and height of the kernel.
        dT, dW, dH: step in the output.
        padT, padW, padH: how much is cut off either side of the output.
        adjT, adjW, adjH: what is added at the far side of the output, less than the step.

    Shapes: input ``[N x] nInputPlane x T x H x W``, or a table of it and a tensor whose last three
    dimensions the output is to have; ``weight`` is ``nInputPlane x nOutputPlane x kT x kH x kW``.

    Differs from Torch7: works after ``clearState()``.

    PyTorch: ``torch.nn.ConvTranspose3d``.
    """

    _tells_bias = False
    workspace_fields = {"ones": None, "finput": None, "fgradInput": None}
    newer_fields = ("padT", "padW", "padH", "adjT", "adjW", "adjH")
    output_padding = property(attrgetter("adjT", "adjH", "adjW"))

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
        padW: int = 0,
        padH: int = 0,
        adjT: int = 0,
        adjW: int = 0,
        adjH: int = 0,
    ) -> None:
        super().__init__()
        planes, padding = (nInputPlane, nOutputPlane), (padT, padW, padH)
        self._build(planes, (kT, kW, kH), (dT, dW, dH), padding)
        self._set_adjustment((adjT, adjW, adjH))
        self._draw()

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        for axis in self.axes:
            padding = fields.pop(f"p{axis}", None)
            if padding is not None:
                fields.setdefault(f"pad{axis}", padding)
        if "adjW" not in fields:
            # Files from before the adjustments hold the weight with the output planes first.
            for name in ("weight", "gradWeight"):
                if name in fields:
                    t7.claim(fields[name].nbytes)
                    fields[name] = fields[name].transpose(0, 1).contiguous()
        super().t7_restore(fields, version)
