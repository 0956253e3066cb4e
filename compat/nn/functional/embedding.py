"""Rows of a matrix by their indices."""

from __future__ import annotations

import torch
from torch import Tensor


def lookup(rows: Tensor, weight: Tensor) -> Tensor:
    """Return the rows of ``weight``, counted from 0, in the shape of ``rows``."""
    return torch.embedding(weight, rows)


def lookup_acc_(
    rows: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor,
    padding: int,
    by_frequency: bool,
    scale: float,
) -> None:
    """Add ``scale`` times the gradient of each of ``rows`` to that row of ``gradWeight``.

    The row ``padding`` gets none; -1 is no row. With ``by_frequency`` gradients are divided by how
    often their row is named. Rows that are not named are not touched.
    """
    rows = rows.reshape(-1)
    gradients = gradOutput.reshape(rows.numel(), gradWeight.size(1)).to(gradWeight.dtype)
    if by_frequency:
        _, place, counts = rows.unique(return_inverse=True, return_counts=True)
        gradients = gradients / counts[place].unsqueeze(1)
    if padding >= 0:
        gradients = gradients.masked_fill((rows == padding).unsqueeze(1), 0)
    if gradWeight.device.type == "cpu":
        gradWeight.index_add_(0, rows, gradients, alpha=scale)
    else:
        # Unlike index_add_ this adds to a row that is named twice in one order.
        gradWeight.index_put_((rows,), gradients * scale, accumulate=True)
