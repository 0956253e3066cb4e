"""Products and distances of the two tensors of a table: vectors ``N x D``, and matrices."""

from __future__ import annotations

import torch
from torch import Tensor


def dot_product(first: Tensor, second: Tensor) -> Tensor:
    return (first * second).sum(1)


def dot_product_backward(
    first: Tensor, second: Tensor, gradOutput: Tensor
) -> tuple[Tensor, Tensor]:
    gradient = gradOutput.reshape(first.size(0), 1)
    return second * gradient, first * gradient


def cosine_distance(first: Tensor, second: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the cosines, and what backward needs.

    That is the dot products, the inverses of the squared lengths, to which 1e-12 is added, and the
    inverses of the products of both lengths.
    """
    product = (first * second).sum(1, True)
    inverse = (first * first).sum(1, True).add_(1e-12).reciprocal_()
    other_inverse = (second * second).sum(1, True).add_(1e-12).reciprocal_()
    scale = (inverse * other_inverse).sqrt_()
    return (product * scale).squeeze(1), product, inverse, other_inverse, scale


def cosine_distance_backward(
    first: Tensor,
    second: Tensor,
    gradOutput: Tensor,
    product: Tensor,
    inverse: Tensor,
    other_inverse: Tensor,
    scale: Tensor,
) -> tuple[Tensor, Tensor]:
    # In this order, which shows where the terms all but cancel.
    gradient = gradOutput.reshape(first.size(0), 1)
    of_first = second.addcmul(product * inverse, first, value=-1).mul_(scale).mul_(gradient)
    of_second = first.addcmul(product * other_inverse, second, value=-1).mul_(scale).mul_(gradient)
    return of_first, of_second


def pairwise_distance(first: Tensor, second: Tensor, p: float) -> Tensor:
    """Return the p-norms of the differences."""
    return torch.linalg.vector_norm(first - second, p, dim=1)


def pairwise_distance_slope(first: Tensor, second: Tensor, output: Tensor, p: float) -> Tensor:
    """Return the derivative of the distance with respect to the first; finite at 0. Not for a p of
    1.
    """
    difference = first - second
    slope = difference if p == 2 else difference.sign() * difference.abs().pow(p - 1)
    return slope * (output + 1e-6).pow(1 - p).unsqueeze(1)


def pairwise_distance_backward(slope: Tensor, gradOutput: Tensor) -> tuple[Tensor, Tensor]:
    gradient = slope * gradOutput.reshape(slope.size(0), 1)
    return gradient, -gradient


def mm(first: Tensor, second: Tensor, transA: bool, transB: bool) -> Tensor:
    """Return the product of two matrices, or of batches of them, each transposed or not."""
    first = first.transpose(-2, -1) if transA else first
    second = second.transpose(-2, -1) if transB else second
    return torch.mm(first, second) if first.dim() == 2 else torch.bmm(first, second)


def mm_backward(
    first: Tensor, second: Tensor, gradOutput: Tensor, transA: bool, transB: bool
) -> tuple[Tensor, Tensor]:
    multiply = torch.mm if first.dim() == 2 else torch.bmm
    dtype = gradOutput.dtype
    left = first.to(dtype) if transA else first.to(dtype).transpose(-2, -1)
    right = second.to(dtype) if transB else second.to(dtype).transpose(-2, -1)
    if transA:
        of_first = multiply(right.transpose(-2, -1), gradOutput.transpose(-2, -1))
    else:
        of_first = multiply(gradOutput, right)
    if transB:
        of_second = multiply(gradOutput.transpose(-2, -1), left.transpose(-2, -1))
    else:
        of_second = multiply(left, gradOutput)
    return of_first.to(first.dtype), of_second.to(second.dtype)
