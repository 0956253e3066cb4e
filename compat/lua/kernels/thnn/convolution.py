"""Convolutions and subsamplings: the formulas of ``compat.nn`` behind THNN's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from compat.lua.kernels.thnn.checks import check_batch, check_size
from compat.nn.functional import convolution as f
from compat.nn.functional import local, subsampling

KERNELS: dict[str, Callable[..., Any]] = {}


def _family(
    names: str,
    dims: int,
    forward: Callable[..., Tensor],
    backward: Callable[..., tuple[Tensor | None, ...]],
    arguments: Callable[..., tuple[Any, ...]],
    prepare: Callable[..., Tensor] = lambda input, weight, **window: weight,
) -> None:
    """Define the three functions of layers whose samples have ``dims`` dimensions.

    Args:
        arguments: makes the formulas' further arguments from the function's tables and numbers.
        prepare: returns the weight in the formulas' form, after checking that it fits the input.
    """

    def updateOutput(
        input: Tensor, weight: Tensor, bias: Tensor | None, *table: Tensor, **window: Any
    ) -> Tensor:
        check_batch(input, dims)
        weight = prepare(input, weight, **window)
        return forward(input, weight, bias, *arguments(*table, **window))

    def updateGradInput(
        input: Tensor, gradOutput: Tensor, weight: Tensor, *table: Tensor, **window: Any
    ) -> Tensor | None:
        check_batch(input, dims)
        weight = prepare(input, weight, **window)
        mask = True, False, False
        return backward(input, gradOutput, weight, mask, *arguments(*table, **window))[0]

    def accGradParameters(
        input: Tensor,
        gradOutput: Tensor,
        gradWeight: Tensor,
        gradBias: Tensor | None,
        *table: Tensor,
        scale: float,
        **window: Any,
    ) -> None:
        check_batch(input, dims)
        kernel = prepare(input, gradWeight, **window)
        mask = False, True, gradBias is not None
        more = backward(input, gradOutput, kernel, mask, *arguments(*table, **window))
        for gradient, new in zip((kernel, gradBias), more[1:], strict=True):
            if gradient is not None and new is not None:
                gradient.add_(new, alpha=scale)

    for name in names.split():
        for function in (updateOutput, updateGradInput, accGradParameters):
            KERNELS[f"{name}_{function.__name__}"] = function


# Families of PyTorch's own convolutions -----------------------------------------------------------


def _kernels(dim: int) -> Callable[..., Tensor]:
    """Return the weight, which may be a matrix, with a dimension for each axis.

    ``dim`` is the dimension of the inputs.
    """

    def prepare(input: Tensor, weight: Tensor, k: Sequence[int] = (), **window: Any) -> Tensor:
        weight = weight.view(weight.size(0), -1, *k) if weight.dim() == 2 else weight
        dims = weight.dim() - 1
        check_size(input, "input", input.dim(), input.dim() - dims, weight.size(dim))
        return weight

    return prepare


def _window(
    d: Sequence[int], pad: Sequence[int], dilation: Sequence[int] | None = None, **size: Any
) -> tuple[Any, ...]:
    return d, pad, dilation or (1,) * len(d), 1


def _transposed_window(
    d: Sequence[int],
    pad: Sequence[int],
    adj: Sequence[int],
    dilation: Sequence[int] | None = None,
    **size: Any,
) -> tuple[Any, ...]:
    return d, pad, adj, dilation or (1,) * len(d)


for _dims, _names, _full in (
    (
        3,
        "SpatialConvolutionMM SpatialDilatedConvolution",
        "SpatialFullConvolution SpatialFullDilatedConvolution",
    ),
    (
        4,
        "VolumetricConvolution VolumetricConvolutionMM VolumetricDilatedConvolution",
        "VolumetricFullConvolution VolumetricFullDilatedConvolution",
    ),
):
    _plain = f.convolution, f.convolution_backward
    _family(_names, _dims, *_plain, _window, _kernels(1))
    _other = f.transposed_convolution, f.transposed_convolution_backward
    _family(_full, _dims, *_other, _transposed_window, _kernels(0))

# Others -------------------------------------------------------------------------------------------

_family(
    "SpatialDepthWiseConvolution",
    3,
    f.depthwise_convolution,
    f.depthwise_convolution_backward,
    lambda k, d, pad: (k, d, pad),
)
_family(
    "SpatialConvolutionLocal",
    3,
    local.local_convolution,
    local.local_convolution_backward,
    lambda k, d, pad, out, **size: (k, d, pad, out),
)
_family(
    "SpatialConvolutionMap",
    3,
    f.mapped_convolution,
    f.mapped_convolution_backward,
    lambda table, planes, d: (table, planes, d),
)
_family(
    "SpatialFullConvolutionMap",
    3,
    f.transposed_mapped_convolution,
    f.transposed_mapped_convolution_backward,
    lambda table, planes, d: (table, planes, d),
)
_family(
    "SpatialSubSampling",
    3,
    subsampling.spatial_subsampling,
    subsampling.spatial_subsampling_backward,
    lambda k, d: (k, d),
)
_family(
    "TemporalConvolution",
    2,
    f.temporal_convolution,
    f.temporal_convolution_backward,
    lambda k, d, **size: (k, d, 0),
)
_family(
    "TemporalRowConvolution",
    2,
    f.row_convolution,
    f.row_convolution_backward,
    lambda k, d, pad, featFirst: (d, pad, featFirst),
)
_family(
    "TemporalSubSampling",
    2,
    subsampling.temporal_subsampling,
    subsampling.temporal_subsampling_backward,
    lambda k, d, **size: (k, d),
)


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
