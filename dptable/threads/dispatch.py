"""How a function runs on every replica: `Basic` in the caller's thread, `Threads` with one each.

These are the classes ``nn.DataParallelTable.Basic`` and ``.Threads`` of Torch7's files.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from functools import partial
from threading import BrokenBarrierError
from typing import TYPE_CHECKING, Any

import torch

from compat import cutorch, t7
from compat.nn.checks.error_place import prefix
from compat.nn.core.module import Module
from dptable.threads.caller_modes import carried
from dptable.threads.part import Owned
from dptable.threads.worker import Worker, run_all, stop_all

if TYPE_CHECKING:
    from dptable.container.data_parallel_table import DataParallelTable

Closure = Callable[[Module, int], Any]


class Basic(Owned):
    """Runs on the replicas one after the other.

    Field ``modules``: the replicas, or None before the first use. The first is the container's
    own module; the others are made from it when needed.
    """

    typename = "nn.DataParallelTable.Basic"

    def __init__(self, dpt: DataParallelTable) -> None:
        super().__init__(dpt)
        self.modules: list[Module] | None = None

    def attach(self, dpt: DataParallelTable) -> None:
        """Become the dispatcher of ``dpt``, with nothing made yet, after a copy was read."""
        self._dpt = weakref.ref(dpt)
        self.modules = None

    def __getstate__(self) -> dict[str, Any]:
        return {}

    def serves(self, dpt: DataParallelTable) -> bool:
        """Whether this is the dispatcher of ``dpt``."""
        return self._dpt() is dpt

    def setup(self) -> list[Module]:
        """The replicas, made now if there are none or if the container got another net."""
        if self.modules is None or self.modules[0] is not self.dpt.modules[0]:
            self.modules = self.dpt._parameters.replicas()
        return self.modules

    def applyChanges(self) -> None:
        """Make the replicas anew from the first, if they were made."""
        if self.modules is not None:
            self.modules = None  # if making them fails, the next use does it
            self.modules = self.dpt._parameters.replicas()

    def exec(self, closure: Closure, maxGpuIdx: int | None = None) -> list[Any]:
        """``closure(module, i)`` for replica i = 1, 2, …, each on its device; the results.

        ``maxGpuIdx`` leaves out the replicas after it. An error is raised when every replica has
        stopped: the first one's, telling replica and device.
        """
        modules = self.setup()
        return self._exec([_job(closure, m, i) for i, m in enumerate(modules[:maxGpuIdx], 1)])

    def _exec(self, jobs: list[Callable[[], Any]]) -> list[Any]:
        results = []
        for i, job in enumerate(jobs, 1):
            with cutorch.device_guard(self._device(i)):
                try:
                    results.append(job())
                except Exception as error:
                    prefix(error, self._place(i))
                    raise
        return results

    def _device(self, i: int) -> Any:
        return self.dpt.gpuAssignments[i - 1]

    def _place(self, i: int) -> str:
        return place(i, self._device(i))

    def close(self) -> None:
        """Drop the replicas; the next use makes them anew."""
        self.modules = None

    def t7_fields(self) -> dict[str, Any]:
        return {"dpt": self.dpt}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        self.attach(fields.get("dpt", self))


class Threads(Basic):
    """Runs on all replicas at once, in one worker thread per replica.

    The threads start at the first use and live as long as the container, or until ``close()``.

    Args:
        initFunc: called without arguments in each worker when it starts.
        syncCopies: accepted and kept in files; copies here wait for each other by themselves.
    """

    typename = "nn.DataParallelTable.Threads"

    def __init__(
        self,
        dpt: DataParallelTable,
        initFunc: Callable[[], Any] | None = None,
        syncCopies: bool | None = None,
    ) -> None:
        super().__init__(dpt)
        self.initFunc = initFunc
        self.syncCopies = syncCopies
        self._workers: list[Worker] = []
        self._finalizer: weakref.finalize | None = None

    def setup(self) -> list[Module]:
        alive = sum(worker.alive for worker in self._workers)
        if alive != len(self.dpt.gpuAssignments):
            if any(worker.given_up for worker in self._workers):
                self.modules = None  # one may still be in use
            self._stop()
            self._start()
        return super().setup()

    def _start(self) -> None:
        devices = list(self.dpt.gpuAssignments)
        workers = [Worker(f"dptable-replica-{i}") for i in range(1, len(devices) + 1)]
        self._workers = workers
        self._finalizer = weakref.finalize(self, stop_all, workers)
        threads = _threads_per_replica(devices)
        total = torch.get_num_threads()
        try:
            self._exec([_init(threads, self.initFunc) for _ in devices])
        except BaseException:
            self._stop()
            raise
        finally:
            # A worker's setting is also the default of threads to come.
            torch.set_num_threads(total)

    def _exec(self, jobs: list[Callable[[], Any]]) -> list[Any]:
        if any(worker.thread is threading.current_thread() for worker in self._workers):
            raise RuntimeError("a function that runs on a replica cannot use the container itself")
        gpus = [self._device(i) for i in range(1, len(jobs) + 1)]
        devices = [cutorch.device(gpu) for gpu in gpus]
        jobs = [partial(_at, *each) for each in zip(gpus, jobs, strict=True)]
        results = run_all(self._workers, carried(jobs, devices))
        failed = [i for i, result in enumerate(results, 1) if result.error is not None]
        if failed:
            # Replicas that were waiting for the one that failed say only that.
            failed.sort(key=lambda i: isinstance(results[i - 1].error, BrokenBarrierError))
            error = results[failed[0] - 1].error
            assert error is not None
            prefix(error, self._place(failed[0]))
            try:
                raise error
            finally:
                # The traceback holds frames that hold these: the error would hold itself, and us.
                for result in results:
                    result.error = None
                del error
        return [result.value for result in results]

    def _stop(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._finalizer = None
        self._workers = []

    def close(self) -> None:
        """End the threads and drop the replicas; the next use starts both again."""
        self._stop()
        super().close()

    def t7_fields(self) -> dict[str, Any]:
        fields = {"dpt": self.dpt, "initFunc": self.initFunc, "syncCopies": self.syncCopies}
        if not isinstance(self.initFunc, t7.LuaFunction):
            del fields["initFunc"]  # a Python function means nothing to Lua
        return {name: value for name, value in fields.items() if value is not None}

    def t7_restore(self, fields: dict[str, Any], version: int) -> None:
        super().t7_restore(fields, version)
        self.initFunc = fields.get("initFunc")
        self.syncCopies = fields.get("syncCopies")

    def attach(self, dpt: DataParallelTable) -> None:
        super().attach(dpt)
        self._workers = []
        self._finalizer = None

    def __getstate__(self) -> dict[str, Any]:
        return {"initFunc": self.initFunc, "syncCopies": self.syncCopies}


def place(i: int, device: Any) -> str:
    """How errors name a replica."""
    name = cutorch.device(device)
    number = f"GPU {device}, " if isinstance(device, int) else ""
    return f"replica {i} ({number}{name}): "


def _job(closure: Closure, module: Module, i: int) -> Callable[[], Any]:
    return lambda: closure(module, i)


def _at(gpu: Any, job: Callable[[], Any]) -> Any:
    # For good: a worker that went back to the first GPU would start CUDA there.
    cutorch.setDevice(gpu)
    return job()


def _init(threads: int | None, initFunc: Any) -> Callable[[], Any]:
    def init() -> None:
        if threads is not None:
            # Asked for the first time, a thread takes over the number of the process.
            torch.get_num_threads()
            torch.set_num_threads(threads)
        # A Lua function from a file is kept, not run.
        if initFunc is not None and not isinstance(initFunc, t7.LuaFunction):
            initFunc()

    return init


def _threads_per_replica(devices: list[Any]) -> int | None:
    """CPU replicas share the cores: with all of them in each, they would fight for them."""
    on_cpu = sum(cutorch.device(d).type == "cpu" for d in devices)
    return max(1, torch.get_num_threads() // on_cpu) if on_cpu else None


t7.register(Basic.typename, Basic)
t7.register(Threads.typename, Threads)
