"""Sum gradients over the processes of one machine through memory that they share."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from functools import partial

import torch
import torch.distributed as dist
from torch import Tensor

from dptable.processes.exchange import AllReduce, Finish
from dptable.tensors.slices import slice_ranges

# Where files are memory. Only Linux has it; elsewhere gradients go through the group's backend.
_DIRECTORY = "/dev/shm"
# Bytes that a process lends the others at a time. Longer parts are summed piece by piece, so that
# a container's small /dev/shm is enough.
_PIECE = 8 << 20
# Below this many bytes, the backend's one message costs less than to meet twice.
_SMALL = 1 << 16


class SharedMemory(AllReduce):
    """Give each process the whole sum; on one machine without sending it.

    A part of the gradients is summed as by a reduce-scatter and an all-gather. Each process copies
    what others are to sum into its slot of the shared memory, adds the others' numbers for its own
    range, puts that sum into its slot, and copies the others' sums from theirs. Between these steps
    the processes meet in a collective of the group, which also fails if one of them is gone.

    What is on a GPU is summed by the group's backend, and so is everything if the processes are
    on several machines or the memory cannot be had.

    Args:
        group: the processes.
    """

    def __init__(self, group: dist.ProcessGroup) -> None:
        super().__init__(group)
        self._rank, self._size = dist.get_rank(group), dist.get_world_size(group)
        self._memory: Tensor | None = None
        self._asked = False
        # Which half of the memory is used. A process may begin the next piece while another one
        # still copies sums of this one; not the one after, for which both must have met again.
        self._half = 0

    def start(self, part: Tensor) -> Finish:
        if part.is_cpu and part.numel() * part.element_size() >= _SMALL and self._size > 1:
            if not self._asked:
                self._memory, self._asked = self._opened(), True
            if self._memory is not None:
                return partial(self._sum, part, self._memory)
        return super().start(part)

    def _sum(self, part: Tensor, memory: Tensor) -> None:
        flat = part.contiguous().view(-1)
        slots = memory.view(part.dtype)
        for piece in flat.split(slots.size(-1)):
            self._sum_piece(piece, slots[self._half])
            self._half = 1 - self._half
        if flat.data_ptr() != part.data_ptr():
            part.copy_(flat.view_as(part))

    def _sum_piece(self, piece: Tensor, slots: Tensor) -> None:
        ranges = [slice(*bounds) for bounds in slice_ranges(piece.numel(), self._size)]
        own, mine = ranges[self._rank], slots[self._rank]
        others = [rank for rank in range(self._size) if rank != self._rank]
        for rank in others:
            mine[ranges[rank]] = piece[ranges[rank]]
        self._meet()
        for rank in others:
            piece[own] += slots[rank, own]
        mine[own] = piece[own]
        self._meet()
        for rank in others:
            piece[ranges[rank]] = slots[rank, ranges[rank]]

    def _meet(self) -> None:
        dist.all_reduce(torch.zeros(1), group=self.group)

    def _opened(self) -> Tensor | None:
        """Return memory of two halves with a slot for each process, or None if there is none."""
        size = 2 * self._size * _PIECE
        root = dist.get_global_rank(self.group, 0)
        path: list[str | None] = [None]
        if self._rank == 0:
            with suppress(OSError):
                path = [_made(size)]
        own, memory = path[0], None
        try:
            dist.broadcast_object_list(path, root, group=self.group)
            if path[0] is not None:
                with suppress(OSError, RuntimeError):
                    if os.path.getsize(path[0]) == size:
                        memory = torch.from_file(path[0], shared=True, size=size, dtype=torch.uint8)
            missing = torch.tensor([memory is None], dtype=torch.int64)
            dist.all_reduce(missing, group=self.group)
        finally:
            # Also if a process is gone. The memory stays until the last one has let go of it.
            if own is not None:
                os.unlink(own)
        return memory.view(2, self._size, _PIECE) if memory is not None and not missing else None


def _made(size: int) -> str:
    """Make a file of zeros whose memory is there; half of what is free stays free.

    Others, such as the workers of a DataLoader, need it too, and end without a word if it is full.
    """
    free = os.statvfs(_DIRECTORY)
    if 2 * size > free.f_bavail * free.f_frsize:
        raise OSError(f"{_DIRECTORY} has too little room for {size} bytes")
    descriptor, path = tempfile.mkstemp(prefix="dptable-", dir=_DIRECTORY)
    try:
        # A write to memory that is not there would end the process.
        os.posix_fallocate(descriptor, 0, size)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
    return path
