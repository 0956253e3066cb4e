"""Poolings and their reverse. Indices count from 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.thnn.checks import check_batch, check_shape
from compat.nn.functional import pooling as f

Sizes = Sequence[int]


def SpatialAdaptiveAveragePooling_updateOutput(input: Tensor, out: Sizes) -> Tensor:
    check_batch(input, 3)
    return f.adaptive_avg_pool(input, out)


def SpatialAdaptiveAveragePooling_updateGradInput(input: Tensor, gradOutput: Tensor) -> Tensor:
    check_batch(input, 3)
    return f.adaptive_avg_pool_backward(gradOutput, input)


def _corners(input: Tensor, out: Sizes) -> tuple[Tensor, Tensor]:
    """Return the first row and column of each window, broadcastable to the output."""
    rows, columns = (
        torch.tensor([start for start, _ in f.spans(*sizes)], device=input.device)
        for sizes in zip(input.shape[-2:], out, strict=True)
    )
    return rows[:, None], columns


def SpatialAdaptiveMaxPooling_updateOutput(input: Tensor, out: Sizes) -> tuple[Tensor, Tensor]:
    """Return the output, and the row and column of each maximum inside its window."""
    check_batch(input, 3)
    output, places = f.adaptive_max_pool(input, out)
    (rows, columns), width = _corners(input, out), input.size(-1)
    return output, torch.stack((places // width - rows, places % width - columns)) + 1


def SpatialAdaptiveMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor
) -> Tensor:
    check_batch(input, 3)
    rows, columns = _corners(input, gradOutput.shape[-2:])
    places = (indices[0] - 1 + rows) * input.size(-1) + indices[1] - 1 + columns
    return f.to_places(gradOutput, input, places, 2)


def SpatialAveragePooling_updateOutput(
    input: Tensor, k: Sizes, d: Sizes, pad: Sizes, ceil_mode: bool, count_include_pad: bool
) -> Tensor:
    check_batch(input, len(k) + 1)
    return f.avg_pool(input, k, d, pad, ceil_mode, count_include_pad)


def SpatialAveragePooling_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    check_batch(input, len(k) + 1)
    return f.avg_pool_backward(gradOutput, input, k, d, pad, ceil_mode, count_include_pad)


VolumetricAveragePooling_updateOutput = SpatialAveragePooling_updateOutput
VolumetricAveragePooling_updateGradInput = SpatialAveragePooling_updateGradInput


def SpatialDilatedMaxPooling_updateOutput(
    input: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    dilation: Sizes = (1, 1),
) -> tuple[Tensor, Tensor]:
    check_batch(input, 3)
    output, places = f.max_pool(input, k, d, pad, dilation, ceil_mode)
    return output, places + 1


def SpatialDilatedMaxPooling_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    indices: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    dilation: Sizes = (1, 1),
) -> Tensor:
    check_batch(input, 3)
    places = f.places_of(indices, math.prod(input.shape[-2:]))
    return f.max_pool_backward(gradOutput, input, places, k, d, pad, dilation, ceil_mode)


SpatialMaxPooling_updateOutput = SpatialDilatedMaxPooling_updateOutput
SpatialMaxPooling_updateGradInput = SpatialDilatedMaxPooling_updateGradInput


def _first_frames(frames: Tensor, d: int) -> Tensor:
    return (torch.arange(frames.size(-2), device=frames.device) * d)[:, None]


def TemporalMaxPooling_updateOutput(input: Tensor, k: int, d: int) -> tuple[Tensor, Tensor]:
    """Return the output, and the frame of each maximum inside its window, from 0."""
    check_batch(input, 2)
    if input.size(-2) < k:
        raise ArgumentError(
            2,
            f"input sequence smaller than kernel size. Got: {input.size(-2)}, Expected: {k}",
        )
    output, frames = f.temporal_max_pool(input, k, d)
    return output, frames - _first_frames(frames, d)


def TemporalMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, k: int, d: int
) -> Tensor:
    check_batch(input, 2)
    return f.to_frames(gradOutput, input, indices + _first_frames(indices, d))


# The indices of volumes are three bytes: the place in the window along time, height and width.
def _packed(places: Tensor, input: Tensor, d: Sizes, pad: Sizes, dilation: Sizes) -> Tensor:
    packed = torch.zeros_like(places)
    for axis, origin in enumerate(_origins(places, d, pad)):
        along = _along(places, input.shape[-3:], axis)
        packed += ((along - origin) // dilation[axis]) << (8 * axis)
    return packed


def _unpacked(indices: Tensor, extent: Sizes, d: Sizes, pad: Sizes, dilation: Sizes) -> Tensor:
    """Return indices as coordinates in a volume of this size."""
    places = torch.zeros_like(indices)
    for axis, origin in enumerate(_origins(indices, d, pad)):
        along = ((indices >> (8 * axis)) & 255) * dilation[axis] + origin
        if not bool(((along >= 0) & (along < extent[axis])).all()):
            sizes = "x".join(map(str, extent))
            raise RuntimeError(f"found an invalid max index (output volumes are of size {sizes})")
        places = places * extent[axis] + along
    return places


def _along(places: Tensor, extent: Sizes, axis: int) -> Tensor:
    inner = 1
    for size in extent[axis + 1 :]:
        inner *= size
    return places // inner % extent[axis]


def _origins(places: Tensor, d: Sizes, pad: Sizes) -> list[Tensor]:
    """Return the first index of each window along each axis."""
    return [
        (torch.arange(size, device=places.device) * d[axis] - pad[axis]).view(-1, *[1] * (2 - axis))
        for axis, size in enumerate(places.shape[-3:])
    ]


def VolumetricDilatedMaxPooling_updateOutput(
    input: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    dilation: Sizes = (1, 1, 1),
) -> tuple[Tensor, Tensor]:
    check_batch(input, 4)
    output, places = f.max_pool(input, k, d, pad, dilation, ceil_mode)
    return output, _packed(places, input, d, pad, dilation)


def VolumetricDilatedMaxPooling_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    indices: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    dilation: Sizes = (1, 1, 1),
) -> Tensor:
    check_batch(input, 4)
    places = _unpacked(indices, input.shape[-3:], d, pad, dilation)
    return f.max_pool_backward(gradOutput, input, places, k, d, pad, dilation, ceil_mode)


VolumetricMaxPooling_updateOutput = VolumetricDilatedMaxPooling_updateOutput
VolumetricMaxPooling_updateGradInput = VolumetricDilatedMaxPooling_updateGradInput


def SpatialMaxUnpooling_updateOutput(input: Tensor, indices: Tensor, out: Sizes) -> Tensor:
    check_batch(input, 3)
    check_shape(input, "input", indices.shape)
    return f.max_unpool(input, f.places_of(indices, math.prod(out)), out)


def SpatialMaxUnpooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes
) -> Tensor:
    check_batch(input, 3)
    check_shape(input, "input", indices.shape)
    return f.max_unpool_backward(gradOutput, f.places_of(indices, math.prod(out)), out)


def VolumetricMaxUnpooling_updateOutput(
    input: Tensor, indices: Tensor, out: Sizes, d: Sizes, pad: Sizes
) -> Tensor:
    check_batch(input, 4)
    check_shape(input, "input", indices.shape)
    return f.max_unpool(input, _unpacked(indices, out, d, pad, (1, 1, 1)), out)


def VolumetricMaxUnpooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes, d: Sizes, pad: Sizes
) -> Tensor:
    check_batch(input, 4)
    check_shape(input, "input", indices.shape)
    places = _unpacked(indices, out, d, pad, (1, 1, 1))
    return f.max_unpool_backward(gradOutput, places, out)


# Windows of fractional poolings come as W, H and T, W, H; planes are H x W, volumes H x W x T.
def _check_fractional(input: Tensor, out: Sizes, pool: Sizes) -> None:
    dims = len(out)
    check_batch(input, dims + 1)
    axes = zip("TWH"[-dims:], out, pool, reversed(input.shape[-dims:]), strict=True)
    for number, (axis, size, window, extent) in enumerate(axes, 8 - dims):
        if size + window - 1 >= extent:
            raise ArgumentError(
                number, f"poolSize{axis} ({window}) too large relative to input size ({extent})"
            )


def SpatialFractionalMaxPooling_updateOutput(
    input: Tensor, samples: Tensor, out: Sizes, pool: Sizes
) -> tuple[Tensor, Tensor]:
    _check_fractional(input, out, pool)
    output, places = f.fractional_max_pool(input, pool[::-1], out[::-1], samples)
    return output, places + 1


def SpatialFractionalMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes, pool: Sizes
) -> Tensor:
    places = f.places_of(indices, math.prod(input.shape[-len(out) :]))
    return f.to_places(gradOutput, input, places, len(out))


VolumetricFractionalMaxPooling_updateOutput = SpatialFractionalMaxPooling_updateOutput
VolumetricFractionalMaxPooling_updateGradInput = SpatialFractionalMaxPooling_updateGradInput


def FeatureLPPooling_updateOutput(
    input: Tensor, power: float, width: int, stride: int, batchMode: bool
) -> Tensor:
    return f.feature_lp_pool(input, power, width, stride, _axis(input, width, stride, batchMode, 2))


def FeatureLPPooling_updateGradInput(
    gradOutput: Tensor,
    input: Tensor,
    output: Tensor,
    power: float,
    width: int,
    stride: int,
    batchMode: bool,
) -> Tensor:
    axis = _axis(input, width, stride, batchMode, 3)
    return f.feature_lp_pool_backward(gradOutput, input, output, power, width, stride, axis)


def _axis(input: Tensor, width: int, stride: int, batchMode: bool, number: int) -> int:
    """Return the axis of the features; errors name argument ``number``."""
    if not 1 <= input.dim() - batchMode <= 3:
        mode = "2-4 dimensions for batch mode" if batchMode else "1-3 dimensions for non-batch mode"
        raise ArgumentError(number, f"input must be {mode}")
    if input.size(int(batchMode)) < width:
        raise ArgumentError(3, "input: feature dimension must be >= width")
    if not 2 <= width <= 16:
        raise ArgumentError(2 * number + 1, "width must be between 2 - 16")
    if not 1 <= stride <= 4:
        raise ArgumentError(2 * number + 2, "stride must be between 1 - 4")
    return int(batchMode)
