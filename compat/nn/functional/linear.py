"""Products with a matrix: ``nn.Linear`` and what is made of it."""

from __future__ import annotations

import torch
from torch import Tensor


def linear(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``input``, ``[N x] inputs``, times the transposed ``weight``, plus ``bias``."""
    return torch.nn.functional.linear(input, weight, bias)


def linear_grad_input(input: Tensor, gradOutput: Tensor, weight: Tensor) -> Tensor:
    """Return the gradient of ``input``, in its dtype."""
    dtype = gradOutput.dtype
    if weight.dtype != dtype:
        weight = weight.to(dtype)
    product = gradOutput.mm(weight) if gradOutput.dim() == 2 else weight.t().mv(gradOutput)
    return product if input.dtype == dtype else product.to(input.dtype)


def linear_acc_(
    input: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor | None,
    gradBias: Tensor | None,
    scale: float,
) -> None:
    """Add ``scale`` times the gradients of weight and bias, of which either may be None."""
    is_sample = gradOutput.dim() == 1
    if gradWeight is not None:
        columns = gradOutput.unsqueeze(1) if is_sample else gradOutput.t()
        rows = input.unsqueeze(0) if is_sample else input
        if input.dtype == gradOutput.dtype == gradWeight.dtype:
            gradWeight.addmm_(columns, rows, alpha=scale)
        else:
            gradWeight.add_(columns.mm(rows.to(gradOutput.dtype)), alpha=scale)
    if gradBias is not None:
        sums = gradOutput if is_sample else gradOutput.sum(0)
        gradBias.add_(sums if sums.shape == gradBias.shape else sums.view_as(gradBias), alpha=scale)
