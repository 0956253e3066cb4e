"""Poolings and their reverse. Indices count from 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import adaptive_avg_pool2d

from compat.lua.kernels.errors import ArgumentError
from compat.lua.kernels.thnn.checks import check_batch, check_shape, pull_back
from compat.nn.layers.elementwise import Root
from compat.nn.layers.pooling.adaptive import spans, window_elements

aten = torch.ops.aten
Sizes = Sequence[int]


def SpatialAdaptiveAveragePooling_updateOutput(input: Tensor, out: Sizes) -> Tensor:
    check_batch(input, 3)
    height, width = out
    return adaptive_avg_pool2d(input, (height, width))


def SpatialAdaptiveAveragePooling_updateGradInput(input: Tensor, gradOutput: Tensor) -> Tensor:
    check_batch(input, 3)
    out = gradOutput.shape[-2], gradOutput.shape[-1]
    return pull_back(lambda leaf: adaptive_avg_pool2d(leaf, out), gradOutput, input)[0]


def SpatialAdaptiveMaxPooling_updateOutput(input: Tensor, out: Sizes) -> tuple[Tensor, Tensor]:
    """Also where in its window each maximum is: its row, then its column."""
    check_batch(input, 3)
    rows, columns = (
        window_elements(spans(extent, parts), input.device)
        for extent, parts in zip(input.shape[-2:], out, strict=True)
    )
    windows = input[..., rows[:, None, :, None], columns[None, :, None, :]].flatten(-2)
    output, places = windows.max(-1)
    width = columns.size(1)
    return output, torch.stack((places // width, places % width)) + 1


def SpatialAdaptiveMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor
) -> Tensor:
    check_batch(input, 3)
    starts = [
        torch.tensor([start for start, _ in spans(*sizes)], device=input.device)
        for sizes in zip(input.shape[-2:], gradOutput.shape[-2:], strict=True)
    ]
    rows, columns = indices - 1
    places = (rows + starts[0][:, None]) * input.size(-1) + columns + starts[1]
    return _scatter(input, gradOutput, places, 2)


def _scatter(input: Tensor, gradOutput: Tensor, places: Tensor, dims: int) -> Tensor:
    """Zeros like the input, with the gradients added at places in its planes."""
    check_shape(gradOutput, "gradOutput", places.shape)
    zeros = torch.zeros_like(input, memory_format=torch.contiguous_format)
    zeros.flatten(-dims).scatter_add_(-1, places.flatten(-dims), gradOutput.flatten(-dims))
    return zeros


def _average(
    dims: int, input: Tensor, k: Sizes, d: Sizes, pad: Sizes, **modes: bool
) -> tuple[Any, ...]:
    check_batch(input, dims + 1)
    return input, k, d, pad, modes["ceil_mode"], modes["count_include_pad"], None


def SpatialAveragePooling_updateOutput(input: Tensor, **window: Any) -> Tensor:
    return aten.avg_pool2d(*_average(2, input, **window))


def SpatialAveragePooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, **window: Any
) -> Tensor:
    return aten.avg_pool2d_backward(gradOutput, *_average(2, input, **window))


def VolumetricAveragePooling_updateOutput(input: Tensor, **window: Any) -> Tensor:
    return aten.avg_pool3d(*_average(3, input, **window))


def VolumetricAveragePooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, **window: Any
) -> Tensor:
    return aten.avg_pool3d_backward(gradOutput, *_average(3, input, **window))


def SpatialDilatedMaxPooling_updateOutput(
    input: Tensor,
    k: Sizes,
    d: Sizes,
    pad: Sizes,
    ceil_mode: bool,
    dilation: Sizes = (1, 1),
) -> tuple[Tensor, Tensor]:
    check_batch(input, 3)
    output, places = aten.max_pool2d_with_indices(input, k, d, pad, dilation, ceil_mode)
    return output, places + 1


def SpatialDilatedMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, **window: Any
) -> Tensor:
    check_batch(input, 3)
    return _scatter(input, gradOutput, indices - 1, 2)


SpatialMaxPooling_updateOutput = SpatialDilatedMaxPooling_updateOutput
SpatialMaxPooling_updateGradInput = SpatialDilatedMaxPooling_updateGradInput


def TemporalMaxPooling_updateOutput(input: Tensor, k: int, d: int) -> tuple[Tensor, Tensor]:
    """Also which frame of its window each maximum is from, from 0."""
    check_batch(input, 2)
    if input.size(-2) < k:
        raise ArgumentError(
            2,
            f"input sequence smaller than kernel size. Got: {input.size(-2)}, Expected: {k}",
        )
    return input.unfold(-2, k, d).max(-1)


def TemporalMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, k: int, d: int
) -> Tensor:
    check_batch(input, 2)
    check_shape(gradOutput, "gradOutput", indices.shape)
    starts = torch.arange(indices.size(-2), device=input.device) * d
    return torch.zeros_like(input).scatter_add_(-2, indices + starts[:, None], gradOutput)


# The indices of volumes are three bytes: the place in the window along time, height and width.
def _packed(places: Tensor, input: Tensor, d: Sizes, pad: Sizes, dilation: Sizes) -> Tensor:
    packed = torch.zeros_like(places)
    for axis, origin in enumerate(_origins(places, d, pad)):
        along = _along(places, input.shape[-3:], axis)
        packed += ((along - origin) // dilation[axis]) << (8 * axis)
    return packed


def _unpacked(indices: Tensor, extent: Sizes, d: Sizes, pad: Sizes, dilation: Sizes) -> Tensor:
    """The places in a volume of this size."""
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
    """Where the windows begin along each axis."""
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
    output, places = aten.max_pool3d_with_indices(input, k, d, pad, dilation, ceil_mode)
    return output, _packed(places, input, d, pad, dilation)


def VolumetricDilatedMaxPooling_updateGradInput(
    input: Tensor,
    gradOutput: Tensor,
    indices: Tensor,
    d: Sizes,
    pad: Sizes,
    dilation: Sizes = (1, 1, 1),
    **window: Any,
) -> Tensor:
    check_batch(input, 4)
    places = _unpacked(indices, input.shape[-3:], d, pad, dilation)
    return _scatter(input, gradOutput, places, 3)


VolumetricMaxPooling_updateOutput = VolumetricDilatedMaxPooling_updateOutput
VolumetricMaxPooling_updateGradInput = VolumetricDilatedMaxPooling_updateGradInput


def _unpool(input: Tensor, places: Tensor, out: Sizes) -> Tensor:
    """The input's elements at places of larger planes or volumes."""
    check_shape(input, "input", places.shape)
    dims, elements = len(out), 1
    for size in out:
        elements *= size
    if not bool(((places >= 0) & (places < elements)).all()):
        sizes = "x".join(map(str, out))
        raise RuntimeError(f"found an invalid max index (output volumes are of size {sizes})")
    output = input.new_zeros((*input.shape[:-dims], elements))
    output.scatter_(-1, places.flatten(-dims), input.flatten(-dims))
    return output.view(*input.shape[:-dims], *out)


