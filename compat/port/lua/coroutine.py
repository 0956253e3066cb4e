"""Lua's coroutines, each in a thread of its own, of which one runs at a time."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from compat.port.lua.errors import value_of
from compat.port.lua.text import Error

_here = threading.local()


class _Abandoned(BaseException):
    """Ends the thread of a coroutine that nobody can resume any more."""


class _Turns:
    """The thread of a coroutine, and whose turn it is. It does not know the coroutine."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.state = "suspended"
        self.passed: tuple[Any, ...] = ()
        self.problem: Exception | None = None
        self.is_abandoned = False
        self.owner: Callable[[], Coroutine | None] = lambda: None
        self.go_on, self.has_stopped = threading.Semaphore(0), threading.Semaphore(0)
        self.thread = threading.Thread(target=self._work, daemon=True)

    def _work(self) -> None:
        _here.turns = self
        try:
            self.wait()
            self.passed = _values(self.function(*self.passed))
        except _Abandoned:
            return
        except Exception as problem:
            self.problem = problem
        self.state = "dead"
        self.has_stopped.release()

    def wait(self) -> tuple[Any, ...]:
        """Wait until it is resumed; what it is given then."""
        self.go_on.acquire()
        if self.is_abandoned:
            raise _Abandoned
        return self.passed

    def stop(self, *args: Any) -> tuple[Any, ...]:
        """Stop in the middle; what the next ``resume`` gives it."""
        self.passed, self.state = args, "suspended"
        self.has_stopped.release()
        return self.wait()

    def abandon(self) -> None:
        """End the thread."""
        self.is_abandoned = True
        self.go_on.release()


class Coroutine:
    """A function that can stop in its middle and go on later."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._turns = _Turns(function)
        self._turns.owner = weakref.ref(self)
        weakref.finalize(self, self._turns.abandon)

    @property
    def state(self) -> str:
        """The word of ``coroutine.status``."""
        return self._turns.state

    def __str__(self) -> str:
        return f"thread: 0x{id(self):08x}"

    def resume(self, *args: Any) -> tuple[Any, ...]:
        """Go on until it stops; what it gives then."""
        turns = self._turns
        if turns.state == "dead":
            raise Error("cannot resume dead coroutine")
        if not turns.thread.is_alive():
            turns.thread.start()
        turns.passed, turns.state = args, "running"
        turns.go_on.release()
        turns.has_stopped.acquire()
        if turns.problem is not None:
            problem, turns.problem = turns.problem, None
            raise problem
        return turns.passed


_program = Coroutine(lambda: None)


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
        return False, value_of(problem)


def yield_(*args: Any) -> Any:
    """``coroutine.yield``."""
    return _results(_here.turns.stop(*args))


def running() -> tuple[Coroutine | None, bool]:
    """``coroutine.running``: the coroutine that calls it, and whether that is the program."""
    turns: _Turns | None = getattr(_here, "turns", None)
    return (_program, True) if turns is None else (turns.owner(), False)


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
