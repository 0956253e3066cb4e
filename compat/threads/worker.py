"""Run the jobs of a pool: in a thread of this process, or in another process."""

from __future__ import annotations

import contextvars
import multiprocessing
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np
import torch

from compat import random
from compat.checks import prefix
from compat.threads.serialization import dumps, loads

_threadid: ContextVar[int | None] = ContextVar("_threadid", default=None)


def threadid() -> int | None:
    """Return, in a job, the number of its worker, from 1 (Torch7: ``__threadid``); else None."""
    return _threadid.get()


class WorkerTraceback(Exception):
    """The cause of an error from another process: where it was raised there."""


class ThreadWorker:
    """Runs jobs in the calling thread, with its own random generator."""

    def __init__(self, number: int, scheme: str) -> None:
        self._context = contextvars.Context()
        self._context.run(_threadid.set, number)
        self._generator = random.Generator()

    def pack(self, callback: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return a job in the form that ``run`` takes."""
        return callback, arguments

    def run(self, work: Any) -> Any:
        """Run a job; return a reply for ``unpack``."""
        callback, arguments = work
        try:
            return True, self._context.run(self._call, callback, arguments)
        except BaseException as error:  # of any kind: it is raised where somebody waits
            return False, error

    def _call(self, callback: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        with random.using(self._generator):
            return callback(*arguments)

    def unpack(self, reply: Any) -> tuple[bool, Any]:
        """Return whether the job succeeded, and its value or error."""
        succeeded, value = reply
        return succeeded, value

    def end(self) -> None:
        """End the worker when its jobs have ended."""

    def kill(self) -> None:
        """End the worker during a job, if that is possible."""


class ProcessWorker:
    """Runs jobs in another process, started as multiprocessing is set to start them.

    Every random generator has a stream of its own there. The process ignores Ctrl-C; the process
    that waits for its jobs handles it.
    """

    def __init__(self, number: int, scheme: str) -> None:
        self._scheme = scheme
        self._pipe, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(
            target=_process, args=(theirs, number, scheme), name=f"worker {number}", daemon=True
        )
        self._process.start()
        theirs.close()

    def pack(self, callback: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
        try:
            return dumps((callback, arguments), self._scheme)
        except Exception as error:
            prefix(error, "callback or an argument cannot go to another process: ")
            raise

    def run(self, work: bytes) -> bytes:
        try:
            self._pipe.send_bytes(work)
            return self._pipe.recv_bytes()
        except (EOFError, OSError):
            self._process.join()
            error = RuntimeError(f"the process ended with exit code {self._process.exitcode}")
            return dumps((False, (error, None)), self._scheme)

    def unpack(self, reply: bytes) -> tuple[bool, Any]:
        succeeded, value = loads(reply)
        if succeeded:
            return True, value
        error, trace = value
        if trace is not None:
            error.__cause__ = WorkerTraceback(f"\n{trace}")
        return False, error

    def end(self) -> None:
        with suppress(OSError):
            # Not by closing the pipe: processes that were forked later hold it open.
            self._pipe.send_bytes(_END)
        self._process.join()
        self._pipe.close()

    def kill(self) -> None:
        self._process.kill()


_END = b""


def _process(pipe: Connection, number: int, scheme: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    seed = random.default_generator.seed()
    torch.manual_seed(seed)
    np.random.seed(seed % 2**32)
    # A new context: a forked process would begin in that of the thread that made the pool.
    contextvars.Context().run(_serve, pipe, number, scheme)


def _serve(pipe: Connection, number: int, scheme: str) -> None:
    _threadid.set(number)
    parent = multiprocessing.parent_process()
    assert parent is not None
    with suppress(EOFError, OSError):  # nobody waits any more
        while True:
            # The pipe would not tell that the parent was killed: this process may hold both ends.
            wait([pipe, parent.sentinel])
            if not pipe.poll() or (work := pipe.recv_bytes()) == _END:
                return
            pipe.send_bytes(_reply(work, scheme))


def _reply(work: bytes, scheme: str) -> bytes:
    try:
        callback, arguments = loads(work)
        return dumps((True, callback(*arguments)), scheme)
    except BaseException as error:  # of any kind: it is raised where somebody waits
        trace = traceback.format_exc()
        try:
            loads(dumps(error, scheme))  # some can be written, but not read
        except Exception:
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return dumps((False, (error, trace)), scheme)
