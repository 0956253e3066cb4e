"""Convolutions, plain and transposed, in one, two and three dimensions.

Numbers of a window are in the order of the tensors' dimensions. A ``_backward`` function gives the
gradients of input, weight and bias: those that its ``mask`` asks for, None for the others. It may
get a gradOutput of another type than the rest, in which it then computes; the gradient of the input
has the input's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten
Sizes = tuple[int, ...]
Mask = tuple[bool, bool, bool]
Gradients = tuple[Tensor | None, Tensor | None, Tensor | None]


def check_size(gradOutput: Tensor, size: Iterable[int]) -> None:
    """Raise ValueError for a gradOutput of another size."""
    if gradOutput.shape != tuple(size):
        raise ValueError(
            f"gradOutput has size {tuple(gradOutput.shape)}; {tuple(size)} is accepted"
        )


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int = 1,
) -> Tensor:
    """Return a convolution of a sample or a batch, in as many dimensions as the weight tells."""
    if _by_onednn(input):
        by_product, _ = _products(input.shape, weight.shape, stride, padding, dilation, groups)
        if by_product:
            kernel, window = aten._slow_conv2d_forward.default, (bias, stride, padding)
            if input.dim() == 4:
                return kernel(input, weight, weight.shape[2:], *window)
            return kernel(input.unsqueeze(0), weight, weight.shape[2:], *window).squeeze(0)
    function = (torch.conv1d, torch.conv2d, torch.conv3d)[weight.dim() - 3]
    return function(input, weight, bias, stride, padding, dilation, groups).contiguous()


# oneDNN's kernels, which PyTorch takes for floats, need 40 (forward) and 130 µs (backward) before
# they begin, and are slow at the gradient of few input planes. Up to so many multiplications, and
# for that gradient with at most so many numbers in the columns, the way of Torch7's
# SpatialConvolutionMM is faster: the weight times a matrix whose columns are the windows.
_MULTIPLICATIONS, _FEW_PLANES, _COLUMNS = 1 << 20, 4, 1 << 23


def _by_onednn(tensor: Tensor) -> bool:
    """Return whether PyTorch would take oneDNN's kernels. The compiler has its own ways."""
    return type(tensor) is Tensor and tensor.is_cpu and tensor.dtype is torch.float32


@lru_cache(maxsize=1024)
def _products(
    input: Sizes, weight: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> tuple[bool, bool]:
    """Return whether to multiply with columns: for all results, for the input's gradient."""
    if len(weight) != 4 or groups != 1 or tuple(dilation) != (1, 1):
        return False, False
    try:
        size = _output_size(input, weight, stride, padding, dilation, groups)
    except ValueError:  # PyTorch tells of it
        return False, False
    columns = math.prod(size) // weight[0] * math.prod(weight[1:])
    all_small = columns * weight[0] <= _MULTIPLICATIONS
    return all_small, all_small or (weight[1] <= _FEW_PLANES and columns <= _COLUMNS)


def convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    stride: Sizes,
    padding: Sizes,
    dilation: Sizes,
    groups: int,
) -> Gradients:
    """Return the gradients of ``convolution``."""
    shapes = input.shape, weight.shape, stride, padding, dilation, groups
    constants = stride, padding, dilation, False, (0,) * len(stride), groups
    by_product = False, False
    if _by_onednn(gradOutput):
        by_product = _products(*shapes)
    return _gradients(input, gradOutput, weight, mask, _output_size(*shapes), constants, by_product)


@lru_cache(maxsize=1024)
def _output_size(
    input: Sizes, weight: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Sizes:
    """Return the size of the output. Raises ValueError for an input that there is none for."""
    dims = len(weight) - 2
    axes = zip(input[-dims:], weight[2:], stride, padding, dilation, strict=False)
    out = [(n + 2 * pad - s * (k - 1) - 1) // d + 1 for n, k, d, pad, s in axes]
    return _checked_size(input, weight[1] * groups, weight[0], out)


def _checked_size(input: Sizes, inputs: int, planes: int, out: list[int]) -> Sizes:
    dims = len(out)
    if len(input) not in (dims + 1, dims + 2) or input[-dims - 1] != inputs or min(out) < 1:
        raise ValueError(f"input has size {tuple(input)}; that of forward is accepted")
    return torch.Size([*input[: -dims - 1], planes, *out])


def transposed_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
    adjustment: Sizes,
    dilation: Sizes,
) -> Tensor:
    """Return a transposed convolution; ``adjustment`` is what is added to the size of the
    output.
    """
    functions = torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d
    function = functions[weight.dim() - 3]
    return function(input, weight, bias, stride, padding, adjustment, 1, dilation).contiguous()


def transposed_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    stride: Sizes,
    padding: Sizes,
    adjustment: Sizes,
    dilation: Sizes,
) -> Gradients:
    """Return the gradients of ``transposed_convolution``."""
    shape = weight.shape
    adjustment = tuple(adjustment)
    size = _transposed_size(input.shape, shape, stride, padding, adjustment, dilation)
    constants = stride, padding, dilation, True, adjustment, 1
    return _gradients(input, gradOutput, weight, mask, size, constants)


