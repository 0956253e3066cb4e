"""Tables of tensors, and modules of them held against PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from compat import nn


def two(*size: int) -> list[Tensor]:
    return [torch.randn(size), torch.randn(size)]


def assert_as_pytorch(
    module: nn.Module, function: Callable[..., Tensor], input: Sequence[Tensor]
) -> None:
    """``module`` of a table computes ``function`` of its entries, and its gradients."""
    leaves = [t.clone().requires_grad_() for t in input]
    wanted = function(*leaves)
    torch.testing.assert_close(module.forward(input), wanted)
    gradOutput = torch.randn(wanted.shape)
    wanted.backward(gradOutput)
    for found, leaf in zip(module.backward(input, gradOutput), leaves, strict=True):
        expected = torch.zeros_like(leaf) if leaf.grad is None else leaf.grad
        torch.testing.assert_close(found, expected)
