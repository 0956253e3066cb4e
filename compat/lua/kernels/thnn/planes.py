"""Borders and sizes of planes and volumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from compat.lua.kernels.thnn.checks import check_batch
from compat.nn.functional import padding, upsampling

aten = torch.ops.aten
Sizes = Sequence[int]


def _padding(dims: int, forward: Any, backward: Any) -> tuple[Callable[..., Tensor], ...]:
    def updateOutput(input: Tensor, pads: Sizes) -> Tensor:
        check_batch(input, dims + 1)
        return forward(input, pads)

    def updateGradInput(input: Tensor, gradOutput: Tensor, pads: Sizes) -> Tensor:
        check_batch(input, dims + 1)
        return backward(gradOutput, input, pads)

    return updateOutput, updateGradInput


def _nearest(dims: int) -> tuple[Callable[..., Tensor], ...]:
    def sizes(input: Tensor, factor: int) -> list[int]:
        check_batch(input, dims + 1)
        return [size * factor for size in input.shape[-dims:]]

    def updateOutput(input: Tensor, factor: int) -> Tensor:
        return upsampling.upsample_nearest(input, sizes(input, factor))

    def updateGradInput(input: Tensor, gradOutput: Tensor, factor: int) -> Tensor:
        size = sizes(input, factor)
        return upsampling.upsample_nearest_backward(gradOutput, input.shape, size)

    return updateOutput, updateGradInput


def _linear_updateOutput(input: Tensor, out: Sizes) -> Tensor:
    return upsampling.upsample_linear(input, out)


def _linear_updateGradInput(gradOutput: Tensor, input: Sizes, out: Sizes) -> Tensor:
    return upsampling.upsample_linear_backward(gradOutput, input, out)


KERNELS: dict[str, Callable[..., Any]] = {}
for _name, _functions in {
    "SpatialReflectionPadding": _padding(
        2, padding.reflection_pad, padding.reflection_pad_backward
    ),
    "SpatialReplicationPadding": _padding(
        2, padding.replication_pad, padding.replication_pad_backward
    ),
    "VolumetricReplicationPadding": _padding(
        3, padding.replication_pad, padding.replication_pad_backward
    ),
    "SpatialUpSamplingNearest": _nearest(2),
    "VolumetricUpSamplingNearest": _nearest(3),
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