@lru_cache(maxsize=1024)
def _transposed_size(
    input: Sizes, weight: Sizes, stride: Sizes, padding: Sizes, adjustment: Sizes, dilation: Sizes
) -> Sizes:
    """Return ``_output_size`` of a transposed convolution."""
    dims = len(weight) - 2
    axes = zip(input[-dims:], weight[2:], stride, padding, dilation, adjustment, strict=False)
    out = [(n - 1) * d - 2 * pad + s * (k - 1) + 1 + a for n, k, d, pad, s, a in axes]
    return _checked_size(input, weight[0], weight[1], out)


def _gradients(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    size: Sizes,
    constants: tuple[Any, ...],
    by_product: tuple[bool, bool] = (False, False),
) -> Gradients:
    if gradOutput.shape != size:  # the kernel trusts its sizes
        check_size(gradOutput, size)
    batch, dtype, dims = input, gradOutput.dtype, weight.dim()
    if weight.dtype != dtype or input.dtype != dtype:
        weight, batch = weight.to(dtype), input.to(dtype)
    if len(size) != dims:
        gradOutput, batch = gradOutput.unsqueeze(0), batch.unsqueeze(0)
    every, to_input = by_product
    product = mask if every else (mask[0] and to_input, False, False)
    rest = (False, False, False) if every else (mask[0] and not to_input, *mask[1:])
    first = second = third = None
    if True in product:
        # The kernel trusts that tensors are contiguous.
        given = gradOutput.contiguous(), batch.contiguous(), weight.contiguous()
        found = aten._slow_conv2d_backward.output_mask(
            *given, weight.shape[2:], *constants[:2], product
        )
        first, second, third = (f if m else None for f, m in zip(found, product, strict=True))
    if True in rest:
        other, second, third = aten.convolution_backward.default(
            gradOutput, batch, weight, [size[1 - dims]], *constants, rest
        )
        first = other if rest[0] else first
    if first is not None:
        first = first if len(size) == dims else first.squeeze(0)
        first = first.contiguous()
        first = first if first.dtype == input.dtype else first.to(input.dtype)
    return first, second, third


def depthwise_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
) -> Tensor:
    """Return every input plane convolved by itself: with a row of ``weight`` for each of its
    outputs.
    """
    planes = weight[0].numel() // math.prod(kernel)
    kernels = weight.view(-1, planes, 1, *kernel).transpose(0, 1).flatten(0, 1)
    bias = None if bias is None else bias.t().flatten()
    return torch.conv2d(input, kernels, bias, stride, padding, groups=planes).contiguous()


def depthwise_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    kernel: Sizes,
    stride: Sizes,
    padding: Sizes,
) -> Gradients:
    """Return the gradients of ``depthwise_convolution``."""
    planes = weight[0].numel() // math.prod(kernel)
    kernels = weight.view(-1, planes, 1, *kernel).transpose(0, 1).flatten(0, 1)
    first, second, third = convolution_backward(
        input, gradOutput, kernels, mask, stride, padding, (1, 1), planes
    )
    if second is not None:
        second = second.unflatten(0, (planes, -1)).transpose(0, 1).reshape(weight.shape)
    return first, second, None if third is None else third.view(planes, -1).t()


def binary_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sizes,
    padding: Sizes,
) -> Tensor:
    """Return a convolution by the signs of the weight, times the mean size of each output's
    weights.
    """
    signs = torch.where(weight < 0, -1, torch.where(weight >= 0, 1, weight))
    output = torch.conv2d(input, signs, bias, stride, padding).contiguous()
    return output.mul_(weight.abs().mean((1, 2, 3)).view(-1, 1, 1))


def binary_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    stride: Sizes,
    padding: Sizes,
) -> Gradients:
    """Return the gradients of the convolution by signs in ``binary_convolution``.

    That of the input is multiplied with the mean size of each input plane's weights.
    """
    signs = torch.where(weight < 0, -1, torch.where(weight >= 0, 1, weight))
    first, second, third = convolution_backward(
        input, gradOutput, signs, mask, stride, padding, (1, 1), 1
    )
    if first is not None:
        first.mul_(weight.abs().mean((0, 2, 3)).view(-1, 1, 1))
    return first, second, third


def temporal_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    kernel: int,
    stride: int,
    padding: int = 0,
) -> Tensor:
    """Return a convolution over frames, features last; a row of ``weight`` has frame
    after frame.
    """
    kernels = weight.view(weight.size(0), kernel, -1).transpose(1, 2)
    output = torch.conv1d(input.transpose(-1, -2), kernels, bias, stride, padding)
    return output.transpose(-1, -2).contiguous()


