"""The queues between a pool and its workers."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, NamedTuple


class Job(NamedTuple):
    """Something to run, and the number under which the pool knows its callback."""

    number: int
    work: Any


class Done(NamedTuple):
    """A worker's message about a job."""

    number: int
    worker: int
    reply: Any


class Queues:
    """A queue of jobs for any worker, one for each worker, and one of results.

    Each holds at most as many entries as there are workers, and ``put`` waits for room. So workers
    that are faster than the pool's owner do not fill the memory.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._changed = threading.Condition()
        self._jobs: dict[int | None, deque[Job]] = {
            key: deque() for key in (None, *range(1, size + 1))
        }
        self._results: deque[Done] = deque()
        self._closed = False

    def full(self, worker: int | None) -> bool:
        """Return whether a job for a worker, or for any, would have to wait."""
        return len(self._jobs[worker]) >= self._size

    def put(self, job: Job, worker: int | None) -> None:
        """Queue a job for a worker, or for any."""
        with self._changed:
            self._jobs[worker].append(job)
            self._changed.notify_all()

    def take(self, worker: int) -> Job | None:
        """Return a worker's next job, or None if there will be none."""
        mine = (self._jobs[worker], self._jobs[None])
        with self._changed:
            self._changed.wait_for(lambda: self._closed or any(mine))
            if self._closed:
                return None
            return (mine[0] or mine[1]).popleft()

    def put_result(self, done: Done) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or len(self._results) < self._size)
            self._results.append(done)
            self._changed.notify_all()

    def take_result(self) -> Done:
        with self._changed:
            self._changed.wait_for(lambda: self._results)
            self._changed.notify_all()
            return self._results.popleft()

    def close(self) -> None:
        """Drop all jobs and end the workers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
