"""Write a file that appears complete or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], size: int = 0, durable: bool = False
) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` when the block ends without an exception.

    Until then, and if the process is killed, ``path`` is unchanged. A link is followed; the
    permissions of a replaced file are kept. Unfinished files that killed processes have left in the
    folder are removed; one that is being written is locked, and stays.

    Args:
        path: the file.
        size: about how many bytes will be written; file systems are faster if they know.
        durable: write the file to disk before it replaces ``path``, so that it also survives a loss
            of power.
    """
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:  # a pipe or device has no old content to keep
            yield file
        return
    # A replaced link would leave its target old, so the target is replaced.
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    _clear(folder)
    with _named(path):
        descriptor, unfinished = _unfinished(folder, name)
    try:
        with _named(path, unfinished), _locked(descriptor):
            with open(descriptor, "wb") as file:
                # Tells the file system the size; the second call cuts off what was not written.
                file.truncate(size)
                yield file
                file.truncate()
                if durable:
                    file.flush()
                    os.fsync(descriptor)
            if mode is not None:
                os.chmod(unfinished, stat.S_IMODE(mode))
            # Under the lock, so that nobody who clears the folder takes the file for a leftover.
            os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    # The file's name is data of the folder: without this a loss of power may keep the old name.
    if durable:
        with _named(path):
            _sync_folder(folder)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the OSError that ``atomic_file(path)`` would raise, before any work is done."""
    if not os.path.exists(path) or os.path.isfile(path):
        folder, name = os.path.split(os.path.realpath(path))
        with _named(path):
            descriptor, unfinished = _unfinished(folder, name)
            os.close(descriptor)
            os.unlink(unfinished)
    elif os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))


@contextmanager
def _named(path: str | os.PathLike[str], *unfinished: str) -> Iterator[None]:
    """Make errors name the final file: the caller does not know the unfinished one."""
    try:
        yield
    except OSError as error:
        is_other = unfinished and error.filename not in (None, *unfinished)
        if error.errno is None or is_other:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


_BINARY = getattr(os, "O_BINARY", 0)
_UNFINISHED = re.compile(r"\..{1,40}\.[0-9a-f]{12}\.tmp", re.DOTALL)


def _unfinished(folder: str, name: str) -> tuple[int, str]:
    """Open and lock a new file; return its descriptor and path."""
    while True:
        path = os.path.join(folder, f".{name[:40]}.{secrets.token_hex(6)}.tmp")
        # O_EXCL: a link that somebody has put under this name is not followed. The process's umask
        # applies to the mode, as for `open`.
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        if fcntl is None:
            return descriptor, path
        with suppress(OSError):  # a file system without locks has none for those who clear, either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        # Between the two lines above, somebody who clears the folder may have taken it for left.
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)


@contextmanager
def _locked(descriptor: int) -> Iterator[None]:
    """Keep the lock of a file through the block, in which the file is closed."""
    # Closing shows what a network's file system could not write, so it comes before the renaming.
    if fcntl is None:
        yield
        return
    # A lock belongs to the open file description, which the duplicate keeps open.
    kept = os.dup(descriptor)
    try:
        yield
    finally:
        os.close(kept)


# A folder of very many files is looked through so rarely that it takes this share of the time.
_SHARE = 0.05
_next_time: dict[str, float] = {}


def _clear(folder: str) -> None:
    """Remove the unfinished files that nobody is writing."""
    if fcntl is None or time.monotonic() < _next_time.get(folder, 0):
        return
    began = time.thread_time()
    with suppress(OSError):
        found = [name for name in os.listdir(folder or ".") if _UNFINISHED.fullmatch(name)]
        for name in found:
            with suppress(OSError):
                _remove_unlocked(os.path.join(folder, name))
    _next_time[folder] = time.monotonic() + (time.thread_time() - began) / _SHARE


def _remove_unlocked(path: str) -> None:
    # Neither a link nor a pipe of this name may make the clearing reach elsewhere or wait.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # The writer holds the lock until its file is renamed; a killed writer's lock is gone.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.unlink(path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
