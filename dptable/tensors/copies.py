"""Copy tensors from device to device, and many of them in one buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from dptable.tensors import nccl as by_nccl
from dptable.tensors.grouping import grouped
from dptable.tensors.nccl import nccl_serves


def on(tensor: Tensor, target: torch.device) -> Tensor:
    """Return the tensor on ``target``: the same tensor if it is there."""
    return tensor.to(target, non_blocking=_queued(tensor.device, target))


def moved(tensor: Tensor, target: torch.device) -> Tensor:
    """Return a copy of the tensor on ``target``, also if it is there already."""
    return tensor.to(target, non_blocking=_queued(tensor.device, target), copy=True)


def sent(tensor: Tensor, target: torch.device, copy: bool = False) -> Tensor:
    """Return the tensor on ``target``; with ``copy`` always a new, contiguous tensor.

    A copy to a GPU, also from pinned memory, may still be running.
    """
    # Towards the CPU it must be over: PyTorch would copy into pinned memory and go on.
    queued, form = target.type != "cpu", torch.contiguous_format
    if copy:
        return tensor.to(target, non_blocking=queued, copy=True, memory_format=form)
    return tensor.to(target, non_blocking=queued)


def copy_(target: Tensor, source: Tensor) -> None:
    """Copy ``source`` into ``target``, which has its shape and any device and dtype."""
    target.copy_(source, non_blocking=_queued(source.device, target.device))


@torch.no_grad()
def spread(tensors: Sequence[Tensor], *, nccl: bool = False) -> None:
    """Copy the first tensor into the others, which have its shape and dtype.

    A tensor that shares its memory with a tensor that was filled already is skipped.
    """
    first = tensors[0]
    written = {_place(first): first}
    for tensor in tensors[1:]:
        written.setdefault(_place(tensor), tensor)
    distinct = list(written.values())
    if len(distinct) == 1 or first.numel() == 0:
        return
    if nccl and nccl_serves(distinct):
        by_nccl.broadcast(distinct)
        return
    for tensor in distinct[1:]:
        copy_(tensor, first)


def _place(tensor: Tensor) -> tuple[object, ...]:
    return tensor.device, tensor.data_ptr(), tensor.stride()


def _queued(source: torch.device, target: torch.device) -> bool:
    # The CPU may touch either side as soon as the call returns: its copies must be over by then.
    return source.type == target.type


def flattened(tensors: Sequence[Tensor]) -> Tensor:
    """Return a new contiguous vector of all elements."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def unflattened(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Return views of ``flat`` with the shapes of ``like``, each with its own version counter.

    Callers get them as separate tensors: a change of one must not raise autograd's error about
    in-place changes for another.
    """
    parts = flat.split([tensor.numel() for tensor in like])
    return [part.view(t.shape).data for part, t in zip(parts, like, strict=True)]


def groups(tensors: Sequence[Tensor], limit: int) -> Iterator[list[int]]:
    """Yield the positions of tensors to copy together: one dtype, at most ``limit`` bytes.

    A larger tensor is alone in its group, and so is a tensor that is not dense.
    """
    if limit < 1:
        raise ValueError(f"buffer_size is {limit}; a size from 1 on is accepted")

    def kind(_: int, tensor: Tensor) -> torch.dtype | None:
        return tensor.dtype if tensor.layout == torch.strided else None

    for _, group in grouped(enumerate(tensors), kind, lambda _: limit, may_exceed=False):
        yield group


def joined(tensors: Sequence[Tensor], dim: int, target: torch.device) -> Tensor:
    """Join tensors along ``dim``, counted from 0, on ``target``.

    Raises:
        ValueError: the tensors differ in another size.
    """
    shape = joined_size(tensors, dim)
    recorded = torch.is_grad_enabled() and any(t.requires_grad for t in tensors)
    dense = all(t.layout == torch.strided for t in tensors)
    if recorded or not dense or all(t.device == target for t in tensors):
        return torch.cat([on(tensor, target) for tensor in tensors], dim)
    whole = torch.empty(shape, dtype=tensors[0].dtype, device=target)
    sizes = [tensor.size(dim) for tensor in tensors]
    for part, tensor in zip(whole.split(sizes, dim), tensors, strict=True):
        copy_(part, tensor)
    return whole


def joined_size(tensors: Sequence[Tensor], dim: int) -> tuple[int, ...]:
    """Return the size of the result of ``joined``; raise ValueError if the tensors do not fit."""
    first = tensors[0]
    for i, tensor in enumerate(tensors):
        fits = tensor.dim() == first.dim() and all(
            a == b
            for d, (a, b) in enumerate(zip(tensor.shape, first.shape, strict=True))
            if d != dim
        )
        if not fits or tensor.dtype != first.dtype:
            raise ValueError(
                f"tensors[{i}] is {tuple(tensor.shape)} {tensor.dtype}, tensors[0] is "
                f"{tuple(first.shape)} {first.dtype}; sizes that differ in dimension {dim} only "
                "and one dtype are accepted"
            )
    return (*first.shape[:dim], sum(t.size(dim) for t in tensors), *first.shape[dim + 1 :])
