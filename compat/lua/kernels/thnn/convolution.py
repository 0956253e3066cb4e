"""Convolutions and transposed convolutions, in one, two and three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from compat.lua.kernels.thnn.checks import check_batch, check_shape, check_size, pull_back

aten = torch.ops.aten


class _Convolution:
    """What one family of functions computes, for any number of dimensions.

    ``k`` is the kernel's size, where the function is told it and the weight may be a matrix;
    ``adj`` that of what is added to the size of a transposed convolution's output.
    """

    def __init__(self, dims: int, transposed: bool = False) -> None:
        self.dims = dims
        self.transposed = transposed

    def updateOutput(
        self, input: Tensor, weight: Tensor, bias: Tensor | None, **window: Any
    ) -> Tensor:
        weight = self._kernel(weight, **window)
        batch = self._batch(input, weight)
        output = aten.convolution(batch, weight, bias, *self._constants(**window))
        return output if batch is input else output.squeeze(0)

    def updateGradInput(
        self, input: Tensor, gradOutput: Tensor, weight: Tensor, **window: Any
    ) -> Tensor:
        weight = self._kernel(weight, **window)
        gradient = self._gradients(input, gradOutput, weight, (True, False, False), **window)[0]
        return gradient.reshape(input.shape)

    def accGradParameters(
        self,
        input: Tensor,
        gradOutput: Tensor,
        gradWeight: Tensor,
        gradBias: Tensor | None,
        scale: float,
        **window: Any,
    ) -> None:
        kernel = self._kernel(gradWeight, **window)
        mask = (False, True, gradBias is not None)
        _, weight, bias = self._gradients(input, gradOutput, kernel, mask, **window)
        kernel.add_(weight, alpha=scale)
        if gradBias is not None:
            gradBias.add_(bias, alpha=scale)

    def _kernel(self, weight: Tensor, k: Sequence[int] = (), **window: Any) -> Tensor:
        return weight.view(weight.size(0), -1, *k) if weight.dim() == 2 else weight

    def _constants(
        self,
        d: Sequence[int],
        pad: Sequence[int],
        dilation: Sequence[int] | None = None,
        adj: Sequence[int] | None = None,
        k: Sequence[int] = (),
    ) -> tuple[Any, ...]:
        ones, zeros = (1,) * self.dims, (0,) * self.dims
        return d, pad, dilation or ones, self.transposed, adj or zeros, 1

    def _batch(self, input: Tensor, weight: Tensor) -> Tensor:
        check_batch(input, self.dims + 1)
        planes = weight.size(0 if self.transposed else 1)
        check_size(input, "input", input.dim(), input.dim() - self.dims - 1, planes)
        return input if input.dim() == self.dims + 2 else input.unsqueeze(0)

    def _gradients(
        self, input: Tensor, gradOutput: Tensor, weight: Tensor, mask: Sequence[bool], **window: Any
    ) -> tuple[Tensor, ...]:
        batch = self._batch(input, weight)
        planes = weight.size(1 if self.transposed else 0)
        shape = [*input.shape[: -self.dims - 1], planes, *self._sizes(input, weight, **window)]
        check_shape(gradOutput, "gradOutput", shape)
        gradOutput = gradOutput.reshape(batch.size(0), *shape[-self.dims - 1 :])
        constants = self._constants(**window)
        return aten.convolution_backward(gradOutput, batch, weight, [planes], *constants, mask)

    def _sizes(self, input: Tensor, weight: Tensor, **window: Any) -> list[int]:
        """The output's size along each axis."""
        d, pad, dilation, _, adj, _ = self._constants(**window)
        axes = zip(input.shape[-self.dims :], weight.shape[2:], d, pad, dilation, adj, strict=True)
        if self.transposed:
            return [(n - 1) * d - 2 * p + s * (k - 1) + 1 + a for n, k, d, p, s, a in axes]
        return [(n + 2 * p - s * (k - 1) - 1) // d + 1 for n, k, d, p, s, _ in axes]


KERNELS: dict[str, Callable[..., Any]] = {}
for _name, _convolution in {
    "SpatialConvolutionMM": _Convolution(2),
    "SpatialDilatedConvolution": _Convolution(2),
    "SpatialFullConvolution": _Convolution(2, transposed=True),
    "SpatialFullDilatedConvolution": _Convolution(2, transposed=True),
    "VolumetricConvolution": _Convolution(3),
    "VolumetricConvolutionMM": _Convolution(3),
    "VolumetricDilatedConvolution": _Convolution(3),
    "VolumetricFullConvolution": _Convolution(3, transposed=True),
    "VolumetricFullDilatedConvolution": _Convolution(3, transposed=True),
}.items():
    for _method in ("updateOutput", "updateGradInput", "accGradParameters"):
        KERNELS[f"{_name}_{_method}"] = getattr(_convolution, _method)


# Over frames, whose features come last ------------------------------------------------------------

_FRAMES = _Convolution(1)


def _by_frame(weight: Tensor, k: int) -> Tensor:
    """The weight of TemporalConvolution, whose rows are frame by frame, as PyTorch has it."""
    return weight.view(weight.size(0), k, -1).transpose(1, 2)


def TemporalConvolution_updateOutput(
    input: Tensor, weight: Tensor, bias: Tensor | None, k: int, d: int, **sizes: Any
) -> Tensor:
    frames, kernel = input.transpose(-1, -2), _by_frame(weight, k)
    return _FRAMES.updateOutput(frames, kernel, bias, d=(d,), pad=(0,)).transpose(-1, -2)


def TemporalConvolution_updateGradInput(
    input: Tensor, gradOutput: Tensor, weight: Tensor, k: int, d: int
) -> Tensor:
    frames = input.transpose(-1, -2), gradOutput.transpose(-1, -2)
    gradient = _FRAMES.updateGradInput(*frames, _by_frame(weight, k), d=(d,), pad=(0,))
    return gradient.transpose(-1, -2)


def TemporalConvolution_accGradParameters(
    input: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor,
    gradBias: Tensor | None,
    k: int,
    d: int,
    scale: float,
) -> None:
    frames = input.transpose(-1, -2), gradOutput.transpose(-1, -2)
    kernel = _by_frame(gradWeight, k)
    _FRAMES.accGradParameters(*frames, kernel, gradBias, scale, d=(d,), pad=(0,))


# Layers that PyTorch has no convolution for: their gradients are pulled back ----------------------


def _pulled_back(name: str, forward: Callable[..., Tensor]) -> None:
    """The three functions of a layer that computes ``forward(input, weight, bias, **window)``."""

    def updateOutput(
        input: Tensor, weight: Tensor, bias: Tensor | None, *table: Tensor, **window: Any
    ) -> Tensor:
        return forward(input, weight, bias, *table, **window)

    def updateGradInput(
        input: Tensor, gradOutput: Tensor, weight: Tensor, *table: Tensor, **window: Any
    ) -> Tensor:
        return pull_back(
            lambda leaf: forward(leaf, weight, None, *table, **window), gradOutput, input
        )[0]

    def accGradParameters(
        input: Tensor,
        gradOutput: Tensor,
        gradWeight: Tensor,
        gradBias: Tensor | None,
        *table: Tensor,
        scale: float,
        **window: Any,
    ) -> None:
        gradients = [g for g in (gradWeight, gradBias) if g is not None]
        found = pull_back(
            lambda weight, bias=None: forward(input, weight, bias, *table, **window),
            gradOutput,
            *map(torch.zeros_like, gradients),
        )
        for gradient, new in zip(gradients, found, strict=True):
            gradient.add_(new, alpha=scale)

    for function in (updateOutput, updateGradInput, accGradParameters):
        KERNELS[f"{name}_{function.__name__}"] = function


def _depth_wise(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    k: Sequence[int],
    d: Sequence[int],
    pad: Sequence[int],
) -> Tensor:
    check_batch(input, 3)
    planes = input.size(-3)
    kernels = weight.view(weight.size(0), planes, 1, *k).transpose(0, 1).flatten(0, 1)
    return torch.conv2d(
        input, kernels, None if bias is None else bias.t().flatten(), d, pad, groups=planes
    )


def _local(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    k: Sequence[int],
    d: Sequence[int],
    pad: Sequence[int],
    out: Sequence[int],
    **sizes: Any,
) -> Tensor:
    check_batch(input, 3)
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    windows = F.unfold(batch, tuple(k), 1, tuple(pad), tuple(d))
    # One matrix product per place: (output planes x window) · (window x batch).
    kernels = weight.reshape(windows.size(2), -1, windows.size(1))
    output = torch.bmm(kernels, windows.permute(2, 1, 0)).permute(2, 1, 0)
    output = output.reshape(batch.size(0), -1, *out)
    if bias is not None:
        output = output + bias
    return output if batch is input else output.squeeze(0)


def _dense(weight: Tensor, connTable: Tensor, planes: Sequence[int]) -> Tensor:
    """The kernels of a connection table as output x input planes x kH x kW."""
    inputs, outputs = (connTable.long() - 1).unbind(1)
    n_inputs, n_outputs = planes
    shape = (n_outputs, n_inputs, *weight.shape[1:])
    return weight.new_zeros(shape).index_put((outputs, inputs), weight, accumulate=True)


def _mapped(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    connTable: Tensor,
    planes: Sequence[int],
    d: Sequence[int],
) -> Tensor:
    return torch.conv2d(input, _dense(weight, connTable, planes), bias, d)


def _full_mapped(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    connTable: Tensor,
    planes: Sequence[int],
    d: Sequence[int],
) -> Tensor:
    kernels = _dense(weight, connTable, planes).transpose(0, 1)
    return torch.conv_transpose2d(input, kernels, bias, d)


def _rows(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    k: int,
    d: int,
    pad: int,
    featFirst: bool,
) -> Tensor:
    check_batch(input, 2)
    features_first = input if featFirst else input.transpose(-1, -2)
    output = torch.conv1d(features_first, weight, bias, d, pad, groups=weight.size(0))
    return output if featFirst else output.transpose(-1, -2)


def _sub_sampled(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    k: Sequence[int],
    d: Sequence[int],
) -> Tensor:
    check_batch(input, 3)
    sums = F.avg_pool2d(input, tuple(k), tuple(d), divisor_override=1)
    scaled = sums * weight.view(-1, 1, 1)
    return scaled if bias is None else scaled + bias.view(-1, 1, 1)


def _sub_sampled_frames(
    input: Tensor, weight: Tensor, bias: Tensor | None, k: int, d: int, **sizes: Any
) -> Tensor:
    check_batch(input, 2)
    scaled = input.unfold(-2, k, d).sum(-1) * weight
    return scaled if bias is None else scaled + bias


_pulled_back("SpatialDepthWiseConvolution", _depth_wise)
_pulled_back("SpatialConvolutionLocal", _local)
_pulled_back("SpatialConvolutionMap", _mapped)
_pulled_back("SpatialFullConvolutionMap", _full_mapped)
_pulled_back("TemporalRowConvolution", _rows)
_pulled_back("SpatialSubSampling", _sub_sampled)
_pulled_back("TemporalSubSampling", _sub_sampled_frames)


def unfolded_copy(
    finput: Tensor,
    input: Tensor,
    k: Sequence[int],
    d: Sequence[int],
    pad: Sequence[int],
    planes: int,
    **sizes: Any,
) -> None:
    windows = F.unfold(input.unsqueeze(0), tuple(k), 1, tuple(pad), tuple(d))
    finput.view(-1).copy_(windows.flatten())


def unfolded_acc(
    finput: Tensor,
    input: Tensor,
    k: Sequence[int],
    d: Sequence[int],
    pad: Sequence[int],
    planes: int,
    **sizes: Any,
) -> None:
    extent = input.shape[-2:]
    columns = finput.reshape(1, planes * k[0] * k[1], -1)
    folded = F.fold(columns, tuple(extent), tuple(k), 1, tuple(pad), tuple(d))
    input.add_(folded.view_as(input))


KERNELS |= {"unfolded_copy": unfolded_copy, "unfolded_acc": unfolded_acc}
