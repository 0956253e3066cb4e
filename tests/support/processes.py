"""Functions run in several processes at once, each of which is a member of a process group.

The processes are forked from a server that has imported what they need, so that a test of four
costs a fraction of a second. Whatever happens, none outlives the test.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import torch
import torch.distributed as dist

from dptable.processes.rendezvous import end_group

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        *("torch.distributed.checkpoint", "pytest", "hypothesis", "dptable.cli"),
        *("matplotlib.figure", "matplotlib.backends.backend_agg"),
    ]
)


@dataclass(frozen=True)
class Failure:
    """An exception that ended a function, or the death of its process."""

    kind: str
    message: str
    trace: str = ""


class Processes:
    """The processes of one job, by rank."""

    def __init__(self, processes: list[Any], pipes: list[Connection]) -> None:
        self._processes = processes
        self._pipes = pipes

    def signal(self, rank: int, number: int = signal.SIGKILL) -> None:
        os.kill(self._processes[rank].pid, number)

    def receive(self, rank: int, timeout: float = 60) -> Any:
        """What the function sends next through its ``send``, or its result, or a `Failure`."""
        if not self._pipes[rank].poll(timeout):
            raise TimeoutError(f"rank {rank} has sent nothing for {timeout} s")
        try:
            return pickle.loads(self._pipes[rank].recv_bytes())
        except EOFError:
            self._processes[rank].join(timeout)
            return Failure("Death", f"exit code {self._processes[rank].exitcode}")

    def results(self, timeout: float = 60) -> list[Any]:
        """What each rank returned."""
        deadline = time.monotonic() + timeout
        found = []
        for rank in range(len(self._pipes)):
            result = self.receive(rank, max(0, deadline - time.monotonic()))
            if isinstance(result, Failure):
                raise AssertionError(f"rank {rank}: {result.message}\n{result.trace}")
            found.append(result)
        return found


@contextmanager
def started(
    function: Callable[..., Any],
    size: int,
    *arguments: Any,
    timeout: float = 60,
    environment: dict[str, str] | None = None,
) -> Iterator[Processes]:
    """Run ``function(*arguments)`` in ``size`` processes of a gloo group with this timeout.

    The function is one of a module. The group's store is here, so that ranks may die. With an
    ``environment`` the processes get that and what torchrun tells, and make their group themselves.
    """
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    processes, pipes = [], []
    try:
        for rank in range(size):
            ours, theirs = _CONTEXT.Pipe()
            process = _CONTEXT.Process(
                target=_member,
                args=(theirs, rank, size, store.port, timeout, environment, function, arguments),
                daemon=True,
            )
            process.start()
            theirs.close()
            processes.append(process)
            pipes.append(ours)
        yield Processes(processes, pipes)
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
            process.close()
        for pipe in pipes:
            pipe.close()


def together(
    function: Callable[..., Any],
    size: int,
    *arguments: Any,
    timeout: float = 60,
    environment: dict[str, str] | None = None,
) -> list[Any]:
    """The results of ``function(*arguments)`` in ``size`` processes; an error if one failed."""
    with started(function, size, *arguments, timeout=timeout, environment=environment) as processes:
        return processes.results(timeout)


_pipe: Connection | None = None


def send(value: Any) -> None:
    """Within such a function: pass something to the test."""
    assert _pipe is not None
    _pipe.send_bytes(pickle.dumps(value))


def wait_for_ever() -> None:
    """Within such a function: hang, until the test ends the process."""
    while True:
        time.sleep(1)


def _member(
    pipe: Connection,
    rank: int,
    size: int,
    port: int,
    timeout: float,
    environment: dict[str, str] | None,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    global _pipe
    _pipe = pipe
    torch.set_num_threads(1)
    try:
        if environment is not None:
            os.environ |= {
                **{"RANK": str(rank), "WORLD_SIZE": str(size)},
                **{"LOCAL_RANK": str(rank), "LOCAL_WORLD_SIZE": str(size)},
                **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)},
                **{"TORCHELASTIC_USE_AGENT_STORE": "True"},
                **environment,
            }
            send(function(*arguments))
            return
        store = dist.TCPStore("127.0.0.1", port, is_master=False)
        dist.init_process_group(
            "gloo", store=store, rank=rank, world_size=size, timeout=timedelta(seconds=timeout)
        )
        send(function(*arguments))
        end_group()
    except BaseException as error:
        send(Failure(type(error).__name__, str(error), traceback.format_exc()))
