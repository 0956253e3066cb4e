"""Lua's coroutines, each in a thread of its own, of which one runs at a time."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

from compat.port.lua.calls import call
from compat.port.lua.errors import value_of
from compat.port.lua.text import Error
from compat.port.lua.values import results, values

_here = threading.local()


class _Abandoned(BaseException):
    """Ends the thread of a coroutine that nobody can resume any more."""


class Coroutine:
    """A function that can stop in its middle and go on later.

    Its thread knows the queues to and from it alone: it ends when nobody has the coroutine.
    The thread that resumes it calls Lua for it.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.state = "suspended"  # the word of ``coroutine.status``
        self._given: SimpleQueue[Any] = SimpleQueue()
        self._gave: SimpleQueue[Any] = SimpleQueue()
        turns = (function, self._given, self._gave, weakref.ref(self))
        self._thread = threading.Thread(target=_work, args=turns, daemon=True)
        weakref.finalize(self, self._given.put, None)

    def __str__(self) -> str:
        return f"thread: 0x{id(self):08x}"

    def resume(self, *args: Any) -> tuple[Any, ...]:
        """Go on until it stops; what it gives then."""
        if self.state != "suspended":
            raise Error(f"cannot resume {'dead' if self.state == 'dead' else 'running'} coroutine")
        if not self._thread.is_alive():
            self._thread.start()
        outer = running()[0] or _program
        outer.state, self.state = "normal", "running"
        self._given.put(args)
        state, found = self._gave.get()
        while state == "call":
            self._given.put(_tried(functools.partial(by_the_program, found)))
            state, found = self._gave.get()
        outer.state, self.state = "running", state
        if isinstance(found, BaseException):
            raise found
        return tuple(found)


def _work(
    function: Callable[..., Any],
    given: SimpleQueue[Any],
    gave: SimpleQueue[Any],
    owner: Callable[[], Coroutine | None],
) -> None:
    _here.given, _here.gave, _here.owner = given, gave, owner
    try:
        found = call(function, *_passed())
        gave.put(("dead", () if found is None else values(found)))
    except _Abandoned:
        pass
    except BaseException as problem:  # also ``os.exit``'s
        gave.put(("dead", problem))


def _passed() -> tuple[Any, ...]:
    """Wait until the coroutine of this thread is resumed; what it is given then."""
    found: tuple[Any, ...] | None = _here.given.get()
    if found is None:
        raise _Abandoned
    return found


_program = Coroutine(lambda: None)


def _tried(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as problem:
        return None, problem


def by_the_program(work: Callable[[], Any]) -> Any:
    """Return what a call gives that the thread of the program makes, to which Lua belongs."""
    if running()[1]:
        return work()
    _here.gave.put(("call", work))
    found, problem = _passed()
    if problem is not None:
        raise problem
    return found


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
    if running()[1]:
        raise Error("attempt to yield across C-call boundary")
    _here.gave.put(("suspended", args))
    return results(_passed())


def running() -> tuple[Coroutine | None, bool]:
    """``coroutine.running``: the coroutine that calls it, and whether that is the program."""
    owner = getattr(_here, "owner", None)
    return (_program, True) if owner is None else (owner(), False)


def status(one: Coroutine) -> str:
    """``coroutine.status``."""
    return one.state


class wrap(Iterator[Any]):
    """``coroutine.wrap``: a function that goes on each time that it is called."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._coroutine = Coroutine(function)

    def __call__(self, *args: Any) -> Any:
        return results(self._coroutine.resume(*args))

    def __next__(self) -> Any:
        found = self()
        if found is None or found == () or (isinstance(found, tuple) and found[0] is None):
            raise StopIteration
        return found
