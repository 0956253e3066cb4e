"""Processes of a gloo group on this machine that do something when told to, and idle otherwise."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

Answer = Callable[[Any], Any]


class Processes:
    """Calling this with a question gives the answers of all, by rank.

    Args:
        size: how many.
        make: a function of a module, called in each with the ``arguments`` once there is a group,
            that makes what answers.
    """

    def __init__(self, size: int, make: Callable[..., Answer], *arguments: Any) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        context = mp.get_context("spawn")
        self._pipes, self._processes = [], []
        for rank in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_worker, args=(rank, size, port, theirs, make, arguments), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._receive()

    def __call__(self, question: Any) -> list[Any]:
        for pipe in self._pipes:
            pipe.send(question)
        return self._receive()

    def _receive(self) -> list[Any]:
        return [pipe.recv() for pipe in self._pipes]

    def close(self) -> None:
        # They hold nothing that would have to be put away, and must not wait for each other.
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()


@contextmanager
def processes(size: int, make: Callable[..., Answer], *arguments: Any) -> Iterator[Processes]:
    """``Processes`` that are closed afterwards."""
    made = Processes(size, make, *arguments)
    try:
        yield made
    finally:
        made.close()


def _worker(
    rank: int, size: int, port: int, pipe: Any, make: Callable[..., Answer], arguments: Any
) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=size)
    answer = make(*arguments)
    pipe.send(True)
    while True:
        pipe.send(answer(pipe.recv()))


def loopback_bytes() -> int:
    """What this machine has sent to itself so far."""
    with open("/sys/class/net/lo/statistics/tx_bytes") as file:
        return int(file.read())
