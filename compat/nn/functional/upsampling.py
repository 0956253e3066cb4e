"""Planes and volumes in another size: ``size`` is the output's, all dimensions before are kept."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

aten = torch.ops.aten
Sizes = Sequence[int]


def as_planes(tensor: Tensor, dims: int) -> Tensor:
    """Return all planes or volumes as those of one sample."""
    shape = tensor.shape
    return tensor.contiguous().view(1, shape[:-dims].numel(), *shape[-dims:])


def expect_size(gradOutput: Tensor, input_shape: Sizes, size: Sizes) -> None:
    """Refuse a gradient of another size than the output's."""
    shape = (*input_shape[: -len(size)], *size)
    if gradOutput.shape != shape:
        raise RuntimeError(f"gradOutput has size {tuple(gradOutput.shape)}; {shape} is accepted")


def upsample_nearest(input: Tensor, size: Sizes) -> Tensor:
    """Return the nearest element."""
    dims = len(size)
    enlarge = aten.upsample_nearest2d if dims == 2 else aten.upsample_nearest3d
    output = enlarge.default(as_planes(input, dims), size)
    return output.view(*input.shape[:-dims], *size)


def upsample_nearest_backward(gradOutput: Tensor, input_shape: Sizes, size: Sizes) -> Tensor:
    """Return the gradient of the input."""
    expect_size(gradOutput, input_shape, size)
    planes = as_planes(gradOutput, len(size))
    shape = (*planes.shape[:2], *input_shape[-len(size) :])
    pull = aten.upsample_nearest2d_backward if len(size) == 2 else aten.upsample_nearest3d_backward
    return pull.default(planes, size, shape).view(input_shape)


def interpolate(input: Tensor, size: Sizes) -> Tensor:
    """Return linear interpolation from corner to corner."""
    dims = len(size)
    resize = aten.upsample_bilinear2d if dims == 2 else aten.upsample_trilinear3d
    output = resize.default(as_planes(input, dims), size, True)
    return output.view(*input.shape[:-dims], *size)


def interpolate_backward(gradOutput: Tensor, input_shape: Sizes, size: Sizes) -> Tensor:
    """Return the gradient of the input."""
    expect_size(gradOutput, input_shape, size)
    planes = as_planes(gradOutput, len(size))
    shape = (*planes.shape[:2], *input_shape[-len(size) :])
    pull = (
        aten.upsample_bilinear2d_backward if len(size) == 2 else aten.upsample_trilinear3d_backward
    )
    return pull.default(planes, size, shape, True).view(input_shape)


def between(length: int, size: int, like: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the neighbours, along an axis, of each of ``size`` places, and the weight of the far
    one.

    Places and weights are of single precision. So they are in THNN on the CPU, for doubles too: the
    results differ from exact ones by about 1e-7.
    """
    last = length - 1
    places = torch.arange(size, dtype=torch.float32, device=like.device)
    places = places * (torch.tensor(float(last)) / max(size - 1, 1)) if size > 1 else places
    near = places.long()
    return near, (near + 1).clamp_(max=last), (places - near).to(like.dtype)


def upsample_linear(input: Tensor, size: Sizes) -> Tensor:
    """Return linear interpolation from corner to corner, with THNN's numbers."""
    if input.dtype != torch.float64:
        return interpolate(input, size)
    output = input
    for axis in range(-1, -len(size) - 1, -1):
        if output.size(axis) != size[axis]:
            near, far, weight = between(output.size(axis), size[axis], input)
            weight = weight.view(-1, *[1] * (-1 - axis))
            one, other = output.index_select(axis, near), output.index_select(axis, far)
            output = one * (1 - weight) + other * weight
    return output.clone(memory_format=torch.contiguous_format) if output is input else output


def upsample_linear_backward(gradOutput: Tensor, input_shape: Sizes, size: Sizes) -> Tensor:
    """Return the gradient of the input."""
    if gradOutput.dtype != torch.float64:
        return interpolate_backward(gradOutput, input_shape, size)
    expect_size(gradOutput, input_shape, size)
    gradient = gradOutput
    for axis in range(-len(size), 0):
        if size[axis] != input_shape[axis]:
            near, far, weight = between(input_shape[axis], size[axis], gradient)
            weight = weight.view(-1, *[1] * (-1 - axis))
            shape = list(gradient.shape)
            shape[axis] = input_shape[axis]
            smaller = gradient.new_zeros(shape)
            smaller.index_add_(axis, near, gradient * (1 - weight))
            gradient = smaller.index_add_(axis, far, gradient * weight)
    if gradient is gradOutput:
        return gradient.clone(memory_format=torch.contiguous_format)
    return gradient
