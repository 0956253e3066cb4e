"""Files and clocks for the Lua packages paths, sys and lfs.

Functions that can fail return ``None``, the message and the error's number, as Lua's ``io`` does.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import platform
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from typing import Any

_KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "directory",
    stat.S_IFLNK: "link",
    stat.S_IFSOCK: "socket",
    stat.S_IFIFO: "named pipe",
    stat.S_IFCHR: "char device",
    stat.S_IFBLK: "block device",
}


def _bytes(path: str) -> bytes:
    return path.encode("latin-1")


def _try(action: Callable[..., Any], path: str, *args: Any) -> tuple[Any, ...]:
    try:
        action(_bytes(path), *args)
    except OSError as error:
        return None, f"{path}: {error.strerror}", error.errno
    return (True,)


def md5(text: str) -> str:
    """Return the MD5 of a string, in hexadecimal digits."""
    return hashlib.md5(text.encode("latin-1"), usedforsecurity=False).hexdigest()


def files_below(folder: str, extensions: list[str], ignore: str | None = None) -> list[bytes]:
    """Return the files in a folder and below with one of these extensions, in any case.

    Names that match the pattern ``ignore`` are left out.
    """
    wanted = tuple(f".{extension}".lower() for extension in extensions)
    return [
        os.path.join(place, name)
        for place, _, names in os.walk(_bytes(folder))
        for name in names
        if (low := os.fsdecode(name).lower()).endswith(wanted)
        and not (ignore and fnmatch.fnmatchcase(low, ignore.lower()))
    ]


def cwd() -> bytes:
    """Return the current folder."""
    return os.getcwdb()


def chdir(path: str) -> tuple[Any, ...]:
    """Make a folder the current one."""
    return _try(os.chdir, path)


def mkdir(path: str) -> tuple[Any, ...]:
    """Make one folder."""
    return _try(os.mkdir, path)


def rmdir(path: str) -> tuple[Any, ...]:
    """Remove an empty folder."""
    return _try(os.rmdir, path)


def touch(path: str, accessed: float | None = None, modified: float | None = None) -> Any:
    """Set a file's times, to now if none are given."""
    if accessed is None:
        return _try(os.utime, path)
    return _try(os.utime, path, (accessed, accessed if modified is None else modified))


def link(old: str, new: str, symbolic: bool = False) -> tuple[Any, ...]:
    """Make another name for a file."""
    return _try(os.symlink if symbolic else os.link, old, _bytes(new))


def kind(path: str) -> str | None:
    """Return what is at a path, in lfs's words, through links; ``None`` for nothing."""
    try:
        return _KINDS.get(stat.S_IFMT(os.stat(_bytes(path)).st_mode), "other")
    except (OSError, ValueError):
        return None


def names(path: str) -> tuple[Any, ...]:
    """Return the entries of a folder, by name, with ``.`` and ``..``, or None, message and number.

    Torch7 gives them in the order of the file system.
    """
    try:
        return ([b".", b"..", *sorted(os.listdir(_bytes(path)))],)
    except OSError as error:
        return None, f"cannot open {path}: {error.strerror}", error.errno


def attributes(path: str, follow: bool = True) -> tuple[Any, ...]:
    """Return Torch7's lfs.attributes, without its second argument."""
    try:
        found = os.stat(_bytes(path), follow_symlinks=follow)
    except OSError as error:
        message = f"cannot obtain information from file '{path}': {error.strerror}"
        return None, message, error.errno
    mode = found.st_mode
    return (
        {
            "mode": _KINDS.get(stat.S_IFMT(mode), "other"),
            "dev": found.st_dev,
            "ino": found.st_ino,
            "nlink": found.st_nlink,
            "uid": found.st_uid,
            "gid": found.st_gid,
            "rdev": getattr(found, "st_rdev", 0),
            "access": int(found.st_atime),
            "modification": int(found.st_mtime),
            "change": int(found.st_ctime),
            "size": found.st_size,
            "blocks": getattr(found, "st_blocks", 0),
            "blksize": getattr(found, "st_blksize", 0),
            "permissions": stat.filemode(mode)[1:],
        },
    )


def temporary_name() -> str:
    """Return the name of a file that does not exist."""
    return tempfile.mktemp(prefix="luatmp")


def uname() -> tuple[str, str, str]:
    """Return system, node, machine."""
    found = platform.uname()
    return found.system, found.node, found.machine


def clock() -> float:
    """Return seconds since 1970."""
    return time.time()


def sleep(seconds: float) -> None:
    """Let other threads go on meanwhile."""
    time.sleep(max(seconds, 0))


def execute(command: str) -> int:
    """C's ``system``, which Ctrl-C ends: the status as ``wait`` has it."""
    code = subprocess.call(_bytes(command), shell=True)
    return -code if code < 0 else code << 8


def named_pipe(command: str, mode: str) -> str:
    """Make a pipe to read a command's output (``r``) or to write its input; return its path."""
    path = temporary_name()
    os.mkfifo(path)
    direction = ">" if mode.startswith("r") else "<"
    # The shell opens the pipe, and waits there until Lua does.
    subprocess.Popen(_bytes(f"({command}) {direction} {path}"), shell=True)
    return path


def columns() -> int:
    """Return the width of the terminal; 80 without one."""
    try:
        return os.get_terminal_size(2).columns
    except OSError:
        return 80
