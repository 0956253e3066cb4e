"""Assign tensors to buckets, whose gradients are summed together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from compat.checks import check_some
from dptable.tensors.grouping import grouped

__all__ = [
    "compute_bucket_assignment_by_size",
]


class _Kind(NamedTuple):
    """The properties that tensors of one bucket share."""

    dtype: torch.dtype
    device: torch.device


def compute_bucket_assignment_by_size(
    tensors: Sequence[Tensor],
    bucket_size_limits: Sequence[int],
    expect_sparse_gradient: Sequence[bool] = (),
    tensor_indices: Sequence[int] = (),
) -> tuple[list[list[int]], list[int]]:
    """Group tensors of one dtype and device into buckets that close at a size in bytes.

    A bucket closes when it has reached its limit. The first bucket of a dtype and device has the
    first limit, the second has the second limit and so on; the last limit holds for all further
    ones.

    Args:
        tensors: dense tensors, in the order in which their gradients are expected.
        bucket_size_limits: at least one limit in bytes.
        expect_sparse_gradient: per index, whether the gradient will be sparse; such a tensor gets a
            bucket of its own, without a limit (0). Empty: no gradient is sparse.
        tensor_indices: the index that stands for each tensor. Empty: its position.

    Returns:
        The buckets as lists of indices, and the limit of each. They are sorted by their least
        index, or with ``tensor_indices`` in the order in which they closed.

    Source: ``_compute_bucket_assignment_by_size`` of torch.distributed. The results are the same,
    but this function does not need a PyTorch that was built with torch.distributed.

    Examples:
        >>> compute_bucket_assignment_by_size([torch.ones(2)] * 3, [8, 16])
        ([[0], [1, 2]], [8, 16])
    """
    check_some(tensors, "tensors", "tensor")
    check_some(bucket_size_limits, "bucket_size_limits", "limit")
    for name, given in (
        ("expect_sparse_gradient", expect_sparse_gradient),
        ("tensor_indices", tensor_indices),
    ):
        if given and len(given) != len(tensors):
            raise ValueError(
                f"{name} has {len(given)} entries; one for each of the {len(tensors)} tensors is "
                "accepted"
            )
    for i, tensor in enumerate(tensors):
        if tensor.layout != torch.strided:
            raise ValueError(f"tensors[{i}] is {tensor.layout}; a dense tensor is accepted")

    indices = tensor_indices or range(len(tensors))
    closed: Counter[_Kind] = Counter()

    def kind(index: int, tensor: Tensor) -> _Kind | None:
        alone = expect_sparse_gradient and expect_sparse_gradient[index]
        return None if alone else _Kind(tensor.dtype, tensor.device)

    def limit(kind: _Kind) -> int:
        return bucket_size_limits[min(closed[kind], len(bucket_size_limits) - 1)]

    buckets: list[tuple[list[int], int]] = []
    for own, bucket in grouped(zip(indices, tensors, strict=True), kind, limit, may_exceed=True):
        buckets.append((bucket, 0 if own is None else limit(own)))
        if own is not None:
            closed[own] += 1
    if not tensor_indices:
        buckets.sort(key=lambda entry: min(entry[0]))
    return [bucket for bucket, _ in buckets], [limit for _, limit in buckets]
