"""Layers that write into their input, as ``nn.ReLU(true)`` does."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

# Functions whose backward does not read their own result.
_RESULT_FREE = {
    "AddBackward0",
    "AddmmBackward0",
    "CatBackward0",
    "ConvolutionBackward0",
    "CudnnBatchNormBackward0",
    "MiopenBatchNormBackward0",
    "NativeBatchNormBackward0",
    "SlowConv3DBackward0",
}


class _Alias(torch.autograd.Function):
    """The same memory at another place in the graph, so that writing to it leaves the leaf be."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor) -> Tensor:
        return tensor.detach()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


def writable(tensor: Tensor) -> Tensor:
    """A tensor that an in-place operation may overwrite in ``tensor``'s stead.

    It is ``tensor``'s own memory wherever the gradients stay right: where the layer before reads
    its result in backward (Tanh before MulConstant(c, true)), it is a copy. Torch7 computes wrong
    gradients there, or relies on backward undoing the change.
    """
    if not tensor.requires_grad:
        return tensor
    if tensor.is_leaf or tensor._is_view():
        return _Alias.apply(tensor)
    if type(tensor.grad_fn).__name__ in _RESULT_FREE:
        return tensor
    return tensor.clone()
