"""A thread that runs jobs from a queue as long as its container lives."""

from __future__ import annotations

import functools
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

from compat import thread_calls

# Seconds between two looks at whether the thread that is waited for is still alive.
_PATIENCE = 1.0


class Result:
    """The value or the error of a job, once it has ended."""

    __slots__ = ("_done", "_submitter", "_thread", "error", "value")

    def __init__(self, thread: threading.Thread) -> None:
        self._thread = thread
        self._submitter = threading.get_ident()
        # A lock, not an Event: its acquire is one C call, and an Event is a lock and a condition.
        # It is released by another thread than the one that acquires it here.
        self._done = threading.Lock()
        self._done.acquire()
        self.value: Any = None
        self.error: BaseException | None = None

    def begin(self) -> None:
        """Note, in the worker, which thread waits for the job: calls may be passed to it."""
        if thread_calls.accepting:
            thread_calls.note_submitter(self._submitter)

    def end(self) -> None:
        """Wake the thread that waits."""
        self._done.release()

    def wait(self) -> None:
        """Wait, once, for the end of the job. Ctrl-C interrupts the wait but not the job."""
        wait = (
            functools.partial(thread_calls.wait, self._acquire)
            if thread_calls.accepting
            else self._acquire
        )
        # A thread that dies without `end` (a fork, an interpreter that shuts down) would leave the
        # lock held for ever; hence the look at the thread after each time-out.
        while not wait(_PATIENCE):
            if not self._thread.is_alive() and not self._done.acquire(timeout=0):
                self.error = RuntimeError(f"the thread {self._thread.name} was ended from outside")
                return

    def _acquire(self, seconds: float) -> bool:
        return self._done.acquire(timeout=seconds)


class Worker:
    """A daemon thread that runs jobs in order.

    Attributes:
        given_up: a wait for one of its jobs was interrupted; nobody waits for this worker any more.
    """

    given_up = False

    def __init__(self, name: str) -> None:
        # The thread refers to the queue alone, never to this object: otherwise a running thread
        # would keep the worker and its container from being collected.
        self._jobs: queue.SimpleQueue[tuple[Result, Callable[[], Any]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=_serve, args=(self._jobs,), name=name, daemon=True)
        self.thread.start()

    def submit(self, job: Callable[[], Any]) -> Result:
        """Queue a job; return its future result."""
        result = Result(self.thread)
        self._jobs.put((result, job))
        return result

    @property
    def alive(self) -> bool:
        """Whether the thread takes jobs. In a forked process it does not."""
        return self.thread.is_alive() and not self.given_up

    def stop(self) -> None:
        """End the thread after the jobs that are queued."""
        self._jobs.put(None)

    def join(self) -> None:
        """Wait for the thread to end."""
        # The garbage collector may run this in the worker itself.
        if self.thread is not threading.current_thread() and not self.given_up:
            self.thread.join()


def _serve(jobs: queue.SimpleQueue[tuple[Result, Callable[[], Any]] | None]) -> None:
    while True:
        entry = jobs.get()
        if entry is None:
            return
        result, job = entry
        # While this thread waits for the next job, its locals would keep the last one, and with it
        # the container, alive.
        del entry
        result.begin()
        try:
            result.value = job()
        except BaseException as error:  # of any kind: it is raised where somebody waits
            result.error = error
        result.end()
        del result, job


def run_all(
    workers: list[Worker],
    jobs: Sequence[Callable[[], Any]],
    meanwhile: Callable[[], Any] | None = None,
) -> list[Result]:
    """Run a job on each worker and wait until all have ended.

    The calling thread first calls ``meanwhile``, if it is given. An interrupt, such as Ctrl-C, is
    raised after all have ended. A second interrupt is raised at once and marks the workers as given
    up, since one of them may be stuck.
    """
    try:
        results = [worker.submit(job) for worker, job in zip(workers, jobs, strict=False)]
        if meanwhile is not None:
            meanwhile()
        _wait(results)
    except BaseException:
        # Wait for what was submitted: a job that does nothing ends after it.
        try:
            _wait([worker.submit(_nothing) for worker in workers])
        except BaseException:
            for worker in workers:
                worker.given_up = True
            raise
        raise
    return results


def _nothing() -> None:
    pass


def _wait(results: list[Result]) -> None:
    for result in results:
        result.wait()


def stop_all(workers: list[Worker]) -> None:
    """End the threads of all workers."""
    # All are told before any is waited for, so that they end at the same time.
    for worker in workers:
        worker.stop()
    for worker in workers:
        worker.join()
