"""In-place sums of buffers that every replica has."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from compat.torch_internals import foreach_zero_
from dptable.tensors import nccl as by_nccl
from dptable.tensors.checks import check_replicas
from dptable.tensors.copies import on
from dptable.tensors.nccl import nccl_serves

# While one block of the sum stays in the cache, every replica's share of it is added: each byte
# then crosses the memory bus once, however many replicas there are. Per thread inside operators,
# each of which has its part of the block in its core's cache.
_BLOCK_BYTES = 1 << 20


@torch.no_grad()
def reduce_into_(tensors: Sequence[Tensor], *, zero: bool = False, nccl: bool = False) -> None:
    """Add all tensors into the first one, in order; with ``zero`` the others end as zeros.

    Contiguous tensors on the CPU are summed block by block, while a block is in the cache.

    Args:
        tensors: tensors of one shape and dtype, with separate memory.
        zero: set all but the first to zero.
        nccl: use NCCL.

    Raises:
        TypeError: an entry is not a tensor.
        ValueError: the tensors differ in shape or dtype. Nothing has been added then.
    """
    check_replicas(tensors)
    first, *others = tensors
    if not others:
        return
    if nccl and nccl_serves(tensors):
        by_nccl.reduce(tensors)
        if zero:
            foreach_zero_(others)
        return
    if all(t.device.type == "cpu" and t.is_contiguous() for t in tensors):
        reduce_slice_([t.view(-1) for t in tensors], 0, first.numel(), zero=zero)
        return
    for tensor in others:
        first += on(tensor, first.device)
    if zero:
        foreach_zero_(others)


@torch.no_grad()
def reduce_slice_(tensors: Sequence[Tensor], start: int, stop: int, *, zero: bool = False) -> None:
    """Do ``reduce_into_`` for the elements ``start`` to ``stop`` (excluded) of flat tensors.

    Worker threads share the work if each takes one of the ``slice_ranges`` of the buffers.

    Args:
        tensors: one flat tensor per device; the first gets the sum.
        start: the first element, from 0.
        stop: the element after the last.
        zero: whether the elements of the other tensors become 0.

    Raises:
        TypeError: an entry is not a tensor.
        ValueError: the tensors differ, are not flat, or lack these elements.
    """
    check_replicas(tensors)
    first, *others = tensors
    if first.dim() != 1:
        raise ValueError(f"tensors have {first.dim()} dimensions; flat ones, of 1, are accepted")
    if not 0 <= start <= stop <= first.numel():
        raise ValueError(
            f"start is {start} and stop is {stop}; 0 <= start <= stop <= {first.numel()} is "
            "accepted"
        )
    # Without a second pass over the same bytes there is nothing that a cache could save.
    one_pass = first.device.type != "cpu" or (len(others) == 1 and not zero)
    bytes_at_once = _BLOCK_BYTES * torch.get_num_threads()
    block = stop - start if one_pass else bytes_at_once // first.element_size()
    for low in range(start, stop, max(1, block)):
        high = min(low + block, stop)
        total = first[low:high]
        for tensor in others:
            part = tensor[low:high]
            total += on(part, first.device)
            if zero:
                part.zero_()
