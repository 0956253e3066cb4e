"""Threads for Lua: a runtime in each, jobs that pass between them, locks by number.

What passes from runtime to runtime is a ``Packed``: bytes that the Lua side has made, and the
tensors and shared tables they refer to.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from compat import random
from compat.lua.errors import LuaError
from compat.lua.runtime import Runtime


class Packed:
    """Lua values on their way between two runtimes."""

    def __init__(self, data: str, objects: list[Any], shared: bool) -> None:
        self.data, self.objects, self.shared = data, objects, shared


def pack(data: str, objects: Any, shared: bool) -> Packed:
    """Pack Lua's bytes with the objects that they refer to by number."""
    return Packed(data, list(objects or []), shared)


def unpack(packed: Packed) -> tuple[str, list[Any], bool]:
    """Return the packed bytes and objects."""
    return packed.data, packed.objects, packed.shared


class _Worker(threading.Thread):
    """A thread with its own runtime, which runs one chunk of Lua."""

    def __init__(self, like: Runtime, code: str, *args: Any) -> None:
        super().__init__(daemon=True)
        self.like, self.code, self.args = weakref.ref(like), code, args
        self.error: BaseException | None = None

    def run(self) -> None:
        like = self.like()
        if like is None:
            return
        try:
            runtime = Runtime(worker_of=like)
            del like
            with random.using(random.Generator()):
                runtime.execute(self.code, *self.args, name="=thread")
        except BaseException as error:
            self.error = error
            self.failed(error)

    def failed(self, error: BaseException) -> None:
        """Say what ended the thread."""
        print(f"THREAD FATAL ERROR: {error}")
        if isinstance(error, LuaError):
            print(error.traceback)


class _PoolWorker(_Worker):
    def __init__(self, pool: Pool, like: Runtime, code: str, *args: Any) -> None:
        super().__init__(like, code, pool, *args)
        self.pool = pool

    def failed(self, error: BaseException) -> None:
        with self.pool.changed:
            self.pool.broken = f"a thread has ended: {error}"
            self.pool.changed.notify_all()


class Pool:
    """The jobs of ``threads.Threads``: those for any thread, those for one, and their results.

    Args:
        like: the runtime whose packages the threads get.
        count: the number of threads.
        code: the Lua chunk that each runs; it gets the pool, its number and ``more``.
    """

    def __init__(self, like: Runtime, count: int, code: str, *more: Any) -> None:
        self.changed = threading.Condition()
        self.count = count
        self.specific = True
        self.running = True
        self.broken: str | None = None
        self.common: deque[Packed] = deque()
        self.own: list[deque[Packed]] = [deque() for _ in range(count)]
        self.results: deque[Any] = deque()
        self.workers = [
            _PoolWorker(self, like, code, number, *more) for number in range(1, count + 1)
        ]
        for worker in self.workers:
            worker.start()

    def queue(self, number: int) -> deque[Packed]:
        """Return the queue of a thread's next job."""
        return self.own[number - 1] if self.specific else self.common


def start_pool(like: Runtime, count: float, code: str, *more: Any) -> Pool:
    """Start the threads of a pool."""
    return Pool(like, int(count), code, *more)


def accepts(pool: Pool, number: float | None) -> bool:
    """Return whether a job may be added: a queue holds as many as there are threads."""
    return len(pool.queue(int(number or 1))) < pool.count


def add(pool: Pool, number: float | None, job: Packed) -> None:
    """Queue a job."""
    with pool.changed:
        pool.queue(int(number or 1)).append(job)
        pool.changed.notify_all()


def take(pool: Pool, number: float) -> Packed | None:
    """Wait for a thread's next job and return it; ``None`` at the end."""
    with pool.changed:
        pool.changed.wait_for(lambda: pool.queue(int(number)) or not pool.running)
        queue = pool.queue(int(number))
        return queue.popleft() if queue else None


def give(pool: Pool, result: Packed) -> None:
    """Add a job's result."""
    with pool.changed:
        pool.results.append(result)
        pool.changed.notify_all()


def collect(pool: Pool) -> Packed:
    """Wait for the next result and return it."""
    with pool.changed:
        pool.changed.wait_for(lambda: pool.results or pool.broken)
        if pool.results:
            return pool.results.popleft()
    raise RuntimeError(pool.broken)


def set_specific(pool: Pool, on: bool) -> None:
    """Set whether jobs name their thread."""
    with pool.changed:
        pool.specific = on
        pool.changed.notify_all()


def stop(pool: Pool) -> None:
    """End the threads when their jobs are done."""
    with pool.changed:
        pool.running = False
        pool.changed.notify_all()


class _Owner:
    """While Lua keeps it the pool runs. (A finaliser in Lua must not call Python.)"""

    def __init__(self, action: Callable[[], None]) -> None:
        self.action = action

    def __del__(self) -> None:
        self.action()


def owner(pool: Pool) -> _Owner:
    """Return something with whose end the pool's threads end."""
    return _Owner(lambda: stop(pool))


def user(number: float) -> _Owner:
    """Return something with whose end there is one user less."""
    return _Owner(lambda: release(number))


def join(pool: Pool) -> None:
    """Wait for the threads."""
    for worker in pool.workers:
        worker.join()


def start(like: Runtime, code: str) -> _Worker:
    """Run Lua code in a thread of its own."""
    worker = _Worker(like, code)
    worker.start()
    return worker


def wait(worker: _Worker) -> None:
    """Wait for such a thread."""
    worker.join()


# Locks, which other threads find by number ------------------------------------------------------

_numbers = itertools.count(1)
_shared: dict[int, Any] = {}
_users: dict[int, int] = {}
_guard = threading.Lock()


class _Signal:
    """A condition variable for any lock."""

    def __init__(self) -> None:
        self.waiting: deque[threading.Lock] = deque()


_KINDS = {"mutex": threading.Lock, "condition": _Signal, "counter": lambda: [0]}


def share(kind: str, number: float | None = None) -> int:
    """Make a lock, condition or counter, or add a user to one; return its number."""
    with _guard:
        found = int(number) if number is not None else next(_numbers)
        if number is None:
            _shared[found] = _KINDS[kind]()
        elif found not in _shared:
            raise ValueError(f"there is no {kind} {found}")
        _users[found] = _users.get(found, 0) + 1
        return found


def release(number: float) -> None:
    """Count one user less."""
    with _guard:
        found = int(number)
        _users[found] -= 1
        if not _users[found]:
            del _users[found], _shared[found]


def lock(number: float) -> None:
    """Wait for a lock."""
    _shared[int(number)].acquire()


def unlock(number: float) -> None:
    """Let others have a lock."""
    _shared[int(number)].release()


def wait_signal(number: float, mutex: float) -> None:
    """Give a lock up until the condition is signalled."""
    own = threading.Lock()
    own.acquire()
    _shared[int(number)].waiting.append(own)
    unlock(mutex)
    own.acquire()
    lock(mutex)


def signal(number: float) -> None:
    """Wake one thread that waits."""
    waiting = _shared[int(number)].waiting
    if waiting:
        waiting.popleft().release()


def count(number: float, by: float) -> float:
    """Add to a counter. Returns its value."""
    with _guard:
        cell = _shared[int(number)]
        cell[0] += int(by)
        return int(cell[0])


def set_count(number: float, value: float) -> None:
    """Set a counter."""
    with _guard:
        _shared[int(number)][0] = int(value)