def temporal_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    kernel: int,
    stride: int,
    padding: int,
) -> Gradients:
    """Return the gradients of ``temporal_convolution``."""
    frames = (input.size(-2) + 2 * padding - kernel) // stride + 1
    check_size(gradOutput, [*input.shape[:-2], frames, weight.size(0)])
    kernels = weight.view(weight.size(0), kernel, -1).transpose(1, 2)
    rows = input.transpose(-1, -2), gradOutput.transpose(-1, -2)
    window = (stride,), (padding,), (1,)
    first, second, third = convolution_backward(*rows, kernels, mask, *window, 1)
    if first is not None:
        first = first.transpose(-1, -2).contiguous()
    if second is not None:
        second = second.transpose(1, 2).reshape(weight.shape)
    return first, second, third


def row_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: int,
    padding: int,
    featFirst: bool,
) -> Tensor:
    """Return each feature convolved over the frames by itself; last, or with
    ``featFirst`` first.
    """
    rows = input if featFirst else input.transpose(-1, -2)
    output = torch.conv1d(rows, weight, bias, stride, padding, groups=weight.size(0))
    return (output if featFirst else output.transpose(-1, -2)).contiguous()


def row_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    stride: int,
    padding: int,
    featFirst: bool,
) -> Gradients:
    """Return the gradients of ``row_convolution``."""
    window, features = ((stride,), (padding,), (1,)), weight.size(0)
    if featFirst:
        return convolution_backward(input, gradOutput, weight, mask, *window, features)
    frames = (input.size(-2) + 2 * padding - weight.size(2)) // stride + 1
    check_size(gradOutput, [*input.shape[:-2], frames, features])
    rows = input.transpose(-1, -2), gradOutput.transpose(-1, -2)
    first, second, third = convolution_backward(*rows, weight, mask, *window, features)
    return None if first is None else first.transpose(-1, -2).contiguous(), second, third


# Between the planes that a table names: its rows are input and output plane, counted from 1, of a
# kernel each; `planes` are how many input and output planes there are.


def _known(input: Tensor, planes: Sizes) -> Tensor:
    """Return the planes that a table knows; there may be more after them."""
    return input if input.size(-3) == planes[0] else input.narrow(-3, 0, planes[0])


def mapped_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    table: Tensor,
    planes: Sizes,
    stride: Sizes,
) -> Tensor:
    """Return a convolution of the planes that the table knows."""
    kernels = _dense(weight, table, planes)
    return torch.conv2d(_known(input, planes), kernels, bias, stride).contiguous()


def mapped_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    table: Tensor,
    planes: Sizes,
    stride: Sizes,
) -> Gradients:
    """Return the gradients of ``mapped_convolution``; that of planes it does not know is zero."""
    kernels, known = _dense(weight, table, planes), _known(input, planes)
    window = stride, (0, 0), (1, 1), 1
    return _of_rows(input, table, convolution_backward(known, gradOutput, kernels, mask, *window))


def transposed_mapped_convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    table: Tensor,
    planes: Sizes,
    stride: Sizes,
) -> Tensor:
    """Return a transposed convolution of the planes that the table knows."""
    kernels = _dense(weight, table, planes).transpose(0, 1)
    known = _known(input, planes)
    return torch.conv_transpose2d(known, kernels, bias, stride).contiguous()


def transposed_mapped_convolution_backward(
    input: Tensor,
    gradOutput: Tensor,
    weight: Tensor,
    mask: Mask,
    table: Tensor,
    planes: Sizes,
    stride: Sizes,
) -> Gradients:
    """Return the gradients of ``transposed_mapped_convolution``."""
    kernels = _dense(weight, table, planes).transpose(0, 1)
    window, known = (stride, (0, 0), (0, 0), (1, 1)), _known(input, planes)
    first, second, third = transposed_convolution_backward(
        known, gradOutput, kernels, mask, *window
    )
    second = None if second is None else second.transpose(0, 1)
    return _of_rows(input, table, (first, second, third))


def _dense(weight: Tensor, table: Tensor, planes: Sizes) -> Tensor:
    """Return the kernels of a table's rows as output x input planes x kH x kW."""
    inputs, outputs = (table.long() - 1).unbind(1)
    dense = weight.new_zeros(planes[1], planes[0], *weight.shape[1:])
    return dense.index_put_((outputs, inputs), weight, accumulate=True)


def _of_rows(input: Tensor, table: Tensor, gradients: Gradients) -> Gradients:
    """Return the gradients of a convolution with all planes as those of a table's rows."""
    first, second, third = gradients
    unknown = input.size(-3) - (0 if first is None else first.size(-3))
    if first is not None and unknown:
        first = torch.nn.functional.pad(first, (0, 0, 0, 0, 0, unknown))
    if second is not None:
        inputs, outputs = (table.long() - 1).unbind(1)
        second = second[outputs, inputs]
    return first, second, third