def _gathered(input: Tensor, gradOutput: Tensor, places: Tensor, out: Sizes) -> Tensor:
    dims = len(out)
    check_shape(gradOutput, "gradOutput", (*input.shape[:-dims], *out))
    return gradOutput.flatten(-dims).gather(-1, places.flatten(-dims)).view_as(input)


def SpatialMaxUnpooling_updateOutput(input: Tensor, indices: Tensor, out: Sizes) -> Tensor:
    check_batch(input, 3)
    return _unpool(input, indices - 1, out)


def SpatialMaxUnpooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes
) -> Tensor:
    check_batch(input, 3)
    return _gathered(input, gradOutput, indices - 1, out)


def VolumetricMaxUnpooling_updateOutput(
    input: Tensor, indices: Tensor, out: Sizes, d: Sizes, pad: Sizes
) -> Tensor:
    check_batch(input, 4)
    check_shape(input, "input", indices.shape)
    return _unpool(input, _unpacked(indices, out, d, pad, (1, 1, 1)), out)


def VolumetricMaxUnpooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes, d: Sizes, pad: Sizes
) -> Tensor:
    check_batch(input, 4)
    places = _unpacked(indices, out, d, pad, (1, 1, 1))
    return _gathered(input, gradOutput, places, out)


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
    output, places = aten.fractional_max_pool2d(input, pool[::-1], out[::-1], samples)
    return output, places + 1


def SpatialFractionalMaxPooling_updateGradInput(
    input: Tensor, gradOutput: Tensor, indices: Tensor, out: Sizes, pool: Sizes
) -> Tensor:
    return _scatter(input, gradOutput, indices - 1, len(out))


def VolumetricFractionalMaxPooling_updateOutput(
    input: Tensor, samples: Tensor, out: Sizes, pool: Sizes
) -> tuple[Tensor, Tensor]:
    _check_fractional(input, out, pool)
    samples = samples.flip(-1).contiguous()
    output, places = aten.fractional_max_pool3d(input, pool[::-1], out[::-1], samples)
    return output, places + 1


VolumetricFractionalMaxPooling_updateGradInput = SpatialFractionalMaxPooling_updateGradInput


def FeatureLPPooling_updateOutput(
    input: Tensor, power: float, width: int, stride: int, batchMode: bool
) -> Tensor:
    dims = input.dim() - batchMode
    if not 1 <= dims <= 3:
        mode = "2-4 dimensions for batch mode" if batchMode else "1-3 dimensions for non-batch mode"
        raise ArgumentError(2, f"input must be {mode}")
    axis = 1 if batchMode else 0
    if input.size(axis) < width:
        raise ArgumentError(3, "input: feature dimension must be >= width")
    if not 2 <= width <= 16:
        raise ArgumentError(5, "width must be between 2 - 16")
    if not 1 <= stride <= 4:
        raise ArgumentError(6, "stride must be between 1 - 4")
    sums = input.pow(power).unfold(axis, width, stride).sum(-1)
    return Root.apply(sums, power)


def FeatureLPPooling_updateGradInput(
    gradOutput: Tensor, input: Tensor, power: float, width: int, stride: int, batchMode: bool
) -> Tensor:
    def forward(leaf: Tensor) -> Tensor:
        return FeatureLPPooling_updateOutput(leaf, power, width, stride, batchMode)

    return pull_back(forward, gradOutput, input)[0]
