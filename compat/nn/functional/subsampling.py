"""Trained subsampling: the sum of each window, times a weight and plus a bias of its plane."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

Mask = tuple[bool, bool, bool]
Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


def spatial_subsampling(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
) -> Tensor:
    """Return the sums of windows of planes."""
    sums = F.avg_pool2d(input, kernel, stride, divisor_override=1).contiguous()
    output = sums * weight.view(-1, 1, 1)
    return output if bias is None else output.add_(bias.view(-1, 1, 1))


def spatial_subsampling_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
) -> Gradients:
    """Return the gradients of input, weight and bias that ``mask`` asks for."""
    _check_size(input, gradOutput, kernel, stride)
    planes = weight.view(-1, 1, 1)
    first, second, third = _gradients(input, gradOutput, planes, mask, kernel, stride)
    second = None if second is None else second.view(-1)
    return first, second, None if third is None else third.view(-1)


def temporal_subsampling(
    input: Tensor, weight: Tensor, bias: Tensor | None, kernel: int, stride: int
) -> Tensor:
    """Return the sums of runs of frames, whose features come last."""
    # Frames are the rows of an image of one plane.
    image, window, step = input.unsqueeze(-3), (kernel, 1), (stride, 1)
    output = F.avg_pool2d(image, window, step, divisor_override=1).squeeze(-3) * weight
    return output if bias is None else output.add_(bias)


def temporal_subsampling_backward(
    input: Tensor, gradOutput: Tensor, weight: Tensor, mask: Mask, kernel: int, stride: int
) -> Gradients:
    """Return the gradients of input, weight and bias that ``mask`` asks for."""
    window = (kernel, 1), (stride, 1)
    _check_size(input, gradOutput, *window)
    images = input.unsqueeze(-3), gradOutput.unsqueeze(-3)
    first, second, third = _gradients(*images, weight, mask, *window)
    return None if first is None else first.squeeze(-3), second, third


def _check_size(
    input: Tensor, gradOutput: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]
) -> None:
    axes = zip(input.shape[-2:], kernel, stride, strict=True)
    size = (*input.shape[:-2], *((n - k) // d + 1 for n, k, d in axes))
    if gradOutput.shape != size:
        raise ValueError(f"gradOutput has size {tuple(gradOutput.shape)}; {size} is accepted")


def _gradients(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
) -> Gradients:
    """Return the same with ``weight`` in a shape that fits to images."""
    dtype, first, second = gradOutput.dtype, None, None
    if mask[0]:
        scaled = gradOutput * weight.to(dtype)
        window = kernel, stride, (0, 0), False, True, 1
        first = torch.ops.aten.avg_pool2d_backward.default(scaled, input.to(dtype), *window)
        first = first.contiguous().to(input.dtype)
    if mask[1]:
        sums = F.avg_pool2d(input.to(dtype), kernel, stride, divisor_override=1)
        second = sums.mul_(gradOutput).sum_to_size(weight.shape)
    return first, second, gradOutput.sum_to_size(weight.shape) if mask[2] else None
