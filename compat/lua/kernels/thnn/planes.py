"""Borders and sizes of planes and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.thnn.checks import check_batch, check_shape, pull_back
from compat.nn.layers.upsampling import interpolated

aten = torch.ops.aten
Sizes = Sequence[int]


def _padding(dims: int, forward: Any, backward: Any) -> tuple[Callable[..., Tensor], ...]:
    def updateOutput(input: Tensor, pads: Sizes) -> Tensor:
        check_batch(input, dims + 1)
        return forward(input, pads)

    def updateGradInput(input: Tensor, gradOutput: Tensor, pads: Sizes) -> Tensor:
        check_batch(input, dims + 1)
        sizes = [
            n + pads[2 * axis] + pads[2 * axis + 1]
            for axis, n in enumerate(input.shape[: -dims - 1 : -1])
        ]
        check_shape(gradOutput, "gradOutput", (*input.shape[:-dims], *reversed(sizes)))
        return backward(gradOutput, input, pads)

    return updateOutput, updateGradInput


def _nearest(dims: int, forward: Any, backward: Any) -> tuple[Callable[..., Tensor], ...]:
    def sizes(input: Tensor, factor: int) -> list[int]:
        check_batch(input, dims + 1)
        return [size * factor for size in input.shape[-dims:]]

    def batch(tensor: Tensor) -> Tensor:
        return tensor if tensor.dim() == dims + 2 else tensor.unsqueeze(0)

    def updateOutput(input: Tensor, factor: int) -> Tensor:
        out = sizes(input, factor)
        return forward(batch(input), out).view(*input.shape[:-dims], *out)

    def updateGradInput(input: Tensor, gradOutput: Tensor, factor: int) -> Tensor:
        out = sizes(input, factor)
        check_shape(gradOutput, "gradOutput", (*input.shape[:-dims], *out))
        return backward(batch(gradOutput), out, batch(input).shape).view_as(input)

    return updateOutput, updateGradInput


def _linear_updateOutput(input: Tensor, out: Sizes) -> Tensor:
    return interpolated(input, out)


def _linear_updateGradInput(gradOutput: Tensor, input: Sizes, out: Sizes) -> Tensor:
    leaf = gradOutput.new_zeros(tuple(input))
    return pull_back(lambda leaf: interpolated(leaf, out), gradOutput, leaf)[0]


KERNELS: dict[str, Callable[..., Any]] = {}
for _name, _functions in {
    "SpatialReflectionPadding": _padding(2, aten.reflection_pad2d, aten.reflection_pad2d_backward),
    "SpatialReplicationPadding": _padding(
        2, aten.replication_pad2d, aten.replication_pad2d_backward
    ),
    "VolumetricReplicationPadding": _padding(
        3, aten.replication_pad3d, aten.replication_pad3d_backward
    ),
    "SpatialUpSamplingNearest": _nearest(
        2, aten.upsample_nearest2d, aten.upsample_nearest2d_backward
    ),
    "VolumetricUpSamplingNearest": _nearest(
        3, aten.upsample_nearest3d, aten.upsample_nearest3d_backward
    ),
}.items():
    KERNELS |= {f"{_name}_{function.__name__}": function for function in _functions}
for _name in ("SpatialUpSamplingBilinear", "VolumetricUpSamplingTrilinear"):
    KERNELS |= {
        f"{_name}_updateOutput": _linear_updateOutput,
        f"{_name}_updateGradInput": _linear_updateGradInput,
    }

# How PyTorch calls THNN's only kind of sampling: linear, zeros outside, corners at -1 and 1.
_SAMPLING = (0, 0, True)


def SpatialGridSamplerBilinear_updateOutput(input: Tensor, grid: Tensor) -> Tensor:
    return aten.grid_sampler_2d(input, grid, *_SAMPLING)


def SpatialGridSamplerBilinear_updateGradInput(
    input: Tensor, grid: Tensor, gradOutput: Tensor
) -> tuple[Tensor, Tensor]:
    return aten.grid_sampler_2d_backward(gradOutput, input, grid, *_SAMPLING, (True, True))
