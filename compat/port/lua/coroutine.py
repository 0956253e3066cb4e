"""Lua's coroutines, each in a thread of its own, of which one runs at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

_here = threading.local()


class Coroutine:
    """A function that can stop in its middle and go on later."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.state = "suspended"
        self.passed: tuple[Any, ...] = ()
        self.problem: Exception | None = None
        self.go_on, self.has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.thread: threading.Thread | None = None

    def _work(self) -> None:
        self.go_on.acquire()
        _here.coroutine = self
        try:
            found = self.function(*self.passed)
            self.passed = _values(found)
        except Exception as problem:
            self.problem = problem
        self.state = "dead"
        self.has_stopped.release()

    def resume(self, *args: Any) -> tuple[Any, ...]:
        """Go on until it stops; what it gives then."""
        if self.state == "dead":
            raise RuntimeError("cannot resume dead coroutine")
        if self.thread is None:
            self.thread = threading.Thread(target=self._work, daemon=True)
            self.thread.start()
        self.passed, self.state = args, "running"
        self.go_on.release()
        self.has_stopped.acquire()
        if self.problem is not None:
            problem, self.problem = self.problem, None
            raise problem
        return self.passed

    def stop(self, *args: Any) -> tuple[Any, ...]:
        """Stop in the middle; what the next ``resume`` gives it."""
        self.passed, self.state = args, "suspended"
        self.has_stopped.release()
        self.go_on.acquire()
        return self.passed


def _values(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else () if found is None else (found,)


def _results(found: tuple[Any, ...]) -> Any:
    return found[0] if len(found) == 1 else found


def create(function: Callable[..., Any]) -> Coroutine:
    """``coroutine.create``."""
    return Coroutine(function)


def resume(one: Coroutine, *args: Any) -> tuple[Any, ...]:
    """``coroutine.resume``: True and what it gives, or False and the error."""
    try:
        return (True, *one.resume(*args))
    except Exception as problem:
        return False, getattr(problem, "value", None) or str(problem)


def yield_(*args: Any) -> Any:
    """``coroutine.yield``."""
    return _results(_here.coroutine.stop(*args))


def status(one: Coroutine) -> str:
    """``coroutine.status``."""
    return one.state


class wrap(Iterator[Any]):
    """``coroutine.wrap``: a function that goes on each time that it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._coroutine = Coroutine(function)

    def __call__(self, *args: Any) -> Any:
        return _results(self._coroutine.resume(*args))

    def __next__(self) -> Any:
        found = self()
        if found is None or found == () or (isinstance(found, tuple) and found[0] is None):
            raise StopIteration
        return found
