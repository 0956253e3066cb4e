"""Poolings and their reverse. Places count from 0, row by row, in a plane of the input."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import torch
from torch import Tensor

aten = torch.ops.aten
Sizes = Sequence[int]


def expect(tensor: Tensor, shape: Sizes, name: str = "gradOutput") -> None:
    """Refuse another shape, where a kernel would read or write beyond the end."""
    if tensor.shape != tuple(shape):
        raise RuntimeError(f"{name} has size {tuple(tensor.shape)}; {tuple(shape)} is accepted")


def places_of(indices: Tensor, elements: int) -> Tensor:
    """Return the places of Torch7's indices, which count from 1, in planes of ``elements``."""
    if indices.numel():
        least, most = indices.aminmax()
        if least < 1 or most > elements:
            raise RuntimeError(
                f"found an invalid max index: they are {int(least)} to {int(most)}, in planes of "
                f"{elements} elements"
            )
    return indices - 1


def to_places(gradOutput: Tensor, input: Tensor, places: Tensor, dims: int) -> Tensor:
    """Zeros like the input, with the gradients added at places in its last ``dims`` dimensions."""
    expect(gradOutput, places.shape)
    expect(input, (*places.shape[:-dims], *input.shape[-dims:]), "input")
    gradInput = torch.zeros_like(input, memory_format=torch.contiguous_format)
    planes = gradInput.flatten(-dims)
    planes.scatter_add_(-1, places.flatten(-dims), gradOutput.flatten(-dims))
    return gradInput


