"""Layers that write into their input, as ``nn.ReLU(true)`` does."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from compat.nn.core.planned_function import PlannedFunction
from compat.torch_internals import viewed

# Functions whose backward does not read their own result.
_RESULT_FREE = {
    "AddBackward0",
    "AddmmBackward0",
    "CatBackward0",
    "CloneBackward0",
    "ConvolutionBackward0",
    "CudnnBatchNormBackward0",
    "MiopenBatchNormBackward0",
    "NativeBatchNormBackward0",
    "SlowConv3DBackward0",
    "_LinearBackward",
}


class _Alias(PlannedFunction):
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
    gradients there, or relies on backward undoing the change. A tensor with elements that share
    memory, as Replicate's, is copied too.
    """
    if any(stride == 0 for stride in tensor.stride()) and tensor.numel() > 1:
        return tensor.clone()
    if not tensor.requires_grad:
        return tensor
    # What a view shows is the result of the layer that made its base.
    base = viewed(tensor)
    if not base.is_leaf and type(base.grad_fn).__name__ not in _RESULT_FREE:
        return tensor.clone()
    return _Alias.apply(tensor) if base.is_leaf or base is not tensor else tensor
