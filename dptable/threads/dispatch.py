"""Dispatch a function to every device: in the caller's thread, or each in its own."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from threading import BrokenBarrierError
from typing import Any

import torch

from compat import cutorch, t7
from compat.checks import prefix
from compat.cutorch import DeviceLike
from dptable.threads.caller_modes import CallerModes
from dptable.threads.worker import Result, Worker, run_all, stop_all


class Job:
    """A call of ``function`` on one device.

    Attributes:
        contexts: context managers entered around the call, in the thread that makes it. The first
            one is the outermost.
    """

    __slots__ = ("arguments", "contexts", "function")

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function = function
        self.arguments = arguments
        self.contexts: list[AbstractContextManager[Any]] = []

    def __call__(self) -> Any:
        with ExitStack() as stack:
            for context in self.contexts:
                stack.enter_context(context)
            return self.function(*self.arguments)


class Basic:
    """Run jobs one after the other in the caller's thread."""

    typename = "nn.DataParallelTable.Basic"
    parallel = False

    def prepare(self, gpus: Sequence[DeviceLike]) -> bool:
        """Get ready for jobs on these devices.

        Returns:
            False if a job that was given up may still be running on the replicas.
        """
        return True

    def run(self, jobs: Sequence[Job], gpus: Sequence[DeviceLike]) -> list[Any]:
        """Run each job on its device and return their results.

        If jobs fail, the first error is raised after every job has stopped. It names replica and
        device.
        """
        results = []
        for i, (job, gpu) in enumerate(zip(jobs, gpus, strict=True), 1):
            with cutorch.device_guard(gpu):
                try:
                    results.append(job())
                except Exception as error:
                    prefix(error, place(i, gpu))
                    raise
        return results

    def share(self, parts: Sequence[Callable[[], Any]], gpus: Sequence[DeviceLike]) -> None:
        """Call functions that work on CPU tensors, at once where there are worker threads.

        Args:
            parts: one function for each of the devices. The caller's thread calls the first.
            gpus: the devices.
        """
        for part in parts:
            part()

    def close(self) -> None:
        """End the worker threads, if there are any; the next use starts new ones."""

    def __getstate__(self) -> dict[str, Any]:
        return {}


class Threads(Basic):
    """Run all jobs at once, each in a worker thread of its device.

    The threads start at the first use and live until ``close()``, or as long as this object.

    Args:
        initFunc: called without arguments in each worker when it starts.
        syncCopies: accepted and kept in files; copies here wait for each other by themselves.
    """

    typename = "nn.DataParallelTable.Threads"
    parallel = True

    def __init__(
        self, initFunc: Callable[[], Any] | None = None, syncCopies: bool | None = None
    ) -> None:
        self.initFunc = initFunc
        self.syncCopies = syncCopies
        self._workers: list[Worker] = []
        self._finalizer: weakref.finalize[Any, Any] | None = None

    def prepare(self, gpus: Sequence[DeviceLike]) -> bool:
        if self._ready(gpus):
            return True
        given_up = any(worker.given_up for worker in self._workers)
        self.close()
        self._start(list(gpus))
        return not given_up

    def _start(self, gpus: list[DeviceLike]) -> None:
        workers = [Worker(f"dptable-replica-{i}") for i in range(1, len(gpus) + 1)]
        self._workers = workers
        # Not __del__: a finalizer also runs at exit, before daemon threads are frozen. It holds the
        # list of workers, not this object.
        self._finalizer = weakref.finalize(self, stop_all, workers)
        total = torch.get_num_threads()
        share = _threads_per_replica(gpus)
        try:
            self.run([Job(_init, share, self.initFunc) for _ in gpus], gpus)
        except BaseException:
            self.close()
            raise
        finally:
            # What a worker sets is also the default of threads that are started later.
            torch.set_num_threads(total)

    def share(self, parts: Sequence[Callable[[], Any]], gpus: Sequence[DeviceLike]) -> None:
        if self._inside() or not self._ready(gpus):
            super().share(parts, gpus)
            return
        # The caller takes a part, too: a thread less is woken, and mostly nobody is waited for.
        first, *others = map(Job, parts)
        _enter(others, gpus[1:])
        _values(run_all(self._workers[1:], others, first), gpus[1:], 2)

    def run(self, jobs: Sequence[Job], gpus: Sequence[DeviceLike]) -> list[Any]:
        if self._inside():
            raise RuntimeError("a function that runs on a replica cannot use the container itself")
        _enter(jobs, gpus)
        return _values(run_all(self._workers, jobs), gpus)

    def _inside(self) -> bool:
        """Return whether a worker calls, which would wait for a job behind its own in the queue."""
        return any(worker.thread is threading.current_thread() for worker in self._workers)

    def _ready(self, gpus: Sequence[DeviceLike]) -> bool:
        """Return whether there is a worker that takes jobs for each of the devices."""
        return sum(worker.alive for worker in self._workers) == len(gpus)

    def close(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._finalizer = None
        self._workers = []

    # Threads and finalizers cannot be copied or saved; a copy starts its own.
    def __getstate__(self) -> dict[str, Any]:
        return {"initFunc": self.initFunc, "syncCopies": self.syncCopies}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Threads.__init__(self, **state)


def _enter(jobs: Sequence[Job], gpus: Sequence[DeviceLike]) -> None:
    """Have jobs run in other threads as they would in the caller's."""
    # One for all jobs: it records the caller's streams as they are now, before any job runs.
    modes = CallerModes()
    for job, gpu in zip(jobs, gpus, strict=True):
        # Outermost, so that contexts of the job already see the device and its stream.
        job.contexts.insert(0, modes.entered(gpu))


def _values(results: Sequence[Result], gpus: Sequence[DeviceLike], start: int = 1) -> list[Any]:
    """Return the values of jobs that have ended, or raise the first error.

    Args:
        results: the results of the jobs.
        gpus: their devices.
        start: the number of the first replica.
    """
    failed = [i for i, result in enumerate(results) if result.error is not None]
    if failed:
        # Replicas that were waiting for the one that failed say only that.
        failed.sort(key=lambda i: isinstance(results[i].error, BrokenBarrierError))
        error = results[failed[0]].error
        assert error is not None
        prefix(error, place(start + failed[0], gpus[failed[0]]))
        try:
            raise error
        finally:
            # The traceback holds this frame, which holds the error: break the circle, or
            # everything in it stays until the garbage collector runs.
            for result in results:
                result.error = None
            del error
    return [result.value for result in results]


def place(i: int, gpu: DeviceLike) -> str:
    """Return the prefix by which errors name a replica."""
    name = cutorch.device(gpu)
    number = f"GPU {gpu}, " if isinstance(gpu, int) else ""
    return f"replica {i} ({number}{name}): "


def _init(threads: int | None, initFunc: Any) -> None:
    if threads is not None:
        # A thread's first call takes over the number of the process: it must not come after ours.
        torch.get_num_threads()
        torch.set_num_threads(threads)
    # A Lua function from a file is kept, not run.
    if initFunc is not None and not isinstance(initFunc, t7.LuaFunction):
        initFunc()


def _threads_per_replica(gpus: Sequence[DeviceLike]) -> int | None:
    """Return each CPU replica's share of the cores, or None without CPU replicas.

    With all cores in each replica, their operator threads would displace each other.
    """
    on_cpu = sum(cutorch.device(gpu).type == "cpu" for gpu in gpus)
    return max(1, torch.get_num_threads() // on_cpu) if on_cpu else None
