"""A training program: alone, or as one of several processes that torchrun started."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from dptable.processes.agreement import decided
from dptable.processes.heartbeat import Heartbeat
from dptable.processes.rendezvous import (
    end_group,
    fresh_store,
    is_torchruns,
    launch,
    stay_on_this_machine,
)
from dptable.tensors.slices import slice_ranges

T = TypeVar("T")


class Job:
    """The processes that train together. As it is: one process that trains alone.

    An error in a method names the rank to blame.

    Attributes:
        rank, size: the number of this process, from 0, and the number of processes.
        local_rank, local_size: the same among the processes of this machine.
        name: torchrun's id of the job.
        launch: an id that all attempts of one launch share and no other has; None if unknown.
        restarts: how many attempts there were before.
    """

    def __init__(self) -> None:
        self.rank, self.size = 0, 1
        self.local_rank, self.local_size = 0, 1
        self.name, self.restarts = "", 0
        self.launch: str | None = None
        self._heartbeat: Heartbeat | None = None

    def join(self, backend: str, timeout: float) -> None:
        """Join the group of all processes, with torchrun's settings."""
        environment = os.environ
        if "RANK" not in environment:
            raise RuntimeError("this is not one of several processes; start it with torchrun")
        patience = timedelta(seconds=timeout)
        if backend == "nccl":
            # Counts and messages are CPU tensors, which NCCL cannot carry.
            backend = "cpu:gloo,cuda:nccl"
        if self.local_size == int(environment.get("WORLD_SIZE", 1)):
            stay_on_this_machine()
        store, rank, size = fresh_store(patience)
        if rank == 0:
            self.launch = launch(store, self.name, first=not self.restarts)
        dist.init_process_group(backend, store=store, rank=rank, world_size=size, timeout=patience)
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        assert dist.group.WORLD is not None
        self._heartbeat = Heartbeat(dist.group.WORLD)

    def exposure(self) -> str | None:
        """Return which addresses other machines can reach, or None."""
        if self.size == 1 or not is_torchruns():
            return None
        return f"port {os.environ.get('MASTER_PORT')} of torchrun, on every network interface"

    def marks(self) -> dict[str, str]:
        """Return the entries for checkpoints by which a later attempt recognises them."""
        return {"job": self.name, "launch": self.launch or ""}

    def left(self, marks: Mapping[str, Any]) -> bool:
        """Return whether an earlier attempt of this job wrote ``marks``.

        Another job of the same name has other marks. Only rank 0 knows.
        """
        theirs = marks.get("launch") or None
        unknown = None in (theirs, self.launch)
        return marks.get("job") == self.name and (unknown or theirs == self.launch)

    def leave(self) -> None:
        """Leave the group of all processes."""
        if self._heartbeat is not None:
            self._heartbeat.close()
            self._heartbeat = None
            end_group()

    def _checked(self, collective: Callable[[], Any]) -> None:
        if self._heartbeat is not None:
            self._heartbeat.checked(collective)

    def share(self, rows: Tensor) -> Tensor:
        """Return this process's part of ``rows``. Parts differ by at most one, and may be empty."""
        start, stop = slice_ranges(len(rows), self.size)[self.rank]
        return rows[start:stop]

    def total(self, *numbers: float) -> list[float]:
        """Return the sum of each number over the processes."""
        held = torch.tensor(numbers, dtype=torch.float64)
        self.add(held)
        return held.tolist()

    def add(self, tensor: Tensor) -> None:
        """Sum a tensor over the processes, in place."""
        self._checked(partial(dist.all_reduce, tensor))

    def everybody(self, value: T) -> list[T]:
        """Return the values of all processes, in the order of the ranks."""
        values: list[Any] = [value] * self.size
        self._checked(partial(dist.all_gather_object, values, value))
        return values

    def decided(self, function: Callable[[], T]) -> T:
        """Call ``function`` in rank 0 only; return its result, or raise its error, in all ranks."""
        return decided(function, self._checked) if self.size > 1 else function()

    def devices(self, listed: Sequence[T], count: int | None = None) -> list[T]:
        """Return which of a machine's devices this process uses: ``count`` of them, or its share.

        If there are fewer devices than processes need, several processes use the same ones.
        """
        count = count or max(1, len(listed) // self.local_size)
        return [listed[(self.local_rank * count + i) % len(listed)] for i in range(count)]


def started_with() -> int:
    """Return how many processes torchrun started along with this one; 0 without torchrun."""
    environment = os.environ
    return int(environment.get("WORLD_SIZE", 1)) if "TORCHELASTIC_RUN_ID" in environment else 0


@contextmanager
def started_by_torchrun() -> Iterator[Job]:
    """Yield the job that the environment describes; this process has yet to ``join`` it."""
    job = Job()
    environment = os.environ
    job.local_rank = int(environment.get("LOCAL_RANK", 0))
    job.local_size = int(environment.get("LOCAL_WORLD_SIZE", 1))
    job.restarts = int(environment.get("TORCHELASTIC_RESTART_COUNT", 0))
    # Without a name torchrun gives "none". The process that starts all attempts is the same one.
    name = environment.get("TORCHELASTIC_RUN_ID", "none")
    job.name = str(os.getppid()) if name == "none" else name
    try:
        yield job
    finally:
        job.leave()
