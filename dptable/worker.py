"""A thread that lives as long as its container and runs what it is given."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class Result:
    """What a job returned or raised, once it has ended."""

    __slots__ = ("_done", "error", "value")

    def __init__(self) -> None:
        self._done = threading.Lock()
        self._done.acquire()
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self, job: Callable[[], Any]) -> None:
        try:
            self.value = job()
        except BaseException as error:  # whatever ended the job belongs to the one who waits
            self.error = error
        finally:
            self._done.release()

    def wait(self) -> None:
        """Wait for the end of the job; Ctrl-C interrupts the wait, not the job."""
        with self._done:
            pass


class Worker:
    """A daemon thread that runs jobs in order.

    It holds on to nothing but its queue, so that whoever submits jobs can be collected.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Result, Callable[[], Any]] | None] = queue.SimpleQueue()
        self.thread = threading.Thread(target=_serve, args=(self._jobs,), name=name, daemon=True)
        self.thread.start()

    def submit(self, job: Callable[[], Any]) -> Result:
        """Queue a job."""
        result = Result()
        self._jobs.put((result, job))
        return result

    def stop(self) -> None:
        """End the thread after the jobs that are queued, and wait for it."""
        self._jobs.put(None)
        # The garbage collector may run this in the worker itself.
        if self.thread is not threading.current_thread():
            self.thread.join()


def _serve(jobs: queue.SimpleQueue[tuple[Result, Callable[[], Any]] | None]) -> None:
    while True:
        entry = jobs.get()
        if entry is None:
            return
        result, job = entry
        del entry
        result.run(job)
        del result, job


def wait_all(results: list[Result]) -> None:
    """Wait until every job has ended, also when the wait is interrupted, which is raised last."""
    interrupt: BaseException | None = None
    for result in results:
        while True:
            try:
                result.wait()
                break
            except BaseException as error:
                if interrupt is not None:
                    raise  # a second Ctrl-C means now
                interrupt = error
    if interrupt is not None:
        raise interrupt
