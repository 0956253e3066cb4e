"""Linear maps of lists of features.

``rows`` are features, from 0, ``values`` theirs, and ``owners`` the samples that they belong to:
vectors of one size. ``weight`` is ``features x outputs``.
"""

from __future__ import annotations

import torch
from torch import Tensor


def sparse_linear(
    rows: Tensor, values: Tensor, owners: Tensor, count: int, weight: Tensor, bias: Tensor
) -> Tensor:
    """Return the output for ``count`` samples."""
    output = bias.repeat(count, 1)
    return output.index_add_(0, owners, weight[rows] * values.unsqueeze(1))


def sparse_linear_acc_(
    rows: Tensor,
    values: Tensor,
    owners: Tensor,
    gradOutput: Tensor,
    gradWeight: Tensor | None,
    gradBias: Tensor | None,
    scale: float,
) -> None:
    """Add ``scale`` times the gradients of weight, of these rows alone, and bias."""
    if gradWeight is not None:
        products = gradOutput[owners] * values.unsqueeze(1)
        gradWeight.index_add_(0, rows, products, alpha=scale)
    if gradBias is not None:
        gradBias.add_(gradOutput.sum(0).view_as(gradBias), alpha=scale)


def owners_of(sizes: Tensor) -> Tensor:
    """Return the sample that each feature belongs to, where these follow one sample after the
    other.
    """
    samples = torch.arange(sizes.numel(), device=sizes.device)
    return samples.repeat_interleave(sizes)


def normalized_values(weight: Tensor, rows: Tensor, values: Tensor, train: bool) -> Tensor:
    """Return values by their features' largest, which training raises one after the other.

    A row of ``weight`` begins with the largest so far, its inverse, the share of an update that the
    feature gets, and a number that is added.
    """
    before, sizes = weight[rows], values.abs()
    largest, inverse = before[:, 0], before[:, 1]
    if train and rows.numel():
        # For each place the largest of the row's sizes up to it: the running maximum of numbers of
        # which those of a later row are larger.
        ordered, order = rows.sort(stable=True)
        found, ranks = sizes.unique(return_inverse=True)
        codes = ordered * found.numel() + ranks[order]
        now = torch.empty_like(sizes)
        now[order] = found[codes.cummax(0).values % found.numel()]
        inverse = torch.where(now > largest, 1 / now, inverse)
        largest = torch.maximum(now, largest)
        weight.select(1, 0).scatter_reduce_(0, rows, sizes, "amax")
        after = weight[rows, 0]
        weight[rows, 1] = torch.where(after > before[:, 0], 1 / after, before[:, 1])
        weight[rows, 2] = 1
    scaled = torch.where(sizes > largest, values.sign(), values * inverse)
    return scaled + before[:, 3]
