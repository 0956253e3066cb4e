"""Convolution with a kernel of its own at every place."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def local_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    out: tuple[int, ...],
) -> Tensor:
    """Return the convolution of a sample or a batch; ``out`` is the height and width of
    the output.
    """
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    windows = F.unfold(batch, kernel, 1, padding, stride)
    # One matrix product per place: (output planes x window) · (window x batch).
    kernels = weight.view(windows.size(2), -1, windows.size(1))
    output = torch.bmm(kernels, windows.permute(2, 1, 0)).permute(2, 1, 0)
    output = output.reshape(*input.shape[:-3], kernels.size(1), *out).contiguous()
    return output if bias is None else output.add_(bias)


def local_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: tuple[bool, bool, bool],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    out: tuple[int, ...],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Return the gradients of input, weight and bias that ``mask`` asks for, in
    gradOutput's type.
    """
    area = kernel[0] * kernel[1] * input.size(-3)
    planes = weight.numel() // (area * out[0] * out[1])
    size = (*input.shape[:-3], planes, *out)
    if gradOutput.shape != size:
        raise ValueError(f"gradOutput has size {tuple(gradOutput.shape)}; {size} is accepted")
    dtype = gradOutput.dtype
    places = gradOutput.reshape(-1, planes, out[0] * out[1]).permute(2, 1, 0)
    first = second = None
    if mask[0]:
        kernels = weight.view(-1, planes, area).to(dtype)
        windows = torch.bmm(kernels.transpose(1, 2), places).permute(2, 1, 0)
        folded = F.fold(windows, input.shape[-2:], kernel, 1, padding, stride)
        first = folded.view(input.shape).to(input.dtype)
    if mask[1]:
        batch = input if input.dim() == 4 else input.unsqueeze(0)
        windows = F.unfold(batch.to(dtype), kernel, 1, padding, stride)
        second = torch.bmm(places, windows.permute(2, 0, 1)).view(weight.shape)
    return first, second, gradOutput.reshape(-1, planes, *out).sum(0) if mask[2] else None
