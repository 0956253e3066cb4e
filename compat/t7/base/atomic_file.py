"""A file that appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO


@contextmanager
def atomic_file(
    path: str | os.PathLike[str], size: int = 0, durable: bool = False
) -> Iterator[BinaryIO]:
    """A new file that takes the place of ``path`` when the block ends without an exception.

    Until then, and also if the process is killed, ``path`` is what it was. A link is followed; the
    permissions of a file that is replaced are kept.

    Args:
        size: about how many bytes will be written; file systems are faster if they know.
        durable: have the operating system write the file to disk first, so that it survives a loss
            of power as well.
    """
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:  # a pipe or device has no old content to keep
            yield file
        return
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    unfinished = os.path.join(folder, f".{name[:40]}.{secrets.token_hex(6)}.tmp")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
    except OSError as error:
        error.filename = os.fspath(path)  # the caller knows nothing of the unfinished file
        raise
    try:
        with open(descriptor, "wb") as file:
            file.truncate(size)
            yield file
            file.truncate()
            if durable:
                file.flush()
                os.fsync(descriptor)
        if mode is not None:
            os.chmod(unfinished, stat.S_IMODE(mode))
        os.replace(unfinished, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
    if durable:
        _sync_folder(folder)


_BINARY = getattr(os, "O_BINARY", 0)


def _sync_folder(folder: str) -> None:
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
