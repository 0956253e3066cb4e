"""Sources of a file's bytes: a memory map, or the content of a stream."""

from __future__ import annotations

import errno
import mmap as _mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from compat.checks import wrong_type

PathOrFile = str | os.PathLike[str] | BinaryIO

# Below this a copy from the map is cheaper than a system call. Files of less are read: whoever cuts
# one short while it is mapped would end the process.
_DIRECT = 1 << 17


class Source:
    """A random-access source of bytes."""

    def __init__(self, data: Any, name: str = "", fd: int | None = None, mapped: bool = False):
        self.data = data
        self.size = len(data)
        self.name = name
        self.mapped = mapped  # tensors may lie on `data`: it is private and writable
        self._fd = fd

    def read_into(self, out: memoryview, offset: int) -> None:
        """Fill ``out`` with the bytes at ``offset``."""
        done = 0
        if self._fd is not None and out.nbytes >= _DIRECT and hasattr(os, "preadv"):
            while done < out.nbytes:
                count = os.preadv(self._fd, [out[done:]], offset + done)
                if not count:
                    # A copy from the map would end the process.
                    raise OSError(errno.EIO, "it became shorter while it was read", self.name)
                done += count
        out[done:] = memoryview(self.data)[offset + done : offset + out.nbytes]


@contextmanager
def open_source(source: PathOrFile, mmap: bool) -> Iterator[Source]:
    """Open a path, or a binary file object from its present position on, as a byte source."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        with open(name, "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size < _DIRECT:
                yield Source(file.read(), name)
                return
            access = _mmap.ACCESS_COPY if mmap else _mmap.ACCESS_READ
            yield Source(
                _mmap.mmap(file.fileno(), 0, access=access), name, file.fileno(), mapped=mmap
            )
        return
    read = getattr(source, "read", None)
    if read is None:
        raise wrong_type(source, "source", "a path or an open binary file")
    data = read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError("source is open as text; a file opened with mode 'rb' is accepted")
    yield Source(bytes(data), str(getattr(source, "name", "")))
