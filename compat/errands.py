"""Work that threads leave for one that waits for them.

A Lua state is one thread's: what a worker wants to call in it, the thread that waits for the
worker calls.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any


class _State(threading.local):
    master: int | None = None


_state = _State()
# The threads that do errands while they wait, and what they are to do.
accepting: dict[int, queue.SimpleQueue[_Errand]] = {}
# Seconds between two looks whether there is something to do.
_PATIENCE = 0.0005


class _Errand:
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
    """From now on this thread does errands whenever it waits by ``wait``."""
    accepting.setdefault(threading.get_ident(), queue.SimpleQueue())


def work_for(thread: int) -> None:
    """Say whose work this thread does from now on, who waits for it by ``wait``."""
    _state.master = thread


def works_for(thread: int | None) -> bool:
    """Whether this thread does the work of ``thread``, which accepts errands."""
    return thread is not None and _state.master == thread and thread in accepting


def send(thread: int, work: Callable[[], Any]) -> Any:
    """Have ``thread`` do ``work``; returns what that returns."""
    errand = _Errand(work)
    accepting[thread].put(errand)
    return errand.result()


def wait(acquire: Callable[[float], bool], patience: float) -> bool:
    """``acquire(patience)``, a wait for a lock; meanwhile errands are done, where accepted."""
    errands = accepting.get(threading.get_ident())
    if errands is None:
        return acquire(patience)
    for _ in range(round(patience / _PATIENCE)):
        if acquire(_PATIENCE):
            return True
        while not errands.empty():
            errands.get().run()
    return False
