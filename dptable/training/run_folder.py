"""The lock on the folder of a training run.

Two runs in one folder would overwrite each other's files, so a run holds a lock while it trains.
It is a lock of the operating system: the system releases it when the process ends, also when the
process is killed.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from compat.terminal import printable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    import msvcrt

LOCK = ".lock"
# What runs write.
_WRITTEN = ("*.t7", "*.png", "*state_*")
# On Windows nobody reads bytes that are locked: what is locked lies behind the text.
_BYTE = 1 << 20


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str], new: bool = False) -> Iterator[None]:
    """Lock a run's folder against other runs for the length of the block.

    The folder is made if it does not exist.

    Args:
        folder: the folder.
        new: remove the folder afterwards if the block left nothing in it. A folder that was made
            here is always treated so.

    Raises:
        ValueError: a file that the run would write is a link to elsewhere.
        FileExistsError: another run has the folder; the message names its process.
        OSError: the folder is not writable. The check comes before any work.
    """
    folder = Path(folder)
    new = new or not folder.exists()
    path = folder / LOCK
    descriptor = _open_locked(path)
    try:
        _refuse_links(folder)
        _write(descriptor, path)
        yield
    finally:
        if fcntl is not None:
            with contextlib.suppress(OSError):
                path.unlink()  # before others may have it
            if new:
                with contextlib.suppress(OSError):  # it is not empty
                    folder.rmdir()
        os.close(descriptor)


def _refuse_links(folder: Path) -> None:
    """Raise ValueError if a file that the run would write is a symbolic link.

    The folder may come from somebody else, and a link would lead the run to write elsewhere.
    """
    for entry in os.scandir(folder):
        if entry.is_symlink() and any(fnmatch(entry.name, name) for name in _WRITTEN):
            raise ValueError(f"{entry.path} is a link; a folder with files of its own is accepted")


def _open_locked(path: Path) -> int:
    """Open the lock file and lock it."""
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except FileNotFoundError:  # whoever had it has removed the folder, which was empty
            continue
        try:
            _lock(descriptor, path)
            # Whoever had it may have removed the file in between.
            with contextlib.suppress(FileNotFoundError):
                if fcntl is None or os.path.samestat(os.fstat(descriptor), os.stat(path)):
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        if fcntl is not None:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            os.lseek(descriptor, _BYTE, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    except (BlockingIOError, PermissionError) as error:
        holder = _holder(descriptor)
        raise FileExistsError(
            f"{path.parent} is in use by {holder}; a folder without a run is accepted, by --output"
        ) from error
    except OSError as error:
        warnings.warn(
            f"{printable(path.parent)}: this file system has no locks ({error.strerror}); "
            "nothing keeps a second run out of this folder",
            stacklevel=2,
        )


def _holder(descriptor: int) -> str:
    os.lseek(descriptor, 0, os.SEEK_SET)
    told = os.read(descriptor, 200).decode(errors="replace").strip()
    return printable(told or "another process")


def _write(descriptor: int, path: Path) -> None:
    """Write which process has the folder; this also tests whether the folder is writable."""
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    told = f"process {os.getpid()} on {socket.gethostname()} since {since}\n"
    try:
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, told.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
