"""Bilinear forms of two inputs."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def bilinear(first: Tensor, second: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``x W_k y + b_k`` for every output k; a row is a sample."""
    return F.bilinear(first, second, weight, bias)


def bilinear_grad_input(
    first: Tensor, second: Tensor, gradOutput: Tensor, weight: Tensor
) -> list[Tensor]:
    """Return the gradients of both inputs."""
    x, y = first.to(gradOutput.dtype), second.to(gradOutput.dtype)
    weight = weight.to(gradOutput.dtype)
    outputs = gradOutput.t().unsqueeze(1)
    return [
        (weight.matmul(y.t()) * outputs).sum(0).t().to(first.dtype).contiguous(),
        (weight.transpose(1, 2).matmul(x.t()) * outputs).sum(0).t().to(second.dtype).contiguous(),
    ]


def bilinear_grad_weight(first: Tensor, second: Tensor, gradOutput: Tensor) -> Tensor:
    """Return the gradient of the weight."""
    x, y = first.to(gradOutput.dtype), second.to(gradOutput.dtype)
    return (x.t() * gradOutput.t().unsqueeze(1)).matmul(y)