def max_pool(
    input: Tensor, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows of planes or volumes, and the places of these."""
    input = input.contiguous()
    if len(kernel) == 3:
        return aten.max_pool3d_with_indices.default(
            input, kernel, stride, padding, dilation, ceil_mode
        )
    # Of two kernels for CPUs this one is vectorized, over planes: faster, copies included.
    vectorized = input.dim() == 4 and input.size(1) >= 16 and input.numel() >= 1 << 16
    if vectorized and input.device.type == "cpu":
        input = input.contiguous(memory_format=torch.channels_last)
    output, places = aten.max_pool2d_with_indices.default(
        input, kernel, stride, padding, dilation, ceil_mode
    )
    return output.contiguous(), places.contiguous()


def max_pool_backward(
    gradOutput: Tensor,
    input: Tensor,
    places: Tensor,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    ceil_mode: bool,
) -> Tensor:
    """Return the gradient of the input. Places must lie in its planes: they are not checked."""
    input = input.contiguous()
    if len(kernel) == 2:
        return aten.max_pool2d_with_indices_backward.default(
            gradOutput, input, kernel, stride, padding, dilation, ceil_mode, places
        )
    expect(gradOutput, places.shape)
    expect(input, (*places.shape[:-3], *input.shape[-3:]), "input")
    return aten.max_pool3d_with_indices_backward.default(
        gradOutput, input, kernel, stride, padding, dilation, ceil_mode, places
    )


def avg_pool(
    input: Tensor,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    """Return the averages of windows of planes or volumes."""
    pool = aten.avg_pool2d.default if len(kernel) == 2 else aten.avg_pool3d.default
    return pool(input.contiguous(), kernel, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool_backward(
    gradOutput: Tensor,
    input: Tensor,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
    ceil_mode: bool,
    count_include_pad: bool,
) -> Tensor:
    """Return the gradient of the input."""
    dims = len(kernel)
    expect(gradOutput, (*input.shape[:-dims], *gradOutput.shape[-dims:]))
    pull = aten.avg_pool2d_backward.default if dims == 2 else aten.avg_pool3d_backward.default
    return pull(
        gradOutput, input.contiguous(), kernel, stride, padding, ceil_mode, count_include_pad, None
    )


def temporal_max_pool(input: Tensor, k: int, d: int) -> tuple[Tensor, Tensor]:
    """Return the maxima of runs of frames, and the frames that have them."""
    batch = input if input.dim() == 3 else input.unsqueeze(0)
    # Frames of features are planes of one row, channels last.
    planes = batch.contiguous().transpose(1, 2).unsqueeze(2)
    found = aten.max_pool2d_with_indices.default(planes, (1, k), (1, d))
    output, frames = (t.squeeze(2).transpose(1, 2).contiguous() for t in found)
    return (output, frames) if input.dim() == 3 else (output[0], frames[0])


def k_max(input: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return the ``k`` largest of each feature in the order of time, and their frames."""
    order = input.argsort(dim=-2, descending=True, stable=True)
    frames = order.narrow(-2, 0, k).sort(dim=-2).values
    return input.gather(-2, frames), frames


def to_frames(gradOutput: Tensor, input: Tensor, frames: Tensor) -> Tensor:
    """Return zeros like the input, with the gradients of each feature added at frames."""
    expect(gradOutput, frames.shape)
    expect(input, (*frames.shape[:-2], input.size(-2), frames.size(-1)), "input")
    gradInput = torch.zeros_like(input, memory_format=torch.contiguous_format)
    return gradInput.scatter_add_(-2, frames, gradOutput)


def adaptive_avg_pool(input: Tensor, size: Sizes) -> Tensor:
    """Return the averages of ``rows x columns`` windows of planes."""
    return aten.adaptive_avg_pool2d.default(input.contiguous(), size)


def adaptive_avg_pool_backward(gradOutput: Tensor, input: Tensor) -> Tensor:
    """Return the gradient of the input."""
    expect(gradOutput, (*input.shape[:-2], *gradOutput.shape[-2:]))
    return aten._adaptive_avg_pool2d_backward.default(gradOutput, input.contiguous())


@lru_cache(maxsize=256)
def spans(extent: int, parts: int) -> tuple[tuple[int, int], ...]:
    """Return where Torch7's windows for a maximum start and end along a dimension."""
    number = torch.arange(parts + 1, dtype=torch.float32)
    # Dividing by a number, PyTorch multiplies by its rounded inverse.
    edges = number / torch.full_like(number, parts) * extent
    starts, ends = edges[:-1].floor().int(), edges[1:].ceil().int()
    return tuple(zip(starts.tolist(), ends.tolist(), strict=True))


@lru_cache(maxsize=256)
def agrees(extent: int, parts: int) -> bool:
    """Return whether PyTorch's windows are the same."""
    exact = ((i * extent // parts, -(-(i + 1) * extent // parts)) for i in range(parts))
    return spans(extent, parts) == tuple(exact)


def window_elements(extent: int, parts: int, device: torch.device) -> Tensor:
    """Return the elements of each window, in a row each; the shorter ones repeat their first."""
    windows = spans(extent, parts)
    longest = max(end - start for start, end in windows)
    rows = [[*range(start, end), *([start] * (longest - end + start))] for start, end in windows]
    return torch.tensor(rows, device=device)


def adaptive_max_pool(input: Tensor, size: Sizes) -> tuple[Tensor, Tensor]:
    """Return the maxima of ``rows x columns`` windows of planes, and the places of these."""
    (height, width), (high, wide) = input.shape[-2:], size
    if agrees(height, high) and agrees(width, wide):
        return aten.adaptive_max_pool2d.default(input.contiguous(), size)
    rows = window_elements(height, high, input.device)
    columns = window_elements(width, wide, input.device)
    windows = input[..., rows[:, None, :, None], columns[None, :, None, :]].flatten(-2)
    output, chosen = windows.max(-1)
    places = (rows[:, None, :, None] * width + columns[None, :, None, :]).flatten(-2)
    return output, places.expand_as(windows).gather(-1, chosen.unsqueeze(-1)).squeeze(-1)


def fractional_max_pool(
    input: Tensor, pool: Sizes, size: Sizes, samples: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the maxima of random windows of planes or volumes, and the places of these.

    Args:
        pool: the size of the windows.
        size: the size of the output.
        samples: a number from 0 to 1 for each sample, plane and axis, the last axis first.
    """
    input = input.contiguous()
    if len(pool) == 2:
        return aten.fractional_max_pool2d.default(input, pool, size, samples)
    samples = samples.flip(-1).contiguous()
    return aten.fractional_max_pool3d.default(input, pool, size, samples)


def max_unpool(input: Tensor, places: Tensor, size: Sizes) -> Tensor:
    """Return the input's elements at places in planes or volumes of zeros. Places must lie in
    these.
    """
    expect(input, places.shape, "input")
    dims = len(size)
    output = input.new_zeros((*input.shape[:-dims], *size))
    output.flatten(-dims).scatter_(-1, places.flatten(-dims), input.flatten(-dims))
    return output


def max_unpool_backward(gradOutput: Tensor, places: Tensor, size: Sizes) -> Tensor:
    """Return the gradient of the input: the elements at places."""
    dims = len(size)
    expect(gradOutput, (*places.shape[:-dims], *size))
    found = gradOutput.flatten(-dims).gather(-1, places.flatten(-dims))
    return found.view(places.shape)


def feature_lp_pool(input: Tensor, power: float, width: int, stride: int, axis: int) -> Tensor:
    """Return the p-norms of windows along an axis."""
    sums = input.pow(power).unfold(axis, width, stride).sum(-1)
    return (sums.sqrt() if power == 2 else sums.pow(1 / power)).contiguous()


def feature_lp_pool_backward(
    gradOutput: Tensor,
    input: Tensor,
    output: Tensor,
    power: float,
    width: int,
    stride: int,
    axis: int,
) -> Tensor:
    """Return the gradient of the input: 0 for a window whose norm is 0."""
    windows = input.unfold(axis, width, stride)
    expect(output, windows.shape[:-1], "output")
    expect(gradOutput, output.shape)
    gradInput = torch.zeros_like(input, memory_format=torch.contiguous_format)
    sums, zero = gradInput.unfold(axis, width, stride), output == 0
    for i in range(width):
        slope = (windows.select(-1, i) / output).pow_(power - 1).mul_(gradOutput)
        sums.select(-1, i).add_(slope.masked_fill_(zero, 0))
    return gradInput
