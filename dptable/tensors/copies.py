"""How tensors move: from device to device, and many of them in one buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor


def on(tensor: Tensor, target: torch.device) -> Tensor:
    """The tensor on ``target``: itself if it is there."""
    return tensor.to(target, non_blocking=_queued(tensor.device, target))


def moved(tensor: Tensor, target: torch.device) -> Tensor:
    """A copy of the tensor on ``target``, also if it is there already."""
    return tensor.to(target, non_blocking=_queued(tensor.device, target), copy=True)


def sent(tensor: Tensor, target: torch.device) -> Tensor:
    """The tensor on ``target``; a copy to a GPU, from pinned memory too, may be still under way."""
    # Towards the CPU it must be over: PyTorch would copy into pinned memory and go on.
    return tensor.to(target, non_blocking=target.type != "cpu")


def copy_(target: Tensor, source: Tensor) -> None:
    """Fill a tensor with another of its shape, on any device and of any dtype."""
    target.copy_(source, non_blocking=_queued(source.device, target.device))


def _queued(source: torch.device, target: torch.device) -> bool:
    # The CPU may touch either side as soon as the call returns: its copies must be over by then.
    return source.type == target.type


def flattened(tensors: Sequence[Tensor]) -> Tensor:
    """A new contiguous vector of all elements."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def unflattened(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Views of ``flat`` with the shapes of ``like``, each with a version counter of its own.

    They are given away as separate tensors: a change of one must not trip autograd in another.
    """
    parts = flat.split([tensor.numel() for tensor in like])
    return [part.view(t.shape).data for part, t in zip(parts, like, strict=True)]


def groups(tensors: Sequence[Tensor], limit: int) -> Iterator[list[int]]:
    """Positions of tensors that travel together: one dtype, at most ``limit`` bytes unless alone.

    A tensor that is not dense always travels alone.
    """
    if limit < 1:
        raise ValueError(f"buffer_size must be at least 1, not {limit}")
    growing: dict[torch.dtype, list[int]] = {}
    sizes: dict[torch.dtype, int] = {}
    for i, tensor in enumerate(tensors):
        if tensor.layout != torch.strided:
            yield [i]
            continue
        kind, size = tensor.dtype, tensor.numel() * tensor.element_size()
        if kind in growing and sizes[kind] + size > limit:
            yield growing.pop(kind)
        if kind not in growing:
            growing[kind], sizes[kind] = [], 0
        growing[kind].append(i)
        sizes[kind] += size
    yield from growing.values()
