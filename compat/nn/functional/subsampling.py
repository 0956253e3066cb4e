"""Trained subsampling: the sum of each window, times a weight and plus a bias of its plane."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

Mask = tuple[bool, bool, bool]
Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


def spatial_subsampling(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    kernel: Sequence[int],
    stride: Sequence[int],
) -> Tensor:
    """The sums of windows of planes."""
    sums = F.avg_pool2d(input, kernel, stride, divisor_override=1).contiguous()
    output = sums * weight.view(-1, 1, 1)
    return output if bias is None else output.add_(bias.view(-1, 1, 1))


def spatial_subsampling_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    mask: Mask,
) -> Gradients:
    """The gradients of input, weight and bias that ``mask`` asks for."""
    planes = weight.view(-1, 1, 1)
    first, *rest = _gradients(input, gradOutput, planes, kernel, stride, mask)
    second, third = (None if found is None else found.view(-1) for found in rest)
    return first, second, third


def temporal_subsampling(
    input: Tensor, weight: Tensor, bias: Tensor | None, kernel: int, stride: int
) -> Tensor:
    """The sums of runs of frames, whose features come last."""
    # Frames are the rows of an image of one plane.
    image, window, step = input.unsqueeze(-3), (kernel, 1), (stride, 1)
    output = F.avg_pool2d(image, window, step, divisor_override=1).squeeze(-3) * weight
    return output if bias is None else output.add_(bias)


def temporal_subsampling_backward(
    input: Tensor, gradOutput: Tensor, weight: Tensor, kernel: int, stride: int, mask: Mask
) -> Gradients:
    """The gradients of input, weight and bias that ``mask`` asks for."""
    images = input.unsqueeze(-3), gradOutput.unsqueeze(-3)
    first, *rest = _gradients(*images, weight, (kernel, 1), (stride, 1), mask)
    return None if first is None else first.squeeze(-3), *rest


def _gradients(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    kernel: Sequence[int],
    stride: Sequence[int],
    mask: Mask,
) -> Gradients:
    """The same with ``weight`` in a shape that fits to images."""
    axes = zip(input.shape[-2:], kernel, stride, strict=True)
    size = (*input.shape[:-2], *((n - k) // d + 1 for n, k, d in axes))
    if gradOutput.shape != size:
        raise ValueError(f"gradOutput has size {tuple(gradOutput.shape)}; {size} is accepted")
    first = second = None
    input_, dtype = input.to(gradOutput.dtype), gradOutput.dtype
    if mask[0]:
        first = torch.ops.aten.avg_pool2d_backward.default(
            gradOutput * weight.to(dtype), input_, kernel, stride, (0, 0), False, True, 1
        )
        first = first.contiguous().to(input.dtype)
    if mask[1]:
        sums = F.avg_pool2d(input_, kernel, stride, divisor_override=1)
        second = sums.mul_(gradOutput).sum_to_size(weight.shape)
    return first, second, gradOutput.sum_to_size(weight.shape) if mask[2] else None
