"""Distances and similarities of vectors and those of a matrix."""

from __future__ import annotations

import torch
from torch import Tensor


def cosines(input: Tensor, weight: Tensor) -> Tensor:
    """Return the cosines of ``input``, ``[N x] inputs``, and the rows of ``weight``."""
    lengths = input.norm(dim=-1, keepdim=True) + 1e-12
    products = torch.nn.functional.linear(input, weight)
    return products / (weight.norm(dim=1) + 1e-12) / lengths


def cosines_grad_input(input: Tensor, gradOutput: Tensor, output: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of ``input``."""
    lengths = input.norm(dim=-1, keepdim=True).add_(1e-12)
    along = (gradOutput * output).sum(-1, keepdim=True)
    products = (gradOutput / weight.norm(dim=1).add_(1e-12)).matmul(weight).to(input.dtype)
    return products.sub_(input / lengths * along).div_(lengths)


def cosines_acc_(
    input: Tensor,
    gradOutput: Tensor,
    output: Tensor,
    weight: Tensor,
    gradWeight: Tensor,
    scale: float,
) -> None:
    """Add ``scale`` times the gradient of ``weight``."""
    gradOutput = gradOutput.to(input.dtype)
    if input.dim() == 1:
        input, gradOutput, output = (x.unsqueeze(0) for x in (input, gradOutput, output))
    lengths = weight.norm(dim=1, keepdim=True).add_(1e-12)
    along = (gradOutput * output).sum(0).unsqueeze(1)
    products = gradOutput.t().mm(input / input.norm(dim=1, keepdim=True).add_(1e-12))
    gradWeight.add_(products.sub_(weight / lengths * along).div_(lengths), alpha=scale)


def distances(input: Tensor, weight: Tensor, factor: Tensor | None) -> Tensor:
    """Return the distances of ``input``, ``[N x] inputs``, and the columns of ``weight``.

    Differences are multiplied by ``factor``, of the size of ``weight``, if any.
    """
    difference = input.unsqueeze(-2) - weight.t()
    if factor is not None:
        difference.mul_(factor.t())
    return torch.linalg.vector_norm(difference, 2, dim=-1)


def distances_backward(
    input: Tensor, gradOutput: Tensor, output: Tensor, weight: Tensor, factor: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """Return the gradient of ``input - weight.t()``, ``[N x] outputs x inputs``, and of
    ``factor.t()``.

    That of ``input`` is their sum over the outputs, that of ``weight`` the negative one over the
    batch.
    """
    difference = input.unsqueeze(-2) - weight.t()
    slope = (gradOutput / (output + 1e-7)).unsqueeze(-1) * difference
    if factor is None:
        return slope, None
    slope.mul_(factor.t())
    return slope * factor.t(), slope * difference
