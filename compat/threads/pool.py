"""``threads.Threads``: a pool of workers with queues of jobs."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, ClassVar

from compat.checks import check_choice, prefix, whole, wrong_type
from compat.threads.queues import Done, Job, Queues
from compat.threads.serialization import PICKLERS
from compat.threads.worker import ProcessWorker, ThreadWorker

Worker = ProcessWorker | ThreadWorker


class Threads:
    """A pool of workers that run jobs, with callbacks in this process (Torch7: ``Threads``).

    ::

        pool = Threads(4, init)
        pool.addjob(job, callback, argument)  # job(argument) there, callback(its result) here
        pool.synchronize()
        pool.terminate()

    Callbacks run in the order in which the jobs end, within ``addjob``, ``dojob`` and
    ``synchronize``. A tuple that a job returns becomes several arguments of its callback, None
    becomes none. An error of a job is raised there, too: the same object or, from a process, one of
    its class, with the worker's number before its message and its traceback there as its cause. The
    jobs after it go on, and can be waited for.

    In a worker process a job has globals of its own: those of the moment when the pool was made
    (of a freshly imported script, if processes are not started by fork), plus what ``init`` did.
    Functions, lambdas too, are sent by value, with the variables of enclosing functions; arguments
    and results are copied, or shared (``serialization``). In a thread everything is shared. Each
    worker has its own Torch7 generator, seeded by the operating system as in Torch7, unless
    ``init`` seeds it.

    A pool is a context manager, which terminates it.

    Args:
        N: the number of workers, and of jobs that may wait for them.
        init: functions that each worker calls first, with its number, 1 to N.
        processes: use processes as workers, else threads.

    Attributes:
        initres: what the last of ``init`` returned in each worker, in the order of their ends; a
            tuple each (in Lua the constructor's second result).

    Raises:
        TypeError, ValueError: an argument is of another kind. What ``init`` raises is raised, too.

    Differs from Torch7: after an error ``terminate`` ends the workers and drops the jobs that
    are left; so does garbage collection of the pool. ``dojob`` without a job is an error, where
    Torch7 waits for ever.
    """

    _scheme: ClassVar[str] = "threads.serialize"

    def __init__(self, N: int, *init: Callable[[int], Any], processes: bool = True) -> None:
        whole(N, "N", 1)
        for function in init:
            _check_function(function, "init")
        self.N = N
        self.initres: list[tuple[Any, ...]] = []
        self._callbacks: dict[int, Callable[..., Any] | None] = {}
        self._jobs = 0
        self._failed = False
        self._specific = True
        self._queues = Queues(N)
        self._workers: list[Worker] = []
        kind = ProcessWorker if processes else ThreadWorker
        # Collecting the pool ends it: its threads know the queues only.
        self._end = weakref.finalize(self, _abandon, self._queues, self._workers, os.getpid())
        for number in range(1, N + 1):
            self._workers.append(kind(number, self._scheme))
        self._threads = [
            threading.Thread(
                target=_serve, args=(self._queues, i, worker), name=f"worker {i}", daemon=True
            )
            for i, worker in enumerate(self._workers, 1)
        ]
        for thread in self._threads:
            thread.start()
        try:
            for i, function in enumerate(init, 1):
                keep = self._keep if i == len(init) else None
                for number in range(1, N + 1):
                    self.addjob(number, function, keep, number)
            self.specific(False)
        except BaseException:
            self._close()
            raise

    @classmethod
    def serialization(cls, name: str | None = None) -> str:
        """Set how pools made from now on pass tensors between processes; return the setting.

        Args:
            name: ``"threads.serialize"`` copies tensors, ``"threads.sharedserialize"`` lets both
                processes use the same memory, as a DataLoader does. None changes nothing.
        """
        if name is not None:
            check_choice(name, "name", PICKLERS)
            Threads._scheme = name
        return Threads._scheme

    def isrunning(self) -> bool:
        """Return whether the pool takes jobs: it was not terminated."""
        return self._end.alive

    def specific(self, flag: bool | None = None) -> bool:
        """Switch specific mode, in which ``addjob`` takes the number of the job's worker first.

        All jobs are waited for. Without argument, return whether the mode is on.

        Args:
            flag: True or False; default: do not change the mode.
        """
        self._check_running()
        if flag is not None:
            if not isinstance(flag, bool):
                raise TypeError(f"flag is {flag!r}; True or False is accepted")
            self.synchronize()
            self._specific = flag
        return self._specific

    def addjob(self, *arguments: Any) -> None:
        """Queue a job: ``addjob(callback, endcallback, ...)`` has a worker call ``callback(...)``.

        ``endcallback``, which may be missing or None, is called here with the result. While the
        queue is full, ``dojob`` is called. In specific mode the worker's number comes first.

        Args:
            arguments: ``callback``, ``endcallback`` and the arguments of ``callback``.

        Raises:
            TypeError, ValueError: an argument is of another kind.
            TypeError, pickle.PicklingError, …: an argument cannot be sent to another process.

        Examples:
            >>> from compat import threads
            >>> results = []
            >>> with threads.Threads(2, processes=False) as pool:
            ...     for number in range(3):
            ...         pool.addjob(pow, results.append, number, 2)
            ...     pool.synchronize()
            >>> sorted(results)
            [0, 1, 4]
        """
        self._check_running()
        self._failed = False
        number = None
        if self._specific:
            number, arguments = self._number(*arguments[:1]), arguments[1:]
        callback, endcallback, *rest = (*arguments, None, None)[: max(2, len(arguments))]
        _check_function(callback, "callback")
        if endcallback is not None:
            _check_function(endcallback, "endcallback")
        work = self._workers[0].pack(callback, tuple(rest))
        while self._queues.full(number):
            self.dojob()
        self._jobs += 1
        self._callbacks[self._jobs] = endcallback
        self._queues.put(Job(self._jobs, work), number)

    def acceptsjob(self, id: int | None = None) -> bool:
        """Return whether ``addjob`` would return at once.

        In specific mode, ``id`` is the worker.

        Args:
            id: in specific mode the number of the worker, from 1.
        """
        self._check_running()
        return not self._queues.full(self._number(id) if self._specific else None)

    def hasjob(self) -> bool:
        """Return whether there are jobs whose callbacks were not called yet."""
        self._check_running()
        return bool(self._callbacks)

    def haserror(self) -> bool:
        """Return False, as in Torch7: errors are raised."""
        return False

    def dojob(self) -> None:
        """Wait for the next job that ends, and call its callback.

        Raises:
            RuntimeError: there is no job. What the job or the callback raises is raised, too.
        """
        self._check_running()
        if not self._callbacks:
            raise RuntimeError("dojob waits for a job, and there is none: add one with addjob")
        self._failed = False
        done = self._queues.take_result()
        endcallback = self._callbacks.pop(done.number)
        place = "callback"
        try:
            succeeded, value = self._workers[done.worker - 1].unpack(done.reply)
            if not succeeded:
                raise value
            place = "endcallback"
            if endcallback is not None:
                endcallback(*_values(value))
        except Exception as error:
            self._failed = True
            prefix(error, f"[thread {done.worker} {place}] ")
            raise

    def synchronize(self) -> None:
        """Call ``dojob`` until no job is left. Does nothing after ``terminate``."""
        self._failed = False
        while self.isrunning() and self.hasjob():
            self.dojob()

    def terminate(self) -> None:
        """Wait for all jobs and end the workers; after an error, drop the jobs that are left."""
        if not self.isrunning():
            return
        try:
            if not self._failed:
                self.synchronize()
        finally:
            self._close()

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self._failed = True
        self.terminate()

    def _keep(self, *values: Any) -> None:
        self.initres.append(values)

    def _close(self) -> None:
        is_idle = not self._callbacks
        self._callbacks.clear()
        self._end.detach()
        self._queues.close()
        if not is_idle:
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join()
        for worker in self._workers:
            worker.end()

    def _check_running(self) -> None:
        if not self.isrunning():
            raise RuntimeError("the pool was terminated: make a new one")

    def _number(self, id: Any = None) -> int:
        return whole(id, "id", 1, self.N)


def _serve(queues: Queues, number: int, worker: Worker) -> None:
    while (job := queues.take(number)) is not None:
        queues.put_result(Done(job.number, number, worker.run(job.work)))
        del job


def _abandon(queues: Queues, workers: list[Worker], pid: int) -> None:
    if os.getpid() == pid:  # a forked process has a copy of the pool, not its workers
        queues.close()
        for worker in workers:
            worker.kill()


def _values(value: Any) -> tuple[Any, ...]:
    """Return the result of a job as the arguments of its callback."""
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _check_function(value: Any, name: str) -> None:
    if not callable(value):
        raise wrong_type(value, name, "a function")
