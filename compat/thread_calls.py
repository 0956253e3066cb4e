"""Calls that a thread makes for others while it waits for them.

A Lua state belongs to one thread. When a worker wants to call a function of that state, the thread
that owns the state, and that waits for the worker, makes the call.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class _State(threading.local):
    master: int | None = None


_state = _State()
# The threads that make calls while they wait, with the calls that are asked of them.
accepting: dict[int, queue.SimpleQueue[_Call]] = {}
# Seconds between two looks at the queue: a wait for a lock cannot listen to a queue as well.
_PATIENCE = 0.0005


class _Call:
    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._done = threading.Event()
        self._value: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def result(self) -> Any:
        self._done.wait()
        if self._error is not None:
            raise self._error
        return self._value


def accept() -> None:
    """Have this thread make the calls of others whenever it waits by ``wait``, from now on."""
    accepting.setdefault(threading.get_ident(), queue.SimpleQueue())


def note_submitter(thread: int) -> None:
    """Set the thread that waits by ``wait`` for what this thread does."""
    _state.master = thread


def is_working_for(thread: int | None) -> bool:
    """Return whether ``thread`` waits for this thread and makes calls for it."""
    return thread is not None and _state.master == thread and thread in accepting


def send(thread: int, work: Callable[[], Any]) -> Any:
    """Have ``thread`` call ``work``. Return its result, or raise its error here."""
    call = _Call(work)
    accepting[thread].put(call)
    return call.result()


def wait(acquire: Callable[[float], bool], patience: float) -> bool:
    """Wait for a lock by ``acquire(patience)``; make calls meanwhile if this thread accepts them.

    Args:
        acquire: waits for the given number of seconds and returns whether the lock was got.
        patience: how long to wait, in seconds.
    """
    calls = accepting.get(threading.get_ident())
    if calls is None:
        return acquire(patience)
    for _ in range(round(patience / _PATIENCE)):
        if acquire(_PATIENCE):
            return True
        while not calls.empty():
            calls.get().run()
    return False
